"""How the draft length should fall as more requests share a pass."""

from dataclasses import replace

import numpy as np

from foredraft.core.speedup import expected_tokens
from foredraft.core.types import FloatArray
from foredraft.planner.batch import prices, round_price
from foredraft.planner.plan import Choice, VerifyCurve

Schedule = list[list[int]]
"""[first batch size, last batch size, draft length], in order and without gaps."""


def by_batch_size(choice: Choice, curve: VerifyCurve) -> Schedule:
    """The best draft length for each number of requests that the measured curve tells about.

    B requests with k drafted tokens each are B·(1 + k) rows. Batches whose rows were not measured
    are left out: no slope is continued.
    """
    most = max(curve.rows, default=0)
    if most <= choice.draft_len:
        return []
    v, batches = prices(curve, most), range(1, most // (1 + choice.draft_len) + 1)
    longest = choice.draft_len
    schedule: Schedule = []
    for batch in batches:
        if batch > 1:
            gains = [_gain(replace(choice, draft_len=k), batch, v) for k in range(longest + 1)]
            longest = int(np.argmax(gains))
        if schedule and schedule[-1][2] == longest:
            schedule[-1][1] = batch
        else:
            schedule.append([batch, batch, longest])
    return schedule


def _gain(choice: Choice, batch: int, v: FloatArray) -> float:
    """Speed over plain decoding of the same batch."""
    more = expected_tokens(choice.acceptance_rate, choice.draft_len) - 1
    return (1 + choice.drafting_share * more) / round_price(choice, batch, v)
