"""`foredraft plan` on a model that always says the same."""

import json
import sys

import pytest

from foredraft.planner.plan import Plan
from foredraft.targets.engines import Placement
from tests.cli.parrot import Parrot
from tests.planner.facts import models

ROW = {
    *("drafter", "draft", "draft_len", "acceptance_rate", "cost_ratio", "predicted_speedup"),
    *("low", "high", "token_s", "measured_speedup", "drafting_share"),
}


@pytest.fixture
def planned(monkeypatch, tmp_path):
    """Put the parrot in the place of target and drafts; returns the folder for files."""
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "cache"))

    def models(placement, model, engine, drafts, draft_engine, progress=None):
        assert isinstance(placement, Placement)
        return Parrot(pause=0.001, context=2048), [Parrot(context=2048) for _ in drafts]

    monkeypatch.setattr("foredraft.planner.inquiry.models", models)
    monkeypatch.setattr("foredraft.planner.inquiry.pair", pair)
    return tmp_path


def pair(target, draft):
    from foredraft.drafters.model import ModelDrafter

    return ModelDrafter(draft, target.vocab_size)


def test_the_verdict_comes_first_and_then_the_numbers(planned, call):
    done = call("plan", "parrot", "-n", "24")
    assert done.status == 0
    first, second, *_ = done.out.splitlines()
    assert first in ("Use", "Do not", "Measure longer")
    assert second.startswith(first)
    assert "A plain token takes" in done.out
    assert all(name in done.out for name in ("ngram", "suffix", "By kind of prompt", "birds"))


def test_json_has_the_documented_schema(planned, call):
    done = call("plan", "parrot", "-n", "16", "--draft", "chick", "--json")
    found = json.loads(done.out)
    assert (done.status, done.err) == (0, "")
    assert found["verdict"] in ("use", "do_not", "measure_longer")
    assert found["threshold"] == 1.2
    assert found["plain_step_s"] > 0
    assert found["verify_curve"]["rows"][0] == 1
    assert len(found["verify_curve"]["ratio"]) == len(found["verify_curve"]["rows"])
    assert all(set(row) == ROW for row in found["rows"])
    assert all(row["measured_speedup"] is None for row in found["rows"])
    models = [row for row in found["rows"] if row["drafter"] == "model"]
    assert {row["draft_len"] for row in models} == set(range(1, 9))
    assert {row["draft"] for row in models} == {"chick"}
    # The draft is the target itself: whatever it says is right.
    assert min(row["acceptance_rate"] for row in models) == 1


def test_a_stored_plan_is_the_one_that_was_shown(planned, call):
    done = call("plan", "parrot", "-n", "8", "--out", str(planned / "p.json"), "--json")
    assert Plan.read(planned / "p.json").to_dict() == Plan.from_dict(json.loads(done.out)).to_dict()


def test_the_best_is_run_and_the_next_plan_owns_up(planned, call):
    first = json.loads(call("plan", "parrot", "-n", "16", "--run", "--json").out)
    assert first["best"]["measured_speedup"] > 0
    assert sum(row["measured_speedup"] is not None for row in first["rows"]) == 1
    second = call("plan", "parrot", "-n", "16")
    assert "Earlier predictions for this model here were off by" in second.out


def test_the_memory_bill_is_among_the_notes(planned, call):
    models.gguf(planned / "big.gguf")
    done = call("plan", str(planned / "big.gguf"), "-n", "8", "--json")
    (note,) = [note for note in json.loads(done.out)["notes"] if note.startswith("Memory")]
    assert "keys and values at 256 tokens: " in note
    assert "big.gguf 0 MB + " in note


def test_settings_for_an_engine_come_with_it(planned, call):
    done = call("plan", "parrot", "-n", "8", "--export", "transformers")
    assert "transformers" in done.out.split("Engine birds")[1].lower()
    found = json.loads(call("plan", "parrot", "-n", "8", "--export", "vllm", "--json").out)
    assert found["settings"]["engine"] == "vllm"
    assert Plan.from_dict(found).engine == "birds"


def test_own_prompts_and_a_threshold(planned, call):
    (planned / "mine.txt").write_text("One prompt.\n")
    found = json.loads(
        call(
            "plan", "parrot", "-n", "8", "--prompts", str(planned / "mine.txt"),
            "--threshold", "9", "--json",
        ).out
    )  # fmt: skip
    assert list(found["kinds"]) == ["mine"]
    assert found["verdict"] == "do_not"
    assert "under the 9x asked for" in found["why"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--budget", "soon"], "--budget is 'soon'; write a time such as 90s, 2m or 1h."),
        (["--budget", "0s"], "write a time"),
        (["--prompts", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["--out", "nowhere/plan.json"], "There is no folder nowhere"),
        (["--temperature", "-1"], "temperature is -1"),
        (["--export", "cobol"], "No engine is called 'cobol'"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_loaded(planned, refuse, arguments, says):
    refuse("plan", "parrot", *arguments, says=says)


def test_a_plan_with_its_report(planned, call):
    path = planned / "parrot.html"
    done = call("plan", "parrot", "-n", "8", "--report", str(path))
    assert done.out.endswith(f"Wrote {path}.\n")
    assert "Measured on " in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["a.pdf", "no/a.html"])
def test_a_bad_place_is_refused_before_anything_is_measured(planned, refuse, monkeypatch, name):
    monkeypatch.setattr("foredraft.cli.plan.inquire", None)
    refuse("plan", "parrot", "--report", str(planned / name), says="report")


def test_a_picture_without_matplotlib_is_refused_before_anything_is_measured(
    planned, refuse, monkeypatch
):
    monkeypatch.setattr("foredraft.cli.plan.inquire", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refuse("plan", "parrot", "--report", str(planned / "a.png"), says="'foredraft[plot]'")


def test_what_if_tables_come_after_the_plan(planned, call):
    done = call("plan", "parrot", "-n", "24", "--draft", "chick", "--what-if")
    assert done.status == 0
    plan, _, tables = done.out.partition("What if more sequences are decoded together?")
    assert "A plain token takes" in plan
    assert "as planned" in tables
    assert "0, as planned" in tables
    assert "What if chick agreed more often, or cost less?" in tables
    assert "measured" in tables


def test_what_if_joins_the_json_only_when_asked_for(planned, call):
    arguments = ("plan", "parrot", "-n", "8", "--draft", "chick", "--json")
    without = json.loads(call(*arguments).out)
    assert "what_if" not in without
    assert without["temperatures"] == []
    found = json.loads(call(*arguments, "--what-if").out)
    assert [load["sequences"] for load in found["what_if"]["concurrency"]] == [1, 2, 4, 8, 16]
    alone = found["what_if"]["concurrency"][0]
    assert alone["speedup"] == pytest.approx(found["best"]["predicted_speedup"])
    assert [one["temperature"] for one in found["temperatures"]] == [0, 0.3, 0.7, 1]
    assert Plan.from_dict(found).best is not None
