"""Prompts decoded with speculation and plainly, under the same request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.forced import Text
from foredraft.targets.base import Progress

SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Run:
    """A prompt's text as speculation writes it, and as plain decoding does if it was asked to.

    `request` holds the seed, which is the prompt's own.
    """

    id: str
    request: Request
    text: Text
    plain: Text | None


class Runs:
    """Makes runs of the same prompts, and counts what was drafted for them."""

    def __init__(
        self,
        generator: Generator,
        prompts: Sequence[tuple[str, list[int]]],
        times: int,
        progress: Progress | None,
    ) -> None:
        """`times` each prompt will be decoded in all, which `progress` hears of."""
        self.drafted = self.accepted = 0
        self._speculating, self._plain = generator, Generator(generator.target)
        self._prompts, self._progress = prompts, progress
        self._done, self._total = 0, times * len(prompts)

    def make(self, request: Request, plainly: bool) -> list[Run]:
        """A run of each prompt. The i-th gets the request's seed (or 0) plus i, so that the
        chance in one text is independent of that in another."""
        made = []
        for i, (name, prompt) in enumerate(self._prompts):
            asked = replace(request, seed=seed_of(request, i))
            text = self._decode(self._speculating, prompt, asked)
            plain = self._decode(self._plain, prompt, asked) if plainly else None
            made.append(Run(name, asked, text, plain))
        return made

    def _decode(self, generator: Generator, prompt: list[int], request: Request) -> Text:
        stream, most = generator.stream(prompt, request), request.max_new_tokens
        for count, _ in enumerate(stream):
            if self._progress is not None:
                self._progress("Decoding", self._done * most + count, self._total * most)
        self._done += 1
        self.drafted += stream.result.stats.drafted
        self.accepted += stream.result.stats.accepted
        return Text(prompt, [token.id for token in stream.result.tokens])


def seed_of(request: Request, index: int) -> int:
    """The seed of the prompt with this index."""
    return ((request.seed or 0) + index) % 2**63


def share(tokens: int, prompts: int) -> tuple[int, int]:
    """How many of the prompts to use and how many tokens of each: `tokens` in all, none short."""
    used = min(prompts, max(1, tokens // SHORTEST))
    return used, -(-tokens // used)
