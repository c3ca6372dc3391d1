"""How the draft length should fall as more requests share a pass."""

from collections.abc import Sequence

import numpy as np

from foredraft.core.speedup import expected_tokens
from foredraft.planner.plan import Choice, VerifyCurve

Schedule = list[list[int]]
"""[first batch size, last batch size, draft length], in order and without gaps."""


def by_batch_size(choice: Choice, curve: VerifyCurve) -> Schedule:
    """The best draft length for each number of requests that the measured curve tells about.

    B requests with k drafted tokens each are B·(1 + k) rows. Batches whose rows were not measured
    are left out: no slope is continued. A draft pass is taken to grow with the batch as the
    target's does.
    """
    batches = range(1, max(curve.rows, default=0) // (1 + choice.draft_len) + 1)
    longest = choice.draft_len
    schedule: Schedule = []
    for batch in batches:
        if batch > 1:
            gains = [_gain(choice, curve.rows, curve.ratio, batch, k) for k in range(longest + 1)]
            longest = int(np.argmax(gains))
        if schedule and schedule[-1][2] == longest:
            schedule[-1][1] = batch
        else:
            schedule.append([batch, batch, longest])
    return schedule


def _gain(
    choice: Choice, rows: Sequence[int], ratio: Sequence[float], batch: int, length: int
) -> float:
    """Speed over plain decoding of the same batch."""
    plain, check = np.interp([batch, batch * (1 + length)], rows, ratio)
    tokens = expected_tokens(choice.acceptance_rate, length)
    return float(tokens * plain / (length * choice.cost_ratio * plain + check))
