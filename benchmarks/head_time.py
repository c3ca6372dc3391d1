"""What a draft head's pass costs: reading the tokens of a round, and drafting one more.

    python benchmarks/head_time.py [--sizes 576,1536] [--repeats 15]

Heads of random weights, built like the layers of SmolLM2-135M and Qwen2.5-1.5B, over 8k, 32k and
all of the target's tokens, with weights in float32 and in float16. The text has 200 tokens, and a
round brings three; medians.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from foredraft.core.types import ROOT
from foredraft.heads.base import Head
from foredraft.heads.block import Block, Sight
from foredraft.heads.dflash import BlockNetwork, DFlashHead, Own
from foredraft.heads.dspark import Correction, DSparkHead, DSparkNetwork
from foredraft.heads.eagle3 import Eagle3, Eagle3Settings
from foredraft.heads.eagle3_load import Eagle3Parts
from foredraft.heads.layers import layer_config
from foredraft.heads.peagle import PEagle, PEagleHead
from foredraft.heads.recursive import RecursiveHead
from foredraft.heads.vocabulary import DraftVocabulary
from foredraft.targets.masks import FULL
from foredraft.targets.packed import pack
from report import publish

SHAPES = {
    576: {"intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3},
    1536: {"intermediate_size": 8960, "num_attention_heads": 12, "num_key_value_heads": 2},
}
TOKENS = {576: 49_152, 1536: 151_936}
DRAFTED = (8_192, 32_768, None)
FORMATS = {"float32": False, "float16": True}
TEXT, NEW, BLOCK = 200, 3, 16


class Noise:
    """Hidden states of no target at all."""

    def __init__(self, size: int) -> None:
        self._size = size

    def hidden(self, taps: Sequence[int], start: int, end: int) -> torch.Tensor:
        return torch.randn(end - start, len(taps) * self._size)


def layers(size: int, count: int, head_norms: bool) -> Any:
    shape = SHAPES[size] | {"head_dim": size // SHAPES[size]["num_attention_heads"]}
    shape |= {"hidden_size": size, "vocab_size": TOKENS[size], "num_hidden_layers": count}
    return layer_config(shape, head_norms)


def packed(network: Any, half: bool) -> Any:
    network = network.eval().requires_grad_(False)
    pack(network, half)
    return network


def eagle3(size: int, rows: int, half: bool) -> Head:
    network = packed(Eagle3(layers(size, 1, False), Eagle3Settings(size, 3, rows)), half)
    parts = (network, nn.Embedding(TOKENS[size], size), network.lm_head, vocabulary(size, rows))
    return RecursiveHead("eagle3", (1, 2, 3), "", *parts)


def peagle(size: int, rows: int, half: bool) -> Head:
    settings, shape = Eagle3Settings(size, 3, rows), (1, 1, 3 * size)
    network = packed(PEagle(layers(size, 4, False), settings, shape), half)
    parts = (network, nn.Embedding(TOKENS[size], size), network.lm_head, vocabulary(size, rows))
    return PEagleHead(Eagle3Parts((1, 2, 3), "", *parts), 0, BLOCK - 1)


def dflash(size: int, rows: int, half: bool) -> Head:
    network = packed(BlockNetwork(block(size), size, Own(TOKENS[size], rows)), half)
    parts = (network.embed_tokens, network.lm_head, vocabulary(size, rows))
    return DFlashHead(network, *parts, "")


def dspark(size: int, rows: int, half: bool) -> Head:
    correction = Correction("vanilla", TOKENS[size], rows, 256)
    network = DSparkNetwork(block(size), size, Own(TOKENS[size], rows), correction)
    network = packed(network, half)
    parts = (network.embed_tokens, network.lm_head, vocabulary(size, rows))
    return DSparkHead(network, *parts, "")


HEADS: dict[str, Callable[[int, int, bool], Head]] = {
    "eagle3, 1 layer": eagle3,
    "peagle, 4 layers, 15 deep": peagle,
    "dflash, 5 layers, block 16": dflash,
    "dspark, 5 layers, block 16": dspark,
}


def block(size: int) -> Block:
    return Block(layers(size, 5, True), (1, 2, 3, 4, 5), BLOCK, 0, 1, {FULL: Sight()})


def vocabulary(size: int, rows: int) -> DraftVocabulary:
    offsets = None if rows == TOKENS[size] else torch.zeros(rows, dtype=torch.long)
    return DraftVocabulary.of(TOKENS[size], offsets)


def timed(head: Head, size: int, repeats: int) -> tuple[float, float]:
    """Milliseconds of reading a round's tokens and of drafting one more."""
    state, features, text = head.open(), Noise(size), [1] * TEXT
    state.read(features, text)
    reads, grows = [], []
    for _ in range(repeats + 2):
        text += [1] * NEW
        begun = time.perf_counter()
        state.read(features, text)
        reads.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        state.grow([1], [ROOT])
        grows.append(time.perf_counter() - begun)
    return 1e3 * median(reads[2:]), 1e3 * median(grows[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default=",".join(map(str, SHAPES)))
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    table = Table(title="milliseconds of reading 3 new tokens + of drafting one more")
    for column in ("hidden size", "head", "tokens drafted", *FORMATS):
        table.add_column(column)
    found = []
    for size in map(int, options.sizes.split(",")):
        for rows in (drafted or TOKENS[size] for drafted in DRAFTED):
            for name, make in HEADS.items():
                times = {}
                for kind, half in FORMATS.items():
                    with torch.inference_mode():
                        head = make(size, rows, half)
                    times[kind] = timed(head, size, options.repeats)
                cells = [f"{read:.1f} + {grow:.1f}" for read, grow in times.values()]
                table.add_row(str(size), name, f"{rows:,}", *cells)
                for kind, (read, grow) in times.items():
                    of = {"hidden_size": size, "head": name, "drafted": rows, "weights": kind}
                    found.append(of | {"read": round(read, 3), "grow": round(grow, 3)})
    Console().print(table)
    publish(
        "head_time",
        {
            "threads": torch.get_num_threads(),
            "repeats": options.repeats,
            "unit": "milliseconds, medians",
            "heads": found,
        },
    )


if __name__ == "__main__":
    main()
