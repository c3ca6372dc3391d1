"""What a person sees of `foredraft train`: its help, its refusals, and a draft being made."""

import json
from pathlib import Path
from typing import Any

import pytest

from foredraft.cli.main import main
from foredraft.cli.train import _WHY, KINDS
from foredraft.cli.units import read_size, read_time
from foredraft.core.errors import ForedraftError
from foredraft.targets.torch_hf import TorchTarget
from tests.tiny import model
from tests.training.talkative import Talkative


@pytest.fixture
def talker(monkeypatch: pytest.MonkeyPatch) -> None:
    made = TorchTarget(model(), Talkative(), "tiny-talker")
    monkeypatch.setattr("foredraft.targets.torch_hf.load_target", lambda *_: made)


def said(capsys: Any, *arguments: object) -> str:
    assert main(["train", *map(str, arguments)]) == 2
    return str(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--kind", "eagle9"], "Unknown kind 'eagle9'; choose one of eagle3, medusa, small."),
        (["--given-answers"], "--given-answers needs --data FILE"),
        (["--budget", "soon"], "--budget is 'soon'; write a time such as 90s, 2m or 1h."),
        (["--space", "much"], "--space is 'much'; write a size such as 800M or 4G."),
        (["--tokens", "0"], "--tokens"),
    ],
)
def test_mistakes_are_said_before_anything_is_loaded(
    options: list[str], sentence: str, capsys: Any, tmp_path: Path
) -> None:
    assert sentence in said(capsys, "smollm2", "--out", tmp_path / "d", *options)
    assert not (tmp_path / "d").exists()


def test_the_line_of_broken_data_is_said(talker: None, capsys: Any, tmp_path: Path) -> None:
    data = tmp_path / "chats.jsonl"
    data.write_text('{"prompt": "hello"}\n{"messages": 3}\n')
    assert "Line 2 of" in said(capsys, "tiny", "--out", tmp_path / "d", "--data", data)


def test_a_file_is_no_folder(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "d").write_text("")
    assert "must name a folder" in said(capsys, "tiny", "--out", tmp_path / "d")


def test_gathering_alone_and_then_the_rest(talker: None, capsys: Any, tmp_path: Path) -> None:
    prompts = tmp_path / "judges.txt"
    prompts.write_text("to be or not to be or not to\n")
    told = ["train", "tiny", "--out", str(tmp_path / "d"), "--tokens", "1200", "--longest", "16"]
    told += ["--prompts", str(prompts), "--epochs", "1", "--vocabulary", "24"]
    assert main([*told, "--gather-only", "--json"]) == 0
    gathered = json.loads(capsys.readouterr().out)
    assert gathered["gathered"] == "enough"
    assert gathered["answer_tokens"] >= 1200
    assert main([*told, "--gather-only"]) == 0
    assert "tokens of answers" in capsys.readouterr().out
    assert main([*told, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["lesson"]["answer_tokens"] == gathered["answer_tokens"]
    assert {"version", "lesson", "verdict", "predicted_speedup", "judged"} <= set(made)
    assert main(told) == 0
    shown = capsys.readouterr().out
    assert "α on held-out prompts" in shown
    assert "over plain decoding" in shown
    assert f"--draft-model {tmp_path / 'd'}" in shown.replace("\n", "")


def test_ctrl_c_says_how_to_go_on(
    talker: None, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("foredraft.training.lesson.learn", interrupted)
    assert (
        main(["train", "tiny", "--out", str(tmp_path), "--tokens", "900", "--longest", "16"]) == 130
    )
    assert "the same command goes on" in capsys.readouterr().err


def test_another_target_s_folder_is_refused(
    talker: None, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ["tiny", "--out", tmp_path, "--tokens", 20, "--gather-only"]
    assert main(["train", *map(str, told)]) == 0
    other = TorchTarget(model(seed=7), Talkative(), "another")
    monkeypatch.setattr("foredraft.targets.torch_hf.load_target", lambda *_: other)
    assert "hidden states of another target, tiny-talker" in said(capsys, *told)


def test_names_that_are_stated_twice_for_a_quick_start() -> None:
    from foredraft.training.gather import Ended
    from foredraft.training.learn import Kind

    assert tuple(Kind) == KINDS
    assert set(Ended) == set(_WHY)


def test_times_and_sizes() -> None:
    assert [read_time(text, "budget") for text in ("90", "90s", "2m", "1.5h")] == [
        90,
        90,
        120,
        5400,
    ]
    assert [read_size(text, "space") for text in ("800M", "4G", "1.5GiB", "2kb")] == [
        800 << 20,
        4 << 30,
        3 << 29,
        2048,
    ]
    for text in ("4", "0G", "G", "-1G"):
        with pytest.raises(ForedraftError):
            read_size(text, "space")
