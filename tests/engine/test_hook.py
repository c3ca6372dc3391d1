"""`model.generate(…, custom_generate=foredraft.generate)` gives what generate gives without it."""

import copy
import functools
import subprocess
import sys

import pytest
import torch
from transformers import (
    DynamicCache,
    LogitsProcessor,
    PreTrainedTokenizerFast,
    StoppingCriteria,
    StopStringCriteria,
    SynthIDTextWatermarkingConfig,
    T5Config,
    T5ForConditionalGeneration,
)

import foredraft
from foredraft.engine import hook
from tests import tiny
from tests.targets import tiny_gguf

PROMPT = [1, 2, 3, 4, 1, 2, 3]
SETTINGS = {
    "plain": {},
    "penalty": {"repetition_penalty": 1.3},
    "n-grams": {"no_repeat_ngram_size": 3},
    "words": {"bad_words_ids": [[7], [3, 4]], "sequence_bias": {(5,): 2.0}},
    "minimum": {"min_new_tokens": 12},
    "suppressed": {"suppress_tokens": [4, 9], "begin_suppress_tokens": [11]},
    "decay": {"exponential_decay_length_penalty": (5, 1.5), "forced_eos_token_id": 31},
    "few": {"prefix_allowed_tokens_fn": lambda batch, ids: [3, 5, 8, 13, int(ids[-1]), 31]},
}
DRAFTING = {
    "none": {"drafter": "none"},
    "ngram": {"drafter": "ngram", "draft_len": 4},
    "suffix": {"drafter": "suffix", "draft_len": 4},
    "auto": {},
    "model": {"drafter": "model", "draft_len": 3},
    "bitwise": {"drafter": "ngram", "draft_len": 4, "exactness": "bitwise"},
    "distribution": {"drafter": "model", "draft_len": 3, "exactness": "distribution"},
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path))


def plain(model, **settings):
    """Transformers' own text."""
    usual = {"max_new_tokens": 24, "do_sample": False, "eos_token_id": 31, "pad_token_id": 0}
    return model.generate(torch.tensor([PROMPT]), **usual | settings)


def ours(model, **settings):
    return plain(model, custom_generate=foredraft.generate, **settings)


def drafting(name):
    needs_model = DRAFTING[name].get("drafter") == "model"
    return DRAFTING[name] | ({"assistant_model": tiny.model(seed=5)} if needs_model else {})


@pytest.mark.parametrize("how", DRAFTING)
@pytest.mark.parametrize("settings", ["plain", "penalty"])
def test_greedy_text_is_generates_own_however_it_is_drafted(settings, how):
    model = tiny.model()
    expected = plain(model, **SETTINGS[settings])
    made = ours(model, **SETTINGS[settings], **drafting(how), return_dict_in_generate=True)
    assert torch.equal(made.sequences, expected)
    assert made.stats.generated_tokens == expected.shape[1] - len(PROMPT)
    assert (made.stats.drafted == 0) == (how == "none")


@pytest.mark.parametrize("settings", SETTINGS)
def test_greedy_text_is_generates_own_whatever_shapes_it(settings):
    model = tiny.model(seed=1)
    expected = plain(model, **SETTINGS[settings])
    assert torch.equal(ours(model, **SETTINGS[settings], **DRAFTING["ngram"]), expected)


@pytest.mark.parametrize("kind", ["gemma3", "qwen3_next"])
def test_sliding_windows_and_recurrent_layers(kind):
    model = tiny.model(kind)
    assert torch.equal(ours(model, **DRAFTING["ngram"]), plain(model))


def test_the_end_of_a_text_is_generates_own():
    model = tiny.model()
    text = plain(model, eos_token_id=None)[0, len(PROMPT) :].tolist()
    end = next(token for i, token in enumerate(text) if i > 2 and token not in text[:i])
    for settings in ({"eos_token_id": [end, 31]}, {"max_length": 12, "max_new_tokens": None}):
        made = ours(model, **settings, **DRAFTING["ngram"], return_dict_in_generate=True)
        expected = plain(model, **settings)
        assert torch.equal(made.sequences, expected)
        assert made.stats.generated_tokens == expected.shape[1] - len(PROMPT)


