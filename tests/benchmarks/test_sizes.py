"""The size experiment: what it trains on, that training works, that a page quotes its result."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

import sizing.measure
from foredraft.drafters.model import ModelDrafter
from foredraft.targets.tokenizer import Tokenizer
from foredraft.targets.torch_hf import load_target
from foredraft.training.loop import Course, train
from foredraft.training.small import Size, SmallTrainee, build, coordinates
from sizes import main
from sizing.answers import SAMPLES, Written, keep, read, write
from sizing.lessons import Answers
from sizing.measure import COMMON, Ledger, measure
from sizing.notes import LANGUAGES, Note, held_out, training
from sizing.show import draw, tables, written
from sizing.tiny import parameters, save, trained
from tests.targets import tiny_gguf
from tests.tiny import VOCAB, model, target

ROOT = Path(__file__).parent.parent.parent
QUIET = lambda what, done, total: None  # noqa: E731


def test_no_notes_are_both_trained_and_tested_on() -> None:
    taught = {note.text for lang in LANGUAGES for note in islice(training(lang), 2000)}
    tested = held_out(20)
    assert not taught & {note.text for note in tested}
    assert [note.lang for note in tested] == ["en"] * 20 + ["ja"] * 20
    assert len(taught) > 3900
    assert not any("{" in text for text in taught)


@torch.inference_mode()
def greedy(model: Any, prompt: list[int], limit: int, eos: int) -> list[int]:
    made: list[int] = []
    while len(made) < limit and eos not in made:
        made.append(int(model(torch.tensor([prompt + made])).logits[0, -1].argmax()))
    return made


def test_answers_written_together_are_those_written_alone() -> None:
    one = model("qwen2")
    prompts = [[1, 2, 3, 4, 5, 6], [1, 2, 9], [1, 2, 3, 8, 8]]
    eos = greedy(one, prompts[0], 5, -1)[3]
    made = write(one, prompts, 12, frozenset([eos]), seed=1)
    assert len(made) == len(prompts) * SAMPLES
    assert made[::SAMPLES] == [greedy(one, prompt, 12, eos) for prompt in prompts]
    assert len(made[0]) <= 4
    assert all(len(answer) == 12 or answer[-1] == eos for answer in made)
    assert made == write(one, prompts, 12, frozenset([eos]), seed=1)
    assert made[1] != write(one, prompts, 12, frozenset([eos]), seed=2)[1]


def answers(prompts: int = 120) -> list[Written]:
    """Answers that count up from the prompt's last token."""
    rng = torch.Generator().manual_seed(0)
    found = []
    for i in range(prompts):
        prompt = torch.randint(20, (3 + i % 3,), generator=rng).tolist()
        for length in (6, 9):
            output = [(prompt[-1] + j) % 20 for j in range(1, length)] + [VOCAB - 1]
            found.append(Written(f"{i}", "en", 0.0, prompt, output))
    return found


def test_kept_answers_come_back(tmp_path: Path) -> None:
    assert read(tmp_path / "none") == []
    keep(tmp_path / "kept", answers(2))
    assert read(tmp_path / "kept") == answers(2)


def test_a_tiny_draft_learns_and_loads_as_a_folder(tmp_path: Path) -> None:
    torch.manual_seed(0)
    tokenizer = Tokenizer(
        PreTrainedTokenizerFast(tokenizer_object=tiny_gguf.tokenizer(), eos_token="<|im_end|>"), [7]
    )
    vocab = tokenizer.vocab_size + 5  # rows of padding
    lessons = Answers(answers())
    one = build(Size(32, 1), coordinates(torch.randn(vocab, 48), 32), tokenizer.eos_ids)
    trainee = SmallTrainee(one, lessons.used)
    alphas = train(trainee, lessons, Course(2, batch=16), tmp_path / "run.pt", QUIET)
    trainee.finish()
    agreement = [alpha.greedy[0] for alpha in alphas]
    assert max(agreement) > 0.8
    save(one, tokenizer, {"agreement": agreement}, tmp_path / "draft")
    assert {path.name for path in tmp_path.iterdir()} == {"draft", "run.pt"}
    loaded = load_target(str(tmp_path / "draft"), "float32", "cpu")
    assert loaded.tokenizer.same_as(tokenizer) is None
    assert loaded.tokenizer.eos_ids == tokenizer.eos_ids
    assert loaded.tokenizer.encode("twice a day") == tokenizer.encode("twice a day")
    assert trained(tmp_path / "draft") == {"agreement": agreement}
    body = 32 * 32 * (4 + 9) + 3 * 32
    assert parameters(loaded) == vocab * 32 + body


