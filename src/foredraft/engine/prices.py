"""What a pass costs, and what a drafter's tokens do: seconds, measured and kept current."""

import json
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from foredraft.core.files import write_whole

_WEIGHT = 0.1
_FIRST = 4
"""The first observations of a row count weigh more, as if it had been seen this often before."""
_STALL = 2.0
"""One observation changes a price as if it were off by at most this factor: machines stall."""
_DRIFT = 0.1


class Prices:
    """Seconds of a verify pass over n rows, and of one drafting pass of each drafter that runs a
    model, which gives a token or a level of a tree, and of one token it reads.

    The curve may be jagged; between measured row counts it is interpolated, beyond the last it is
    taken to be proportional. `together[s]` is how much dearer the same rows are when they belong to
    s sequences. `path` is where `keep` stores prices that have drifted.
    """

    def __init__(
        self,
        verify: Mapping[int, float],
        drafts: Mapping[str, float] | None = None,
        path: Path | None = None,
        reads: Mapping[str, float] | None = None,
        together: Mapping[int, float] | None = None,
    ) -> None:
        self._verify = dict(sorted(verify.items()))
        self._together = {1: 1.0} | dict(sorted((together or {}).items()))
        self._drafts = dict(drafts or {})
        self._reads = dict(reads or {})
        self._path = path
        self._seen: dict[int, int] = {}
        self._kept = self.to_dict()

    def verify(self, rows: int, sequences: int = 1) -> float:
        """Seconds of a pass over `rows` rows in all, of `sequences` sequences."""
        curve = self._rows(rows)
        if sequences == 1:
            return curve
        known = list(self._together)
        return curve * float(np.interp(sequences, known, [self._together[s] for s in known]))

    def _rows(self, rows: int) -> float:
        if rows in self._verify:
            return self._verify[rows]
        counts = list(self._verify)
        above = min(max(1, bisect_left(counts, rows)), len(counts) - 1)
        low, high = counts[max(0, above - 1)], counts[above]
        if rows > high:
            return self._verify[high] * rows / high
        slope = (self._verify[high] - self._verify[low]) / (high - low)
        return self._verify[low] + slope * (rows - low)

    def draft(self, drafter: str, sequences: int = 1) -> float:
        """Seconds a drafting pass; 0 for a drafter that was never priced. Of a pass that drafts for
        each of several sequences it is one's share, growing as the target's passes do."""
        alone = self._drafts.get(drafter, 0.0)
        return alone * self.verify(sequences, sequences) / self.verify(1) / sequences

    def read(self, drafter: str) -> float:
        """Seconds a token of text that the drafter must read before it drafts."""
        return self._reads.get(drafter, self.draft(drafter))

    def observe_verify(self, rows: int, seconds: float, sequences: int = 1) -> None:
        """A pass was made. It says as much about the machine (a longer context, a busy neighbour)
        as about this row count, so the whole curve learns from it too; how much dearer rows are in
        several sequences is learned at the nearest count that was measured."""
        ratio = seconds / self.verify(rows, sequences)
        if sequences > 1:
            nearest = min(self._together, key=lambda known: abs(known - sequences))
            if nearest > 1:
                self._together[nearest] *= _damped(ratio, _WEIGHT / 2)
        self._seen[rows] = self._seen.get(rows, _FIRST) + 1
        whole = _damped(ratio, _WEIGHT / 2)
        own = _damped(ratio, max(_WEIGHT / 2, 1 / self._seen[rows]))
        self._verify = {count: price * whole for count, price in self._verify.items()}
        self._verify[rows] = self._rows(rows) * own
        self._verify = dict(sorted(self._verify.items()))

    def measured_together(self, factors: Mapping[int, float]) -> None:
        """What was measured of passes that several sequences share."""
        self._together = {1: 1.0} | dict(sorted(factors.items()))

    @property
    def knows_together(self) -> int:
        """The most sequences in one pass whose price was measured."""
        return max(self._together)

    def observe_draft(self, drafter: str, passes: int, seconds: float, sequences: int = 1) -> None:
        """So many passes drafted in `seconds`, each counted once for every sequence it was for."""
        if passes and self.draft(drafter):
            expected = passes * self.draft(drafter, sequences)
            self._drafts[drafter] *= _damped(seconds / expected, _WEIGHT)

    def curve(self, most: int) -> list[float]:
        """v(1) … v(most): each row count's price in plain steps."""
        return [self.verify(rows) / self.verify(1) for rows in range(1, most + 1)]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """JSON: seconds by row count, and by drafter."""
        return {
            "verify_s": {str(rows): seconds for rows, seconds in self._verify.items()},
            "draft_s": dict(self._drafts),
            "read_s": dict(self._reads),
            "together": {str(count): factor for count, factor in self._together.items()},
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Mapping[str, float]], path: Path | None) -> "Prices":
        verify = {int(rows): float(seconds) for rows, seconds in saved["verify_s"].items()}
        if 1 not in verify or min(verify.values()) <= 0:
            raise ValueError("not a price list")
        together = {int(count): factor for count, factor in saved.get("together", {}).items()}
        return cls(verify, saved["draft_s"], path, saved["read_s"], together)

    def keep(self, always: bool = False) -> None:
        """Store the prices if they have a path and differ from what is stored there.

        A disk that refuses is no reason to stop: the next start measures again.
        """
        old, new = self._kept["verify_s"], self.to_dict()
        drifted = any(
            abs(seconds / old.get(rows, seconds) - 1) > _DRIFT
            for rows, seconds in new["verify_s"].items()
        )
        if self._path is None or not (drifted or always):
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(new))
            self._kept = new


def _damped(ratio: float, weight: float) -> float:
    return float(min(_STALL, max(1 / _STALL, ratio)) ** weight)
