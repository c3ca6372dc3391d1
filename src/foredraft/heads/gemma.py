"""Gemma 4's assistants: a few layers that attend to their target's own keys and values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT, LogitArray
from foredraft.heads.base import Features
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.rows import waves
from foredraft.heads.shared import check_sizes, text_config
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import signature
from foredraft.targets.folder_config import read_config
from foredraft.targets.folder_model import build
from foredraft.targets.masks import SLIDING
from foredraft.targets.packed import pack
from foredraft.targets.torch_hf import TorchTarget
from foredraft.targets.torch_pass import TorchSequence


@dataclass(frozen=True, slots=True)
class GemmaHead:
    """Transformers' Gemma4AssistantForCausalLM beside its target.

    `layers` names, for each kind of attention, the target's layer whose keys and values it reads.
    """

    taps: tuple[int, ...]
    signature: str
    assistant: Any
    embed: nn.Module
    layers: dict[str, int]
    vocabulary: DraftVocabulary
    name: str = "gemma"
    reach: int | None = None
    parallel: bool = False

    def open(self) -> "GemmaState":
        return GemmaState(self)


class GemmaState:
    """Stores nothing of the text: all rows stand at its last token's place, as the assistants were
    trained, and see the target's keys and values of what lies before."""

    def __init__(self, head: GemmaHead) -> None:
        self.tokens: list[int] = []
        self._head = head
        self._place = 0
        self._seen: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        self._hidden: list[torch.Tensor] = []
        """What the children of the text and of each node read, [H] each, the text's first."""

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        assert isinstance(features, TorchSequence), "the head reads the cache of a TorchTarget"
        self.tokens += text[len(self.tokens) :]
        self._place = len(text) - 1
        self._hidden = []
        self._seen = {
            kind: self._kept(features.cache.cache.layers[layer], kind)
            for kind, layer in self._head.layers.items()
        }
        hidden = features.hidden(self._head.taps, self._place - 1, self._place)
        logits: LogitArray = self._run(text[-1:], hidden)[0]
        return logits

    @torch.inference_mode()
    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        answers = []
        for wave in waves(parents, len(self._hidden) - 1):
            # ROOT is −1, and the text's own hidden state comes first.
            hidden = torch.stack([self._hidden[parent - ROOT] for parent in parents[wave]])
            answers.append(self._run(tokens[wave], hidden))
        return np.concatenate(answers)

    def rewind(self, length: int) -> None:
        del self.tokens[length:], self._hidden[:]

    def _kept(self, layer: Any, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
        config = self._head.assistant.config.get_text_config()
        # As many as Transformers' own mask lets a row see that stands one place after them.
        start = max(0, self._place - config.sliding_window - 1) if kind == SLIDING else 0
        return layer.keys[:, :, start : self._place], layer.values[:, :, start : self._place]

    def _run(self, tokens: Sequence[int], hidden: torch.Tensor) -> LogitArray:
        """One row a token; `hidden` [rows, H] is the state before each. Rows do not see each other,
        so each is a text of its own to the assistant."""
        ids = torch.tensor(tokens, device=hidden.device)[:, None]
        rows = len(tokens)
        out = self._head.assistant(
            inputs_embeds=torch.cat([self._head.embed(ids), hidden[:, None]], dim=-1),
            position_ids=torch.full_like(ids, self._place),
            shared_kv_states={
                kind: (keys.expand(rows, -1, -1, -1), values.expand(rows, -1, -1, -1))
                for kind, (keys, values) in self._seen.items()
            },
        )
        self._hidden += out.last_hidden_state[:, 0]
        return self._head.vocabulary.spread(out.logits[:, 0])


class Clusters(nn.Module):
    """The output matrix of the tokens in the likeliest clusters; the others are ruled out.

    Transformers' own gives those a logit below the lowest one found, which depends on what else is
    in the batch, and leaves a large vocabulary a good part of the law.
    """

    def __init__(self, embedder: Any) -> None:
        super().__init__()
        self.centroids = embedder.centroids
        self.likeliest: int = embedder.centroid_intermediate_top_k
        self.clusters = embedder.token_ordering.long().view(embedder.num_centroids, -1)

    def forward(self, hidden: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
        best = self.centroids(hidden).topk(self.likeliest, dim=-1).indices
        tokens = self.clusters[best].flatten(-2)
        found = (matrix[tokens] @ hidden[..., None])[..., 0]
        ruled_out = hidden.new_full((*hidden.shape[:-1], len(matrix)), -torch.inf)
        return ruled_out.scatter(-1, tokens, found)


def gemma_load(checkpoint: Checkpoint, target: TorchTarget) -> GemmaHead:
    """The assistant in a folder, if its queries fit the keys of this target."""
    folder, config = checkpoint.folder, text_config(target)
    own = read_config(folder)
    modes = getattr(config, "kv_sharing_modes", None)
    if modes is None or "store" not in modes:
        raise ForedraftError(
            f"{checkpoint.phrase} reads the keys and values of a Gemma 4 target, and {target.name} "
            f"is of the kind {config.model_type}; use it with the model it was made for."
        )
    text = own.get_text_config()
    check_sizes(checkpoint, target, own.backbone_hidden_size, text.vocab_size)
    layers = {config.layer_types[i]: i for i, mode in enumerate(modes) if mode == "store"}
    for i, kind in enumerate(text.layer_types):
        reads, keeps = _keys(text, i), _keys(config, layers.get(kind))
        if reads != keeps:
            raise ForedraftError(
                f"{checkpoint.phrase} reads keys of {kind} as {reads} (heads, width), and "
                f"{target.name} keeps {keeps}; use it with the model it was made for."
            )
    model = target.model
    assistant = build(folder, own, model.dtype).to(model.device).eval().requires_grad_(False)
    # Transformers asks the one, and picks rows of the other: they stay as they are.
    kept = {"pre_projection": assistant.pre_projection}
    if assistant.masked_embedding is not None:
        assistant.masked_embedding = Clusters(assistant.masked_embedding)
        kept["lm_head"] = assistant.lm_head
    pack(assistant, target.weights == torch.float16)
    for name, module in kept.items():
        setattr(assistant, name, module)
    return GemmaHead(
        taps=(config.num_hidden_layers,),
        signature=signature(checkpoint, target),
        assistant=assistant,
        embed=model.get_input_embeddings(),
        layers=layers,
        vocabulary=DraftVocabulary(target.vocab_size),
    )


def _keys(config: Any, layer: int | None) -> tuple[int, int] | None:
    """Heads and width of a layer's keys."""
    if layer is None:
        return None
    own = config.per_layer_config[layer]
    return own.num_key_value_heads, own.head_dim