def test_what_was_measured_is_kept(tmp_path: Path) -> None:
    calls: list[int] = []
    for _ in range(2):
        ledger = Ledger(tmp_path / "ledger.json")
        assert ledger.once("a", lambda: calls.append(1) or [1.5]) == [1.5]
    assert len(calls) == 1


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The whole measuring, on models that take milliseconds."""
    path = tmp_path_factory.mktemp("sizes") / "measured.json"
    big = target()
    drafts = {"small": target(num_hidden_layers=1), "same": big}
    notes = [Note(f"{lang}{i}", lang, "") for lang in LANGUAGES for i in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Note, "messages", [{"role": "user", "content": "to be or not to be"}])
        patch.setattr(sizing.measure, "held_out", lambda each: notes)
        patch.setattr(
            sizing.measure, "pair", lambda target, draft: ModelDrafter(draft, target.vocab_size)
        )
        for _ in range(2):  # the second time from the ledger
            ledger = Ledger(path)
            found = {f"{t:g}": measure(big, drafts, t, 2, 12, ledger, QUIET) for t in (0.0, 1.0)}
    sizes = {name: {"parameters": parameters(draft)} for name, draft in drafts.items()}
    return {"temperatures": found, "drafts": sizes}


def test_every_draft_runs_at_its_best_length_and_at_a_common_one(result: dict[str, Any]) -> None:
    json.dumps(result)
    for found in result["temperatures"].values():
        for draft in ("small", "same"):
            mine = [row for row in found["rows"] if row["draft"] == draft]
            assert sum(row["best"] for row in mine) == 1
            assert COMMON in {row["draft_len"] for row in mine}
            for row in mine:
                assert row["low"] <= row["predicted"] <= row["high"]
                assert row["measured"] > 0
                assert row["judged"] == sum(row[lang]["judged"] for lang in LANGUAGES)
        same = next(row for row in found["rows"] if row["draft"] == "same")
        assert same["acceptance_rate"] == 1.0
        assert found["measured_winner"]["measured"] >= found["predicted_winner"]["measured"]


def test_the_result_becomes_a_table_and_a_picture(result: dict[str, Any], tmp_path: Path) -> None:
    page = written("before <!-- sizes -->\nold\n<!-- end --> after", result)
    assert page.startswith("before <!-- sizes -->\n\nTemperature 0:")
    assert page.endswith("<!-- end --> after")
    assert "old" not in page
    assert written(page, result) == page
    assert tables(result).count("| same |") == 2
    pytest.importorskip("matplotlib")
    draw(result, tmp_path / "sizes.png")
    assert (tmp_path / "sizes.png").stat().st_size > 1000


def test_the_page_quotes_the_stored_result() -> None:
    stored = ROOT / "benchmarks/results/sizes.json"
    if not stored.exists():
        pytest.skip("not measured yet")
    page = (ROOT / "docs/choosing.md").read_text(encoding="utf-8")
    assert written(page, json.loads(stored.read_text())) == page


@pytest.mark.parametrize(("step", "said"), [("train", "run `gather`"), ("measure", "run `train`")])
def test_a_step_before_its_time_says_what_comes_first(
    step: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--work", str(tmp_path), step]) == 2
    assert said in capsys.readouterr().err
