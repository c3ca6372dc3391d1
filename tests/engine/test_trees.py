"""Paid drafts that branch: priced by passes, cut to what pays, joined with what was free."""

from random import Random
from types import SimpleNamespace

import pytest

from foredraft.core.sampling import SamplingParams
from foredraft.core.tree import depth, likeliest, subtree
from foredraft.core.types import ROOT, Draft
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.control import Outcome
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm
from foredraft.engine.turn import Means
from tests.engine.market import CURVES, Copying, World

TOKENS = 300
RANKS = (0.55, 0.2, 0.1)
"""How often the text's next token is a node's first, second and third child."""
ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
PRICED = CURVES | {"cheap": lambda n: 1 + 0.01 * (n - 1)}
"""As a processor has it whose matrix units are idle in a plain step."""


class Forking:
    """A head that knows three candidates for each next token; q would be as those chances."""

    name, free, expected = "forking", False, HeadDrafter.expected
    reach, signature = None, "forking"

    def __init__(self, world, branches=True, parallel=False, q=None):
        self.world, self.branches, self.parallel, self.q = world, branches, parallel, q
        random = Random(world.tokens)
        drawn = [random.random() for _ in world.text]
        self.right = [next((r for r in range(3) if x < sum(RANKS[: r + 1])), None) for x in drawn]
        self.asked = []

    def unread(self, sequence):
        return 0

    def passes(self, depth):
        return min(depth, 1) if self.parallel else depth

    def propose(self, sequence, limit, go_on=None, shape=None):
        """Three candidates below each of the likeliest nodes of a level, at most one of them right
        and that below the text alone."""
        self.asked.append(shape)
        at, wide = len(sequence.tokens), 1 if shape is None else 3
        width = 1 if shape is None else shape.width
        nodes, level, heard = [], [(1.0, ROOT, True)], []  # (token, parent, evidence, reached)
        for i in range(at, min(at + limit, len(self.world.text))):
            below = []
            for above, parent, true in level:
                for rank in range(wide):
                    right = true and self.right[i] == rank
                    below.append((above * RANKS[rank], len(nodes), right))
                    token = self.world.text[i] if right else -(9 * i + 3 * len(below) + rank) - 1
                    nodes.append((token, parent, RANKS[rank], below[-1][0]))
            held = sum(above for above, *_ in level)
            level = sorted(below, reverse=True)[:width]
            heard.append(sum(above for above, *_ in level) / held)
            if go_on and not go_on(heard):
                break
        tokens, parents, evidence, reached = map(tuple, zip(*nodes, strict=True))
        laws = None if self.q is None else [self.q] * len(tokens)
        whole = Draft(tokens, parents, laws, self.name, evidence)
        self.world.draft_s += self.passes(depth(whole)) * self.world.cost
        return subtree(whole, likeliest(reached)[:limit])

    def close(self, sequence): ...


def played(curve, cost=0.05, copied=0.0, kinds=(), **how):
    world = World(TOKENS, PRICED[curve], copied, 0.5, cost, 1)
    forking = Forking(world, **how)
    prices = Prices({n: world.curve(n) for n in ROWS}, {"forking": cost})
    arms = [Arm(forking), *(Arm(kind(world)) for kind in kinds)]
    controller = Adaptive(arms, prices, Means(trees=True, whole=False))
    return world.play(controller, seed=1), forking, controller


@pytest.mark.parametrize(
    ("curve", "gain"), [("cheap", 1.15), ("flat", 1.03), ("steep", 0.98), ("linear", 0.98)]
)
def test_trees_beat_chains_where_rows_are_cheap_and_lose_nowhere(curve, gain):
    chains, _, _ = played(curve, branches=False)
    trees, forking, _ = played(curve)
    assert chains.seconds / trees.seconds > gain
    assert any(shape is not None for shape in forking.asked)


def test_a_parallel_head_is_asked_for_more_as_depth_costs_nothing():
    depths = []
    for parallel in (False, True):
        _, forking, _ = played("flat", cost=0.3, parallel=parallel)
        shapes = [shape for shape in forking.asked if shape is not None]
        depths.append(sum(shape.depth for shape in shapes) / len(shapes))
    assert depths[1] > 1.5 * depths[0]


def test_a_pass_is_what_is_priced_not_a_token():
    *_, controller = played("flat", cost=0.05)
    assert controller._prices.draft("forking") == pytest.approx(0.05, rel=0.2)


def test_what_was_free_joins_the_tree():
    found, _, _ = played("flat", copied=0.7, kinds=(Copying,))
    assert found.rounds["copying+forking"] > 5


def controller_of(q, whole):
    world = World(40, CURVES["flat"], 1.0, 0.5, 0.01, 0)
    prices = Prices({n: 1 + 0.001 * n for n in ROWS}, {"forking": 0.01})
    arms = [Arm(Copying(world)), Arm(Forking(world, q=q))]
    return Adaptive(arms, prices, Means(trees=True, whole=whole))


@pytest.mark.parametrize(("whole", "joined"), [(False, True), (True, False)])
def test_a_tree_that_q_judges_is_neither_cut_nor_joined(whole, joined):
    controller = controller_of("q", whole)
    sequence = SimpleNamespace(tokens=[], params=SamplingParams(temperature=1.0))
    draft = controller.propose(sequence, 30)
    assert (draft.source == "copying+forking") is joined
    assert (draft.q is None) is joined
    controller.observe(Outcome([1], 0.1, 1.0))


def test_texts_that_share_a_pass_draft_chains():
    controller = controller_of(None, False)
    setting = SimpleNamespace(trees=False)
    assert not controller._branching(setting)
