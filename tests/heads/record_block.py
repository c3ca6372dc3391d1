"""Adds heads that draft a block to those of record.py: python -m tests.heads.record_block"""

from collections.abc import Callable
from typing import Any

import torch
from speculators.config import SpeculatorsConfig, VerifierConfig
from speculators.models.dflash import DFlashDraftModel, DFlashSpeculatorConfig
from speculators.models.dspark import DSparkDraftModel, DSparkSpeculatorConfig
from speculators.models.peagle import PEagleDraftModel, PEagleSpeculatorConfig
from speculators.models.peagle import core as peagle
from speculators.proposals.greedy import GreedyTokenProposalConfig
from transformers import LlamaConfig, Qwen3Config

from tests.heads.record import DRAFTED, HIDDEN, LAYER, VOCAB, keep, seeded

LENGTH, MASK, BLOCK = 24, 39, 4
ENDS = (1, 4, 8, 13, 10, 11, 20)
"""The lengths of the texts a head is asked about, in this order: some go back."""
SHAPE = LAYER | {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
WINDOW = {
    "use_sliding_window": True,
    "sliding_window": 6,
    "layer_types": ["full_attention", "sliding_attention"],
}


def model_of(kind: type, config: type, algorithm: str, layers: Any, **settings: Any) -> Any:
    """A random model of the package."""
    layers._attn_implementation = "eager"
    tokens = BLOCK if settings.get("sample_from_anchor", algorithm != "dflash") else BLOCK - 1
    drafting = SpeculatorsConfig(
        algorithm=algorithm,
        proposal_methods=[GreedyTokenProposalConfig(speculative_tokens=tokens)],
        default_proposal_method="greedy",
        verifier=VerifierConfig(name_or_path=None, architectures=[]),
    )
    settings = {"draft_vocab_size": VOCAB, "mask_token_id": MASK} | settings
    model = kind(config(transformer_layer_config=layers, speculators_config=drafting, **settings))
    model = seeded(model).requires_grad_(False)
    if settings["draft_vocab_size"] < VOCAB:
        drafted = torch.randperm(VOCAB)[:DRAFTED].sort().values
        t2d = torch.isin(torch.arange(VOCAB), drafted)
        model.load_vocab_mappings(t2d, drafted - torch.arange(DRAFTED))
    return model


def block(model: Any, tokens: torch.Tensor, hidden: torch.Tensor, end: int) -> torch.Tensor:
    """A DFlash or DSpark head's logits after the first `end` tokens, one row a depth; DSpark's for
    the tokens that follow in the text."""
    anchors = torch.zeros(1, LENGTH)
    anchors[0, end - 1] = 1
    states, logits, *_ = model._backbone_forward(
        hidden[None],
        tokens[None],
        anchors,
        torch.zeros(1, LENGTH, HIDDEN),
        torch.zeros(1, LENGTH, dtype=torch.long),
        max_anchors=1,
    )
    if getattr(model, "markov_head", None) is not None:
        before = tokens[None, end - 1 : end - 1 + BLOCK]
        if not model.config.sample_from_anchor:
            before = torch.cat([before[:, :1], before[:, :-1]], dim=1)
        logits = logits + model.markov_head.block_bias(prev_token_ids=before, hidden_states=states)
    return logits[0, 0 if model.config.sample_from_anchor else 1 :]


def parallel(model: Any, tokens: torch.Tensor, hidden: torch.Tensor, end: int) -> torch.Tensor:
    """A P-EAGLE head's logits after the first `end` tokens, one row a depth."""
    rows = end - 1
    if rows == 0:  # the package's rows hold a token and the hidden state before it
        return torch.zeros(BLOCK, model.draft_vocab_size)
    depths = torch.arange(1, BLOCK)
    sampled = (
        torch.cat([torch.arange(rows), torch.full_like(depths, rows - 1)]),
        torch.cat([torch.zeros(rows, dtype=torch.long), depths]),
    )
    seen = {}
    peagle.generate_cod_sample_indices = lambda **_: sampled
    peagle.compute_metrics = lambda logits, **_: (seen.update(logits=logits), None)
    model(
        hidden[None, : rows + BLOCK],
        tokens[None, 1 : rows + BLOCK + 1],
        torch.zeros(1, rows + BLOCK, dtype=torch.long),
        verifier_last_hidden_states=torch.zeros(1, rows + BLOCK, HIDDEN),
        num_depths=BLOCK,
    )
    return seen["logits"][0, -BLOCK:]


def record(name: str, model: Any, taps: int, says: Callable[..., torch.Tensor]) -> None:
    tokens, hidden = torch.randint(VOCAB - 1, (LENGTH,)), torch.randn(LENGTH, taps * HIDDEN)
    rows = torch.arange(model.draft_vocab_size)
    keep(
        name,
        model,
        tokens=tokens,
        hidden=hidden,
        ends=torch.tensor(ENDS),
        logits=torch.stack([says(model, tokens, hidden, end) for end in ENDS]),
        ids=rows if model.d2t is None else rows + model.d2t,
        embeddings=model.embed_tokens.weight,
        output=model.lm_head.weight,
    )


def main() -> None:
    dflash = (DFlashDraftModel, DFlashSpeculatorConfig, "dflash")
    dspark = (DSparkDraftModel, DSparkSpeculatorConfig, "dspark")
    two = {"block_size": BLOCK, "aux_hidden_state_layer_ids": [1, 3]}
    small = {"draft_vocab_size": DRAFTED}
    for name, kind, layers, settings in (
        ("dflash", dflash, {}, {}),
        ("dflash-window", dflash, WINDOW, small),
        ("dflash-free-window", dflash, WINDOW, {"sliding_window_non_causal": True}),
        ("dflash-anchor", dflash, {}, {"sample_from_anchor": True}),
        ("dspark", dspark, {}, {"markov_rank": 4} | small),
        ("dspark-gated", dspark, {}, {"markov_rank": 4, "markov_head_type": "gated"}),
        ("dspark-rnn", dspark, {}, {"markov_rank": 4, "markov_head_type": "rnn"}),
        (
            "dspark-rnn-bonus",
            dspark,
            WINDOW,
            {"markov_rank": 4, "markov_head_type": "rnn", "sample_from_anchor": False} | small,
        ),
    ):
        record(name, model_of(*kind, Qwen3Config(**SHAPE, **layers), **two, **settings), 2, block)
    three = {"eagle_aux_hidden_state_layer_ids": [1, 2, 3]}
    eagle = (PEagleDraftModel, PEagleSpeculatorConfig, "peagle")
    for name, inner, settings in (
        ("peagle", LlamaConfig(**SHAPE), small | {"norm_before_residual": True}),
        ("peagle-norms", LlamaConfig(**SHAPE), {"fc_norm": True, "norm_output": True}),
        ("peagle-window", Qwen3Config(**SHAPE, **WINDOW), {"norm_before_fc": True}),
    ):
        record(name, model_of(*eagle, inner, **three, **settings), 3, parallel)


if __name__ == "__main__":
    main()
