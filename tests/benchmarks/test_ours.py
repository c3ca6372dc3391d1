"""The ideal that a run is held against prices exactly the passes and drafts it made."""

from dataclasses import dataclass

import pytest

from engines.ours import Counted, Drafting, ideal
from foredraft.core.stats import Stats
from foredraft.core.types import ROOT, Draft


def test_the_ideal_is_tokens_over_the_price_of_the_passes_and_drafts():
    stats = Stats()
    stats.record(2, 2, 0, 3, "model")
    stats.record(0, 0, 0, 1)
    # passes over 3 and 1 rows, and two passes of the draft of 0.25 plain steps each
    assert ideal(stats, [3, 1], [1.0, 1.2, 1.5], 2 * 0.25) == pytest.approx(4 / (1.5 + 1 + 0.5))


class Wide:
    """Drafts two tokens after each other and one beside them, two to a pass."""

    def passes(self, depth: int) -> int:
        return -(-depth // 2)

    def propose(self, sequence: object, limit: int) -> Draft:
        return Draft((5, 6, 7), (ROOT, 0, ROOT), None, "wide")


def test_a_draft_costs_its_passes_not_its_tokens():
    """A tree, or a head that tells all tokens at once, was priced as one pass a token."""
    drafter = Drafting(Wide())
    drafter.propose(None, 3)
    drafter.propose(None, 3)
    assert drafter.made == 2


@dataclass
class Pass:
    tokens: list[int]


class Silent:
    """A target that only listens."""

    name = "silent"

    def prefill(self, *args: object) -> None:
        pass

    def score(self, batch: list[Pass]) -> str:
        return "logits"


def test_rows_are_counted_though_every_round_reads_the_text_anew():
    """The engine calls `prefill` before each pass; counting from there left the last pass alone."""
    target = Counted(Silent())
    target.prefill(None, [1, 2])
    assert target.score([Pass([1]), Pass([1, 2, 3])]) == "logits"
    target.prefill(None, [1, 2, 3])
    target.score([Pass([7, 8])])
    assert target.rows == [1, 3, 2]
    assert target.name == "silent"
