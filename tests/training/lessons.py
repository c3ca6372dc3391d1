"""Hidden states as training finds them on disk: of texts that anybody can tell."""

from pathlib import Path
from typing import Any

import torch

from foredraft.training.states import Example, Manifest, States
from tests.tiny import VOCAB

TAPS = (0, 1)


@torch.no_grad()
def counting(target: Any, start: int, step: int, prompt: int, length: int) -> Example:
    """Tokens that count on in steps, by a target that is rather sure of each; so the token after
    next needs both the hidden state, which tells the step, and the token between."""
    tokens = torch.arange(length + 1) * step + start
    tokens = tokens % VOCAB
    rows = target.model.get_output_embeddings().weight
    embedded = target.model.get_input_embeddings().weight[tokens]
    last = 4 * rows[tokens[1:]] / rows.square().sum(1).mean().sqrt()
    taps = [embedded[:-1], embedded[:-1].roll(step, 1)]
    return Example(tokens[:-1], prompt, torch.cat([*taps, last], 1).half())


def states(target: Any, folder: Path, texts: int = 80, length: int = 14) -> States:
    """Texts of several lengths, steps and beginnings."""
    made = States.make(folder, Manifest.of(target, TAPS, 0))
    made.add([counting(target, 5 * i, 1 + i % 3, 2 + i % 2, length - i % 4) for i in range(texts)])
    return made
