"""Prompts that a target makes up, and its answers to them."""

from collections.abc import Iterator
from random import Random

from foredraft.targets.base import TextCodec, shared_prefix
from foredraft.training.openings import KINDS
from foredraft.training.prompts import Sieve
from foredraft.training.write import Job

_ASKED = 96
"""The most tokens of a prompt that the target makes up."""
_BEGUN = 16
"""Tokens of a text's beginning that are its prompt where the model knows no chats."""
_UNLIKELY = 0.03
"""Tokens this much less likely than the likeliest would derail a prompt."""
_HEAT = 0.8


class OwnPrompts:
    """Jobs that ask, each followed by one that answers.

    A target that knows chats is given the beginning of a user's turn and writes the rest of it; a
    base model writes the beginning of a text. Half of the answers are its likeliest ones, half are
    drawn at temperature 0.8.
    """

    def __init__(self, codec: TextCodec, sieve: Sieve, limit: int, seed: int) -> None:
        self._codec, self._sieve, self._limit = codec, sieve, limit
        self._chance = Random(seed)
        self._header = header(codec)

    def jobs(self) -> Iterator[Job]:
        """Without end."""
        while True:
            if not self._codec.has_template:
                yield Job(
                    self._header, _BEGUN, temperature=1.0, min_p=_UNLIKELY, then=self._continued
                )
                continue
            opening = self._chance.choice(self._chance.choice(KINDS))
            prompt = self._header + self._codec.spell(opening)
            yield Job(prompt, _ASKED, temperature=1.0, min_p=_UNLIKELY, then=self._answered)

    def _answered(self, tokens: list[int]) -> Job | None:
        """The job that answers what was asked; none if that did not come to an end, or is unfit."""
        if tokens[-1] not in self._codec.eos_ids:
            return None
        said = self._codec.decode(tokens[len(self._header) : -1]).strip()
        prompt = self._codec.chat([{"role": "user", "content": said}])
        return self._job(prompt) if self._sieve.takes(said, prompt) else None

    def _continued(self, tokens: list[int]) -> Job | None:
        """The job that goes on with a text, unless it is over."""
        if tokens[-1] in self._codec.eos_ids:
            return None
        said = self._codec.decode(tokens)
        return self._job(tokens) if self._sieve.takes(said, tokens) else None

    def _job(self, prompt: list[int]) -> Job:
        return Job(prompt, self._limit, len(prompt), self._chance.choice((0.0, _HEAT)))


def header(codec: TextCodec) -> list[int]:
    """What stands before the user's first word, or before any text."""
    if codec.has_template:
        one, other = (codec.chat([{"role": "user", "content": word}]) for word in ("0", "1"))
        return one[: shared_prefix(one, other)]
    return codec.encode("") or [min(codec.eos_ids)]
