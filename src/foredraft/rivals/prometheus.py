"""The running totals that foredraft, llama-server and vLLM show at /metrics."""

from collections import defaultdict
from dataclasses import dataclass, replace

from foredraft.core.errors import ForedraftError
from foredraft.rivals.counters import Counts, judged


@dataclass(frozen=True, slots=True)
class Names:
    """What an engine calls what all count; `decode_s` are the seconds the tokens took.

    llama-server took its names of drafts from vLLM.
    """

    engine: str
    prefix: str
    generated: str
    running: str
    decode_s: str | None = None
    drafts: str = "spec_decode_num_drafts_total"
    drafted: str = "spec_decode_num_draft_tokens_total"
    accepted: str = "spec_decode_num_accepted_tokens_total"
    by_position: str = "spec_decode_num_accepted_tokens_per_pos_total"
    rejected: str | None = None


ENGINES = (
    Names(
        "foredraft",
        "foredraft_",
        "generated_tokens_total",
        "requests_running",
        "request_decode_seconds_sum",
        "drafts_total",
        "drafted_tokens_total",
        "accepted_tokens_total",
        "accepted_at_position_total",
        "rejected_tokens_total",
    ),
    Names(
        "llama-server",
        "llamacpp:",
        "tokens_predicted_total",
        "requests_processing",
        "tokens_predicted_seconds_total",
    ),
    Names("vLLM", "vllm:", "generation_tokens_total", "num_requests_running"),
)


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts since the server's start, over all its models; None is what it does not count.

    vLLM has no counts of drafts unless it speculates. llama-server adds a request's counts when it
    ends; `running` is how many have not.
    """

    engine: str
    generated: int
    running: int
    decode_s: float | None = None
    drafts: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    per_position: tuple[int, ...] | None = None
    rejected: int | None = None

    def since(self, before: "Totals") -> "Totals":
        """What came after `before`; all of it if the server has been started anew since."""
        if self.generated < before.generated or self.engine != before.engine:
            return self
        changes = {
            name: now - (getattr(before, name) or 0)
            for name in ("generated", "decode_s", "drafts", "drafted", "accepted", "rejected")
            if (now := getattr(self, name)) is not None
        }
        earlier = before.per_position or ()
        positions = self.per_position and tuple(
            now - (earlier[i] if i < len(earlier) else 0) for i, now in enumerate(self.per_position)
        )
        return replace(self, **changes, per_position=positions)

    def counts(self) -> Counts | None:
        """The drafts in foredraft's words; None if the server counts none.

        foredraft tells what was rejected. Of the others only vLLM counts a draft when it is judged,
        so only there full drafts tell it.
        """
        if self.drafted is None or self.accepted is None:
            return None
        rejected, positions = self.rejected, self.per_position
        if self.engine == "vLLM" and self.drafts is not None and positions:
            full = self.drafted == self.drafts * len(positions)
            rejected = self.drafts - positions[-1] if full else None
        return judged(
            f"{self.engine} /metrics",
            self.drafted,
            self.accepted,
            rejected,
            self.drafts,
            positions,
        )


def read_totals(text: str) -> Totals | None:
    """The totals on a page of Prometheus text; None if it is of another engine."""
    values = _values(text)
    for names in ENGINES:
        if names.prefix + names.generated in values:
            return _totals(names, values)
    return None


def _totals(names: Names, values: dict[str, dict[int, float]]) -> Totals:
    def number(name: str | None) -> float | None:
        found = values.get(f"{names.prefix}{name}")
        return None if found is None else sum(found.values())

    def whole(name: str | None) -> int | None:
        value = number(name)
        return None if value is None else int(value)

    positions = values.get(names.prefix + names.by_position)
    return Totals(
        names.engine,
        generated=whole(names.generated) or 0,
        running=whole(names.running) or 0,
        decode_s=number(names.decode_s),
        drafts=whole(names.drafts),
        drafted=whole(names.drafted),
        accepted=whole(names.accepted),
        per_position=tuple(int(positions[i]) for i in sorted(positions)) if positions else None,
        rejected=whole(names.rejected),
    )


def _values(text: str) -> dict[str, dict[int, float]]:
    """Every sample by name and draft position, 0 without one, summed over its other labels."""
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise ForedraftError(
            "Counters at /metrics need prometheus-client; install it with: "
            "pip install 'foredraft[bench]'."
        ) from None
    values: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                values[sample.name][int(sample.labels.get("position", 0))] += sample.value
    except ValueError:  # a page of something else
        return {}
    return values
