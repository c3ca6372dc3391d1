"""Randomness that depends on (seed, position) only, so that text does not depend on the drafter."""

import numpy as np

from foredraft.core.types import FloatArray, IntArray

_DRAFT, _JUDGE, _REDRAW = 1, 2, 3
_SURE = 1 - 1e-9
"""Less than one by more than arithmetic is off."""


def race(weights: FloatArray, exponentials: FloatArray) -> int:
    """argmax of weights / E with E ~ Exp(1) [n]: an exact draw in proportion to `weights`.

    The Gumbel-max trick without logarithms of p; no normalisation and no running sum, whose
    rounding error over a large vocabulary would bias the draw.
    """
    return int(np.argmax(weights / exponentials))


class Noise:
    """The chance of one request, from its seed.

    `coupled`: the draft and the target share the noise of a position, so a sampled draft agrees
    with the target as often as a shared draw allows. Otherwise drafting, judging and redrawing
    use independent streams, as the rejection rules require.
    """

    def __init__(self, seed: int, coupled: bool) -> None:
        self._seed = seed
        self._coupled = coupled
        self._drafting = self._stream(_DRAFT)
        self._judging = self._stream(_JUDGE)
        self._redrawing = self._stream(_REDRAW)

    @property
    def coupled(self) -> bool:
        """Whether a draft may know the noise of the target's own draw."""
        return self._coupled

    def _stream(self, role: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([self._seed, role])))

    def at(self, position: int, ids: IntArray) -> FloatArray:
        """The Exp(1) noise of some token ids, ascending [n], at one position.

        Counter-based: a token's noise depends on (seed, position, token) alone.
        """
        return _exponentials(self._uniforms(position, int(ids[-1]) + 1)[ids])

    def _uniforms(self, position: int, count: int) -> FloatArray:
        key = np.array([self._seed, position], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key)).random(count)

    def draw_target(self, position: int, p: FloatArray) -> int:
        """The target's own token at `position`, drawn from p [V]."""
        if p.min() > 0:
            return _winner(p, self._uniforms(position, p.size))
        support = np.flatnonzero(p)
        if support.size == 1:
            return int(support[0])
        uniforms = self._uniforms(position, int(support[-1]) + 1)[support]
        return int(support[_winner(p[support], uniforms)])

    def draw_draft(self, position: int, q: FloatArray) -> int:
        """A draft token for `position` drawn from q [V]."""
        return self.draw_target(position, q) if self._coupled else _draw(q, self._drafting)

    def draw_siblings(self, q: FloatArray, count: int) -> list[int]:
        """At most `count` different draft tokens, each drawn from what the ones before leave of q.

        The first past the post of one race, in order (Gumbel-top-k); independent of the target's.
        """
        support = np.flatnonzero(q)
        times = self._drafting.standard_exponential(support.size) / q[support]
        first = np.arange(support.size)
        if count < support.size:
            first = np.argpartition(times, count)[:count]
        return [int(token) for token in support[first[np.argsort(times[first], kind="stable")]]]

    def passes(self, p: float, q: float) -> bool:
        """Whether u·q < p for a fresh uniform u in [0, 1)."""
        return bool(self._judging.random() * q < p)

    def draw(self, weights: FloatArray) -> int:
        """An index drawn in proportion to `weights` [V], independent of drafting and judging."""
        return _draw(weights, self._redrawing)


def _winner(weights: FloatArray, uniforms: FloatArray) -> int:
    """The race of weights / E, E = −log u, with few logarithms: E ≥ 1 − u, so only tokens which
    that lets beat the likeliest one need theirs."""
    top = weights.argmax()
    lead = weights[top] / _exponentials(uniforms[top, None])
    able = np.flatnonzero(weights >= _SURE * lead * (1 - uniforms))
    return int(able[race(weights[able], _exponentials(uniforms[able]))])


def _exponentials(uniforms: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # u = 0 becomes E = inf, a token that is not drawn
        return -np.log(uniforms)


def _draw(weights: FloatArray, stream: np.random.Generator) -> int:
    support = np.flatnonzero(weights)
    if support.size == 1:
        return int(support[0])
    return int(support[race(weights[support], stream.standard_exponential(support.size))])
