"""What a round of many sequences costs, by a plan's numbers for one."""

from math import comb

import numpy as np

from foredraft.core.types import FloatArray
from foredraft.planner.plan import Choice, VerifyCurve


def prices(curve: VerifyCurve, most: int) -> FloatArray:
    """v(1) … v(most): interpolated between the measured row counts, and beyond them on the line
    through the first and the last, where what single counts are off by weighs least."""
    rows, last = np.arange(1, most + 1), curve.rows[-1]
    slope = max(0.0, curve.ratio[-1] - curve.ratio[0]) / max(1, last - 1)
    beyond = curve.ratio[-1] + slope * (rows - last)
    return np.where(rows > last, beyond, np.interp(rows, curve.rows, curve.ratio))


def round_price(row: Choice, sequences: int, v: FloatArray) -> float:
    """A round of all sequences in one pass, in plain steps of all; `v` as `prices` gives it.

    Each drafts as often as the plan counted. A draft model's price for a batch is taken to grow as
    the target's does; lookups are made one sequence after another.
    """
    share, drafting = row.drafting_share, np.arange(sequences + 1)
    chances = [comb(sequences, k) * share**k * (1 - share) ** (sequences - k) for k in drafting]
    plain = v[sequences - 1]
    verifying = np.dot(chances, v[sequences - 1 + drafting * row.draft_len])
    batch = plain if row.draft is not None else sequences * share
    return float((row.draft_len * row.cost_ratio * batch + verifying) / plain)
