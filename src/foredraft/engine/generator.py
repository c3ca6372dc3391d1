"""Text from a target and a drafter: the object most users hold."""

import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as PyGenerator
from operator import index
from pathlib import Path
from statistics import median

from foredraft.core.errors import ForedraftError
from foredraft.core.types import Exactness
from foredraft.drafters.base import Drafter
from foredraft.drafters.none import NoDrafter
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.calibrate import prices_of, timed
from foredraft.engine.control import Controller, Fixed
from foredraft.engine.generation import Generation
from foredraft.engine.loop import Cycle, Round
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm
from foredraft.engine.request import Prompt, Request
from foredraft.engine.result import Result, Token
from foredraft.engine.turn import Means
from foredraft.targets.base import CachedSequence, Progress, Rollback, Rows, Target

_PLAIN_STEPS = 3


class Stream(Iterator[Token]):
    """Tokens as they are generated; `result` is complete when the iteration has ended.

    Stop iterating at any point (or call `close`): the generator's cache stays valid.
    """

    def __init__(self, tokens: Iterator[Token], result: Result, close: Callable[[], None]) -> None:
        self._tokens = tokens
        self.result = result
        self.close = close

    def __next__(self) -> Token:
        return next(self._tokens)


class Generator:
    """Generates with `target`, drafting with `drafters`; the output's law is the target's alone.

    Keeps the target's cache between calls, so a prompt that continues the last one (a chat) only
    pays for its new tokens. One generation at a time. Without a fixed draft length it measures
    what passes cost, once; `prices` is a folder to keep that in.
    """

    def __init__(self, target: Target, *drafters: Drafter, prices: Path | None = None) -> None:
        self.target = target
        self.drafters = drafters
        self._arms = [Arm(drafter) for drafter in drafters]
        self._folder = prices
        self._prices: dict[bool, Prices] = {}
        self._cache: tuple[bool, CachedSequence] | None = None

    @property
    def drafter(self) -> str:
        """What drafts: a drafter's name, "auto" for several, "none" for plain decoding."""
        if len(self.drafters) > 1:
            return "auto"
        return self.drafters[0].name if self.drafters else "none"

    def with_drafters(self, *drafters: Drafter) -> "Generator":
        """The same target, and the text it has read so far, with other drafters; use either, one
        at a time."""
        other = Generator(self.target, *drafters, prices=self._folder)
        other._cache = self._cache
        return other

    def calibrate(self, bitwise: bool = False, progress: Progress | None = None) -> Prices:
        """What passes and drafts cost here: from the folder, or measured now (seconds)."""
        if bitwise not in self._prices:
            self._prices[bitwise] = prices_of(
                self.target, self.drafters, bitwise, self._folder, progress
            )
        return self._prices[bitwise]

    def generate(self, prompt: Prompt, request: Request | None = None) -> Result:
        """The whole answer at once; see `stream`."""
        stream = self.stream(prompt, request)
        for _ in stream:
            pass
        return stream.result

    def stream(
        self,
        prompt: Prompt,
        request: Request | None = None,
        progress: Callable[[int], None] | None = None,
        watch: Callable[[Round], None] | None = None,
    ) -> Stream:
        """Start generating; `progress` hears how many prompt tokens have been read, `watch` of
        every round.

        Raises ForedraftError at once for a prompt or setting that cannot work.
        """
        request = request or Request()
        if request.draft_len and len(self.drafters) > 1:
            raise ForedraftError(
                f"draft_len (γ) is {request.draft_len}, which fixes one drafter's draft, but there "
                "are several; name one drafter, or leave draft_len out and it is chosen each round."
            )
        generation = Generation(self.target, self.encode(prompt), request)
        tokens = self._run(generation, request, progress, watch or (lambda done: None))
        return Stream(tokens, generation.result, tokens.close)

    def encode(self, prompt: Prompt) -> list[int]:
        """The token ids of a prompt: text, ids, or chat messages through the model's template."""
        if isinstance(prompt, str):
            return self.target.tokenizer.encode(prompt)
        if len(prompt) > 0 and all(isinstance(item, dict) for item in prompt):
            return self.target.tokenizer.chat([m for m in prompt if isinstance(m, dict)])
        try:
            return [index(item) for item in prompt]  # type: ignore[arg-type]  # else TypeError
        except TypeError as error:
            raise ForedraftError(
                "The prompt is neither text, token ids alone nor chat messages alone; give one."
            ) from error

    def _open(self, bitwise: bool) -> CachedSequence:
        if self._cache is None or self._cache[0] != bitwise:
            self._cache = (bitwise, self.target.open(bitwise=bitwise))
        return self._cache[1]

    def _run(
        self,
        generation: Generation,
        request: Request,
        progress: Callable[[int], None] | None,
        watch: Callable[[Round], None],
    ) -> PyGenerator[Token, None, None]:
        controller = self._controller(request)
        begun = time.perf_counter()
        result, sequence = generation.result, generation.sequence
        cache = self._open(request.exactness is Exactness.BITWISE)
        cycle = Cycle(self.target, controller, sequence, cache, request.exactness, result.stats)
        try:
            self.target.prefill(cache, sequence.tokens[:-1], progress)
            result.stats.prefill_s = time.perf_counter() - begun
            while result.finish_reason is None:
                limit = min(generation.most, max(0, self.target.room(cache) - 1))
                watch(cycle.round(limit, generation.read))
                result.stats.total_s = time.perf_counter() - begun
                yield from generation.fresh
                # What the caller does with a token is not this engine's time.
                begun = time.perf_counter() - result.stats.total_s
            result.plain_step_s = self._plain_step(cycle)
        finally:
            for drafter in self.drafters:
                drafter.close(sequence)
            for prices in self._prices.values():
                prices.keep()

    def _controller(self, request: Request) -> Controller:
        """A fixed length where one is asked for, else the choice that measures."""
        if not self.drafters:
            return Fixed(NoDrafter(), 0)
        means = Means.of(self.target, request.exactness)
        if request.draft_len is not None:
            return Fixed(self.drafters[0], request.draft_len, trees=means.trees)
        bitwise = request.exactness is Exactness.BITWISE
        return Adaptive(self._arms, self.calibrate(bitwise), means)

    def _plain_step(self, cycle: Cycle) -> float | None:
        """Seconds of one plain token here: a one-row pass, and choosing from its logits.

        From the passes that had no draft, or else from a few extra ones, taken back afterwards;
        None when that is impossible (no room, or a cache that cannot take rows back).
        """
        tokens, steps = cycle.sequence.tokens, cycle.plain_steps
        while len(steps) < _PLAIN_STEPS:
            free = self.target.capabilities.rollback is Rollback.FREE
            if not free or self.target.room(cycle.cache) < 1:
                break
            steps.append(timed(self.target, [Rows(cycle.cache, tokens[-1:])]))
        choosing = cycle.stats.accept_s / max(1, cycle.stats.generated_tokens)
        return median(steps) + choosing if steps else None
