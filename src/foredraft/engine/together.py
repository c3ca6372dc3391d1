"""The drafts of all texts of a pass, decided at once."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from foredraft.core.sequence import TextSequence
from foredraft.core.tree import depth
from foredraft.core.types import Draft
from foredraft.drafters.base import CostlyDrafter
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.control import Controller, Outcome
from foredraft.engine.goodput import shares
from foredraft.engine.prices import Prices
from foredraft.engine.turn import Ask, Company, Setting, Turn

_MEMORY = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a pass, what decides its draft, and how many tokens it may draft at most."""

    controller: Controller
    sequence: TextSequence
    limit: int


@dataclass(slots=True)
class _Choice:
    """A text whose controller weighs what pays, and where it stands this round."""

    controller: Adaptive
    turn: Turn
    setting: Setting
    ask: Ask | None = None
    draft: Draft = field(default_factory=lambda: Draft.chain([]))


class Together:
    """Spends each pass on the tokens that bring most, whosever they are.

    As more texts share a pass a row costs more of everybody's time, so speculation fades out as
    load grows and comes back when it falls. Texts with a fixed draft length take it regardless.
    """

    def __init__(self, prices: Prices) -> None:
        self.prices = prices
        self._gained = self._spent = 1.0

    def propose(self, parts: Sequence[Part]) -> list[Draft]:
        """One draft a text."""
        count = len(parts)
        rate = count / self.prices.verify(count, count) * max(1.0, self._gained / self._spent)
        base = Setting(self.prices, rate, count - 1, count)
        fixed: dict[int, Draft] = {}
        choices: dict[int, _Choice] = {}
        for i, part in enumerate(parts):
            if isinstance(part.controller, Adaptive):
                turn = part.controller.begin(part.sequence, part.limit, base)
                choices[i] = _Choice(part.controller, turn, base)
            else:
                fixed[i] = part.controller.propose(part.sequence, part.limit)
        self._decide(list(choices.values()), base, count + sum(map(len, fixed.values())))
        return [fixed[i] if i in fixed else choices[i].draft for i in range(count)]

    def observe(
        self, parts: Sequence[Part], emitted: Sequence[Sequence[int]], rows: int, outcome: Outcome
    ) -> None:
        """A pass over `rows` rows was made; `emitted` are the tokens of each text, those of
        `outcome` all of them."""
        count = len(parts)
        plain_s = self.prices.verify(count, count)
        # In plain steps at the prices of this pass: they may all lag behind a machine that changes.
        steps = count * self.prices.verify(rows, count) / plain_s
        self._gained = _MEMORY * self._gained + len(outcome.emitted)
        self._spent = _MEMORY * self._spent + steps * (1 + outcome.draft_s / outcome.verify_s)
        self.prices.observe_verify(rows, outcome.verify_s, count)
        for part, tokens in zip(parts, emitted, strict=True):
            if isinstance(part.controller, Adaptive):
                part.controller.learn(replace(outcome, emitted=tokens), alone=count == 1)

    def _decide(self, choices: list[_Choice], base: Setting, rows: int) -> None:
        """The drafts of the texts that weigh; `rows` is what the pass holds without them."""
        reached = [choice.turn.reached for choice in choices]
        taken = shares(reached, lambda n: self.prices.verify(rows + n, base.sequences), base.rate)
        rows += sum(taken)
        for choice, own in zip(choices, taken, strict=True):
            choice.setting = replace(base, others=rows - 1 - own)
            choice.controller.take(choice.turn, own, choice.setting)
        asking = self._asking(choices)
        company = Company(len(asking))
        for choice in asking:
            choice.setting = replace(choice.setting, company=company)
        for choice in choices:
            choice.ask = choice.controller.wish(choice.turn, choice.setting)
        self._draft([choice for choice in choices if choice.ask is not None])
        for choice in choices:
            choice.draft = choice.controller.settle(choice.turn, choice.setting, choice.ask)

    def _asking(self, choices: list[_Choice]) -> list[_Choice]:
        """The texts for which a costly drafter should pay if all of them share its passes: those
        who lose even so are left out until all who remain gain."""
        asking = choices
        while True:
            kept = [
                choice
                for choice in asking
                if choice.controller.would_ask(
                    choice.turn, replace(choice.setting, company=Company(len(asking)))
                )
            ]
            if len(kept) == len(asking):
                return kept
            asking = kept

    def _draft(self, asking: list[_Choice]) -> None:
        """Let the costly drafters draft, each for all texts that ask it at once."""
        wanted: dict[CostlyDrafter, list[_Choice]] = {}
        for choice in asking:
            assert choice.ask is not None
            wanted.setdefault(choice.ask.drafter, []).append(choice)
        for drafter, whose in wanted.items():
            asks = [choice.ask for choice in whose if choice.ask is not None]
            begun = time.perf_counter()
            offers = drafter.propose_together(
                [ask.wanted(one.turn.sequence) for one, ask in zip(whose, asks, strict=True)]
            )
            seconds = time.perf_counter() - begun
            if not any(ask.reading for ask in asks):
                passes = sum(drafter.passes(depth(offer)) for offer in offers)
                self.prices.observe_draft(drafter.name, passes, seconds, len(offers))
            more = 0  # rows that texts before this one have added by now
            for choice, ask, offer in zip(whose, asks, offers, strict=True):
                before = len(choice.turn.draft)
                choice.setting = replace(choice.setting, others=choice.setting.others + more)
                choice.controller.weigh(choice.turn, ask, offer, choice.setting)
                more += len(choice.turn.draft) - before
