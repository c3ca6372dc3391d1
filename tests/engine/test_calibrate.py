"""Measuring the machine, once."""

import pytest

from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.calibrate import ROWS, prices_of
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from tests import tiny


@pytest.mark.parametrize("kind", ["llama", "gemma3", "qwen3_next"])
def test_every_kind_of_target_can_be_measured_and_is_left_usable(kind):
    target = tiny.target(kind)
    heard = []
    prices = prices_of(
        target, [NgramDrafter()], False, None, lambda what, done, total: heard.append(done / total)
    )
    assert all(prices.verify(rows) > 0 for rows in ROWS)
    assert heard[-1] == 1.0
    assert heard == sorted(heard)
    assert prices.to_dict()["draft_s"] == {}, "free drafters have no price"
    assert Generator(target).generate([1, 2], Request(max_new_tokens=4)).stats.generated_tokens


def test_a_draft_model_gets_a_price():
    drafter = ModelDrafter(tiny.target(seed=5), tiny.VOCAB)
    prices = prices_of(tiny.target(), [drafter], False, None)
    assert prices.draft("model") > 0
    assert 0 <= prices.read("model") < prices.draft("model"), "reading is done in batches"


def test_bitwise_passes_never_exceed_their_row_count():
    prices = prices_of(tiny.target(), [], True, None)
    assert max(map(int, prices.to_dict()["verify_s"])) <= 8


def test_measured_once_and_kept(tmp_path, monkeypatch):
    target, drafter = tiny.target(), ModelDrafter(tiny.target(seed=5), tiny.VOCAB)
    first = prices_of(target, [drafter], False, tmp_path)
    monkeypatch.setattr(target, "score", lambda batch: pytest.fail("measured again"))
    assert prices_of(target, [drafter], False, tmp_path).to_dict() == first.to_dict()


def test_another_subject_or_a_broken_file_is_measured_anew(tmp_path):
    target = tiny.target()
    prices_of(target, [], False, tmp_path)
    prices_of(target, [], True, tmp_path)
    prices_of(target, [ModelDrafter(tiny.target(seed=5), tiny.VOCAB)], False, tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    for file in files:
        file.write_text("{")
    assert prices_of(target, [], False, tmp_path).verify(1) > 0
    assert sum(file.read_text() == "{" for file in files) == 2, "the file is mended"


def test_a_generator_measures_only_when_it_has_a_choice(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "foredraft.engine.generator.prices_of",
        lambda *rest: calls.append(rest) or prices_of(*rest),
    )
    generator = Generator(tiny.target(), NgramDrafter())
    generator.generate([1, 2, 3], Request(max_new_tokens=4, draft_len=3))
    Generator(tiny.target()).generate([1, 2, 3], Request(max_new_tokens=4))
    assert not calls
    for _ in range(2):
        generator.generate([1, 2, 3], Request(max_new_tokens=4))
    assert len(calls) == 1
