"""The controller that measures: which drafter, and how much of its draft, for the most speed.

A choice may depend on the committed text, on measured times and on outcomes: a policy that knows
only the past cannot bias the output. Of a sampled draft that is judged with its q nothing is
dropped once it is drawn: whether a token is there may depend on those before it, never on itself.
"""

from collections.abc import Sequence
from math import prod

from foredraft.core.sequence import TextSequence
from foredraft.core.shape import Shape, best_shape
from foredraft.core.tree import best_path, likeliest, merge, path_chances, subtree
from foredraft.core.types import Draft
from foredraft.drafters.base import CostlyDrafter, GoOn, is_costly
from foredraft.engine.control import Decision, Option, Outcome
from foredraft.engine.goodput import shares
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm, Record
from foredraft.engine.turn import Ask, Asked, Means, Setting, Turn

_FREE_REACH = 31
"""The most tokens asked of a free drafter in a round: its answer takes host time all the same."""
_PAID_REACH = 16
_WIDE = 31
"""The most tokens of a drafter that branches: prices are measured for so many rows and one."""
_DRAWN = 12
"""The same where q judges them: each takes host time, to draw and to judge, that passes hide."""
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


class Adaptive:
    """Takes, each round, the option with the most tokens above what its time brings on average.

    Plain decoding is always an option. Free drafters are asked every round and judged by the text
    whether or not they were used, so nothing about them needs probing. A drafter that runs a model
    is asked where it should pay, and else now and then, within a budget of 1 % of the time.
    Several texts decide a pass together: see Together.
    """

    def __init__(self, arms: Sequence[Arm], prices: Prices, means: Means) -> None:
        self._free = [Record(arm) for arm in arms if arm.drafter.free]
        self._paid = [(arm.drafter, Record(arm)) for arm in arms if is_costly(arm.drafter)]
        self._prices = prices
        self._means = means
        self._budget: float | None = None
        self._tokens, self._seconds = 1.0, prices.verify(1)
        self._verified = Draft.chain([])
        self._asked: Asked | None = None
        self.decision: Decision | None = None

    def propose(self, sequence: TextSequence, limit: int) -> Draft:
        rate = max(1 / self._prices.verify(1), self._tokens / self._seconds)
        setting = Setting(self._prices, rate)
        turn = self.begin(sequence, limit, setting)
        self.take(turn, self._best(turn, setting)[0], setting)
        ask = self.wish(turn, setting)
        if ask is not None:
            draft = ask.drafter.propose(*ask.wanted(sequence))
            self.weigh(turn, ask, draft, setting)
        return self.settle(turn, setting, ask)

    def observe(self, outcome: Outcome) -> None:
        emitted, seconds = len(outcome.emitted), outcome.draft_s + outcome.verify_s
        self._prices.observe_verify(1 + len(self._verified), outcome.verify_s)
        if self._asked is not None and not self._asked.ask.reading:
            ask = self._asked.ask
            self._prices.observe_draft(ask.drafter.name, ask.passes, outcome.draft_s)
        self._tokens = _MEMORY * self._tokens + emitted
        self._seconds = _MEMORY * self._seconds + seconds
        self.learn(outcome, alone=True)

    # A round in its parts, for one text alone or for each of several in one pass.

    def begin(self, sequence: TextSequence, limit: int, setting: Setting) -> Turn:
        """Ask the free drafters; what they offer, best first."""
        for record in self._free:
            record.offer = record.drafter.propose(sequence, min(limit, _FREE_REACH))
        offers = [(r.offer, r.chances(r.offer)) for r in self._free if r.offer]
        if self._branching(setting) and len(offers) > 1:
            offers = [merge([draft for draft, _ in offers], [odds for _, odds in offers])]
        turns = [self._ranked(sequence, limit, draft, odds, setting) for draft, odds in offers]
        if len(turns) > 1:
            return max(turns, key=lambda turn: self._best(turn, setting)[1])
        return turns[0] if turns else Turn(sequence, limit, Draft.chain([]), [], [], [])

    def take(self, turn: Turn, count: int, setting: Setting) -> None:
        """Verify the `count` most worthwhile tokens of the free offer."""
        plain = Option("none", 0, 1.0, setting.seconds(0))
        turn.options = [plain]
        if turn.order:
            tokens = 1 + sum(turn.reached[:count])
            turn.options.append(Option(turn.draft.source, count, tokens, setting.seconds(count)))
        turn.chosen = turn.options[-1] if count else plain
        self._cut(turn, count)

    def would_ask(self, turn: Turn, setting: Setting) -> bool:
        """Whether a costly drafter should pay this round."""
        best = turn.chosen.gain(setting.rate) if turn.chosen else 0.0
        estimates = (self._estimate(*paid, turn, setting) for paid in self._paid if turn.limit)
        return any(option.gain(setting.rate) > best for option, *_ in estimates)

    def wish(self, turn: Turn, setting: Setting) -> Ask | None:
        """The costly drafter to ask this round, if any."""
        assert turn.chosen is not None
        if self._budget is None:
            self._budget = _CREDIT * setting.prices.verify(setting.sequences) / setting.sequences
        best = turn.chosen.gain(setting.rate)
        for drafter, record in self._paid if turn.limit else ():
            option, shape, reading = self._estimate(drafter, record, turn, setting)
            turn.options.append(option)
            loss = (best - option.gain(setting.rate)) / setting.rate
            if self._may_ask(drafter, record, turn.sequence, loss, setting):
                why = _BEST if loss < 0 else _TRIED
                go_on = self._worth_more(drafter, record, setting, shape)
                limit = min(turn.limit, _PAID_REACH if shape is None else _WIDE)
                return Ask(drafter, record, limit, go_on, shape, reading, why)
        return None

    def weigh(self, turn: Turn, ask: Ask, offer: Draft, setting: Setting) -> None:
        """Judge what a costly drafter drafted; it is there now, so only its rows cost anything."""
        assert turn.chosen is not None
        ask.record.offer = offer
        binding = offer.q is not None and self._means.whole  # its tokens were drawn; q judges them
        chances = ask.record.chances(offer)
        both = offer
        if self._branching(setting) and not binding and len(turn.draft):
            both, chances = merge([turn.draft, offer], [turn.chances, chances])
        found = self._ranked(turn.sequence, turn.limit, both, chances, setting)
        count, gain = self._best(found, setting)
        asked = Option(offer.source, count, 1 + sum(found.reached[:count]), setting.seconds(count))
        # The pass may hold more rows of others by now than when the free offer was taken.
        dearer = setting.seconds(len(turn.draft)) - setting.seconds(0)
        free = turn.chosen.tokens - 1 - setting.rate * dearer
        if used := binding or gain > free:
            turn.chosen = asked
            self._cut(found, len(offer) if binding else count)
            turn.draft = found.draft
        self._asked = Asked(ask, asked, used)

    def settle(self, turn: Turn, setting: Setting, ask: Ask | None) -> Draft:
        """The draft that was decided on."""
        assert turn.chosen is not None
        if ask is None:
            self._asked = None
        self._verified = turn.draft
        why = _BEST if ask is None else ask.why
        self.decision = Decision(tuple(turn.options), turn.chosen, setting.rate, why)
        return turn.draft

    def learn(self, outcome: Outcome, alone: bool) -> None:
        """What the round says about this text's drafters; `alone` it says what they cost as well.

        A round of several texts gives each its share of the time to spend on trying.
        """
        seconds = (outcome.draft_s + outcome.verify_s) / outcome.sequences
        self._budget = min((self._budget or 0) + _SHARE * seconds, 2 * self._prices.verify(1))
        if self._asked is not None:
            asked, record = self._asked, self._asked.ask.record
            if alone and record.offer and not asked.ask.reading:
                # Where its draft was not used, what it promised.
                tokens = len(outcome.emitted) if asked.used else asked.option.tokens
                verify_s = outcome.verify_s if asked.used else asked.option.seconds
                record.spent(tokens, outcome.draft_s + verify_s)
        for record in (*self._free, *(record for _, record in self._paid)):
            record.learn(outcome.emitted)

    def _branching(self, setting: Setting) -> bool:
        """Whether this round's draft may branch."""
        return self._means.trees and setting.trees

    def _ranked(
        self,
        sequence: TextSequence,
        limit: int,
        draft: Draft,
        chances: list[float],
        setting: Setting,
    ) -> Turn:
        """A draft's nodes in the order in which more and more of it are verified."""
        reached = path_chances(draft, chances)
        order = likeliest(reached) if self._branching(setting) else best_path(draft, chances)
        order = order[:limit]
        return Turn(sequence, limit, draft, chances, order, [reached[node] for node in order])

    def _cut(self, turn: Turn, count: int) -> None:
        """Leave the `count` most worthwhile tokens of a draft."""
        kept = sorted(turn.order[:count])
        turn.draft = subtree(turn.draft, kept)
        turn.chances = [turn.chances[node] for node in kept]
        turn.reached = turn.reached[:count]

    def _best(self, turn: Turn, setting: Setting) -> tuple[int, float]:
        """How much of a draft is worth its rows, and the gain over a plain round."""
        (count,) = shares([turn.reached], setting.seconds, setting.rate)
        dearer = setting.seconds(count) - setting.seconds(0)
        return count, sum(turn.reached[:count]) - setting.rate * dearer

    def _may_ask(
        self,
        drafter: CostlyDrafter,
        record: Record,
        sequence: TextSequence,
        loss: float,
        setting: Setting,
    ) -> bool:
        """Whether to ask a costly drafter that should lose `loss` seconds, or gain if negative."""
        reading = setting.prices.read(drafter.name) * max(0, drafter.unread(sequence) - 1)
        if loss < 0:
            worth = reading <= record.missed
            record.missed -= 0.0 if worth else _READY * loss
            return worth
        # Where tokens may be looked at and dropped, a look costs no more than one of them.
        look = loss if self._means.whole else min(loss, setting.draft(drafter.name))
        left = (self._budget or 0) - look - reading
        if left >= 0:
            self._budget = left
        return left >= 0

    def _estimate(
        self, drafter: CostlyDrafter, record: Record, turn: Turn, setting: Setting
    ) -> tuple[Option, Shape | None, bool]:
        """The best draft of a drafter that is not known before it is paid for, its shape if it may
        branch, and whether it has much to read first."""
        branching = drafter.branches and self._branching(setting)
        reading = drafter.unread(turn.sequence) > _UNREAD
        most = _UNPROVEN if reading else 1.0
        ranks = [min(rank, most) for rank in record.ranks[: None if branching else 1]]
        deep = min(turn.limit, drafter.reach or _PAID_REACH, _PAID_REACH)
        nodes = deep
        if branching:
            drawn = self._means.whole and not turn.sequence.params.is_greedy
            nodes = min(turn.limit, _DRAWN if drawn else _WIDE)
        price = setting.draft(drafter.name)
        rows = [setting.seconds(count) for count in range(nodes + 1)]
        levels = [price * drafter.passes(level) for level in range(deep + 1)]
        shape = best_shape(ranks, rows, levels, setting.rate)
        count = len(shape.parents)
        seconds = rows[count] + levels[shape.depth]
        option = Option(drafter.name, count, *record.realised(1 + shape.tokens, seconds))
        return option, shape if branching else None, reading

    def _worth_more(
        self, drafter: CostlyDrafter, record: Record, setting: Setting, shape: Shape | None
    ) -> GoOn:
        """Draft for as long as the next tokens are worth their time."""
        width = 1 if shape is None else shape.width
        alpha = 1 - prod(1 - rank for rank in record.ranks[:width])

        def go_on(evidence: Sequence[float]) -> bool:
            reached, drafted = 1.0, len(evidence)
            price = setting.draft(drafter.name)
            for one in evidence:
                reached *= record.odds.chance(one)
            gain, base = 0.0, setting.seconds(width * drafted)
            for more in range(1, _AHEAD + 1):
                reached *= alpha
                gain += reached
                passes = drafter.passes(drafted + more) - drafter.passes(drafted)
                cost = passes * price + setting.seconds(width * (drafted + more)) - base
                if gain > setting.rate * cost:
                    return True
            setting.company.count = max(1, setting.company.count - 1)
            return False

        return go_on
