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
        self._stands: WeakKeyDictionary[TextSequence, tuple[int, int, bool]] = WeakKeyDictionary()

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        place = self._follow(sequence)
        if place is None:
            return Draft.chain([], source=self.name)
        copied = self._prediction[place : place + limit]
        agreed = agreement(self._prediction, place, sequence.output)
        return Draft.chain(copied, None, self.name, range(agreed, agreed + len(copied)))

    def _follow(self, sequence: TextSequence) -> int | None:
        """Where in the prediction the output stands, None if it has left it."""
        output = sequence.output
        stood, length, lost = self._stands.get(sequence, (0, 0, False))
        place: int | None = stood + len(output) - length
        if lost or self._prediction[stood:place] != output[length:]:
            place = self._search(output, stood)
        self._stands[sequence] = (stood if place is None else place, len(output), place is None)
        return place

    def _search(self, output: list[int], stood: int) -> int | None:
        """The place that agrees with the most of the output's ending, the next one ahead first."""
        found = [
            (agreed, place >= stood, -place)
            for agreed, place in self._places.find(output)
            if agreed >= _LEAST
        ]
        return -max(found)[2] if found else None

    def close(self, sequence: TextSequence) -> None:
        self._stands.pop(sequence, None)
