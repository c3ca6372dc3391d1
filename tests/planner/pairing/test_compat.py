"""A pair judged as a whole."""

import json

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.cache import LayerCache
from foredraft.planner.pairing.compat import check, judge
from tests.planner.facts.models import TOKENS, facts, folder, folder_facts, gguf, vocabulary

ENGINES = ["foredraft", "llama.cpp", "lmstudio", "ollama", "vllm", "transformers"]


def notes(target, draft):
    return " ".join(judge(target, draft).notes)


def test_the_object():
    made = json.loads(json.dumps(judge(facts(), facts("small", weights=100)).to_dict()))
    assert list(made) == ["target", "draft", "engines", "tokenizers", "memory", "notes"]
    assert (made["target"], made["draft"], made["notes"]) == ("big", "small", [])
    assert list(made["engines"]) == ENGINES
    for ruling in made["engines"].values():
        assert list(ruling) == ["verdict", "reason", "mend"]
        assert ruling["verdict"] in ("yes", "with_setting", "no")
        assert ruling["reason"].endswith((".", "'"))
        assert (ruling["mend"] is None) == (ruling["verdict"] == "yes")
    assert set(made["tokenizers"]) == {
        *("target", "draft", "same", "shared_ids", "differing_ids", "first_difference"),
        *("merges_equal", "roles_that_differ", "add_bos_equal", "chat_template_equal"),
    }
    assert made["tokenizers"]["same"] is True
    assert made["memory"]["context"] == 8192
    assert made["memory"]["draft"] == {
        "weights_bytes": 100,
        "kv_bytes": 8192 * 10 * 2,
        "context_window": 32768,
        "rollback": "free",
    }


def test_the_first_difference():
    other = vocabulary([*TOKENS[:3], "x", *TOKENS[4:]])
    made = judge(facts(), facts("small", tokens=other)).to_dict()["tokenizers"]
    assert made["first_difference"] == {"id": 3, "target": "t3", "draft": "x"}
    assert (made["same"], made["differing_ids"], made["shared_ids"]) == (False, 1, 300)


def test_memory():
    state = LayerCache(state=9, recurrent=True)
    found = judge(facts(layers=(state, LayerCache(values=10))), facts("small", context=512)).memory
    assert found.context == 512
    assert found.target.kv_bytes == 9 * 4 + 512 * 10 * 2
    assert found.target.rollback == "snapshot"
    assert found.total_bytes == 2000 + found.target.kv_bytes + found.draft.kv_bytes
    assert judge(facts(), facts(context=None)).memory.context == 8192
    assert judge(facts(), facts(), 100).memory.context == 100
    assert judge(facts(), facts(weights=None)).memory.total_bytes is None


def test_possible():
    assert judge(facts(), facts("small")).possible
    head = facts("head", head=HeadKind.MEDUSA, vocabulary=None)
    assert not judge(folder_facts(), head).possible


def test_no_pair_at_all():
    with pytest.raises(ForedraftError, match="big is an EAGLE-3 head, not a model by itself"):
        judge(facts(head=HeadKind.EAGLE3), facts("small"))
    with pytest.raises(ForedraftError, match="small has no tokenizer, so it cannot be compared"):
        judge(facts(), facts("small", vocabulary=None))


def test_notes():
    assert notes(facts(), facts("small", weights=500)) == ""
    assert "more than half as many bytes" in notes(facts(), facts("small", weights=501))
    assert "carries MTP heads of its own" in notes(facts(has_mtp=True), facts("s", weights=1))
    assert "made for 2,048 tokens and the target for 32,768" in notes(
        facts(), facts("small", context=2048)
    )
    other = vocabulary(merges=("b a",), roles={"bos": 1, "eos": 3}, template="other")
    said = notes(facts(), facts("small", tokens=other))
    assert "The merges differ" in said
    assert "Special tokens have other ids: eos (2 and 3)." in said
    assert "The chat templates differ" in said
    head = folder_facts("org/head", head=HeadKind.EAGLE3, made_for="org/big", context=9)
    said = notes(folder_facts(), head)
    assert said.startswith("org/head is an EAGLE-3 head, trained for org/big.")


def test_a_folder_with_a_gguf_file(tmp_path):
    """The same tokenizer in two formats, read from files."""
    target, draft = folder(tmp_path / "big"), gguf(tmp_path / "small.gguf")
    found = check(str(target), str(draft), None, lambda what, done, total: None)
    assert found.pair.same
    verdicts = {name: ruling.verdict.value for name, ruling in found.engines.items()}
    assert verdicts == {
        "foredraft": "yes",
        "llama.cpp": "with_setting",
        "lmstudio": "with_setting",
        "ollama": "no",
        "vllm": "with_setting",
        "transformers": "with_setting",
    }
    assert found.memory.context == 256


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draft", "verdict"),
    [("qwen2.5-coder-0.5b", "yes"), ("smollm2", "no"), ("gemma-3-270m", "no")],
)
def test_real_weights(draft, verdict):
    found = check("qwen2.5-coder-1.5b", draft, None, lambda what, done, total: None)
    assert found.engines["foredraft"].verdict.value == verdict
    assert found.engines["lmstudio"].verdict.value == verdict
    assert found.memory.target.kv_bytes == 28 * 2 * 2 * 128 * 8192 * 2
