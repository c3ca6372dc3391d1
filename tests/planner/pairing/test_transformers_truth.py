"""What the rule says of Transformers is what the installed Transformers does."""

import pytest
import torch
from transformers.generation.candidate_generator import AssistedCandidateGenerator

from tests import tiny
from tests.targets import tiny_gguf

PROMPT = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])


def generate(target, draft, tokens=6, **options):
    options |= {"max_new_tokens": tokens, "do_sample": False, "pad_token_id": 0}
    return target.generate(PROMPT, assistant_model=draft, **options)


def test_equal_sizes_start_whatever_the_tokens_mean():
    assert generate(tiny.model(), tiny.model(seed=1)).shape[1] > PROMPT.shape[1]
    with pytest.raises(ValueError, match="`assistant_tokenizer` is not required"):
        generate(tiny.model(), tiny.model(seed=1), tokenizer=object(), assistant_tokenizer=object())


def test_other_sizes_need_both_tokenizers():
    with pytest.raises(ValueError, match="Please provide `tokenizer` and `assistant_tokenizer`"):
        generate(tiny.model(), tiny.model(seed=1, vocab_size=33))


def test_recurrent_targets_are_refused():
    with pytest.raises(ValueError, match="not supported with stateful models"):
        generate(tiny.model("qwen3_next"), tiny.model())


@pytest.mark.parametrize(("kind", "holds"), [("llama", True), ("qwen3_next", False)])
def test_a_recurrent_drafts_state_is_never_put_back(kind, holds, monkeypatch):
    """Its drafts are no longer what it would say of the same text, read afresh."""
    draft, astray = tiny.model(kind), []
    draft.generation_config.update(
        num_assistant_tokens=4,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0,
    )
    propose = AssistedCandidateGenerator.get_candidates

    def compare(self, text, *arguments, **options):
        found = propose(self, text, *arguments, **options)
        count = found[0].shape[1] - text.shape[1]
        if count:
            fresh = draft.generate(text, max_new_tokens=count, do_sample=False, pad_token_id=0)
            astray.append(not torch.equal(fresh, found[0]))
        return found

    monkeypatch.setattr(AssistedCandidateGenerator, "get_candidates", compare)
    generate(tiny.model(seed=1), draft, tokens=16)
    assert any(astray) is not holds


def test_convolutions_are_not():
    target, draft = tiny_gguf.model("lfm2"), tiny_gguf.model("llama")
    assert generate(target, draft).shape[1] > PROMPT.shape[1]
