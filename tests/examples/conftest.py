"""Examples run as their readers run them, on tiny models."""

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from tests.targets import tiny_gguf

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A tiny model with its tokenizer and chat template, as `save_pretrained` leaves them."""
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "tiny"
    tiny_gguf.model("llama").save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tiny_gguf.tokenizer(),
        eos_token="<|im_end|>",
        chat_template=tiny_gguf.TEMPLATE,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    return folder
