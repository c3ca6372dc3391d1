import numpy as np
import pytest

from foredraft.planner.audit.forced import Text, forced, rounding
from foredraft.targets.base import Rows
from tests import tiny
from tests.planner.audit.table import Table

TEXT = Text([1, 2, 3], [4, 5, 6, 7, 8, 9, 10, 11, 12])


@pytest.mark.parametrize("group", [1, 4, 32])
@pytest.mark.parametrize("kind", ["llama", "qwen3next"])
def test_the_rows_are_those_of_one_pass(kind: str, group: int) -> None:
    target = tiny.target(kind)
    (whole,) = target.score([Rows(target.open(), TEXT.prompt + TEXT.output)])
    rows = np.array(list(forced(target, target.open(), TEXT, group)))
    assert rows.shape == (9, tiny.VOCAB)
    assert rows == pytest.approx(whole[2:-1], abs=1e-4)


def test_a_text_without_output_has_no_rows() -> None:
    assert list(forced(Table(), Table().open(), Text([1, 2], []))) == []


def test_rounding_is_what_moves_logits_against_each_other() -> None:
    assert rounding(Table(), [TEXT]) == 0
    assert 0.05 < rounding(Table(wobble=0.1), [TEXT]) < 0.2
    assert 0 < rounding(tiny.target(), [TEXT]) < 1e-4