class Later(LogitsProcessor):
    """Likes other tokens the longer the text is, and what was not said yet."""

    def __call__(self, input_ids, scores):
        scores = scores.clone()
        scores[:, input_ids.shape[1] % 32] += 3
        return scores.scatter_add(1, input_ids, torch.full(input_ids.shape, -0.5))


class Twice(StoppingCriteria):
    """Ends a text with the first token that comes twice in a row or is 9."""

    def __call__(self, input_ids, scores, **kwargs):
        return (input_ids[:, -1] == input_ids[:, -2]) | (input_ids[:, -1] == 9)


def test_a_persons_own_processors_and_criteria():
    for seed in range(4):
        model = tiny.model(seed=seed)
        own = {"logits_processor": [Later()], "stopping_criteria": [Twice()]}
        assert torch.equal(ours(model, **own, **DRAFTING["ngram"]), plain(model, **own))


def test_a_stop_string_is_a_criterion():
    """`stop_strings` itself never reaches a callable: Transformers withholds the tokenizer too."""
    model = tiny_gguf.model("llama", seed=1)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tiny_gguf.tokenizer())
    with pytest.raises(ValueError, match="tokenizer"):
        ours(model, stop_strings=["he"], tokenizer=tokenizer)
    criteria = [StopStringCriteria(tokenizer, ["he"])]
    made = ours(model, stopping_criteria=criteria, **DRAFTING["ngram"])
    assert torch.equal(made, plain(model, stop_strings=["he"], tokenizer=tokenizer))
    assert tokenizer.decode(made[0]).endswith("he")
    assert made.shape[1] < len(PROMPT) + 24


class Heard:
    def __init__(self):
        self.said = []

    def put(self, value):
        self.said.append(value.tolist())

    def end(self):
        self.said.append("end")


@pytest.mark.parametrize(
    "call",
    [
        foredraft.generate,
        functools.partial(foredraft.generate, drafter="ngram"),
        lambda *given, **named: foredraft.generate(*given, **named),
    ],
    ids=["itself", "partial", "lambda"],
)
def test_a_streamer_and_an_assistant_are_honoured(call):
    """Transformers gives them to its own loops only."""
    model, heard, expected = tiny.model(), Heard(), Heard()
    plain(model, streamer=expected)
    plain(model, streamer=heard, custom_generate=call)
    assert heard.said == expected.said
    with pytest.raises(foredraft.ForedraftError, match="asks no model"):
        plain(
            model,
            assistant_model=tiny.model(seed=5),
            custom_generate=functools.partial(foredraft.generate, drafter="ngram"),
        )


def test_nothing_of_the_model_changes():
    model, assistant = tiny.model(), tiny.model(seed=5)
    kinds = [type(module) for module in model.modules()]
    config = copy.deepcopy(model.config.to_dict())
    attention = model.config._attn_implementation
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    ours(model, assistant_model=assistant)
    assert [type(module) for module in model.modules()] == kinds
    assert model.config.to_dict() == config
    assert model.config._attn_implementation == attention
    after = model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(weight, after[name]) for name, weight in before.items())
    assert not any(weight.is_inference() for weight in [*model.parameters(), *model.buffers()])


def test_a_seed_gives_one_text_whatever_drafts_it():
    model = tiny.model()
    sampled = {"do_sample": True, "temperature": 0.9, "top_k": 20, "top_p": 0.95}
    texts = {}
    for seed in (3, 4):
        for how in ("none", "ngram", "model", "auto"):
            settings = sampled | drafting(how)  # a tiny model is made from a seed of its own
            torch.manual_seed(seed)
            texts[seed, how] = ours(model, **settings)[0].tolist()
    for how in ("ngram", "model", "auto"):
        assert texts[3, how] == texts[3, "none"]
        assert texts[4, how] == texts[4, "none"]
    assert texts[3, "none"] != texts[4, "none"]


