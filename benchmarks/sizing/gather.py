"""Gathering: the target answers training prompts until there are tokens enough."""

from itertools import islice
from pathlib import Path

from foredraft.targets.base import Progress
from foredraft.targets.torch_hf import load_target
from sizing.answers import SAMPLES, Written, keep, read, write
from sizing.notes import LANGUAGES, training

AT_ONCE = 8
"""Prompts in a batch."""


def gather(target: str, path: Path, tokens: int, limit: int, report: Progress) -> list[Written]:
    """Add answers of at most `limit` tokens to `path` until it holds `tokens`; all it then holds.

    A batch is kept as soon as it is done, so that this goes on where it was stopped.
    """
    found = read(path)
    model = load_target(target, device="cpu", progress=report)
    while (done := sum(len(one.output) for one in found)) < tokens:
        report("Answering", done, tokens)
        batch, turn = divmod(len(found) // (AT_ONCE * SAMPLES), len(LANGUAGES))
        lang = LANGUAGES[turn]
        notes = list(islice(training(lang), batch * AT_ONCE, (batch + 1) * AT_ONCE))
        prompts = [model.tokenizer.chat(note.messages) for note in notes]
        answers = write(model.model, prompts, limit, model.tokenizer.eos_ids, seed=batch)
        found += [
            Written(note.id, lang, float(sample > 0), prompt, answers[row * SAMPLES + sample])
            for row, (note, prompt) in enumerate(zip(notes, prompts, strict=True))
            for sample in range(SAMPLES)
        ]
        keep(path, found)
    return found
