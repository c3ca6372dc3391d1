"""DFlash block drafters: one pass of a few layers drafts a whole block (2602.06036).

The block is the text's last token and mask tokens. In every layer its rows see each other and, as
keys and values made from the target's hidden states, all tokens before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from transformers.models.qwen3 import modeling_qwen3 as qwen3

from foredraft.core.types import LogitArray
from foredraft.heads.base import Features
from foredraft.heads.block import Block
from foredraft.heads.layers import Network, Pass
from foredraft.heads.shared import Turned
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.targets.kv import Slots
from foredraft.targets.masks import depths_of

_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Own:
    """The rows of what a drafter brings itself; None where the target's serves."""

    embeddings: int | None = None
    output: int | None = None


class BlockNetwork(Network):
    """The layers of a block drafter, its parameters named as in the checkpoints."""

    def __init__(self, block: Block, target_size: int, own: Own) -> None:
        """`target_size` is the target's hidden size."""
        config = block.layers
        super().__init__(config)
        size, eps = config.hidden_size, config.rms_norm_eps
        self.block = block
        self.fc = nn.Linear(len(block.taps) * target_size, size, bias=False)
        self.hidden_norm = qwen3.Qwen3RMSNorm(size, eps)
        layers = [qwen3.Qwen3DecoderLayer(config, i) for i in range(config.num_hidden_layers)]
        for layer in layers:  # without a mask, a row sees the rows after it as well
            layer.self_attn.is_causal = False
        self.layers: Any = nn.ModuleList(layers)
        self.norm = qwen3.Qwen3RMSNorm(size, eps)
        if own.embeddings is not None:
            self.embed_tokens = nn.Embedding(own.embeddings, size)
        if own.output is not None:
            self.lm_head = nn.Linear(size, own.output, bias=False)

    def masks(self, start: int) -> dict[str, torch.Tensor | None]:
        """What the rows of a block after `start` tokens see, by kind of layer."""
        return {
            kind: self._additive(sight.of(start, self.block.size))
            for kind, sight in self.block.sights.items()
        }

    def store(self, taps: torch.Tensor, place: Pass) -> None:
        """Cache keys and values made from the target's hidden states [rows, taps · H]."""
        context = self.hidden_norm(self.fc(taps))[None]
        for i, layer in enumerate(self.layers):
            part = layer.self_attn
            heads = (1, len(taps), -1, part.head_dim)
            keys = part.k_norm(part.k_proj(context).view(heads)).transpose(1, 2)
            keys, _ = qwen3.apply_rotary_pos_emb(keys, keys, *place.rope)
            values = part.v_proj(context).view(heads).transpose(1, 2)
            place.cache.update(keys, values, i)

    def run(self, embedded: torch.Tensor, place: Pass) -> torch.Tensor:
        """The block's rows [1, size, h] → the hidden states [size, h] that its logits are of."""
        hidden = embedded
        for i, layer in enumerate(self.layers):
            hidden = layer(hidden, **place.of(self.config, i))
        out: torch.Tensor = self.norm(hidden)[0]
        return out

    def _additive(self, sees: npt.NDArray[np.bool_] | None) -> torch.Tensor | None:
        if sees is None:
            return None
        mask = torch.zeros(sees.shape, dtype=self.dtype)
        mask[torch.from_numpy(~sees)] = torch.finfo(self.dtype).min
        return mask[None, None].to(self.device)


class DFlashHead:
    """A BlockNetwork as a Head.

    `embed` gives the embeddings of tokens, `project` the logits of hidden states [rows, h] over the
    draft's own vocabulary. The laws of a block's depths are independent given the text, all known
    after one pass.
    """

    name = "dflash"
    parallel = True

    def __init__(
        self,
        network: BlockNetwork,
        embed: Turned,
        project: Turned,
        vocabulary: DraftVocabulary,
        signature: str,
    ) -> None:
        self.network = network
        self.embed = embed
        self.project = project
        self.vocabulary = vocabulary
        self.signature = signature
        self.taps = network.block.taps
        self.reach: int | None = network.block.reach

    def open(self) -> "DFlashState":
        return DFlashState(self)


class DFlashState:
    """The cache holds all tokens of the text but the last, which begins the next block."""

    def __init__(self, head: DFlashHead) -> None:
        network = head.network
        self.tokens: list[int] = []
        self._head = head
        self._rotary = network.rotary()
        self._slots = Slots(network.config)
        self._held = 0
        self._parents: list[int] = []
        self._logits = torch.empty(0)
        """What each depth's row says, [reach, rows of the draft's vocabulary]."""

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        hidden = self._run(features, text)
        self._logits = self._head.project(hidden[self._head.network.block.first :])
        logits: LogitArray = self._head.vocabulary.spread(self._logits[:1])[0]
        return logits

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        return self._head.vocabulary.spread(self._logits[self._rows(parents)])

    def rewind(self, length: int) -> None:
        del self.tokens[length:]
        self._held = self._slots.truncate(min(self._held, length))
        self._parents = []

    def _run(self, features: Features, text: Sequence[int]) -> torch.Tensor:
        """Cache what is new of the text and run the block after it: hidden states [size, h]."""
        head, network, block = self._head, self._head.network, self._head.network.block
        self.rewind(len(text) - 1)
        while self._held < len(text) - 1:
            end = min(self._held + _CHUNK, len(text) - 1)
            taps = features.hidden(head.taps, self._held, end)
            network.store(taps, self._place(len(taps)))
            self._held = self._slots.keep(range(len(taps)))
        self.tokens = list(text)
        ids = [text[-1], *[block.mask] * (block.size - 1)]
        place = self._place(block.size, network.masks(self._held))
        return network.run(head.embed(torch.tensor([ids], device=network.device)), place)

    def _place(self, count: int, masks: Any = None) -> Pass:
        """The next `count` rows of the cache."""
        network = self._head.network
        end = self._held + count
        self._slots.before(count, end)
        like = torch.empty(0, dtype=network.dtype, device=network.device)
        rope = self._rotary(like, torch.arange(self._held, end, device=network.device)[None])
        return Pass(rope, masks, self._slots.cache)

    def _rows(self, parents: Sequence[int]) -> list[int]:
        """Add nodes; for each, the row that says what follows it."""
        self._parents += parents
        return [1 + depth for depth in depths_of(self._parents)[-len(parents) :]]
