"""The network of multi-token prediction: decoder blocks of the target's own kind."""

import copy
from typing import Any

import torch
from torch import nn

from foredraft.heads.layers import Network, Pass


class MTPModule(nn.Module):
    """A token's embedding and the state before it, joined, through one decoder block."""

    def __init__(self, config: Any, block: type[nn.Module], norm: type[nn.Module]) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.rms_norm_eps
        self.hidden_first: bool = getattr(config, "mtp_hidden_states_first", False)
        self.enorm, self.hnorm = norm(width, eps=eps), norm(width, eps=eps)
        self.eh_proj = nn.Linear(2 * width, width, bias=False)
        self.block = block(config, 0)
        # Where the flag is False, states are handed on and read out as the block leaves them.
        bare = getattr(config, "chain_hidden_post_norm", None) is False
        self.norm = nn.Identity() if bare else norm(width, eps=eps)

    def forward(
        self, embedded: torch.Tensor, hidden: torch.Tensor, seen: dict[str, Any]
    ) -> torch.Tensor:
        pair = [self.enorm(embedded), self.hnorm(hidden)]
        joined = torch.cat(pair[::-1] if self.hidden_first else pair, dim=-1)
        out: torch.Tensor = self.norm(self.block(self.eh_proj(joined), **seen))
        return out


class MTPNetwork(Network):
    """One module, which reads its own output further on, or one for each depth."""

    def __init__(self, config: Any, modules: int, model: Any) -> None:
        """`config` as from `block_config`; `model` is the target, whose classes serve."""
        super().__init__(config)
        decoder = model.get_decoder()
        layer, self._rotary = decoder.layers[-1], type(decoder.rotary_emb)
        norm = type(layer.input_layernorm)
        self.depths = nn.ModuleList(MTPModule(config, type(layer), norm) for _ in range(modules))

    def rotary(self) -> nn.Module:
        made: nn.Module = self._rotary(self.config).to(self.device)
        return made

    def fuse(self, taps: torch.Tensor) -> torch.Tensor:
        return taps[None]

    def run(
        self, embedded: torch.Tensor, hidden: torch.Tensor, place: Pass, module: int = 0
    ) -> torch.Tensor:
        out: torch.Tensor = self.depths[module](embedded, hidden, place.of(self.config, 0))
        return out

    def normed(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden


def block_config(config: Any, sparse: bool) -> Any:
    """The target's configuration as its decoder layer takes it for one block of full attention.

    `sparse` says whether the block mixes experts, as some of the target's layers may not.
    """
    changed = copy.deepcopy(config)
    changed.num_hidden_layers = 1
    for name, value in (
        ("layer_types", ["full_attention"]),
        ("mlp_layer_types", ["sparse" if sparse else "dense"]),
        ("first_k_dense_replace", int(not sparse)),
        ("mlp_only_layers", [] if sparse else [0]),
        ("decoder_sparse_step", 1),
    ):
        if getattr(changed, name, None) is not None:
            setattr(changed, name, value)
    return changed
