"""What was drafted for a place in a text, as far as the text before it settles it."""

import math
from dataclasses import dataclass

import numpy as np

from foredraft.core.types import ROOT, FloatArray, IntArray
from foredraft.engine.loop import Round

_LEADING = 64


@dataclass(frozen=True, slots=True)
class Proposal:
    """The draft's likeliest ids for one place and their q [n]; q None: one id, not drawn.

    Not what was drawn from q: that may share its chance with the token that was emitted.
    """

    ids: IntArray
    q: FloatArray | None

    def overrated(self, p: FloatArray, slack: float) -> IntArray:
        """The ids to which q gives more than p [V], whose logits are good to `slack`."""
        return self.ids if self.q is None else self.ids[self.q > p[self.ids] * math.exp(slack)]


def proposals(done: Round) -> list[Proposal | None]:
    """For the place of each emitted token, what was drafted there first, or None."""
    draft, children = done.draft, done.draft.children()
    found: list[Proposal | None] = []
    for node in (ROOT, *done.verdict.path):
        first = next(iter(children.get(node, ())), None)
        if first is None:
            found.append(None)
        elif draft.q is None:
            found.append(Proposal(np.array([draft.tokens[first]]), None))
        else:
            q = draft.q[first]
            ids = np.argpartition(-q, min(_LEADING, q.size - 1))[:_LEADING]
            found.append(Proposal(ids, q[ids]))
    return found
