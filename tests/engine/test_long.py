"""20,000 tokens: memory grows with the text and no faster, and no round gets dearer."""

import time
import tracemalloc

import numpy as np
import pytest

from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.targets.base import Capabilities, Rollback, shared_prefix

TOKENS, VOCAB = 20_000, 64


class Words:
    """One letter a token."""

    eos_ids = frozenset([0])
    has_template = False

    def encode(self, text):
        return [ord(letter) % VOCAB for letter in text]

    def decode(self, ids):
        return "".join(chr(64 + i) for i in ids)


class Cached:
    def __init__(self):
        self.tokens, self.scored = [], []


class Rambler:
    """A target whose next token follows from the last two, in a way that slowly changes."""

    name = "rambler"
    vocab_size, context = VOCAB, TOKENS + 100
    capabilities = Capabilities(rollback=Rollback.FREE, trees=False, max_rows=64)
    bit_stable = False
    tokenizer = Words()

    def open(self, *, bitwise=False):
        return Cached()

    def room(self, sequence):
        return self.context - len(sequence.tokens)

    def rewind(self, sequence, tokens):
        del sequence.tokens[shared_prefix(sequence.tokens, tokens) :]
        return len(sequence.tokens)

    def prefill(self, sequence, tokens, progress=None):
        sequence.tokens += tokens[self.rewind(sequence, tokens) :]

    def score(self, batch):
        return [self._score(rows.sequence, list(rows.tokens)) for rows in batch]

    def _score(self, sequence, tokens):
        sequence.scored = tokens
        last, size = [*sequence.tokens[-1:], *tokens], len(sequence.tokens)
        logits = np.zeros((len(tokens), VOCAB), dtype=np.float32)
        for row in range(len(tokens)):
            about = (size + row) // 300
            before = last[max(0, len(last) - len(tokens) + row - 1)]
            logits[row, 1 + hash((before, last[-len(tokens) + row], about)) % (VOCAB - 1)] = 9
        return logits

    def commit(self, sequence, path):
        sequence.tokens += [sequence.scored[row] for row in path]


DRAFTERS = {
    "ngram": NgramDrafter,
    "suffix": lambda: SuffixDrafter(SuffixStore(capacity=10_000)),
}


def rambling(drafter):
    request = Request(max_new_tokens=TOKENS, draft_len=4, ignore_eos=True, seed=0)
    return Generator(Rambler(), DRAFTERS[drafter]()).stream([1, 2, 3], request)


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_rounds_do_not_get_slower(drafter):
    clock = [time.process_time() for _ in rambling(drafter)]
    assert len(clock) == TOKENS
    assert clock[-1] - clock[-2_000] < 3 * (clock[2_000] - clock[0])


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_memory_grows_with_the_text_and_no_faster(drafter):
    held = []
    tracemalloc.start()
    for count, _ in enumerate(rambling(drafter)):
        if count % 2_000 == 0:
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    grown = np.diff(held) / 2_000
    assert grown.max() < 1_000, "bytes a token"
    assert np.median(grown[-4:]) < 1.5 * np.median(grown[:4])
