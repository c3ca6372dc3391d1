"""What `model.generate` may be asked that foredraft would do otherwise, or not at all."""

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from transformers import (
    SynthIDTextWatermarkLogitsProcessor,
    UnbatchedClassifierFreeGuidanceLogitsProcessor,
)
from transformers.integrations import is_deepspeed_zero3_enabled
from transformers.integrations.fsdp import is_fsdp_managed_module

from foredraft.core.errors import ForedraftError

_STATEFUL = (SynthIDTextWatermarkLogitsProcessor, UnbatchedClassifierFreeGuidanceLogitsProcessor)
_PREPARED = {"attention_mask", "position_ids", "cache", "use_cache", "logits_to_keep"}
"""What generate prepares for every model."""


def refuse(
    model: Any,
    input_ids: torch.Tensor,
    processors: Any,
    config: Any,
    synced_gpus: bool | None,
    inputs: Mapping[str, Any],
) -> None:
    """Raise ForedraftError for the first thing asked that would be ignored or done otherwise."""
    name = type(model).__name__
    texts, length = input_ids.shape
    mode = str(config.get_generation_mode().value)
    mask, positions = inputs.get("attention_mask"), inputs.get("position_ids")
    counted = positions is None or torch.equal(positions.cpu().long(), torch.arange(length)[None])
    stateful = [type(item).__name__ for item in processors if isinstance(item, _STATEFUL)]
    others = [key for key, value in inputs.items() if value is not None and key not in _PREPARED]
    for wrong, sentence in (
        (
            model.config.is_encoder_decoder,
            f"{name} is an encoder-decoder model, and foredraft.generate only continues text; "
            "leave custom_generate out.",
        ),
        (
            "logits_to_keep" not in inspect.signature(model.forward).parameters,
            f"{name}'s forward takes no logits_to_keep, with which foredraft asks for the rows it "
            "verifies; leave custom_generate out.",
        ),
        (
            mode not in ("greedy_search", "sample"),
            f"These settings ask for {mode.replace('_', ' ')}, and foredraft.generate decodes "
            "greedily or samples; leave out num_beams, penalty_alpha, prompt_lookup_num_tokens "
            "and their like.",
        ),
        (
            texts != 1,
            f"foredraft.generate continues one text at a time, and these are {texts}; call "
            "generate once for each, with num_return_sequences=1.",
        ),
        (
            others,
            f"foredraft.generate continues token ids alone and cannot use {', '.join(others)}; "
            "leave it out, or leave custom_generate out.",
        ),
        (
            model.training,
            f"{name} is in training mode, where dropout may make every pass another model; call "
            "model.eval() first.",
        ),
        (
            synced_gpus or is_deepspeed_zero3_enabled() or is_fsdp_managed_module(model),
            "The weights are spread over processes that must take their steps together "
            "(synced_gpus), and speculation makes them differ; leave custom_generate out.",
        ),
        (
            mask is not None and not bool(mask.all()),
            "The attention_mask hides tokens of the prompt (generate itself hides pad_token_id), "
            "and foredraft.generate reads all of it; give the prompt without padding, or an "
            "attention_mask of ones.",
        ),
        (
            not counted,
            "The position_ids do not count 0, 1, 2 … as foredraft.generate does; leave them out.",
        ),
        (
            getattr(inputs.get("cache"), "_is_user_defined", False)
            or inputs.get("use_cache") is False
            or config.cache_implementation not in (None, "dynamic"),
            "foredraft.generate keeps a cache of its own, which can take tokens back; leave out "
            "cache, cache_implementation and use_cache.",
        ),
        (
            config.output_scores or config.output_logits,
            "foredraft.generate returns token ids and its own statistics; leave out output_scores "
            "and output_logits.",
        ),
        (
            stateful,
            f"{', '.join(stateful)} remembers what it was asked before, and a draft asks for more "
            "than becomes text; leave it out, or leave custom_generate out.",
        ),
    ):
        if wrong:
            raise ForedraftError(sentence)
