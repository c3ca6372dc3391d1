"""EAGLE-3: one layer over hidden states from three depths of the target (2503.01840)."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from foredraft.heads.layers import Network, Pass, pieces_of


@dataclass(frozen=True, slots=True)
class Eagle3Settings:
    """What sets one EAGLE-3 head apart from another, beside its layers' config.

    `target_size` is the target's hidden size and `taps` the number of hidden states read.
    `own_embeddings` and `draft_vocab` (None: the target's output matrix serves) say what the head
    brings; the others name norms as the checkpoints do.
    """

    target_size: int
    taps: int = 3
    draft_vocab: int | None = None
    own_embeddings: bool = False
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    fc_norm: bool = False
    norm_output: bool = False


class Eagle3(Network):
    """The network, its parameters named as in checkpoints (whose `midlayer` is `layers.0`)."""

    def __init__(self, config: Any, settings: Eagle3Settings) -> None:
        super().__init__(config)
        pieces, size = pieces_of(config), config.hidden_size
        width = settings.taps * settings.target_size
        self.settings = settings
        self.fc = nn.Linear(width, size, bias=False)
        if settings.norm_before_fc:
            self.input_norm = pieces.norm(width, eps=config.rms_norm_eps)
        if settings.fc_norm:
            self.fc_norm = nn.ModuleList(
                pieces.norm(settings.target_size, eps=config.rms_norm_eps)
                for _ in range(settings.taps)
            )
        self.layers = nn.ModuleList([FirstLayer(config, settings.norm_before_residual)])
        self.layers.extend(pieces.layer(config, i) for i in range(1, config.num_hidden_layers))
        self.norm = pieces.norm(size, eps=config.rms_norm_eps)
        if settings.own_embeddings:
            self.embed_tokens = nn.Embedding(config.vocab_size, size)
        if settings.draft_vocab is not None:
            self.lm_head = nn.Linear(size, settings.draft_vocab, bias=False)

    def fuse(self, taps: torch.Tensor) -> torch.Tensor:
        """The target's hidden states [rows, taps · H], side by side → [1, rows, h]."""
        if self.settings.norm_before_fc:
            taps = self.input_norm(taps)
        if self.settings.fc_norm:
            parts = torch.chunk(taps, self.settings.taps, dim=-1)
            taps = torch.cat(
                [norm(part) for norm, part in zip(self.fc_norm, parts, strict=True)], dim=-1
            )
        fused: torch.Tensor = self.fc(taps)[None]
        return fused

    def run(self, embedded: torch.Tensor, hidden: torch.Tensor, place: Pass) -> torch.Tensor:
        """Rows of (token's embedding, hidden state before it), [1, rows, h] each → the hidden state
        that the row of the next token reads."""
        hidden = self.layers[0](embedded, hidden, place.of(self.config, 0))
        for i, layer in enumerate(self.layers[1:], 1):
            hidden = layer(hidden, **place.of(self.config, i))
        return self.norm(hidden) if self.settings.norm_output else hidden

    def normed(self, hidden: torch.Tensor) -> torch.Tensor:
        """What the output matrix reads of what `run` gave."""
        return hidden if self.settings.norm_output else self.norm(hidden)


class FirstLayer(nn.Module):
    """A decoder layer whose attention reads the embedding and the hidden state side by side."""

    def __init__(self, config: Any, norm_before_residual: bool) -> None:
        super().__init__()
        pieces, size = pieces_of(config), config.hidden_size
        self.norm_before_residual = norm_before_residual
        self.self_attn: Any = pieces.attention(config, 0)
        for name in ("q_proj", "k_proj", "v_proj"):
            narrow = getattr(self.self_attn, name)
            wide = nn.Linear(2 * size, narrow.out_features, bias=narrow.bias is not None)
            setattr(self.self_attn, name, wide)
        self.mlp = pieces.mlp(config)
        self.input_layernorm = pieces.norm(size, eps=config.rms_norm_eps)
        self.hidden_norm = pieces.norm(size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = pieces.norm(size, eps=config.rms_norm_eps)

    def forward(
        self, embedded: torch.Tensor, hidden: torch.Tensor, seen: dict[str, Any]
    ) -> torch.Tensor:
        normed = self.hidden_norm(hidden)
        both = torch.cat([self.input_layernorm(embedded), normed], dim=-1)
        attended, _ = self.self_attn(both, **seen)
        hidden = (normed if self.norm_before_residual else hidden) + attended
        out: torch.Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))
        return out
