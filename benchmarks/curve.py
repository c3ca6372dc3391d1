"""v(n): what a pass over n rows costs a target, measured."""

import time
from statistics import median

from foredraft.targets.base import Rows, Target


def verify_curve(target: Target, most: int, repeats: int = 5) -> list[float]:
    """v(1) … v(most), in seconds: medians of passes after 200 tokens, row counts alternating."""
    sequence = target.open()
    tokens = [(37 * i) % 1000 + 100 for i in range(200 + most)]
    target.prefill(sequence, tokens[:200])
    seconds: list[list[float]] = [[] for _ in range(most)]
    for _ in range(repeats):
        for rows in range(1, most + 1):
            begun = time.perf_counter()
            target.score([Rows(sequence, tokens[200 : 200 + rows])])
            seconds[rows - 1].append(time.perf_counter() - begun)
            target.commit(sequence, [])
    return [median(runs) for runs in seconds]
