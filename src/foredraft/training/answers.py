"""What is asked of a target to learn from: answers to prompts that are new to it."""

from random import Random

from foredraft.targets.base import TextCodec, shared_prefix
from foredraft.training.prompts import Sieve
from foredraft.training.write import Job

_HEAT = 0.8
_LONGEST = 1024


class Answering:
    """Makes jobs of prompts that `sieve` lets through.

    Half of the answers are the target's likeliest ones, half are drawn at temperature 0.8; none is
    longer than `limit`, and none is made to a prompt of more than 1024 tokens, which would take
    room from all that are written beside it.
    """

    def __init__(self, codec: TextCodec, sieve: Sieve, limit: int, context: int, seed: int) -> None:
        self.codec, self.limit = codec, limit
        self.chance = Random(seed)
        self.header = _header(codec)
        self._sieve, self._context = sieve, context

    def to(self, said: str, prompt: list[int]) -> Job | None:
        """The job that answers a prompt: `said` is what a person wrote, `prompt` all of it."""
        limit = min(self.limit, self._context - len(prompt))
        if not self.fits(said, prompt) or limit < 1:
            return None
        return Job(prompt, limit, len(prompt), self.chance.choice((0.0, _HEAT)))

    def fits(self, said: str, prompt: list[int]) -> bool:
        """Whether a prompt is short enough, and let through."""
        return len(prompt) <= _LONGEST and self._sieve.takes(said, prompt)


def _header(codec: TextCodec) -> list[int]:
    """What stands before the user's first word, or before any text."""
    if codec.has_template:
        one, other = (codec.chat([{"role": "user", "content": word}]) for word in ("0", "1"))
        return one[: shared_prefix(one, other)]
    return codec.encode("") or [min(codec.eos_ids)]
