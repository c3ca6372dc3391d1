"""Prompts that a target makes up, and its answers to them."""

from collections import deque
from collections.abc import Iterator
from random import Random

from foredraft.targets.base import TextCodec, shared_prefix
from foredraft.training.openings import KINDS
from foredraft.training.prompts import Sieve
from foredraft.training.write import Job, Text

_ASKED = 96
"""The most tokens of a prompt that the target makes up."""
_BEGUN = 16
"""Tokens of a text's beginning that are its prompt where the model knows no chats."""
_UNLIKELY = 0.03
"""Tokens this much less likely than the likeliest would derail a prompt."""
_HEAT = 0.8


class OwnPrompts:
    """Jobs that ask and jobs that answer, in the same passes.

    A target that knows chats is given the beginning of a user's turn and writes the rest of it; a
    base model writes the beginning of a text. Half of the answers are its likeliest ones, half are
    drawn at temperature 0.8.
    """

    def __init__(self, codec: TextCodec, sieve: Sieve, limit: int, seed: int) -> None:
        self._codec, self._sieve, self._limit = codec, sieve, limit
        self._chance = Random(seed)
        self._asked: deque[list[int]] = deque()
        self._header = _header(codec)

    def jobs(self) -> Iterator[Job]:
        """Without end; an answer as soon as there is something to answer."""
        while True:
            if self._asked:
                prompt = self._asked.popleft()
                heat = self._chance.choice((0.0, _HEAT))
                yield Job(prompt, self._limit, len(prompt), heat)
            else:
                yield self._ask()

    def asked(self, text: Text) -> None:
        """What a job that asks has come to."""
        written = text.tokens[len(self._header) :]
        if not self._codec.has_template:
            if text.tokens[-1] not in self._codec.eos_ids and self._sieve.takes(
                self._codec.decode(written), text.tokens
            ):
                self._asked.append(text.tokens)
            return
        if text.tokens[-1] not in self._codec.eos_ids:
            return
        said = self._codec.decode(written[:-1]).strip()
        prompt = self._codec.chat([{"role": "user", "content": said}])
        if self._sieve.takes(said, prompt):
            self._asked.append(prompt)

    def _ask(self) -> Job:
        if not self._codec.has_template:
            return Job(self._header, _BEGUN, temperature=1.0, min_p=_UNLIKELY)
        opening = self._chance.choice(self._chance.choice(KINDS))
        prompt = self._header + self._codec.spell(opening)
        return Job(prompt, _ASKED, temperature=1.0, min_p=_UNLIKELY)


def _header(codec: TextCodec) -> list[int]:
    """What stands before the user's first word, or before any text."""
    if codec.has_template:
        one, other = (codec.chat([{"role": "user", "content": word}]) for word in ("0", "1"))
        return one[: shared_prefix(one, other)]
    return codec.encode("") or [min(codec.eos_ids)]
