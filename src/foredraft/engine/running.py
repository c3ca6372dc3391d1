"""A request that has a place: its text, its cache, and what it has cost so far."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from foredraft.core.types import Draft, LogitArray
from foredraft.drafters.base import Drafter
from foredraft.engine.control import Controller
from foredraft.engine.generation import Generation
from foredraft.engine.job import Job, Share, Step
from foredraft.engine.loop import Cycle, Round, timed
from foredraft.engine.together import Part
from foredraft.targets.base import CachedSequence, Target


@dataclass(eq=False, slots=True)
class Running:
    """One of the scheduler's texts that has a place; `reading` while its prompt is being read."""

    job: Job
    target: Target
    generation: Generation
    controller: Controller
    drafters: Sequence[Drafter]
    cache: CachedSequence
    reading: bool = field(init=False)
    cycle: Cycle = field(init=False)

    def __post_init__(self) -> None:
        generation, stats = self.generation, self.generation.result.stats
        exactness = self.job.request.exactness
        self.cycle = Cycle(
            self.target, self.controller, generation.sequence, self.cache, exactness, stats
        )
        self.reading = self.unread > 0

    @property
    def unread(self) -> int:
        """How many tokens of its text must be read before the next round."""
        return len(self.generation.sequence.tokens) - 1 - len(self.cache.tokens)

    def read(self, most: int) -> int:
        """Read the next `most` tokens of the text; how many there were."""
        tokens, unread = self.generation.sequence.tokens[:-1], self.unread
        end = len(tokens) - unread + most
        stats = self.generation.result.stats
        with timed(stats, "prefill_s") as reading:
            self.target.prefill(self.cache, tokens[:end])
        stats.total_s += reading.seconds
        self.reading = end < len(tokens)
        return min(most, unread)

    def part(self, most: int) -> Part:
        """Its part in a pass, with room for `most` drafted tokens."""
        room = self.target.room(self.cache) - 1
        limit = max(0, min(most, room, self.generation.most))
        return Part(self.controller, self.generation.sequence, limit)

    def accept(self, draft: Draft, logits: LogitArray, draft_s: float, verify_s: float) -> Round:
        done, _ = self.cycle.accept(draft, logits, draft_s, verify_s, self.generation.read)
        stats = self.generation.result.stats
        stats.draft_s += draft_s
        stats.verify_s += verify_s
        return done

    def tell(self, done: Round, place: Share, round_s: float, plain_s: float) -> None:
        """Pass the tokens of a round on; `plain_s` is a round of as many texts without drafts,
        which gives the plain step of the result its mean."""
        result, fresh = self.generation.result, self.generation.fresh
        result.stats.total_s += round_s
        share = len(fresh) / max(1, result.stats.generated_tokens)
        before = result.plain_step_s or 0.0
        result.plain_step_s = before + share * (plain_s - before)
        if self.job.first_token_s is None:
            self.job.first_token_s = time.monotonic() - self.job.submitted
        self.job.listener(Step(tuple(fresh), done, place, result.finish_reason))

    def close(self) -> None:
        for drafter in self.drafters:
            drafter.close(self.generation.sequence)
