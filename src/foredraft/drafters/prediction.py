"""Predicted output as the draft: a text that the caller expects the answer to resemble."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from foredraft.core.sequence import TextSequence
from foredraft.core.types import Draft
from foredraft.drafters.places import Places, agreement

_LEAST = 2
"""Tokens of the output that must agree before its place in the prediction is believed."""


class PredictionDrafter:
    """Copies a predicted answer from where the output stands in it: its beginning at first, later
    where it agrees with the output's ending, the place ahead of the last one first.

    For OpenAI's `prediction`. Deterministic, so q is one-hot. A token's evidence is how many tokens
    before it agree, the drafted ones included.
    """

    name = "prediction"
    free = True
    expected: tuple[tuple[float, float], ...] = (
        (0, 0.7),
        (2, 0.5),
        (3, 0.7),
        (6, 0.85),
        (12, 0.92),
        (24, 0.96),
        (32, 0.98),
    )

    def __init__(self, prediction: Sequence[int]) -> None:
        self._prediction = list(prediction)
        self._places = Places()
        self._places.extend(self._prediction)
        self._stands: WeakKeyDictionary[TextSequence, tuple[int, int]] = WeakKeyDictionary()

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        place, agreed = self._place(sequence)
        copied = self._prediction[place : place + limit] if place >= 0 else []
        return Draft.chain(copied, None, self.name, range(agreed, agreed + len(copied)))

    def _place(self, sequence: TextSequence) -> tuple[int, int]:
        """Where in the prediction the output stands, −1 if nowhere, and how many tokens agree."""
        output = sequence.output
        known, length = self._stands.get(sequence, (0, 0))
        moved = known + len(output) - length if known >= 0 else -1
        fresh = output[length:]
        if known < 0 or self._prediction[known:moved] != fresh:
            moved = self._search(output, known)
        self._stands[sequence] = (moved, len(output))
        if moved < 0:
            return -1, 0
        return moved, agreement(self._prediction, moved, output)

    def _search(self, output: list[int], known: int) -> int:
        """The place that agrees with the most of the output's ending, the nearest ahead first."""
        found = [(agreed, place) for agreed, place in self._places.find(output) if agreed >= _LEAST]
        ranked = ((agreed, place >= known, -place) for agreed, place in found)
        return -max(ranked, default=(0, False, 1))[2]

    def close(self, sequence: TextSequence) -> None:
        self._stands.pop(sequence, None)
