"""Each engine's rule, on both sides of what decides it."""

import json

import pytest

from foredraft.heads.kind import HeadKind
from foredraft.planner.facts.cache import LayerCache
from foredraft.planner.pairing.compat import RULES, judge
from foredraft.planner.pairing.match import match
from foredraft.planner.pairing.rules import (
    foredraft,
    llama_cpp,
    lmstudio,
    ollama,
    transformers,
    vllm,
)
from foredraft.planner.pairing.ruling import Pair, Verdict
from tests.planner.facts.models import TOKENS, facts, folder_facts, vocabulary

YES, SETTING, NO = Verdict.YES, Verdict.WITH_SETTING, Verdict.NO
OTHER = vocabulary([f"o{n}" for n in range(300)])
ODD = vocabulary(["odd", *TOKENS[1:]])
RECURRENT = (LayerCache(state=9, recurrent=True), LayerCache(values=10))
CONVOLUTION = (LayerCache(state=9), LayerCache(values=10))


def pair(target=None, draft=None):
    target, draft = target or facts(), draft or facts("small")
    tokens = target.vocabulary, draft.vocabulary
    return Pair(target, draft, match(*tokens) if None not in tokens else None)


def folders(left=300, right=300, tokens=None, **draft):
    return pair(
        folder_facts(vocab_size=left),
        folder_facts("org/small", vocab_size=right, tokens=tokens, **draft),
    )


class TestForedraft:
    def test_the_same_tokens_will_do(self):
        ruling = foredraft.rule(pair())
        assert ruling.verdict is YES
        assert "All 300 shared token ids stand for the same text. Use it with" in ruling.reason
        assert foredraft.rule(folders(152064, 151936)).verdict is YES

    def test_one_other_token_will_not(self):
        ruling = foredraft.rule(pair(draft=facts("small", tokens=ODD)))
        assert ruling.verdict is NO
        assert "Token 0 is 't0' in the target and 'odd' in the draft, and 1 of 300" in ruling.reason
        assert "--drafter suffix" in ruling.mend

    def test_padding_does_not_count(self):
        draft = facts("small", tokens=vocabulary([*TOKENS, *[None] * 500]))
        assert foredraft.rule(pair(draft=draft)).verdict is YES

    def test_a_recurrent_target_will_do(self):
        ruling = foredraft.rule(pair(facts(layers=RECURRENT)))
        assert ruling.verdict is YES
        assert "snapshot" in ruling.reason

    def test_architectures_that_pytorch_does_not_run(self):
        ruling = foredraft.rule(pair(facts(known=False)))
        assert ruling.verdict is SETTING
        assert "big runs on llama.cpp only" in ruling.reason
        assert "foredraft[gguf]" in ruling.mend
        ruling = foredraft.rule(folders(known=False, architecture="hyena9"))
        assert ruling.verdict is NO
        assert "does not know 'hyena9'" in ruling.reason


class TestLlamaCpp:
    def test_the_method_must_be_named(self):
        ruling = llama_cpp.rule(pair())
        assert ruling.verdict is SETTING
        assert ruling.mend == "llama-server -m big.gguf -md small.gguf --spec-type draft-simple"

    def test_files_are_named_as_a_shell_takes_them(self, tmp_path):
        path = tmp_path / "two words.gguf"
        path.touch()
        draft = facts("small", where=str(path))
        assert f"-md '{path}'" in llama_cpp.rule(pair(draft=draft)).mend
        draft = facts("small", where="https://host/a/b.gguf?download=true")
        assert "-md b.gguf " in llama_cpp.rule(pair(draft=draft)).mend

    def test_other_vocabularies(self):
        ruling = llama_cpp.rule(pair(draft=facts("small", tokens=OTHER)))
        assert ruling.verdict is NO
        assert "Token 5 is 't5' in the target and 'o5' in the draft" in ruling.reason

    def test_folders_are_converted_first(self):
        ruling = llama_cpp.rule(folders())
        assert ruling.verdict is SETTING
        assert "org/big and org/small are not" in ruling.reason
        assert ruling.mend.startswith("Convert org/big and org/small to GGUF")
        assert ruling.mend.endswith("-m big.gguf -md small.gguf --spec-type draft-simple")
        assert "org/small is not" in llama_cpp.rule(pair(draft=folder_facts("org/small"))).reason

    def test_qwen25_passes(self):
        assert llama_cpp.rule(folders(152064, 151936)).verdict is SETTING
        assert llama_cpp.rule(folders(152065, 151936)).verdict is NO

    def test_tokens_of_one_side_only_are_a_danger(self):
        draft = facts("small", tokens=vocabulary([*TOKENS, "more"]))
        assert "1 tokens are in one of them only, and llama-server aborts" in (
            llama_cpp.rule(pair(draft=draft)).reason
        )

    @pytest.mark.parametrize("layers", [RECURRENT, CONVOLUTION])
    def test_states_are_checkpointed(self, layers):
        ruling = llama_cpp.rule(pair(facts(layers=layers)))
        assert ruling.verdict is SETTING
        assert "checkpoint" in ruling.reason


