"""The exported script, run on tiny models: it drafts, as long as planned, and changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.generation import candidate_generator

from foredraft.planner.export import export
from foredraft.planner.plan import Plan
from tests import tiny
from tests.planner.plans import plan


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A target and a draft model, saved with a tokenizer."""
    words = ["<unk>", "Once", "upon", "a", "time", *(f"w{i}" for i in range(tiny.VOCAB - 5))]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    saved = {}
    for name, seed in (("target", 0), ("draft", 1)):
        folder = tmp_path_factory.mktemp(name)
        model = tiny.model(seed=seed, eos_token_id=None, bos_token_id=None)
        model.save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
        saved[name] = str(folder)
    return saved


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, generator: str) -> Iterator[list[tuple[int, int]]]:
    """(what the generator was told to draft, what it drafted) of each round."""
    kind, rounds = getattr(candidate_generator, generator), list[tuple[int, int]]()
    plain = kind.get_candidates

    def get_candidates(self: Any, input_ids: Any, **given: Any) -> Any:
        drafted = plain(self, input_ids, **given)
        told = getattr(self, "num_assistant_tokens", None) or self.num_output_tokens
        rounds.append((told, drafted[0].shape[1] - input_ids.shape[1]))
        return drafted

    with monkeypatch.context() as patch:
        patch.setattr(kind, "get_candidates", get_candidates)
        yield rounds


def run(of: Plan, instead: tuple[str, str] = ("", "")) -> list[int]:
    """The tokens that the script generates; `instead` changes a line first."""
    text = export(of, "transformers").text.replace("max_new_tokens=256", "max_new_tokens=40")
    assert instead[0] in text
    names: dict[str, Any] = {}
    exec(compile(text.replace(*instead) if instead[0] else text, "generate.py", "exec"), names)
    tokens: list[int] = names["output"][0].tolist()
    return tokens


def ready(folders: dict[str, str], drafter: str, **changes: Any) -> Plan:
    best = {"draft": folders["draft"]} if drafter == "model" else None
    return plan(drafter, best, target=folders["target"], **changes)


def test_the_assistant_drafts_the_planned_length_and_changes_nothing(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = ready(folders, "model")
    with watched(monkeypatch, "AssistedCandidateGenerator") as rounds:
        tokens = run(of)
    assert rounds
    assert {told for told, _ in rounds} == {3}
    # Nothing stops a draft early; only the end of the text shortens the last ones.
    assert {drafted for _, drafted in rounds[:-3]} == {3}
    assert tokens == run(replace(of, best=None))


@pytest.mark.parametrize("drafter", ["ngram", "suffix"])
def test_prompt_lookup_drafts_the_planned_length(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch, drafter: str
) -> None:
    of = ready(folders, drafter)
    with watched(monkeypatch, "PromptLookupCandidateGenerator") as rounds:
        run(of)
    assert of.best is not None
    assert {told for told, _ in rounds} == {of.best.draft_len}
    assert max(drafted for _, drafted in rounds) == of.best.draft_len


def test_a_plan_that_sampled_samples(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of = ready(folders, "model", temperature=0.7)
    assert "do_sample=True,\n    temperature=0.7,\n" in export(of, "transformers").text
    with watched(monkeypatch, "AssistedCandidateGenerator") as rounds:
        run(of)
    assert {told for told, _ in rounds} == {3}


def test_the_length_as_an_argument_of_generate_does_nothing(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    argument = ("do_sample=False,", "do_sample=False, num_assistant_tokens=7,")
    with watched(monkeypatch, "AssistedCandidateGenerator") as rounds:
        run(ready(folders, "model"), argument)
    assert {told for told, _ in rounds} == {3}


@pytest.mark.parametrize("argument", ["num_return_sequences=2", "use_cache=False"])
def test_what_lint_calls_an_error_is_refused(folders: dict[str, str], argument: str) -> None:
    with pytest.raises((ValueError, RuntimeError)):
        run(ready(folders, "model"), ("do_sample=False,", f"do_sample=True, {argument},"))


@pytest.mark.parametrize("argument", ["num_beams=2", "prompt_lookup_num_tokens=2"])
def test_what_lint_says_sends_the_assistant_away_does(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    with watched(monkeypatch, "AssistedCandidateGenerator") as rounds:
        run(ready(folders, "model"), ("do_sample=False,", f"do_sample=False, {argument},"))
    assert rounds == []
