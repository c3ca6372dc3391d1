"""Hidden states of a tiny target on texts of its own, as training finds them on disk."""

from pathlib import Path
from typing import Any

import torch

from foredraft.training.states import Example, Manifest, States
from tests.tiny import VOCAB

TAPS = (0, 1)


@torch.no_grad()
def example(target: Any, prompt: list[int], length: int) -> Example:
    """The target's likeliest answer."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + length:
        tokens.append(int(target.model(torch.tensor([tokens])).logits[0, -1].argmax()))
    out = target.model(torch.tensor([tokens]), output_hidden_states=True)
    held = [out.hidden_states[tap][0] for tap in (*TAPS, -1)]
    return Example(torch.tensor(tokens), len(prompt), torch.cat(held, 1).half())


def states(target: Any, folder: Path, texts: int = 60, length: int = 12) -> States:
    """Answers to short random prompts."""
    chance = torch.Generator().manual_seed(0)
    made = States.make(folder, Manifest.of(target, TAPS, 0))
    examples = []
    for i in range(texts):
        prompt = torch.randint(VOCAB, (3 + i % 3,), generator=chance).tolist()
        examples.append(example(target, prompt, length - i % 4))
    made.add(examples)
    return made
