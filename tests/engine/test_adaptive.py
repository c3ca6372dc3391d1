"""The controller on simulated machines: wins where something pays, plain where nothing does."""

from statistics import geometric_mean, mean

import pytest

from foredraft.core.types import Draft
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.control import Outcome
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm
from foredraft.engine.turn import Means
from tests.engine.market import CURVES, Copying, Model, World

TOKENS = 400
SEEDS = range(6)


def over_plain(world, controller, seed=0):
    return world.tokens / world.play(controller, seed=seed).seconds


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("cost", [0.05, 0.33])
@pytest.mark.parametrize(("copied", "alpha"), [(0.9, 0.3), (0.0, 0.2), (0.0, 0.85), (0.5, 0.6)])
def test_near_the_best_fixed_setting_or_better_and_never_far_below_plain(
    curve, cost, copied, alpha
):
    gains, ratios = [], []
    for seed in SEEDS:
        world = World(TOKENS, CURVES[curve], copied, alpha, cost, seed)
        took = world.play(world.adaptive(Copying, Model), seed=seed).seconds
        gains.append(TOKENS / took)
        ratios.append(world.best_fixed(Copying, Model) / took)
    assert min(gains) > 0.95
    assert mean(gains) > 0.975
    assert geometric_mean(ratios) > 0.93


def test_switching_among_drafters_beats_every_fixed_one_where_a_text_is_mixed():
    ratios = []
    for seed in SEEDS:
        world = World(TOKENS, CURVES["flat"], 0.5, 0.7, 0.05, seed)
        played = world.play(world.adaptive(Copying, Model), seed=seed)
        ratios.append(world.best_fixed(Copying, Model) / played.seconds)
        for name in ("copying", "model"):  # or in one tree with the other
            assert sum(played.rounds[source] for source in played.rounds if name in source) > 5
    assert geometric_mean(ratios) > 1.05


def test_a_drafter_that_never_pays_costs_one_percent_to_watch():
    world = World(2000, CURVES["linear"], 0.0, 0.05, 0.6, 1)
    played = world.play(world.adaptive(Model), noise=0.0)
    assert played.rounds["asked"] >= 2, "it is tried again now and then"
    assert 2000 / played.seconds > 0.985


def test_a_drafter_that_begins_to_pay_is_found():
    world = World(1200, CURVES["flat"], 0.0, 0.9, 0.1, 2)
    for i in range(600):
        guess = world.guesses[i]
        world.guesses[i] = (guess[0], False)
    controller = world.adaptive(Model)
    played = world.play(controller, noise=0.0)
    assert 1200 / played.seconds > 1.3, "half of the text at about 2.5x, half at 1x"


def test_four_rows_cheaper_than_three_are_used():
    world = World(TOKENS, CURVES["jagged"], 1.0, 0.5, 0.5, 3)
    lengths = []
    controller = world.adaptive(Copying)
    propose = controller.propose
    controller.propose = lambda *a: lengths.append(len(draft := propose(*a))) or draft
    world.play(controller)
    assert lengths.count(3) > 5 * lengths.count(2)


class Scripted:
    name, free, expected = "scripted", False, ((0.0, 0.5),)
    reach, branches = None, False

    def __init__(self, q):
        self.q = q

    def unread(self, sequence):
        return 0

    def passes(self, depth):
        return depth

    def propose(self, sequence, limit, go_on=None, shape=None):
        return Draft.chain([1, 2], q=self.q, source=self.name, evidence=[0.0, 0.0])


@pytest.mark.parametrize(
    ("q", "whole", "kept"), [(["q", "q"], True, 2), (["q", "q"], False, 0), (None, True, 0)]
)
def test_nothing_is_dropped_of_a_sampled_draft_that_is_judged_with_its_q(q, whole, kept):
    """Dropping a token because of what it is would bias the output."""
    prices = Prices({1: 1.0, 2: 1.9, 3: 2.8}, {"scripted": 0.0001})
    controller = Adaptive([Arm(Scripted(q))], prices, Means(trees=True, whole=whole))
    controller._paid[0][1]._ranks.chances = [1.0]  # it seems sure before its tokens are known
    assert len(controller.propose(World(9, CURVES["flat"], 0, 0.5, 0, 0), 9)) == kept


class Unread(Model):
    """It would have to read a long text first."""

    def unread(self, sequence):
        return 0 if self.world.draft_s or self.asked else 200

    asked = False

    def propose(self, sequence, limit, go_on=None, shape=None):
        self.asked = True
        return super().propose(sequence, limit, go_on)


def test_a_long_text_is_not_read_before_it_would_have_paid():
    """Early in a text nobody knows how long it gets, or whether a lookup will do."""
    worlds = (
        World(TOKENS, CURVES["flat"], 0.0, 0.8, 0.3, 4),
        World(TOKENS, CURVES["flat"], 1.0, 0.8, 0.3, 4),
    )
    asked = []
    for world in worlds:
        controller = world.adaptive(Copying, Unread)
        controller._prices._reads["model"] = 0.02  # 200 tokens: four plain steps
        rounds = world.play(controller).rounds
        asked.append(rounds["model"])
    assert asked[0] > 20, "no lookup helps: it is read after a while"
    assert asked[1] == 0, "the text copies: it never is"


def test_why_is_told():
    world = World(60, CURVES["flat"], 1.0, 0.5, 0.3, 0)
    controller = world.adaptive(Copying, Model)
    world.play(controller)
    decision = controller.decision
    assert {option.drafter for option in decision.options} >= {"none", "model"}
    assert decision.chosen in decision.options
    assert decision.why


def test_a_stall_does_not_switch_speculation_off():
    world = World(TOKENS, CURVES["flat"], 1.0, 0.5, 0.3, 0)
    controller = world.adaptive(Copying)
    observe = controller.observe
    stalls = iter(range(1000))

    def stalled(outcome):
        late = 20.0 if next(stalls) % 15 == 5 else 1.0
        observe(Outcome(outcome.emitted, outcome.draft_s, outcome.verify_s * late))

    controller.observe = stalled
    assert over_plain(world, controller) > 0.8 * over_plain(world, world.adaptive(Copying))
