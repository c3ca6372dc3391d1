"""Makes tests/heads/recorded/: tiny random heads by speculators, with what it computes from them.

    python -m tests.heads.record

where speculators 0.9.0 is installed. Its classes are an implementation that is not ours, and the
tests compare with their numbers without needing the package.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

RECORDED = Path(__file__).parent / "recorded"
HIDDEN, VOCAB, DRAFTED, ROWS, STEPS = 16, 40, 12, 9, 4
LAYER = {
    "vocab_size": VOCAB,
    "hidden_size": HIDDEN,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "max_position_embeddings": 64,
}


def seeded(model: Any) -> Any:
    """The model with random weights; norms lie around one."""
    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        weight.data = torch.randn(weight.shape) * 0.4 + (1.0 if "norm" in name else 0.0)
    return model.float().eval()


def keep(name: str, model: Any, **tensors: torch.Tensor) -> None:
    """Store a head as speculators saves it, and `tensors`: what went in and what came out."""
    folder = RECORDED / name
    model.save_pretrained(folder)
    (folder / "config.py").unlink(missing_ok=True)  # a copy of its own source
    whole = {key: value.contiguous() for key, value in tensors.items()}
    save_file(whole, folder / "recorded.st")


def outputs(module: torch.nn.Module, run: Callable[[], Any]) -> torch.Tensor:
    """What a module gave at each of its calls while `run` ran, [calls, rows, width]."""
    seen: list[torch.Tensor] = []
    hook = module.register_forward_hook(lambda _module, _inputs, out: seen.append(out[0]))
    with torch.no_grad():
        run()
    hook.remove()
    return torch.stack(seen)


def speculators_config(algorithm: str) -> Any:
    from speculators.config import SpeculatorsConfig, VerifierConfig
    from speculators.proposals.greedy import GreedyTokenProposalConfig

    return SpeculatorsConfig(
        algorithm=algorithm,
        proposal_methods=[GreedyTokenProposalConfig(speculative_tokens=STEPS)],
        default_proposal_method="greedy",
        verifier=VerifierConfig(name_or_path=None, architectures=["LlamaForCausalLM"]),
    )


def eagle3(
    name: str,
    taps: tuple[int, ...],
    draft_vocab: int = DRAFTED,
    layer: dict[str, Any] | None = None,
    family: str = "llama",
    **flags: bool,
) -> None:
    """Row t of step i holds token t + 1 + i: a draft of i tokens after t + 2 committed ones."""
    from speculators.models.eagle3.config import Eagle3SpeculatorConfig
    from speculators.models.eagle3.core import Eagle3DraftModel
    from transformers import LlamaConfig, Qwen3Config

    inner = (LlamaConfig if family == "llama" else Qwen3Config)(**(LAYER | (layer or {})))
    inner._attn_implementation = "eager"
    model = seeded(
        Eagle3DraftModel(
            Eagle3SpeculatorConfig(
                transformer_layer_config=inner,
                draft_vocab_size=draft_vocab,
                eagle_aux_hidden_state_layer_ids=list(taps),
                speculators_config=speculators_config("eagle3"),
                **flags,
            )
        )
    )
    if draft_vocab < VOCAB:
        ids = torch.arange(VOCAB)[2::3][:draft_vocab]
        model.load_vocab_mappings(
            torch.isin(torch.arange(VOCAB), ids), ids - torch.arange(draft_vocab)
        )
    tokens = torch.randint(0, VOCAB, (1, ROWS + 1))
    hidden = torch.randn(1, ROWS, len(taps) * HIDDEN)
    document = torch.zeros(1, ROWS, dtype=torch.long)
    logits = outputs(model.lm_head, lambda: model(hidden, tokens[:, 1:], document, ttt_steps=STEPS))
    keep(name, model, tokens=tokens[0], hidden=hidden[0], logits=logits)


if __name__ == "__main__":
    eagle3("eagle3", (2, 3, 4))
    eagle3("eagle3-norm-before-residual", (2, 3, 4), norm_before_residual=True)
    eagle3("eagle3-norm-before-fc", (1, 6), VOCAB, norm_before_fc=True)
    eagle3("eagle3-fc-norm", (0, 2, 4, 6), family="qwen3", fc_norm=True, norm_output=True)
    scaled = {"rope_type": "linear", "factor": 4.0, "rope_theta": 500.0}
    layer = {"num_hidden_layers": 2, "attention_bias": True, "rope_parameters": scaled}
    eagle3("eagle3-two-layers", (2, 3, 4), layer=layer, norm_before_residual=True)
