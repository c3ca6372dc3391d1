"""Honest counts of what a generation did, and the ratios people ask for."""

import math
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stats:
    """Counts and seconds of one generation; drafted = accepted + rejected + ignored.

    *rejected* is the first mismatch of a round, *ignored* what came after it, never judged, or
    stood beside it: so α is that of places, and a wider tree does not lower it.
    `judged[i]` and `kept[i]` count draft position i over the rounds; `lengths[n]` counts the target
    passes that accepted n draft tokens, passes without a draft included. `sources[drafter]` is
    [rounds, drafted, accepted] of the rounds in which it drafted.
    """

    prompt_tokens: int = 0
    generated_tokens: int = 0
    target_passes: int = 0
    drafted: int = 0
    accepted: int = 0
    rejected: int = 0
    judged: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    lengths: dict[int, int] = field(default_factory=dict)
    sources: dict[str, list[int]] = field(default_factory=dict)
    draft_s: float = 0.0
    verify_s: float = 0.0
    accept_s: float = 0.0
    prefill_s: float = 0.0
    total_s: float = 0.0

    def record(
        self, drafted: int, accepted: int, rejected: int, emitted: int, source: str = ""
    ) -> None:
        """Count one target pass: its draft, the tokens it kept of it, and the tokens it emitted."""
        if drafted:
            counts = self.sources.setdefault(source, [0, 0, 0])
            counts[:] = [counts[0] + 1, counts[1] + drafted, counts[2] + accepted]
        self.target_passes += 1
        self.drafted += drafted
        self.accepted += accepted
        self.rejected += rejected
        self.generated_tokens += emitted
        self.lengths[accepted] = self.lengths.get(accepted, 0) + 1
        for position in range(accepted + (rejected > 0)):
            if position == len(self.judged):
                self.judged.append(0)
                self.kept.append(0)
            self.judged[position] += 1
            self.kept[position] += position < accepted

    @property
    def ignored(self) -> int:
        return self.drafted - self.accepted - self.rejected

    @property
    def acceptance_rate(self) -> float | None:
        """α = accepted / (accepted + rejected); None when nothing was judged."""
        judged = self.accepted + self.rejected
        return self.accepted / judged if judged else None

    @property
    def acceptance_interval(self) -> tuple[float, float] | None:
        """The 95 % Wilson interval of α; None when nothing was judged."""
        judged = self.accepted + self.rejected
        return wilson(self.accepted, judged) if judged else None

    @property
    def per_position(self) -> list[float]:
        """Conditional acceptance: kept at position i / judged at position i."""
        return [kept / judged for kept, judged in zip(self.kept, self.judged, strict=True)]

    @property
    def draft_share(self) -> float:
        """Accepted / generated: how much of the output came from the draft. Not α."""
        return self.accepted / self.generated_tokens if self.generated_tokens else 0.0

    @property
    def tokens_per_target_pass(self) -> float:
        """Generated tokens / target passes, passes without a draft included."""
        return self.generated_tokens / self.target_passes if self.target_passes else 0.0

    @property
    def decode_s(self) -> float:
        return self.total_s - self.prefill_s

    @property
    def other_s(self) -> float:
        """Decode time outside drafting, verifying and accepting."""
        return max(0.0, self.decode_s - self.draft_s - self.verify_s - self.accept_s)

    @property
    def tokens_per_s(self) -> float:
        """Generated tokens / decode seconds (the prefill is reported apart)."""
        return self.generated_tokens / self.decode_s if self.decode_s > 0 else 0.0

    def to_dict(self) -> dict[str, object]:
        """The `stats` object of `--json`, in its documented order."""
        names = (
            "prompt_tokens generated_tokens target_passes drafted accepted rejected ignored "
            "acceptance_rate acceptance_interval per_position draft_share tokens_per_target_pass "
            "lengths sources draft_s verify_s accept_s other_s total_s prefill_s tokens_per_s"
        )
        return {name: getattr(self, name) for name in names.split()}


def wilson(successes: int, trials: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's score interval for a proportion (95 % by default); needs at least one trial."""
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
