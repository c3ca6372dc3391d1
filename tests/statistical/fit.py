"""Sampling whole texts with real noise, and the chi-square test of them against the exact law.

Errors that matter are a total variation TV away from the target's law. Its chi-square then has a
noncentrality of at least 4·n·TV², which `power` turns into the chance that a sample of n shows it.
"""

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from scipy import stats

from foredraft.core.accept import match
from foredraft.core.noise import Noise
from foredraft.core.types import Draft, Verdict
from tests.exact import Rule, joint, plain
from tests.worlds import Law, Pick, Shape, Text, World, emitted, grow, rows

FALSE_ALARM = 1e-3
"""The level of every test: how often a right rule would fail, had its seed not been fixed."""

Judge = Callable[[list[Law], Draft, Noise, int], Verdict]
"""(p, draft, noise, the position after the last committed token) → verdict."""


def fresh(rule: Rule) -> Judge:
    """A rule judged with fresh randomness."""
    return lambda p, draft, noise, here: rule(p, draft, noise)


def coupled(p: list[Law], draft: Draft, noise: Noise, here: int) -> Verdict:
    """Match with the target's own draw at each position, from the noise the draft shares."""
    return match(p, draft, lambda depth, law: noise.draw_target(here + depth, law))


def generate(
    world: World, judge: Judge, pick: Pick, shape: Shape, length: int, noise: Noise
) -> tuple[Text, list[int]]:
    """A text of `length` tokens by speculative rounds, and how many draft tokens each kept."""
    text: Text = ()
    kept = []
    while len(text) < length:
        draft = grow(world.q, shape, pick, noise.draw_draft, text)
        verdict = judge(rows(world.p, draft, text), draft, noise, len(text))
        text += emitted(draft, verdict)
        kept.append(len(verdict.path))
    return text[:length], kept


def p_value(counts: Mapping[Text, int], law: Mapping[Text, float]) -> float:
    """Of the chi-square goodness of fit; bins that expect less than 5 are pooled."""
    if not counts.keys() <= law.keys():
        return 0.0  # a text that the target cannot emit
    n = sum(counts.values())
    pairs = np.array([(counts.get(text, 0), n * mass) for text, mass in law.items()])
    rare = pairs[:, 1] < 5
    bins = pairs[~rare]
    if rare.any():
        bins = np.vstack([bins, pairs[rare].sum(axis=0)])
    if len(bins) == 1:
        return 1.0  # the target has one text, and nothing else was seen
    return float(stats.chisquare(bins[:, 0], bins[:, 1]).pvalue)


def power(n: int, tv: float, bins: int) -> float:
    """The chance that n samples show a law that is `tv` away, at the level FALSE_ALARM."""
    threshold = stats.chi2.isf(FALSE_ALARM, bins - 1)
    return float(stats.ncx2.sf(threshold, bins - 1, 4 * n * tv**2))


def fit(
    exact: World,
    judge: Judge,
    pick: Pick,
    shape: Shape,
    n: int,
    noise: Callable[[int], Noise],
    length: int = 3,
) -> float:
    """The p-value of n texts, the i-th with noise(i), against the target's exact law."""
    world = exact.as_floats()
    texts = Counter(generate(world, judge, pick, shape, length, noise(i))[0] for i in range(n))
    law = {text: float(mass) for text, mass in joint(plain(exact), length).items()}
    return p_value(texts, law)
