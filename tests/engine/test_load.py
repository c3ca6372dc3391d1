"""Loading by names: a store file is filled when an answer ends and drafted from ever after."""

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.drafters.head import HeadDrafter
from foredraft.engine.load import load
from foredraft.engine.request import Request
from tests import tiny
from tests.heads.folders import HIDDEN, layer_shapes, llama, weights, write

PROMPT = [1, 2, 3, 4, 5]


class Letters(tiny.Characters):
    def __init__(self, shift):
        super().__init__(eos=())
        self._shift = shift

    def encode(self, text):
        return [(ord(c) + self._shift) % 26 for c in text]


@pytest.fixture
def loaded(monkeypatch, tmp_path):
    """A way to load a tiny model; tokenizers of other `shift`s differ."""
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("foredraft.engine.load.Placement.engine", lambda *_: "torch")

    def made(shift=0, **how):
        target = tiny.target()
        target.tokenizer = Letters(shift)
        monkeypatch.setattr("foredraft.engine.load.Placement.load", lambda *_: target)
        return load("tiny", **how)

    return made


def test_answers_are_remembered_in_the_file_and_drafted_from(loaded, tmp_path):
    request = Request(max_new_tokens=40, draft_len=4)
    first = loaded(drafter="suffix", store=tmp_path / "mine").generate(PROMPT, request)
    again = loaded(drafter="suffix", store=tmp_path / "mine").generate(PROMPT, request)
    assert [token.id for token in again.tokens] == [token.id for token in first.tokens]
    assert again.stats.target_passes < first.stats.target_passes
    assert again.stats.accepted >= 0.75 * 40


def test_an_answer_that_is_abandoned_is_remembered_as_far_as_it_came(loaded, tmp_path):
    stream = loaded(drafter="suffix", store=tmp_path / "mine").stream(PROMPT)
    next(stream)
    stream.close()
    assert (tmp_path / "mine").exists()


def test_nothing_is_kept_unless_asked_for(loaded, tmp_path):
    loaded(drafter="suffix").generate(PROMPT, Request(max_new_tokens=5, draft_len=4))
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == []


def test_a_store_of_another_tokenizer_is_refused(loaded, tmp_path):
    request = Request(max_new_tokens=5, draft_len=4)
    loaded(drafter="suffix", store=tmp_path / "mine").generate(PROMPT, request)
    with pytest.raises(ForedraftError, match="another tokenizer"):
        loaded(shift=1, drafter="suffix", store=tmp_path / "mine")


@pytest.fixture
def head(tmp_path):
    """The folder of a head for the tiny model."""
    reads = HIDDEN * 2
    shapes = layer_shapes("layers.0.", HIDDEN, HIDDEN) | {"fc.weight": (HIDDEN, reads)}
    del shapes["layers.0.input_layernorm.weight"]
    return str(write(tmp_path / "head", llama(), weights(shapes)))


@pytest.mark.parametrize("drafter", ["auto", "model"])
def test_a_head_is_named_as_a_draft_model_is(loaded, head, drafter):
    generator = loaded(drafter=drafter, draft_model=head)
    assert isinstance(generator.drafters[-1], HeadDrafter)
    plain = loaded(drafter="none").generate(PROMPT, Request(max_new_tokens=30))
    drafted = generator.generate(PROMPT, Request(max_new_tokens=30))
    assert [token.id for token in drafted.tokens] == [token.id for token in plain.tokens]
    if drafter == "model":
        fixed = generator.generate(PROMPT, Request(max_new_tokens=30, draft_len=3))
        assert fixed.stats.drafted > 0
        assert fixed.tokens[-1].id == plain.tokens[-1].id


def test_a_head_runs_on_its_targets_engine(loaded, head):
    with pytest.raises(ForedraftError, match=r"--draft-engine llama\.cpp"):
        loaded(draft_model=head, draft_engine="llama.cpp")


def test_a_head_makes_auto_choose_pytorch(monkeypatch, loaded, head):
    asked = []
    monkeypatch.setattr(
        "foredraft.engine.load.Placement.engine",
        lambda self, name, engine: asked.append(engine) or "torch",
    )
    loaded(draft_model=head)
    assert asked == ["torch"]
