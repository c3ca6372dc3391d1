"""The target's last layer, whose MLP a head can use from the start."""

from collections.abc import Iterable, Sequence
from typing import Any, Self, cast

import torch
from torch.nn.functional import silu

from foredraft.heads.eagle3 import Eagle3
from foredraft.training.states import Example
from foredraft.training.teacher import Teacher, weight_of

_PARTS = {"self_attn", "mlp", "input_layernorm", "post_attention_layernorm"}


class LastLayer:
    """A decoder layer like Llama's; what it reads is the last of the `taps` of an example."""

    def __init__(self, teacher: Teacher, layer: Any, taps: int) -> None:
        self._layer, self._rotary = layer, teacher.model.get_decoder().rotary_emb
        size = teacher.config.hidden_size
        self._own = slice((taps - 1) * size, taps * size)
        self._dtype: torch.dtype = layer.input_layernorm.weight.dtype

    @classmethod
    def of(cls, teacher: Teacher, taps: Sequence[int]) -> Self | None:
        """None where the layer is built otherwise, or what it reads is not tapped."""
        layers = teacher.model.get_decoder().layers
        layer = layers[-1]
        plain = {name for name, _ in layer.named_children()} == _PARTS
        gated = all(hasattr(layer.mlp, f"{name}_proj") for name in ("gate", "up", "down"))
        tapped = bool(taps) and taps[-1] == len(layers) - 1
        silus = teacher.config.hidden_act == "silu"
        return cls(teacher, layer, len(taps)) if plain and gated and tapped and silus else None

    def before_mlp(self, example: Example) -> torch.Tensor:
        """What the MLP reads, before its norm, and is added to [n, H]."""
        read = example.hidden[None, :, self._own].to(self._dtype)
        rope = self._rotary(read, torch.arange(read.shape[1])[None])
        attended, _ = self._layer.self_attn(
            self._layer.input_layernorm(read), attention_mask=None, position_embeddings=rope
        )
        found: torch.Tensor = (read + attended)[0].float()
        return found

    def lend(self, network: Eagle3, examples: Iterable[Example]) -> None:
        """Give a head the MLP and its norm; if the head's is narrower, those units of it that
        add most in these examples."""
        layer, first = self._layer, cast(Any, network.layers[0])
        norm, mlp = layer.post_attention_layernorm, layer.mlp
        weights = {name: weight_of(getattr(mlp, f"{name}_proj")) for name in ("gate", "up", "down")}
        added = torch.zeros(len(weights["gate"]))
        for example in examples:
            read = norm(self.before_mlp(example).to(self._dtype))
            added += (silu(mlp.gate_proj(read)) * mlp.up_proj(read)).float().square().sum(0)
        kept = (added.sqrt() * weights["down"].norm(dim=0)).topk(first.mlp.up_proj.out_features)
        units = kept.indices.sort().values
        first.mlp.gate_proj.weight.copy_(weights["gate"][units])
        first.mlp.up_proj.weight.copy_(weights["up"][units])
        first.mlp.down_proj.weight.copy_(weights["down"][:, units])
        ones = torch.ones(first.post_attention_layernorm.weight.shape, dtype=self._dtype)
        first.post_attention_layernorm.weight.copy_(norm(ones))
