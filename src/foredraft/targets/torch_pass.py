"""One pass of a Transformers model over what one sequence or several add to it."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT, LogitArray
from foredraft.targets.kv import Slots, Snapshots
from foredraft.targets.masks import Stretch, depths_of, row_masks
from foredraft.targets.taps import States, Taps
from foredraft.targets.together import attending, joined

LAST_ROW = torch.tensor([-1])
"""`logits_to_keep` for the last row of each text. By a count Transformers would cut a view out, and
of a view of one row PyTorch makes a product that copies the whole output matrix first."""


class TorchSequence:
    """A sequence's cache, the tokens it holds, and their hidden states at the target's taps."""

    def __init__(self, cache: Slots | Snapshots, bitwise: bool) -> None:
        self.cache = cache
        self.bitwise = bitwise
        self.tokens: list[int] = []
        self.scored: list[int] = []
        self.states = States()

    def hidden(self, taps: Sequence[int], start: int, end: int) -> torch.Tensor:
        """See Features.hidden."""
        if end > self.states.length or self.states.lack(set(taps)):
            raise ForedraftError(
                f"The hidden states of {end} tokens are wanted, but the target has not read them "
                "since it was tapped; prefill the sequence first."
            )
        return self.states.hidden(taps, start, end)


@dataclass(frozen=True, slots=True)
class Part:
    """What one sequence adds to a pass: a chain if `parents` is None. Attention looks at `visible`
    of its slots."""

    sequence: TorchSequence
    tokens: list[int]
    parents: Sequence[int] | None
    visible: int

    @property
    def start(self) -> int:
        return len(self.sequence.tokens)

    @property
    def plain(self) -> bool:
        """Whether the model's own causal mask will do: right for chains, any windows included.

        It is left out where attention is plainly causal, which takes another kernel: other bits.
        """
        return self.parents is None and not self.sequence.bitwise

    @property
    def stretch(self) -> Stretch:
        chain = range(ROOT, len(self.tokens) - 1)
        return Stretch(self.start, chain if self.parents is None else self.parents, self.visible)


@torch.inference_mode()
def run(
    model: Any, parts: Sequence[Part], context: int, taps: Taps, last_only: bool = False
) -> LogitArray:
    """Logits [rows, V], or those of the last row [1, V]."""
    stretches = [part.stretch for part in parts]
    for part in parts:
        part.sequence.scored = part.tokens
        part.sequence.cache.before(len(part.tokens), part.visible)
    caches = [part.sequence.cache.cache for part in parts]
    tokens = [token for part in parts for token in part.tokens]
    positions = [
        min(stretch.start + depth, context - 1)
        for stretch in stretches
        for depth in depths_of(stretch.parents)
    ]
    alone = len(parts) == 1
    with nullcontext() if alone else attending(model), taps.catching() as caught:
        out = model(
            input_ids=torch.tensor([tokens], device=model.device),
            position_ids=torch.tensor([positions], device=model.device),
            attention_mask=None if alone and parts[0].plain else row_masks(model, stretches),
            cache=caches[0] if alone else joined(model, caches, stretches),
            use_cache=True,
            logits_to_keep=LAST_ROW if last_only else 0,
            **taps.asking,
        )
    row = 0
    for part in parts:
        part.sequence.states.write(part.start, slice(row, row + len(part.tokens)), caught)
        row += len(part.tokens)
    logits: LogitArray = out.logits[0].to(torch.float32).cpu().numpy()
    return logits
