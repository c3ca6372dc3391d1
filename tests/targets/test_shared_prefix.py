"""How much of a text a cache holds: by slices, and right at every length."""

import pytest

from foredraft.targets.base import shared_prefix


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 5000])
def test_shared_prefix(size):
    same = list(range(size))
    assert shared_prefix(same, list(same)) == size
    assert shared_prefix(same, [*same, 1]) == shared_prefix([*same, 1], same) == size
    assert shared_prefix([*same, 1, 2], [*same, 3, 2]) == size
    assert shared_prefix(tuple(same), [*same, 1]) == size
