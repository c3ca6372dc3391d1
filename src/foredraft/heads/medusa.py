"""Medusa: one small network for each depth, all reading the same hidden state (2401.10774)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from foredraft.core.errors import ForedraftError
from foredraft.core.types import ROOT, LogitArray
from foredraft.heads.base import Features
from foredraft.heads.checkpoint import Checkpoint
from foredraft.heads.layers import Network
from foredraft.heads.shared import Turned, check_sizes, output, text_config
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.heads.weights import build, signature
from foredraft.targets.torch_hf import TorchTarget

_FIRST = "0.0.linear.weight"
_NAME = re.compile(r"(\d+)\.(\d+)\.(linear\.)?(?:weight|bias)$")
"""A head's number, the place within it, and whether a block lies there or the output matrix."""


class ResBlock(nn.Module):
    """x + SiLU(W x + b)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + nn.functional.silu(self.linear(x))


class Medusa(Network):
    """`depths[i]` reads the hidden state before the text's last token, for the token that comes
    i places after the text's end.

    `rows` are those of its output matrices, None where the target's serves.
    """

    def __init__(self, config: Any, depths: int, blocks: int, rows: int | None) -> None:
        super().__init__(config)
        width = config.hidden_size
        last = [] if rows is None else [rows]
        self.depths = nn.ModuleList(
            nn.Sequential(
                *(ResBlock(width) for _ in range(blocks)),
                *(nn.Linear(width, size, bias=False) for size in last),
            )
            for _ in range(depths)
        )


@dataclass(frozen=True, slots=True)
class MedusaHead:
    """A Medusa network as a Head; `project` turns what it gives into logits."""

    taps: tuple[int, ...]
    signature: str
    network: Medusa
    project: Turned
    vocabulary: DraftVocabulary
    name: str = "medusa"
    parallel: bool = True

    @property
    def reach(self) -> int:
        return len(self.network.depths)

    def open(self) -> "MedusaState":
        return MedusaState(self)


class MedusaState:
    """The logits of all depths, known once the text is read: a node's are those of its depth."""

    def __init__(self, head: MedusaHead) -> None:
        self.tokens: list[int] = []
        self._head = head
        self._logits: LogitArray
        self._depths: list[int] = []

    @torch.inference_mode()
    def read(self, features: Features, text: Sequence[int]) -> LogitArray:
        self.tokens += text[len(self.tokens) :]
        self._depths = []
        head, last = self._head, len(text) - 1
        hidden = features.hidden(head.taps, last - 1, last)
        found = torch.cat([depth(hidden) for depth in head.network.depths])
        self._logits = head.vocabulary.spread(head.project(found))
        logits: LogitArray = self._logits[0]
        return logits

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> LogitArray:
        for parent in parents:
            self._depths.append(1 if parent == ROOT else self._depths[parent] + 1)
        return self._logits[self._depths[-len(parents) :]]

    def rewind(self, length: int) -> None:
        del self.tokens[length:], self._depths[:]


def medusa_load(checkpoint: Checkpoint, target: TorchTarget) -> MedusaHead:
    """The tensors say how many heads there are; the config.json of many checkpoints is wrong."""
    shapes = checkpoint.shapes
    starts = [name.removesuffix(_FIRST) for name in shapes if name.endswith(_FIRST)]
    if not starts:
        raise ForedraftError(
            f"{checkpoint.phrase} has no tensor whose name ends in {_FIRST}, with which the first "
            "of its heads begins; its files are not those of a Medusa head."
        )
    before = starts[0]
    check_sizes(checkpoint, target, shapes[before + _FIRST][-1])
    found = [match for name in shapes if (match := _NAME.match(name.removeprefix(before)))]
    places = [(int(match[1]), int(match[2]), match[3]) for match in found]
    blocks = [place for head, place, block in places if block and not head]
    outputs = [place for head, place, block in places if not block and not head]

    def rename(name: str) -> str:
        head, place, *rest = name.removeprefix("depths.").split(".")
        # Blocks of one head are one block run again: files may keep it once.
        kept = min(int(place), max(blocks)) if rest[0] == "linear" else place
        return before + ".".join([head, str(kept), *rest])

    config = text_config(target)
    network = build(
        lambda: Medusa(
            config,
            depths=1 + max(head for head, _, _ in places),
            blocks=outputs[0] if outputs else 1 + max(blocks),
            rows=shapes[f"{before}0.{outputs[0]}.weight"][0] if outputs else None,
        ),
        checkpoint,
        target,
        rename,
        ignored=[name for name in shapes if not _NAME.match(name.removeprefix(before))],
    )
    return MedusaHead(
        taps=(config.num_hidden_layers,),
        signature=signature(checkpoint, target),
        network=network,
        project=(lambda logits: logits) if outputs else output(target),
        vocabulary=DraftVocabulary(target.vocab_size),
    )
