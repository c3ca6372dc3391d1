"""Randomness that depends on (seed, position) only, so that text does not depend on the drafter."""

import numpy as np

from foredraft.core.types import FloatArray, IntArray

_DRAFT, _JUDGE, _REDRAW = 1, 2, 3


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

    def _stream(self, role: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([self._seed, role])))

    def at(self, position: int, ids: IntArray) -> FloatArray:
        """The Exp(1) noise of some token ids, ascending [n], at one position.

        Counter-based: a token's noise depends on (seed, position, token) alone.
        """
        key = np.array([self._seed, position], dtype=np.uint64)
        uniforms = np.random.Generator(np.random.Philox(key=key)).random(int(ids[-1]) + 1)[ids]
        with np.errstate(divide="ignore"):  # u = 0 becomes E = inf, a token that is not drawn
            return -np.log(uniforms)

    def draw_target(self, position: int, p: FloatArray) -> int:
        """The target's own token at `position`, drawn from p [V]."""
        support = np.flatnonzero(p)
        if support.size == 1:
            return int(support[0])
        return int(support[race(p[support], self.at(position, support))])

    def draw_draft(self, position: int, q: FloatArray) -> int:
        """A draft token for `position` drawn from q [V]."""
        return self.draw_target(position, q) if self._coupled else _draw(q, self._drafting)

    def passes(self, p: float, q: float) -> bool:
        """Whether u·q < p for a fresh uniform u in [0, 1)."""
        return bool(self._judging.random() * q < p)

    def draw(self, weights: FloatArray) -> int:
        """An index drawn in proportion to `weights` [V], independent of drafting and judging."""
        return _draw(weights, self._redrawing)


def _draw(weights: FloatArray, stream: np.random.Generator) -> int:
    support = np.flatnonzero(weights)
    if support.size == 1:
        return int(support[0])
    return int(support[race(weights[support], stream.standard_exponential(support.size))])
