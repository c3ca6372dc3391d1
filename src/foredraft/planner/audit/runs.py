"""Prompts decoded with speculation and plainly, under the same request."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.audit.forced import Text
from foredraft.planner.audit.proposal import Proposal, proposals
from foredraft.targets.base import Progress

SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Run:
    """A prompt's text as speculation writes it, and as plain decoding does if it was asked to.

    `request` holds the seed, which is the prompt's own; `proposals` has one for each token of the
    text, None where nothing was drafted.
    """

    id: str
    request: Request
    text: Text
    proposals: Sequence[Proposal | None]
    plain: Text | None


class Runs:
    """Makes runs of the same prompts, and counts what was drafted for them."""

    def __init__(
        self,
        generator: Generator,
        prompts: Sequence[tuple[str, list[int]]],
        times: int,
        tell: Progress,
    ) -> None:
        """`times` each prompt will be decoded in all, which `tell` hears of."""
        self.drafted = self.accepted = 0
        self._speculating, self._plain = generator, Generator(generator.target)
        self._prompts, self._tell = prompts, tell
        self._done, self._total = 0, times * len(prompts)

    def make(self, request: Request, plainly: bool) -> list[Run]:
        """A run of each prompt. The i-th gets the request's seed (or 0) plus i, so that the
        chance in one text is independent of that in another."""
        made = []
        for i, (name, prompt) in enumerate(self._prompts):
            asked = replace(request, seed=seed_of(request, i))
            text, found = self._decode(self._speculating, prompt, asked)
            plain = self._decode(self._plain, prompt, asked)[0] if plainly else None
            made.append(Run(name, asked, text, found, plain))
        return made

    def _decode(
        self, generator: Generator, prompt: list[int], request: Request
    ) -> tuple[Text, list[Proposal | None]]:
        found: list[Proposal | None] = []
        stream = generator.stream(prompt, request, watch=lambda done: found.extend(proposals(done)))
        most = request.max_new_tokens
        for count, _ in enumerate(stream):
            self._tell("Decoding", self._done * most + count, self._total * most)
        self._done += 1
        self.drafted += stream.result.stats.drafted
        self.accepted += stream.result.stats.accepted
        output = [token.id for token in stream.result.tokens]
        return Text(prompt, output), found[: len(output)]


def seed_of(request: Request, index: int) -> int:
    """The seed of the prompt with this index."""
    return ((request.seed or 0) + index) % 2**63


def share(tokens: int, prompts: int) -> tuple[int, int]:
    """How many of the prompts to use and how many tokens of each: `tokens` in all, none short."""
    used = min(prompts, max(1, tokens // SHORTEST))
    return used, -(-tokens // used)
