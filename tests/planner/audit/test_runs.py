import pytest

from foredraft.core.sampling import SamplingParams
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.audit.runs import Runs, share
from tests.planner.audit.table import Table

PROMPTS = [("one", [1, 2, 3, 1, 2]), ("two", [1, 2, 3, 1, 2])]


def test_runs_are_those_of_the_engine_and_independent_of_each_other() -> None:
    target, heard = Table(), []
    generator = Generator(target, NgramDrafter(1, 4))
    runs = Runs(generator, PROMPTS, 2, lambda what, done, total: heard.append((what, done, total)))
    request = Request(SamplingParams(1.0), 30, seed=7, draft_len=3)
    made = runs.make(request, plainly=True)
    assert [run.request.seed for run in made] == [7, 8]
    assert made[0].text != made[1].text
    for run in made:
        assert run.text == run.plain
        assert len(run.text.output) == len(run.proposals) == 30
        assert any(run.proposals)
    assert runs.drafted > runs.accepted > 0
    assert heard[0] == ("Decoding", 0, 120)
    assert heard[-1] == ("Decoding", 119, 120)
    assert runs.make(request, plainly=False)[0].plain is None


@pytest.mark.parametrize(
    ("tokens", "prompts", "shared"),
    [(256, 4, (4, 64)), (256, 1000, (16, 16)), (100, 3, (3, 34)), (10, 8, (1, 10)), (1, 1, (1, 1))],
)
def test_tokens_are_shared_among_prompts(
    tokens: int, prompts: int, shared: tuple[int, int]
) -> None:
    assert share(tokens, prompts) == shared
