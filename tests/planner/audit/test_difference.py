from functools import partial

import numpy as np
import pytest

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams, law
from foredraft.core.types import LogitArray
from foredraft.planner.audit.difference import Choose, margin

NONE = np.array([], dtype=np.int64)
LOGITS = np.array([2.0, 1.25, 1.9, -1.0], dtype=np.float32)


def choose(**settings: object) -> Choose:
    """What settings make of logits at position 7, with a seed that draws token 0."""

    def token(logits: LogitArray) -> int:
        params = SamplingParams(**settings)  # type: ignore[arg-type]
        return Noise(4, coupled=True).draw_target(7, law(logits, params, NONE, NONE))

    return token


def test_the_margin_of_a_greedy_token_is_the_gap_to_the_best() -> None:
    greedy = choose()
    assert margin(LOGITS, greedy, 0) == 0
    assert margin(LOGITS, greedy, 2) == pytest.approx(0.1, rel=0.02)
    assert margin(LOGITS, greedy, 1) == pytest.approx(0.75, rel=0.02)


def test_a_mask_is_no_matter_of_rounding() -> None:
    assert margin(LOGITS, choose(allowed_tokens=(0, 1)), 2) is None


def test_the_margin_of_a_draw_is_the_gap_in_the_race() -> None:
    """Gumbel-max: the draw is the largest logit / T + noise, and the margin what is missing."""
    draw = choose(temperature=0.5)
    keys = LOGITS - 0.5 * np.log(Noise(4, coupled=True).at(7, np.arange(4)))
    chosen = draw(LOGITS)
    assert chosen == keys.argmax()
    for token in range(4):
        gap = keys[chosen] - keys[token]
        assert margin(LOGITS, draw, token) == pytest.approx(gap, rel=0.02)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_margin_at_the_edge_of_top_k(place: int) -> None:
    """Two tokens 0.001 apart, of which top-k keeps one: rounding may keep the other."""
    logits = np.full(4, -9.0, dtype=np.float32)
    logits[[place, 3]] = [1.001, 1.0]
    draw = partial(choose(temperature=1.0, top_k=1), logits)
    assert draw() == place
    assert margin(logits, choose(temperature=1.0, top_k=1), 3) == pytest.approx(0.001, rel=0.05)


def test_the_margin_at_the_edge_of_top_p() -> None:
    """The tokens before the edge hold 0.9001 of the 0.9: the next is out by a hair, and no change
    of its own small logit alone would let it in so soon."""
    p = np.array([0.5, 0.4001, 0.0999])
    logits = np.log(p).astype(np.float32)

    def last(wrong: LogitArray) -> int:
        return int(np.flatnonzero(law(wrong, SamplingParams(1.0, top_p=0.9), NONE, NONE))[-1])

    assert last(logits) == 1
    found = margin(logits, last, 2)
    assert found is not None
    assert found < 0.0015
