"""A target without weights that always gives the same answer: the command line in milliseconds.

As a script it is the `foredraft` command with the parrot in the place of every model:
`python -m tests.cli.parrot run hello`.
"""

import os
import sys
import time
from dataclasses import replace

import numpy as np

from foredraft.cli import options
from foredraft.cli.main import main
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.prices import Prices
from foredraft.targets import hub
from foredraft.targets.base import Capabilities, Rollback, shared_prefix

EOS, ANSWER = 256, 257
SAYS = "die Flut kommt, die Flut geht, die Flut kommt — 潮.\n"


class Bytes:
    """One token a byte; a chat is its messages and then the sign that an answer follows."""

    eos_ids = frozenset([EOS])
    special_ids = frozenset([EOS, ANSWER])
    template = ""

    def __init__(self, has_template=True):
        self.has_template = has_template

    def encode(self, text):
        return list(text.encode())

    spell = encode

    def decode(self, ids):
        return bytes(i for i in ids if i < EOS).decode(errors="replace")

    def spelling(self, token):
        return bytes([token]) if token < EOS else b""

    def chat(self, messages, **options):
        return [*self.encode("\n".join(f"{m['role']}: {m['content']}" for m in messages)), ANSWER]


class Sequence:
    def __init__(self):
        self.tokens, self.scored = [], []


class Parrot:
    """Says `says` after the sign for an answer, then ends; `pause` seconds a pass."""

    name = "parrot"
    engine = "birds"
    vocab_size = 258
    capabilities = Capabilities(rollback=Rollback.FREE, trees=False, max_rows=64)
    bit_stable = False

    def __init__(self, says=SAYS, pause=0.0, context=512, has_template=True):
        self.says = [*says.encode(), EOS]
        self.pause, self.context = pause, context
        self.tokenizer = Bytes(has_template)
        self.read = 0

    def open(self, *, bitwise=False):
        return Sequence()

    def fork(self, sequence, length):
        other = Sequence()
        other.tokens = sequence.tokens[:length]
        return other

    def room(self, sequence):
        return self.context - len(sequence.tokens)

    def rewind(self, sequence, tokens):
        kept = shared_prefix(sequence.tokens, tokens)
        del sequence.tokens[kept:]
        return kept

    def prefill(self, sequence, tokens, progress=None):
        for done in range(self.rewind(sequence, tokens), len(tokens)):
            sequence.tokens.append(tokens[done])
            self.read += 1
            if progress is not None:
                progress(done + 1)

    def score(self, batch):
        time.sleep(self.pause)
        return [self._score(rows.sequence, list(rows.tokens)) for rows in batch]

    def _score(self, sequence, tokens):
        sequence.scored = tokens
        logits = np.zeros((len(tokens), self.vocab_size), dtype=np.float32)
        for row in range(len(tokens)):
            text = sequence.tokens + tokens[: row + 1]
            said = text[::-1].index(ANSWER) if ANSWER in text else 0
            logits[row, self.says[min(said, len(self.says) - 1)]] = 20
        return logits

    def commit(self, sequence, path):
        sequence.tokens += [sequence.scored[row] for row in path]


class SteadyPrices(Prices):
    def observe_verify(self, rows, seconds, sequences=1):
        """Nothing is learned: the tests run as fast as they happen to."""


class Steady(Generator):
    """γ is 5 unless it is set: what is shown must not hang on how fast the tests run."""

    def calibrate(self, bitwise=False, progress=None):
        prices = SteadyPrices({1: 0.01, 8: 0.02})
        prices.measured_together({2: 1.0, 16: 1.0})
        return prices

    def stream(self, prompt, request, progress=None, watch=None):
        if request.draft_len is None:
            request = replace(request, draft_len=5)
        return super().stream(prompt, request, progress, watch)


def loader(**changes):
    """A stand-in for foredraft.load."""

    def load(model="parrot", *, drafter="ngram", draft_model=None, progress=None, **placement):
        if progress is not None:
            progress(f"Loading {model}", 1, 1)
        return Steady(Parrot(**changes), *([] if drafter == "none" else [NgramDrafter()]))

    return load


def never(requirement, folder):
    """A download that does not end."""
    return [sys.executable, "-c", "import time; time.sleep(60)"]


if __name__ == "__main__":
    options.load = loader(
        says=os.environ.get("SAYS", SAYS), pause=float(os.environ.get("PAUSE", 0))
    )
    pull = hub.pull
    hub.pull = lambda name, progress: pull(name, progress, never)
    sys.exit(main())