def test_greedy_decoding_leaves_torchs_generator_alone():
    model = tiny.model()
    torch.manual_seed(1)
    ours(model, drafter="none")
    assert torch.equal(torch.rand(3), torch.manual_seed(1) and torch.rand(3))


def test_a_full_context_ends_the_text_with_a_warning():
    model = tiny.model(max_position_embeddings=16)
    with pytest.warns(UserWarning, match="ends at LlamaForCausalLM's context of 16"):
        made = ours(model, eos_token_id=None, max_new_tokens=50, **DRAFTING["ngram"])
    assert made.shape[1] == 16


T5 = T5Config(vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"num_beams": 2}, "ask for beam search"),
        ({"penalty_alpha": 0.6, "top_k": 4}, "ask for contrastive search"),
        ({"prompt_lookup_num_tokens": 3}, "ask for assisted generation"),
        ({"do_sample": True, "num_return_sequences": 2}, "one text at a time, and these are 2"),
        ({"attention_mask": torch.tensor([[0] + [1] * 6])}, "without padding"),
        ({"position_ids": torch.arange(3, 10)[None]}, "position_ids"),
        ({"cache": DynamicCache()}, "a cache of its own"),
        ({"use_cache": False}, "a cache of its own"),
        ({"cache_implementation": "static"}, "a cache of its own"),
        ({"output_scores": True, "return_dict_in_generate": True}, "output_scores"),
        ({"output_hidden_states": True}, "cannot use output_hidden_states"),
        ({"guidance_scale": 1.5}, "UnbatchedClassifierFreeGuidanceLogitsProcessor remembers"),
        (
            {"watermarking_config": SynthIDTextWatermarkingConfig(3, [1, 2]), "do_sample": True},
            "SynthIDTextWatermarkLogitsProcessor remembers",
        ),
        ({"synced_gpus": True}, "synced_gpus"),
        ({"drafter": "oracle"}, "Unknown drafter 'oracle'"),
        ({"drafter": "model"}, "needs assistant_model"),
        ({"exactness": "almost"}, "Unknown exactness 'almost'"),
        ({"draft_len": -1}, "draft_len"),
    ],
)
def test_what_would_be_done_otherwise_is_refused(settings, says):
    with pytest.raises(foredraft.ForedraftError, match=says) as caught:
        ours(tiny.model(), **settings)
    said = str(caught.value)
    assert said.endswith((".", "?"))
    assert "\n" not in said


def test_a_prompt_of_vectors_is_refused():
    model = tiny.model()
    vectors = model.get_input_embeddings()(torch.tensor([PROMPT]))
    with pytest.raises(foredraft.ForedraftError, match="cannot use inputs_embeds"):
        model.generate(inputs_embeds=vectors, max_new_tokens=4, custom_generate=foredraft.generate)


def test_models_that_cannot_be_are_refused():
    with pytest.raises(foredraft.ForedraftError, match="training mode"):
        ours(tiny.model().train())
    with pytest.raises(foredraft.ForedraftError, match="an encoder-decoder model"):
        ours(T5ForConditionalGeneration(T5).eval(), decoder_start_token_id=0)
    with pytest.raises(foredraft.ForedraftError, match="recurrent"):
        ours(tiny.model(), assistant_model=tiny.model("qwen3_next"))


def test_a_setting_that_neither_knows_is_an_error():
    with pytest.raises(ValueError, match="draft_length"):
        ours(tiny.model(), draft_length=4)


def test_the_public_name_is_imported_when_it_is_used():
    """`import foredraft` must stay quick."""
    script = "import sys, foredraft; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert foredraft.generate is hook.generate
    assert "generate" in foredraft.__all__
    assert len(foredraft.__all__) <= 10, "what nobody has to write belongs to its own module"
    with pytest.raises(AttributeError, match="has no attribute 'degenerate'"):
        foredraft.degenerate  # noqa: B018
