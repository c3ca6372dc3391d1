"""P-EAGLE: EAGLE-3 that drafts all depths in one pass (2602.01469).

Where EAGLE-3 feeds its own output back, once for each token, rows of a mask token and of one
learned hidden state stand for what is not known yet.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from foredraft.core.errors import ForedraftError
from foredraft.core.types import LogitArray
from foredraft.heads.base import Features
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.eagle3_load import Eagle3Parts, eagle3_parts
from foredraft.heads.rows import RowCache
from foredraft.targets.masks import depths_of
from foredraft.targets.torch_hf import TorchTarget

_CHUNK = 512
_DEPTHS = 8
"""What the method trains for unless it is told otherwise."""


class PEagle(Eagle3):
    """The network of EAGLE-3 and the hidden states, taps · H, of a row nothing is known of."""

    def __init__(self, config: Any, settings: Eagle3Settings, shape: Sequence[int]) -> None:
        """`shape` is how the checkpoint stores these."""
        super().__init__(config, settings)
        self.mask_hidden = nn.Parameter(torch.empty(*shape))


class PEagleHead:
    """A PEagle network as a Head: one pass runs the new rows of the text and `reach` − 1 rows of
    the token `mask`."""

    name = "peagle"
    parallel = True

    def __init__(self, parts: Eagle3Parts, mask: int, reach: int) -> None:
        self.taps = parts.taps
        self.signature = parts.signature
        self.network: PEagle = parts.network
        self.embed = parts.embed
        self.project = parts.project
        self.vocabulary = parts.vocabulary
        self.reach: int | None = reach
        self.masks = [mask] * (reach - 1)

    def open(self) -> "PEagleState":
        return PEagleState(self)


class PEagleState:
    """A row holds a token and the hidden states before it; rows of masks are not kept."""

    def __init__(self, head: PEagleHead) -> None:
        network = head.network
        self.tokens: list[int] = []
        self._head = head
        self._rows = RowCache(network, network.rotary())
        self._parents: list[int] = []
        self._logits = torch.empty(0)
        """What each depth's row says, [reach, rows of the draft's vocabulary]."""

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        # The last row runs again if nothing is new: the masks come after it.
        self.rewind(min(len(self.tokens), len(text) - 1))
        if not self.tokens:  # the first token has no hidden state before it, so no row
            self.tokens = list(text[:1])
        head, network = self._head, self._head.network
        depths = 1 + len(head.masks)
        # What a text with no rows gives: any token alike.
        hidden = network.mask_hidden.new_zeros(depths, network.config.hidden_size)
        while (start := len(self.tokens)) < len(text):
            new = list(text[start : start + _CHUNK])
            masks = head.masks if start + len(new) == len(text) else []
            known = features.hidden(head.taps, start - 1, start - 1 + len(new))
            unknown = network.mask_hidden.view(1, -1).expand(len(masks), -1)
            taps = torch.cat([known, unknown])
            place = self._rows.extend(start - 1, len(taps))
            ids = torch.tensor([new + masks], device=network.device)
            hidden = network.run(head.embed(ids), network.fuse(taps), place)[0]
            self.tokens += new
        self._logits = head.project(network.normed(hidden[-depths:]))
        logits: LogitArray = head.vocabulary.spread(self._logits[:1])[0]
        return logits

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        self._parents += parents
        rows = [1 + depth for depth in depths_of(self._parents)[-len(parents) :]]
        return self._head.vocabulary.spread(self._logits[rows])

    def rewind(self, length: int) -> None:
        del self.tokens[length:]
        self._parents = []


def peagle_load(checkpoint: Checkpoint, target: TorchTarget) -> PEagleHead:
    """The head, beside the target it drafts for, in the layout of speculators or of AWS."""
    mask = checkpoint.number("mask_token_id", "ptd_token_id", "pard_token")
    if mask is None or mask >= target.vocab_size:
        raise ForedraftError(
            f"{checkpoint.phrase} must name one of the {target.vocab_size:,} tokens of "
            f"{target.name} as mask_token_id in its config.json, and has "
            f"{'none' if mask is None else f'{mask:,}'}; download it again."
        )

    def make(config: Any, settings: Eagle3Settings) -> PEagle:
        shape = checkpoint.shapes.get("mask_hidden", ())
        width = settings.taps * settings.target_size
        return PEagle(config, settings, shape if math.prod(shape) == width else (1, 1, width))

    return PEagleHead(eagle3_parts(checkpoint, target, make), mask, _reach(checkpoint))


def _reach(checkpoint: Checkpoint) -> int:
    """The depths it was trained for; more would be guesses."""
    proposals = (checkpoint.config.get("speculators_config") or {}).get("proposal_methods") or [{}]
    return proposals[0].get("speculative_tokens") or checkpoint.number("num_depths") or _DEPTHS
