"""The optimal tree: nothing that can be built is worth more."""

from itertools import product

import pytest

from foredraft.core.shape import best_shape
from foredraft.core.speedup import expected_tokens
from foredraft.core.types import ROOT


def every_tree(nodes):
    """All parent lists in which parents come first, so all trees with ordered siblings."""
    return product(*(range(ROOT, i) for i in range(nodes)))


def worth(parents, ranks):
    """(expected accepted tokens, levels): each node's rank is its place among its siblings."""
    total, reached, depths, seen = 0.0, [], [], {}
    for parent in parents:
        rank = seen.get(parent, 0)
        seen[parent] = rank + 1
        if rank >= len(ranks):
            return 0.0, 0
        chance = ranks[rank]
        for earlier in ranks[:rank]:
            chance *= 1 - earlier
        reached.append(chance * (1 if parent == ROOT else reached[parent]))
        depths.append(1 + (0 if parent == ROOT else depths[parent]))
        total += reached[-1]
    return total, max(depths)


@pytest.mark.parametrize("ranks", [(0.6,), (0.7, 0.4, 0.2), (0.3, 0.3, 0.3), (0.9, 0.5)])
@pytest.mark.parametrize(("row", "level"), [(0.02, 0.05), (0.1, 0.0), (0.0, 0.3), (0.3, 0.3)])
@pytest.mark.parametrize("depth", [2, 5])
def test_no_tree_gains_more(ranks, row, level, depth):
    jag = {3: 0.25}  # four rows may be cheaper than three
    rows = [row * nodes + jag.get(nodes, 0.0) for nodes in range(6)]
    costs = [level * levels for levels in range(depth + 1)]
    most = -9.0
    for nodes in range(1, 6):
        for parents in every_tree(nodes):
            tokens, levels = worth(parents, ranks)
            if 0 < levels <= depth:
                most = max(most, tokens - rows[nodes] - costs[levels])
    shape = best_shape(ranks, rows, costs, 1.0)
    tokens, levels = worth(shape.parents, ranks)
    assert (tokens, levels) == (pytest.approx(shape.tokens), shape.depth)
    assert tokens - rows[len(shape.parents)] - costs[levels] == pytest.approx(most)


def test_with_one_rank_it_is_a_chain_as_the_formula_has_it():
    shape = best_shape((0.8,), [0.0] * 17, [0.0] * 6, 1.0)
    assert shape.is_chain
    assert 1 + shape.tokens == pytest.approx(expected_tokens(0.8, 5))


def test_siblings_come_in_order_and_levels_one_after_the_other():
    shape = best_shape((0.6, 0.5, 0.4), [0.0] * 13, [0.0] * 5, 1.0)
    assert len(shape.parents) == 12
    depths = []
    for parent in shape.parents:
        depths.append(1 + (0 if parent == ROOT else depths[parent]))
    assert depths == sorted(depths)


def test_a_rank_that_seems_better_than_the_one_before_does_not_come_first():
    """Measured chances are noisy; a second child cannot be drafted without a first."""
    shape = best_shape((0.1, 0.9), [0.0] * 4, [0.0] * 2, 1.0)
    assert shape.parents == (ROOT, ROOT)
