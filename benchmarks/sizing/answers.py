"""The target's own answers, several written at once, kept as JSON lines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from foredraft.core.files import write_whole
from foredraft.targets.base import shared_prefix
from foredraft.targets.torch_pass import LAST_ROW

SAMPLES = 4
"""Answers to one prompt: the likeliest one, and the rest drawn at temperature 1."""


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as token ids, its end included; `prompt` and `output` as in planner.answers."""

    id: str
    lang: str
    temperature: float
    prompt: list[int]
    output: list[int]


def read(path: Path) -> list[Written]:
    """What a file holds; nothing if there is none."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [Written(**json.loads(line)) for line in lines]


def keep(path: Path, answers: Sequence[Written]) -> None:
    """Put answers into a file, all or none."""
    write_whole(path, "".join(json.dumps(asdict(one)) + "\n" for one in answers))


@torch.inference_mode()
def write(
    model: Any, prompts: Sequence[list[int]], limit: int, eos: frozenset[int], seed: int
) -> list[list[int]]:
    """SAMPLES answers of at most `limit` tokens to each prompt in turn, the first at temperature 0.

    All are written in the same passes, since more rows cost little. A prompt is read once, and
    what all prompts begin with is read once for all.
    """
    chance = torch.Generator().manual_seed(seed)
    shared = min(shared_prefix(prompts[0], ids[:-1]) for ids in prompts)
    start = model(torch.tensor([prompts[0][:shared]]), use_cache=True, logits_to_keep=LAST_ROW)
    cache = start.cache
    cache.batch_repeat_interleave(len(prompts))
    width = max(map(len, prompts)) - shared
    rests = [ids[shared:] for ids in prompts]
    tokens = torch.tensor([[0] * (width - len(ids)) + ids for ids in rests])
    seen = torch.tensor([[1] * shared + [0] * (width - len(ids)) + [1] * len(ids) for ids in rests])
    position = (seen.cumsum(1) - 1)[:, shared:]
    read = partial(model, cache=cache, use_cache=True, logits_to_keep=LAST_ROW)
    logits = read(tokens, attention_mask=seen, position_ids=position).logits[:, -1]
    cache.batch_repeat_interleave(SAMPLES)
    logits, seen, position = (
        rows.repeat_interleave(SAMPLES, 0) for rows in (logits, seen, position[:, -1:])
    )
    answers: list[list[int]] = [[] for _ in range(len(prompts) * SAMPLES)]
    live = torch.arange(len(answers))  # whose answer each row is
    while True:
        drawn = torch.multinomial(logits.softmax(1), 1, generator=chance)[:, 0]
        chosen = torch.where(live % SAMPLES == 0, logits.argmax(1), drawn)
        for row, token in zip(live.tolist(), chosen.tolist(), strict=True):
            answers[row].append(token)
        on = torch.tensor([token not in eos for token in chosen.tolist()]).nonzero()[:, 0]
        if len(on) == 0 or len(answers[live[on[0]]]) == limit:
            return answers
        live, seen, position = live[on], seen[on], position[on] + 1
        seen = torch.cat([seen, torch.ones_like(position)], 1)
        cache.batch_select_indices(on)
        logits = read(chosen[on, None], attention_mask=seen, position_ids=position).logits[:, -1]
