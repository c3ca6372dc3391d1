"""How many drafted tokens of each text a shared pass should verify, for the most tokens per second.

After SmartSpec's goodput (2406.14066), by token instead of by length: the candidates of all texts
compete by their chance of acceptance, at the price a row has in this very pass.
"""

import heapq
from collections.abc import Callable, Sequence


def shares(
    chances: Sequence[Sequence[float]], cost: Callable[[int], float], rate: float
) -> list[int]:
    """How many of the first tokens of each text to verify; `chances[i]` must fall.

    `cost(n)` are the seconds of a pass with n drafted rows in all and `rate` the tokens per second
    that time brings anyway. Every total is weighed: a curve may be jagged, four rows cheaper than
    three.
    """
    queue = [(-of[0], text) for text, of in enumerate(chances) if of]
    heapq.heapify(queue)
    taken = [0] * len(chances)
    best, most, tokens, rows = list(taken), 0.0, 0.0, 0
    plain = cost(0)
    while queue:
        chance, text = heapq.heappop(queue)
        tokens -= chance
        taken[text] += 1
        rows += 1
        if taken[text] < len(chances[text]):
            heapq.heappush(queue, (-chances[text][taken[text]], text))
        gain = tokens - rate * (cost(rows) - plain)
        if gain > most:
            best, most = list(taken), gain
    return best
