"""The plainest decoding there is, kept beside the fast one so that tests can hold them equal."""

from foredraft.core.sequence import TextSequence
from foredraft.targets.base import Rows, Target


def decode_plainly(target: Target, sequence: TextSequence, count: int) -> list[int]:
    """`count` more tokens: the whole text is read anew for each, and one draw is made from p.

    No cache is reused, nothing is drafted, nothing ends the text. Quadratic; for tests.
    """
    for _ in range(count):
        (logits,) = target.score([Rows(target.open(), sequence.tokens)])
        p = sequence.law(logits[-1])
        sequence.tokens.append(sequence.noise.draw_target(len(sequence.tokens), p))
    return sequence.output
