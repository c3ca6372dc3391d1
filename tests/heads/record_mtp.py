"""Makes tests/heads/recorded/mtp-*: tiny random modules by speculators, with what it computes.

    python -m tests.heads.record_mtp

As record.py. Embeddings and output matrix are the target's, so they are kept beside the numbers.
"""

from typing import Any

import torch

from tests.heads.record import HIDDEN, LAYER, ROWS, VOCAB, keep, outputs, seeded, speculators_config


def mtp(name: str, config: Any) -> None:
    """Row t holds token t + 1."""
    from speculators.models.mtp import MTPDraftModel, MTPSpeculatorConfig

    config._attn_implementation = "eager"
    told = speculators_config("mtp")
    told.proposal_methods[0].speculative_tokens = 1
    model = seeded(
        MTPDraftModel(MTPSpeculatorConfig(transformer_layer_config=config, speculators_config=told))
    )
    tokens = torch.randint(0, VOCAB, (1, ROWS + 2))
    hidden = torch.randn(1, ROWS + 2, HIDDEN)
    (logits,) = outputs(model.lm_head, lambda: model(tokens, hidden))
    matrices = {"embed": model.embed_tokens.weight, "output": model.lm_head.weight}
    keep(name, model, tokens=tokens[0], hidden=hidden[0], logits=logits, **matrices)


if __name__ == "__main__":
    from transformers import Qwen3_5TextConfig, Qwen3Config, Qwen3NextConfig

    hybrid = LAYER | {"num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"]}
    linear = {f"linear_num_{kind}_heads": 2 for kind in ("key", "value")}
    linear |= {f"linear_{kind}_head_dim": 8 for kind in ("key", "value")}
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
    experts |= {"shared_expert_intermediate_size": 8, "decoder_sparse_step": 1}
    mtp("mtp-qwen3", Qwen3Config(**LAYER))
    mtp("mtp-qwen3-next", Qwen3NextConfig(**hybrid, **linear, **experts))
    mtp("mtp-qwen3-5", Qwen3_5TextConfig(**hybrid, **linear))
