"""Models with modules of multi-token prediction among their weights, as their makers ship them."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import DeepseekV3Config, DeepseekV3ForCausalLM

from foredraft.targets.folder_config import config_of
from foredraft.targets.folder_model import build
from foredraft.targets.torch_hf import TorchTarget
from tests import tiny

_PARTS = {
    "deepseek": ("enorm", "hnorm", "eh_proj", "shared_head.norm"),
    "qwen": ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "fc", "norm"),
}
"""What a layout calls the norms of the embedding and the state, their projection, the last norm."""


def deepseek(modules: int = 1, dense: int = 1, **changes: Any) -> Any:
    """DeepSeek-V3 in small, two layers: latent attention, and experts from layer `dense` on."""
    torch.manual_seed(0)
    config = DeepseekV3Config(
        vocab_size=tiny.VOCAB,
        hidden_size=32,
        intermediate_size=48,
        moe_intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        n_routed_experts=4,
        n_shared_experts=1,
        num_experts_per_tok=2,
        n_group=2,
        topk_group=1,
        first_k_dense_replace=dense,
        kv_lora_rank=12,
        q_lora_rank=12,
        qk_rope_head_dim=4,
        qk_nope_head_dim=8,
        v_head_dim=8,
        max_position_embeddings=512,
        initializer_range=0.3,
        num_nextn_predict_layers=modules,
    )
    for name, value in changes.items():
        setattr(config, name, value)
    return DeepseekV3ForCausalLM(config).eval().requires_grad_(False)


def shipped(
    folder: Path, model: Any, layout: str = "deepseek", modules: int = 1, layer: int = 1
) -> dict[str, torch.Tensor]:
    """Save `model` in `folder` with random modules whose blocks are like its `layer`; the modules'
    tensors, under the names they have there."""
    model.save_pretrained(folder)
    file = folder / "model.safetensors"
    held = load_file(file)
    added = {}
    for module in range(modules):
        before, block = {
            "deepseek": (f"model.layers.{model.config.num_hidden_layers + module}.", ""),
            "qwen": ("mtp.", "layers.0."),
        }[layout]
        like = f"model.layers.{layer}."
        width = model.config.hidden_size
        shapes = {
            before + block + name.removeprefix(like): value.shape
            for name, value in held.items()
            if name.startswith(like)
        }
        enorm, hnorm, joint, norm = _PARTS[layout]
        bare = getattr(model.config, "chain_hidden_post_norm", None) is False
        norms = (enorm, hnorm) if bare else (enorm, hnorm, norm)
        shapes |= {f"{before}{part}.weight": (width,) for part in norms}
        shapes[f"{before}{joint}.weight"] = (width, 2 * width)
        torch.manual_seed(module + 1)
        added |= {name: 0.3 * torch.randn(shape) for name, shape in shapes.items()}
        if layout == "deepseek":
            copies = {"embed_tokens": "model.embed_tokens", "shared_head.head": "lm_head"}
            for copy, name in copies.items():
                added[f"{before}{copy}.weight"] = held[f"{name}.weight"].clone()
    save_file(held | added, file, metadata={"format": "pt"})
    return added


def opened(folder: Path) -> TorchTarget:
    """The target in a folder, by the folder's name."""
    model = build(folder, config_of(folder), torch.float32).eval().requires_grad_(False)
    return TorchTarget(model, tiny.Characters(), str(folder))
