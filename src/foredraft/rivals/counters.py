"""What an engine counted of its drafts, in foredraft's words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Counts:
    """drafted = accepted + rejected + ignored; None is what the engine does not tell.

    `drafts` counts the passes that judged a draft. `per_position[i]` counts the drafts of which
    position i was accepted; a draft too short for it counts as one that was not.
    """

    source: str
    drafted: int | None = None
    accepted: int | None = None
    rejected: int | None = None
    ignored: int | None = None
    drafts: int | None = None
    per_position: tuple[int, ...] | None = None

    @property
    def acceptance_rate(self) -> float | None:
        """α = accepted / (accepted + rejected); None where the engine does not tell the latter."""
        if self.accepted is None or self.rejected is None:
            return None
        return share(self.accepted, self.accepted + self.rejected)

    @property
    def accepted_of_drafted(self) -> float | None:
        """accepted / drafted: what most tools call the acceptance rate, and never more than α."""
        return share(self.accepted, self.drafted)

    def tokens_per_pass(self, generated: int | None) -> float | None:
        """Generated tokens / target passes: each pass emits what it accepts and one of its own."""
        if generated is None or self.accepted is None:
            return None
        return share(generated, generated - self.accepted)


def share(part: float | None, whole: float | None) -> float | None:
    """part / whole; None where either is unknown or there is no whole."""
    return part / whole if part is not None and whole is not None and whole > 0 else None


def total(counts: Iterable[Counts]) -> Counts | None:
    """The sum over answers; engines leave their counters out of an answer without a draft."""
    known = list(counts)
    if not known:
        return None
    positions = [c.per_position for c in known if c.per_position is not None]
    longest = max(map(len, positions), default=0)
    return Counts(
        " and ".join(dict.fromkeys(c.source for c in known)),
        drafted=_sum(c.drafted for c in known),
        accepted=_sum(c.accepted for c in known),
        rejected=_sum(c.rejected for c in known),
        ignored=_sum(c.ignored for c in known),
        drafts=_sum(c.drafts for c in known),
        per_position=tuple(sum(p[i] for p in positions if i < len(p)) for i in range(longest))
        if len(positions) == len(known)
        else None,
    )


def judged(
    source: str,
    drafted: int,
    accepted: int,
    rejected: int | None,
    drafts: int | None = None,
    per_position: tuple[int, ...] | None = None,
) -> Counts:
    """Counts with what follows from them; `rejected` is None where the engine does not tell."""
    if drafted == accepted:
        rejected = 0
    ignored = None if rejected is None else drafted - accepted - rejected
    return Counts(source, drafted, accepted, rejected, ignored, drafts, per_position)


def of_answer(part: Mapping[str, Any]) -> Counts | None:
    """The counters in one object of an answer, a chunk of a stream or the whole; None if none."""
    metrics = _mapping(part.get("metrics")).get("speculative_decoding")
    usage = _mapping(part.get("usage"))
    return (
        _foredraft(_mapping(usage.get("speculation")))
        or _llama_server(_mapping(part.get("timings")))
        or _vllm(_mapping(metrics))
        or _lm_studio(_mapping(part.get("stats")))
        or _lm_studio(usage)
    )


def _foredraft(speculation: Mapping[str, Any]) -> Counts | None:
    """foredraft tells everything but the counts behind its rates by position."""
    drafted, accepted, rejected = (
        _count(speculation, name) for name in ("drafted", "accepted", "rejected")
    )
    if drafted is None or accepted is None:
        return None
    by_drafter = [_counts(rounds) for rounds in _mapping(speculation.get("drafters")).values()]
    drafts = _sum(counts[0] if counts else None for counts in by_drafter)
    return judged("foredraft usage", drafted, accepted, rejected, drafts)


def _llama_server(timings: Mapping[str, Any]) -> Counts | None:
    """llama-server counts a draft when it is made, so one that is never judged is in `draft_n`."""
    drafted, accepted = (_count(timings, name) for name in ("draft_n", "draft_n_accepted"))
    if drafted is None or accepted is None:
        return None
    return judged("llama-server timings", drafted, accepted, None)


def _vllm(metrics: Mapping[str, Any]) -> Counts | None:
    """vLLM tells the length of each draft, or a table by length, so what was rejected is known."""
    drafted = _count(metrics, "num_draft_tokens")
    accepted = _count(metrics, "num_accepted_draft_tokens")
    if drafted is None or accepted is None:
        return None
    histogram = _counts(metrics.get("acceptance_histogram"))
    per_position = None
    if histogram is not None:
        per_position = tuple(sum(histogram[i + 1 :]) for i in range(len(histogram) - 1))
    return judged(
        "vLLM request metrics",
        drafted,
        accepted,
        _vllm_rejected(metrics, drafted, histogram),
        _count(metrics, "num_spec_steps"),
        per_position,
    )


def _vllm_rejected(
    metrics: Mapping[str, Any], drafted: int, histogram: list[int] | None
) -> int | None:
    """The drafts that were not accepted whole: each has one rejected token."""
    by_length = metrics.get("acceptance_histogram_by_draft_length")
    if isinstance(by_length, Mapping):
        rows = [_counts(row) for row in by_length.values()]
        if all(row is not None for row in rows):
            return sum(sum(row[:-1]) for row in rows if row)
    taken, made = (_counts(metrics.get(f"per_step_{what}")) for what in ("accepted", "drafted"))
    if taken is not None and made is not None and len(taken) == len(made):
        return sum(kept < length for kept, length in zip(taken, made, strict=True))
    if histogram and drafted == sum(histogram) * (len(histogram) - 1):
        return sum(histogram[:-1])  # every draft had the full length
    return None


def _lm_studio(stats: Mapping[str, Any]) -> Counts | None:
    """LM Studio's "rejected" are all that were sent and not accepted, its "ignored" never sent.

    So neither is ours, unless nothing was refused. REST has snake_case, the SDK camelCase.
    """
    drafted, accepted, rejected = (
        _count(stats, f"{what}_draft_tokens_count", f"{what}DraftTokensCount")
        for what in ("total", "accepted", "rejected")
    )
    if drafted is None or accepted is None:
        return None
    return judged("LM Studio stats", drafted, accepted, 0 if rejected == 0 else None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(found: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = found.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def _counts(value: Any) -> list[int] | None:
    if isinstance(value, list) and all(type(item) is int for item in value):
        return value
    return None


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; unknown as soon as one is, since what it lacks cannot be told."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)
