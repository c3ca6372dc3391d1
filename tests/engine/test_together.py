"""Several simulated texts on one machine: speculation fades out under load and comes back."""

from random import Random
from types import SimpleNamespace

import pytest

from foredraft.core.tree import followed
from foredraft.drafters.none import NoDrafter
from foredraft.engine import together
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.control import Fixed, Outcome
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm
from foredraft.engine.together import Part, Together
from foredraft.engine.turn import Means
from tests.engine.market import CURVES, Copying, Model, World

TOKENS = 150
CLOCK = [0.0]


@pytest.fixture(autouse=True)
def simulated_time(monkeypatch):
    monkeypatch.setattr(together, "time", SimpleNamespace(perf_counter=lambda: CLOCK[0]))


ROWS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64)


class Drafting(Model):
    """A draft model whose passes serve all texts: one costs what its most steps cost."""

    def propose_together(self, wanted):
        drafts = [sequence.model.propose(sequence, *rest) for sequence, *rest in wanted]
        for sequence, *_ in wanted:
            sequence.world.draft_s = 0.0
        steps = max(map(len, drafts))
        CLOCK[0] += self.world.cost * sum(
            self.world.curve(sum(len(draft) > step for draft in drafts)) for step in range(steps)
        )
        return drafts


def play(count, curve, copied=0.0, alpha=0.6, cost=0.1, *kinds, speculate=True):
    """Tokens per plain step of `count` texts, each finished text followed by another."""
    random = Random(count)
    curve = CURVES[curve]
    prices = Prices({n: curve(n) for n in ROWS}, {"model": cost})
    shared = Together(prices)
    first = World(TOKENS, curve, copied, alpha, cost, 0)
    arms = [Arm(kind(first)) for kind in kinds]

    def text(seed):
        world = World(TOKENS, curve, copied, alpha, cost, seed)
        sequence = SimpleNamespace(tokens=[], world=world, model=Model(world))
        own = [arm.like(Copying(world)) if arm.drafter.free else arm for arm in arms]
        means = Means(trees=True, whole=False)
        sequence.controller = Adaptive(own, prices, means) if speculate else Fixed(NoDrafter(), 0)
        return sequence

    texts = [text(seed) for seed in range(count)]
    seconds = emitted = drafted = 0
    while emitted < 40 * count + 200:
        parts = [Part(t.controller, t, min(63, TOKENS - len(t.tokens) - 1)) for t in texts]
        begun = CLOCK[0]
        drafts = shared.propose(parts)
        rows = count + sum(map(len, drafts))
        verify_s = curve(rows) * (1 + 0.05 * (random.random() - 0.5))
        made = []
        for t, draft in zip(texts, drafts, strict=True):
            rest = t.world.text[len(t.tokens) : TOKENS]
            kept = sum(taken for _, taken in followed(draft, rest))
            made.append(rest[: kept + 1])
            t.tokens += made[-1]
        every = [token for tokens in made for token in tokens]
        draft_s = CLOCK[0] - begun
        shared.observe(parts, made, rows, Outcome(every, draft_s, verify_s, count))
        seconds += draft_s + verify_s
        emitted += len(every)
        drafted += rows - count
        texts = [
            t if len(t.tokens) < TOKENS else text(1000 + emitted + i) for i, t in enumerate(texts)
        ]
    return emitted / seconds, drafted / emitted


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_never_slower_than_without(curve, count):
    for copied, alpha, kinds in ((0.7, 0.3, (Copying,)), (0.0, 0.7, (Copying, Drafting))):
        without, _ = play(count, curve, copied, alpha, 0.1, *kinds, speculate=False)
        speed, _ = play(count, curve, copied, alpha, 0.1, *kinds)
        assert speed > 0.96 * without


def test_it_wins_where_few_share_a_pass_and_fades_out_where_many_do():
    shares, gains = [], []
    for count in (1, 2, 4, 8, 16):
        without, _ = play(count, "steep", 0.6, 0.5, 0.1, Copying, speculate=False)
        speed, drafted = play(count, "steep", 0.6, 0.5, 0.1, Copying)
        gains.append(speed / without)
        shares.append(drafted)
    assert gains[0] > 1.3
    assert shares[-1] < shares[0]
    assert gains[-1] < gains[0]


def test_a_draft_model_serves_several_texts_in_one_pass():
    without, _ = play(4, "flat", 0.0, 0.85, 0.1, Drafting, speculate=False)
    speed, _ = play(4, "flat", 0.0, 0.85, 0.1, Drafting)
    assert speed > 1.35 * without