class TestLMStudio:
    def test_the_same_vocabulary(self):
        assert lmstudio.rule(pair()).verdict is YES
        assert lmstudio.rule(pair(draft=facts("small", tokens=OTHER))).verdict is NO

    def test_folders(self):
        ruling = lmstudio.rule(folders())
        assert ruling.verdict is SETTING
        assert "MLX" in ruling.mend

    def test_its_list_hides_qwen_35(self):
        ruling = lmstudio.rule(pair(facts(architecture="qwen35")))
        assert ruling.verdict is SETTING
        assert "draftModel" in ruling.mend


class TestOllama:
    def test_no_plain_draft(self):
        ruling = ollama.rule(pair())
        assert ruling.verdict is NO
        assert "--spec-type draft-simple" in ruling.mend
        other = ollama.rule(pair(draft=facts("small", tokens=OTHER)))
        assert other.verdict is NO
        assert "--spec-type" not in other.mend


class TestVLLM:
    def test_equal_sizes(self):
        ruling = vllm.rule(folders())
        assert ruling.verdict is YES
        setting = json.loads(ruling.reason.split("'")[-2])
        assert setting == {"method": "draft_model", "model": "org/small"} | {
            "num_speculative_tokens": 3
        }

    def test_qwen25_is_refused_for_its_padding(self):
        ruling = vllm.rule(folders(152064, 151936))
        assert ruling.verdict is SETTING
        assert "refuses vocab_size 152,064 with 151,936, though the tokenizers agree" in (
            ruling.reason
        )
        assert "greedy drafts only" in ruling.reason
        assert '"use_heterogeneous_vocab": true' in ruling.mend

    def test_another_vocabulary_of_another_size(self):
        ruling = vllm.rule(folders(right=301, tokens=OTHER))
        assert ruling.verdict is SETTING
        assert "Only tokens spelled alike" in ruling.reason

    def test_another_vocabulary_of_the_same_size_is_useless(self):
        ruling = vllm.rule(folders(tokens=OTHER))
        assert ruling.verdict is NO
        assert "it would start; but drafts would almost never be accepted" in ruling.reason

    def test_a_few_odd_tokens_do_no_harm(self):
        ruling = vllm.rule(folders(tokens=ODD))
        assert ruling.verdict is YES
        assert "1 of 300 shared ids stand for other text" in ruling.reason
        odd = vocabulary([*(f"o{n}" for n in range(4)), *TOKENS[4:]])
        assert vllm.rule(folders(tokens=odd)).verdict is NO

    def test_a_shorter_draft_cuts_the_context(self):
        assert "cut from 32,768 to the draft's 2,048" in vllm.rule(folders(context=2048)).reason

    def test_gguf_needs_a_plugin(self):
        ruling = vllm.rule(pair())
        assert ruling.verdict is SETTING
        assert "big and small are GGUF, which needs a plug-in" in ruling.reason
        assert "vllm-gguf-plugin" in ruling.mend


