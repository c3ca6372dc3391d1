"""What a step says of its draft."""

from foredraft.core.types import ROOT, Draft, Verdict
from foredraft.engine.job import Step
from foredraft.engine.loop import Round
from foredraft.engine.result import Token


def test_the_refused_siblings_of_a_tree_are_one_rejection():
    """Each was counted, so that a wider tree seemed to be accepted less often than a chain."""
    draft = Draft((5, 6, 7, 8), (ROOT, 0, 0, 0), None, "head")
    done = Round(draft, Verdict((0,), 9, rejected=3), (), 0.0, 0.0, None)
    read = Step((Token(5, "a", True), Token(9, "b", False)), done)
    assert (read.accepted, read.rejected) == (1, 1)
    cut_short = Step((Token(5, "a", True),), done)
    assert (cut_short.accepted, cut_short.rejected) == (1, 0)
