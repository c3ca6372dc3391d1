"""The pages quote the stored results and nothing else."""

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

import rivals
import table
from engines.base import Method, Run
from tables import base, heads, passes, prices, trained

ROOT = Path(__file__).parent.parent.parent


def test_the_tables_of_the_pages_are_those_of_the_stored_results() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/table.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_only_what_stands_between_known_marks_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(table.TABLES, "speeds", lambda words: f"<{words}>")
    kept = "<!-- sizes -->\na\n<!-- end -->"
    page = f"{kept}\n<!-- speeds ngram 5 -->\nold\n<!-- end -->\n<!-- speeds -->\n<!-- end -->\nb"
    assert table.written(page) == (
        f"{kept}\n<!-- speeds ngram 5 -->\n\n<ngram 5>\n\n<!-- end -->\n"
        "<!-- speeds -->\n\n<>\n\n<!-- end -->\nb"
    )


def test_every_page_with_a_mark_is_visited() -> None:
    visited = table.pages()
    for name in ("README.md", "README.ja.md", "docs/methods.md", "docs/methods/eagle.md"):
        assert ROOT / name in visited


SPEEDS = {"plain": 10.0, "eagle3 2": 15.0, "eagle3 4": 18.0, "eagle3 6": 16.0, "auto": 20.0}


def a_run(tokens_per_s: float, alphas: list[float]) -> Run:
    return Run(
        ids=list(range(48)),
        decode_tokens=48,
        decode_s=48 / tokens_per_s,
        first_s=0.1,
        acceptance_rate=alphas[0] if alphas else None,
        tokens_per_pass=2.0,
        details={"per_position": alphas, "to_ideal": 0.96},
    )


def publish(folder: Path, name: str, head: str, cost: float, draft: str) -> None:
    """A run as rivals.py stores it, with made-up speeds."""
    ran = {
        Method("foredraft", "half", one.replace("eagle3", head), one.split()[0], _never): speed
        for one, speed in SPEEDS.items()
    }
    ran[Method("Transformers", "half", "plain", "plain", _never)] = 9.0
    ran[Method("Transformers", "half", "lookup 5", "lookup", _never)] = 12.0
    found = {
        prompt: {
            method.label: [a_run(speed, [0.7, 0.5] if head in method.label else [])]
            for method, speed in ran.items()
        }
        for prompt in ("formula", "story")
    }
    asked = Namespace(
        target="folder/big", draft=draft, threads=2, tokens=48, temperature=0.0, repeats=1
    )
    result = rivals.result(found, list(ran), asked)
    result["foredraft"] = {"half": {"cost_ratio": {head: cost}}}
    (folder / f"{name}.json").write_text(json.dumps(result))


def _never(ask: object) -> Run:
    raise AssertionError("nothing runs")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (base, heads, passes, trained):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path


def test_a_run_with_a_trained_head_becomes_a_table(results: Path) -> None:
    publish(results, "heads", "eagle3", 0.06, "small")
    assert heads.table("eagle eagle3").splitlines() == [
        "`heads.json`: eagle3 for big, float16 weights, 48 tokens, temperature 0, n = 1, c = 0.06.",
        "",
        "| prompt | plain, tokens a second | α of the first token | γ = 2 | γ = 4 | γ = 6 | auto "
        "| of its ideal | fastest rival |",
        "|---|" + "---:|" * 8,
        "| formula | 10.0 | 0.70 | 1.50x | 1.80x | 1.60x | 2.00x | 0.96 | 1.20x |",
        "| story | 10.0 | 0.70 | 1.50x | 1.80x | 1.60x | 2.00x | 0.96 | 1.20x |",
        "| geometric mean |  |  | 1.50x | 1.80x | 1.60x | 2.00x |  |  |",
    ]


def test_each_page_shows_the_runs_of_its_own_drafters(results: Path) -> None:
    publish(results, "heads", "eagle3", 0.06, "")
    publish(results, "heads-other", "medusa", 0.02, "")
    publish(results, "heads-small", "model", 0.04, "folder/tiny")
    assert "`heads-other.json`: medusa for big" in heads.table("medusa hydra")
    assert "`heads-small.json`: tiny for big" in heads.table("model")
    assert heads.table("eagle3").count("| story |") == 1


@pytest.mark.parametrize(("drafter", "option"), [("dflash", "--head"), ("model", "--draft")])
def test_without_a_run_the_page_says_how_to_make_one(
    results: Path, drafter: str, option: str
) -> None:
    assert f"rivals.py {option} FOLDER --name heads" in heads.table(drafter)


def test_a_run_with_a_head_knows_no_price_of_a_draft_model(results: Path) -> None:
    curve = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8]
    measured = {"plain_step_s": 0.1, "verify_curve": curve}
    forms = {"llama.cpp": 0.4, "half": {"model": 0.5}, "bfloat16": {"eagle3": 0.1}}
    told = {form: {**measured, "cost_ratio": cost} for form, cost in forms.items()}
    for name in {name for name, _, _ in prices.RUNS}:
        (results / f"{name}.json").write_text(json.dumps({"foredraft": told}))
    ends = [line.rsplit("|", 4)[1:4] for line in prices.table("").splitlines()[2:]]
    assert ends == [
        [" 0.40 ", " 0.10 ", " 0.50 "],
        [" 0.50 ", " 0.10 ", " 0.60 "],
        [" – ", " 0.10 ", " – "],
    ]


def test_what_a_heads_pass_costs(results: Path) -> None:
    assert passes.table("dflash") == passes.NONE
    told = [
        {"hidden_size": 64, "head": head, "drafted": rows, "weights": kind, "read": 2.0, "grow": 1}
        for head in ("eagle3, 1 layer", "dflash, 5 layers")
        for rows in (8_192, 32_768, 50_000)
        for kind in ("float32", "float16")
    ]
    told[-1]["grow"] = 1.26
    (results / "head_time.json").write_text(json.dumps({"heads": told}))
    assert passes.table("dflash dspark").splitlines()[5:] == [
        "| dflash, 5 layers | 64 | 2.0 + 1.0 | 2.0 + 1.0 | 2.0 + 1.3 | 50,000 |"
    ]


def test_what_training_gave(results: Path) -> None:
    """The schema is that of `foredraft train --json`."""
    made = {
        "lesson": {
            "plan": {"kind": "eagle3", "epochs": 8, "steps": 2},
            "answer_tokens": 200_000,
            "parameters": 12_300_000,
            "alpha": {"greedy": [0.71, 0.6], "sampled": [0.68, 0.555], "judged": 900},
        },
        "predicted_speedup": 1.62,
        "draft_len": 4,
        "judged": {"target": "folder/big"},
    }
    (results / "train-big.json").write_text(json.dumps(made))
    assert trained.table("eagle3").splitlines()[5:] == [
        "| big | 200,000 tokens | 12.3 M | 0.71, 0.60 | 0.68, 0.56 | 1.62x, γ = 4 |"
    ]
    assert "--kind medusa --json" in trained.table("medusa")
