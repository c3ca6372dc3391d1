"""EAGLE and EAGLE-2: the target's last hidden state, continued by one layer (2401.15077). The two
differ in the trees that are drafted, not in the network."""

from typing import Any

import torch
from torch import nn

from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.layers import Network, Pass, layer_config, pieces_of
from foredraft.heads.recursive import RecursiveHead
from foredraft.heads.shared import check_sizes, embeddings, output, text_config
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import build, signature
from foredraft.targets.torch_hf import TorchTarget


class Eagle(Network):
    """The network, its parameters named as in checkpoints. It predicts hidden states as the target
    has them after its last norm, so the target's output matrix reads them."""

    def __init__(self, config: Any, own_embeddings: bool) -> None:
        super().__init__(config)
        size = config.hidden_size
        self.fc = nn.Linear(2 * size, size, bias=False)
        self.layers = nn.ModuleList(
            pieces_of(config).layer(config, i) for i in range(config.num_hidden_layers)
        )
        self.layers[0].input_layernorm = nn.Identity()  # fc has just made its input
        if own_embeddings:
            self.embed_tokens = nn.Embedding(config.vocab_size, size)

    def fuse(self, taps: torch.Tensor) -> torch.Tensor:
        return taps[None]

    def run(self, embedded: torch.Tensor, hidden: torch.Tensor, place: Pass) -> torch.Tensor:
        hidden = self.fc(torch.cat([embedded, hidden], dim=-1))
        for i, layer in enumerate(self.layers):
            hidden = layer(hidden, **place.of(self.config, i))
        return hidden

    def normed(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden


def eagle_load(checkpoint: Checkpoint, target: TorchTarget) -> RecursiveHead:
    """The head, beside the target whose embeddings (unless it brings its own) and output matrix it
    uses."""
    check_sizes(checkpoint, target, checkpoint.number("hidden_size"))
    config = layer_config(
        checkpoint.layers,
        "layers.0.self_attn.q_norm.weight" in checkpoint.shapes,
        target.model.config._attn_implementation,
    )
    own_embeddings = "embed_tokens.weight" in checkpoint.shapes
    network: Eagle = build(lambda: Eagle(config, own_embeddings), checkpoint, target)
    return RecursiveHead(
        "eagle",
        (text_config(target).num_hidden_layers,),
        signature(checkpoint, target),
        network,
        network.embed_tokens if own_embeddings else embeddings(target),
        output(target),
        DraftVocabulary(target.vocab_size),
    )
