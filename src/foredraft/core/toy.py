"""The toy experiment: one drafted token, judged by the rejection rule, many times at once."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from foredraft.core.types import FloatArray, IntArray

_CHUNK = 100_000


@dataclass(frozen=True, slots=True)
class Tally:
    """How many drafts were accepted, and how often each token was emitted [V]."""

    accepted: int
    counts: IntArray


def judge(
    p: FloatArray,
    q: FloatArray,
    drafting: FloatArray,
    uniforms: FloatArray,
    redrawing: FloatArray,
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """`rejection` of one token drafted from q, for each row of noise: (emitted, accepted) [n].

    `uniforms` [n] judge; `drafting` and `redrawing` [n, V] are Exp(1) noise for the races.
    """
    drafted = np.argmax(q / drafting, axis=1)
    accepted = uniforms * q[drafted] < p[drafted]
    residual = np.maximum(p - q, 0)
    redrawn = np.argmax((residual if residual.any() else p) / redrawing, axis=1)
    return np.where(accepted, drafted, redrawn), accepted


def experiment(p: FloatArray, q: FloatArray, samples: int, seed: int) -> Tally:
    """Draft and judge `samples` tokens, with independent noise for each step."""
    drafting, judging, redrawing = np.random.default_rng(seed).spawn(3)
    accepted, counts = 0, np.zeros(p.size, dtype=np.int64)
    for start in range(0, samples, _CHUNK):
        shape = (min(_CHUNK, samples - start), p.size)
        emitted, kept = judge(
            p,
            q,
            drafting.standard_exponential(shape),
            judging.random(shape[0]),
            redrawing.standard_exponential(shape),
        )
        accepted += int(kept.sum())
        counts += np.bincount(emitted, minlength=p.size)
    return Tally(accepted, counts)


def chance_of(counts: IntArray, p: FloatArray) -> float:
    """How often a plain sample of p would stray from it at least as far as `counts` [V] does.

    The p-value of the chi-square test, by the Wilson-Hilferty approximation; tokens expected less
    than five times are pooled. 0 if a token that p excludes was seen.
    """
    expected = counts.sum() * p
    if counts[p == 0].any():
        return 0.0
    rare = expected < 5
    seen, due = ([*x[~rare], x[rare].sum()] for x in (counts, expected))
    terms = [(o - e) ** 2 / e for o, e in zip(seen, due, strict=True) if e > 0]
    freedom = len(terms) - 1
    if freedom < 1:
        return 1.0
    spread = 2 / (9 * freedom)
    deviate = ((sum(terms) / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(deviate / math.sqrt(2)) / 2
