"""The controller that measures: which drafter, and how much of its draft, for the most speed.

A choice may depend on the committed text, on measured times and on outcomes: a policy that knows
only the past cannot bias the output. Of a sampled draft that is judged with its q nothing is
dropped once it is drawn: whether a token is there may depend on those before it, never on itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from foredraft.core.sequence import TextSequence
from foredraft.core.speedup import expected_tokens
from foredraft.core.tree import best_path, likeliest, merge, path_chances, subtree
from foredraft.core.types import Draft
from foredraft.drafters.base import CostlyDrafter, is_costly
from foredraft.engine.control import Decision, Option, Outcome
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm, Record

_FREE_REACH = 31
"""The most tokens asked of a free drafter in a round: its answer takes host time all the same."""
_PAID_REACH = 16
_AHEAD = 4
"""How many more tokens a paid draft is weighed by: the next may be dear and the one after cheap."""
_SHARE = 0.01
_CREDIT = 0.5
"""Trying what does not seem to pay may cost this share of the time, and plain steps at first."""
_MEMORY = 0.9
_READY = 2.0
"""A drafter with text to read is asked when this many times what it would have gained so far
covers the reading: early in a text nobody knows how long it is, or whether lookups will do."""
_UNREAD = 8
"""A drafter that must read more than this says nothing about what a drafted token costs."""
_UNPROVEN = 0.6
"""The most α to count on before a text is read for it: what is read in vain is lost."""

_BEST = "the most tokens for its time"
_TRIED = "a model is tried, to see whether it pays by now"

Choice = tuple[Option, Draft]


@dataclass(frozen=True, slots=True)
class Means:
    """What this request's passes may hold: `trees`, and a sampled draft only `whole`."""

    trees: bool
    whole: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A costly drafter that was asked this round: the best part of its draft, whether it had much
    to read first (its time then says nothing about a token's), and whether its draft was used."""

    record: Record
    option: Option
    reading: bool
    used: bool


class Adaptive:
    """Takes, each round, the option with the most tokens above what its time brings on average.

    Plain decoding is always an option. Free drafters are asked every round and judged by the text
    whether or not they were used, so nothing about them needs probing. A drafter that runs a model
    is asked where it should pay, and else now and then, within a budget of 1 % of the time.
    """

    def __init__(self, arms: Sequence[Arm], prices: Prices, means: Means) -> None:
        self._free = [Record(arm) for arm in arms if arm.drafter.free]
        self._paid = [(arm.drafter, Record(arm)) for arm in arms if is_costly(arm.drafter)]
        self._prices = prices
        self._means = means
        self._budget = _CREDIT * prices.verify(1)
        self._tokens, self._seconds = 1.0, prices.verify(1)
        self._verified = Draft.chain([])
        self._asked: Asked | None = None
        self.decision: Decision | None = None

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        rate = max(1 / self._prices.verify(1), self._tokens / self._seconds)
        choices = self._free_choices(sequence, limit, rate)
        options = [option for option, _ in choices]
        best, self._verified = max(choices, key=lambda choice: choice[0].gain(rate))
        why, self._asked = _BEST, None
        for drafter, record in self._paid if limit else ():
            reading = drafter.unread(sequence) > _UNREAD
            alpha = min(record.acceptance, _UNPROVEN if reading else 1.0)
            option = self._estimate(drafter, record, alpha, limit, rate)
            options.append(option)
            loss = (best.gain(rate) - option.gain(rate)) / rate
            if not self._may_ask(drafter, record, sequence, loss):
                continue
            why = _BEST if loss < 0 else _TRIED
            asked, offer = self._ask(drafter, record, sequence, limit, rate)
            if used := self._binding(offer) or asked.gain(rate) > best.gain(rate):
                best, self._verified = asked, offer
            self._asked = Asked(record, asked, reading, used)
            break
        self.decision = Decision(tuple(options), best, rate, why)
        return self._verified

    def _may_ask(
        self, drafter: CostlyDrafter, record: Record, sequence: TextSequence, loss: float
    ) -> bool:
        """Whether to ask a costly drafter that should lose `loss` seconds, or gain if negative."""
        reading = self._reading(drafter, sequence)
        if loss < 0:
            worth = reading <= record.missed
            record.missed -= 0.0 if worth else _READY * loss
            return worth
        # Where tokens may be looked at and dropped, a look costs no more than one of them.
        look = loss if self._means.whole else min(loss, self._prices.draft(drafter.name))
        affordable = look + reading <= self._budget
        self._budget -= look + reading if affordable else 0.0
        return affordable

    def observe(self, outcome: Outcome) -> None:
        emitted, seconds = len(outcome.emitted), outcome.draft_s + outcome.verify_s
        self._prices.observe_verify(1 + len(self._verified), outcome.verify_s)
        self._tokens = _MEMORY * self._tokens + emitted
        self._seconds = _MEMORY * self._seconds + seconds
        self._budget = min(self._budget + _SHARE * seconds, 2 * self._prices.verify(1))
        if self._asked is not None:
            self._settle(self._asked, outcome)
        for record in (*self._free, *(record for _, record in self._paid)):
            record.learn(outcome.emitted)

    def _settle(self, asked: Asked, outcome: Outcome) -> None:
        """What asking a costly drafter brought; where its draft was not used, what it promised."""
        record = asked.record
        if not record.offer or asked.reading:
            return
        self._prices.observe_draft(record.drafter.name, len(record.offer), outcome.draft_s)
        tokens = len(outcome.emitted) if asked.used else asked.option.tokens
        verify_s = outcome.verify_s if asked.used else asked.option.seconds
        record.spent(tokens, outcome.draft_s + verify_s)

    def _free_choices(self, sequence: TextSequence, limit: int, rate: float) -> list[Choice]:
        """Plain decoding and what the free drafters offer, each cut to its best part."""
        choices = [(Option("none", 0, 1.0, self._prices.verify(1)), Draft.chain([]))]
        for record in self._free:
            record.offer = record.drafter.propose(sequence, min(limit, _FREE_REACH))
        offers = [(r.offer, r.chances(r.offer)) for r in self._free if r.offer]
        if self._means.trees and len(offers) > 1:
            offers = [merge([draft for draft, _ in offers], [odds for _, odds in offers])]
        return choices + [self._cut(draft, odds, rate, limit) for draft, odds in offers]

    def _cut(self, draft: Draft, chances: Sequence[float], rate: float, limit: int) -> Choice:
        """The part of a draft that is worth its rows: the likeliest n nodes, for the best n."""
        reached = path_chances(draft, chances)
        order = likeliest(reached) if self._means.trees else best_path(draft, chances)
        tokens, best = 1.0, Option(draft.source, 0, 1.0, self._prices.verify(1))
        for n, node in enumerate(order[:limit], 1):
            tokens += reached[node]
            option = Option(draft.source, n, tokens, self._prices.verify(1 + n))
            best = max(best, option, key=lambda option: option.gain(rate))
        return best, subtree(draft, order[: best.drafted])

    def _estimate(
        self,
        drafter: CostlyDrafter,
        record: Record,
        alpha: float,
        limit: int,
        rate: float,
    ) -> Option:
        """The best draft length of a drafter whose draft is not known before it is paid for."""
        name, price = drafter.name, self._prices.draft(drafter.name)
        options = []
        for gamma in range(1, min(limit, _PAID_REACH) + 1):
            tokens = expected_tokens(alpha, gamma)
            seconds = gamma * price + self._prices.verify(1 + gamma)
            options.append(Option(name, gamma, *record.realised(tokens, seconds)))
        return max(options, key=lambda option: option.gain(rate))

    def _ask(
        self,
        drafter: CostlyDrafter,
        record: Record,
        sequence: TextSequence,
        limit: int,
        rate: float,
    ) -> Choice:
        """Draft for as long as the next tokens are worth their time; what of it is worth a row."""
        price = self._prices.draft(drafter.name)

        def go_on(evidence: Sequence[float]) -> bool:
            reached, drafted = 1.0, len(evidence)
            for one in evidence:
                reached *= record.odds.chance(one)
            gain, base = 0.0, self._prices.verify(1 + drafted)
            for more in range(1, _AHEAD + 1):
                reached *= record.acceptance
                gain += reached
                cost = more * price + self._prices.verify(1 + drafted + more) - base
                if gain > rate * cost:
                    return True
            return False

        draft = drafter.propose(sequence, min(limit, _PAID_REACH), go_on)
        record.offer = draft
        option, worth = self._cut(draft, record.chances(draft), rate, limit)
        return (option, draft if self._binding(draft) else worth)

    def _binding(self, draft: Draft) -> bool:
        """Whether a draft must be verified as it is: its tokens were drawn, and q judges them."""
        return draft.q is not None and self._means.whole

    def _reading(self, drafter: CostlyDrafter, sequence: TextSequence) -> float:
        """Seconds until the drafter has read the text it has not seen yet."""
        return self._prices.read(drafter.name) * max(0, drafter.unread(sequence) - 1)
