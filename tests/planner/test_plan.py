import json
from pathlib import Path

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.planner.plan import Choice, Kind, Plan, Verdict, VerifyCurve

BEST = Choice("model", 3, 0.7, 0.2, 1.5, 1.3, 1.7, 0.03, draft="small.gguf")
PLAN = Plan(
    target="big.gguf",
    engine="llama.cpp",
    temperature=0.0,
    machine="a processor",
    made="today, foredraft",
    verdict=Verdict.USE,
    why="It pays.",
    threshold=1.2,
    best=BEST,
    verify_curve=VerifyCurve((1, 2), (1.0, 1.1)),
    plain_step_s=0.05,
    rows=(BEST,),
    kinds={"code": Kind(2, 1.5, (0.8, 0.7, 0.6))},
    notes=("one",),
)


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    PLAN.write(path)
    assert Plan.read(path) == PLAN


def test_json_has_the_documented_names() -> None:
    saved = json.loads(json.dumps(PLAN.to_dict()))
    assert saved["verdict"] == "use"
    assert saved["verify_curve"] == {"rows": [1, 2], "ratio": [1.0, 1.1]}
    assert {"drafter", "draft_len", "acceptance_rate", "cost_ratio"} <= set(saved["rows"][0])
    assert saved["best"]["measured_speedup"] is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 9}', '{"version": 1}'])
def test_another_file_is_refused_in_a_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content)
    with pytest.raises(ForedraftError, match="is not a plan"):
        Plan.read(path)