class TestTransformers:
    def test_equal_sizes(self):
        assert transformers.rule(folders()).verdict is YES

    def test_other_sizes_need_both_tokenizers(self):
        for tokens in (None, OTHER):
            ruling = transformers.rule(folders(right=320, tokens=tokens))
            assert ruling.verdict is SETTING
            assert "tokenizer=…, assistant_tokenizer=…" in ruling.mend

    def test_another_tokenizer_of_the_same_size_is_useless(self):
        ruling = transformers.rule(folders(tokens=OTHER))
        assert ruling.verdict is NO
        assert "almost never be accepted" in ruling.reason

    def test_recurrent_states_cannot_be_taken_back(self):
        target, draft = folder_facts(), folder_facts("org/small")
        recurrent = {"layers": RECURRENT, "architecture": "qwen3_next"}
        ruling = transformers.rule(pair(folder_facts(**recurrent), draft))
        assert ruling.verdict is NO
        assert "It refuses targets (qwen3_next)" in ruling.reason
        ruling = transformers.rule(pair(target, folder_facts("org/small", **recurrent)))
        assert ruling.verdict is NO
        assert "It would start, but never puts back" in ruling.reason

    def test_convolutions_can(self):
        target = folder_facts(layers=CONVOLUTION)
        assert transformers.rule(pair(target, folder_facts("org/small"))).verdict is YES

    def test_gguf(self):
        ruling = transformers.rule(pair())
        assert ruling.verdict is SETTING
        assert "gguf_file=" in ruling.mend


@pytest.mark.parametrize(
    ("head", "runs"),
    [
        (HeadKind.EAGLE, {"vllm"}),
        (HeadKind.EAGLE3, {"vllm", "llama.cpp"}),
        (HeadKind.PEAGLE, {"vllm"}),
        (HeadKind.MEDUSA, set()),
        (HeadKind.HYDRA, set()),
        (HeadKind.MTP, {"vllm", "llama.cpp", "lmstudio", "ollama"}),
        (HeadKind.DFLASH, {"vllm", "llama.cpp", "lmstudio", "ollama", "transformers"}),
        (HeadKind.DSPARK, {"vllm", "llama.cpp", "lmstudio"}),
    ],
)
def test_who_runs_which_head(head, runs):
    draft = folder_facts("org/head", head=head, vocabulary=None, vocab_size=300)
    asked = pair(folder_facts(), draft)
    verdicts = {name: rule(asked).verdict for name, rule in RULES.items()}
    assert {name for name, verdict in verdicts.items() if verdict is SETTING} == runs
    assert {name for name, verdict in verdicts.items() if verdict is YES} == {"foredraft"}


def test_heads_in_foredraft():
    head = {"head": HeadKind.EAGLE3, "vocabulary": None}
    draft = folder_facts("org/head", **head)
    ruling = foredraft.rule(pair(folder_facts(layers=RECURRENT), draft))
    assert ruling.verdict is YES
    assert "It runs EAGLE-3 heads. The target's state is restored" in ruling.reason
    ruling = foredraft.rule(pair(facts(), draft))
    assert (ruling.verdict, ruling.mend) == (SETTING, "--engine torch")
    for target, other, words in (
        (folder_facts(), facts("head", **head), "heads from .safetensors, and head is GGUF"),
        (folder_facts(known=False, architecture="new"), draft, "'new' models are not known"),
        (folder_facts(), folder_facts("org/head", refused="It is lossy.", **head), "It is lossy."),
    ):
        ruling = foredraft.rule(pair(target, other))
        assert ruling.verdict is NO
        assert words in ruling.reason


def test_a_head_of_another_target_runs_nowhere():
    draft = folder_facts("org/head", head=HeadKind.EAGLE3, vocabulary=None, hidden_size=4096)
    for ruling in judge(folder_facts(), draft).engines.values():
        assert ruling.verdict is NO
        assert "was trained for a target of hidden size 4,096, not 64" in ruling.reason
    named = folder_facts("org/head", head=HeadKind.MTP, vocab_size=9, made_for="org/its-own")
    assert judge(folder_facts(), named).engines["vllm"].mend == "Use it with org/its-own."


def test_heads_in_gguf():
    draft = facts("head", head=HeadKind.DFLASH, vocabulary=None)
    assert llama_cpp.rule(pair(draft=draft)).mend.endswith("--spec-type draft-dflash")
    assert "Get" not in ollama.rule(pair(draft=draft)).mend
    assert vllm.rule(pair(draft=draft)).verdict is NO
    assert transformers.rule(pair(draft=draft)).verdict is NO


def test_gemma_4s_assistant_runs_in_transformers():
    draft = folder_facts("org/a", head=HeadKind.MTP, architecture="gemma4_assistant")
    ruling = transformers.rule(pair(folder_facts(), draft))
    assert ruling.verdict is SETTING
    assert "assistant_model=" in ruling.mend
