"""Rounds of several texts together: draft, verify, accept, commit."""

import time
from collections import deque
from collections.abc import Sequence
from statistics import median

from foredraft.core.types import Draft, LogitArray
from foredraft.engine.control import Outcome
from foredraft.engine.job import Share
from foredraft.engine.loop import Round
from foredraft.engine.prices import Prices
from foredraft.engine.running import Running
from foredraft.engine.together import Together
from foredraft.targets.base import Target

_RECENT = 15
_ENOUGH = 3


class Rounds:
    """One pass of the target for all texts at once, and the choice of what each drafts."""

    def __init__(self, target: Target, prices: Prices) -> None:
        self._target = target
        self._together = Together(prices)
        self._plain: dict[int, deque[float]] = {}

    def plain_s(self, count: int) -> float:
        """Seconds of a pass over `count` sequences without drafts: of those that were made lately,
        else its price, which may date from when the machine had other things to do."""
        lately = self._plain.get(count, ())
        if len(lately) >= _ENOUGH:
            return median(lately)
        return self._together.prices.verify(count, count)

    def play(self, texts: Sequence[Running], free: int | None = None) -> dict[Running, Exception]:
        """A round of each text, with at most `free` cells for drafts; those that failed.

        A pass that fails fails for all, what is done to one text for that one alone.
        """
        parts = [one.part(64 if free is None else free // len(texts)) for one in texts]
        begun = time.perf_counter()
        drafts = self._together.propose(parts)
        drafted = time.perf_counter()
        logits = self._target.score([o.cycle.rows(d) for o, d in zip(texts, drafts, strict=True)])
        verified = time.perf_counter()
        draft_s, verify_s = drafted - begun, verified - drafted
        done, failed = _accept(texts, drafts, logits, draft_s, verify_s)
        accept_s = time.perf_counter() - verified
        emitted = [[t.id for t in o.generation.fresh] if o in done else [] for o in texts]
        rows, count = sum(1 + len(draft) for draft in drafts), len(texts)
        every = [token for tokens in emitted for token in tokens]
        self._together.observe(parts, emitted, rows, Outcome(every, draft_s, verify_s, count))
        plain_s = self.plain_s(count)
        if rows == count:
            self._plain.setdefault(count, deque(maxlen=_RECENT)).append(verify_s)
            plain_s = verify_s
        plain_s += accept_s / max(1, len(every)) * count
        for one, how in done.items():
            one.tell(how, Share(count, rows), draft_s + verify_s + accept_s, plain_s)
        return failed


def _accept(
    texts: Sequence[Running],
    drafts: Sequence[Draft],
    logits: Sequence[LogitArray],
    draft_s: float,
    verify_s: float,
) -> tuple[dict[Running, Round], dict[Running, Exception]]:
    """Judge and commit each text's draft; a law that cannot be made is that text's own failure."""
    done: dict[Running, Round] = {}
    failed: dict[Running, Exception] = {}
    for one, draft, scores in zip(texts, drafts, logits, strict=True):
        try:
            done[one] = one.accept(draft, scores, draft_s, verify_s)
        except Exception as error:
            failed[one] = error
    return done, failed
