"""A simulated machine and text, so that a controller can be judged in seconds and exactly.

The text is known; a lookup and a model propose its tokens, right or wrong as the world decided
beforehand. A pass costs what the curve says, in plain steps, a little noise aside.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

from foredraft.core.tree import followed
from foredraft.core.types import Draft
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.control import Controller, Fixed, Outcome
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm
from foredraft.engine.turn import Means

Curve = Callable[[int], float]
JAGGED = (1, 1.43, 1.72, 1.45, 1.88, 2.12, 2.36, 2.6, 2.75, 2.9, 3, 3.13, 3.13, 3.14, 3.14, 3.14)
CURVES: dict[str, Curve] = {
    "flat": lambda n: 1 + 0.05 * (n - 1),
    "steep": lambda n: 1 + 0.3 * (n - 1),
    "linear": lambda n: 0.25 + 0.75 * n,
    "jagged": lambda n: JAGGED[n - 1] if n <= 16 else 3.14 + 0.19 * (n - 16),
}


class Copying:
    """A lookup whose matches grow while they are right."""

    name, free, expected = "copying", True, NgramDrafter.expected

    def __init__(self, world: "World") -> None:
        self.world = world

    def propose(self, sequence: Any, limit: int) -> Draft:
        return self.world.proposal(len(sequence.tokens), limit, self.world.copies, self.name)

    def close(self, sequence: Any) -> None: ...


class Model:
    """A draft model: dear, and it knows how sure it is, more or less."""

    name, free, expected = "model", False, ModelDrafter.expected
    reach, branches = None, False

    def __init__(self, world: "World") -> None:
        self.world = world

    def passes(self, depth: int) -> int:
        return depth

    def unread(self, sequence: Any) -> int:
        return 0

    def propose(self, sequence: Any, limit: int, go_on: Any = None, shape: Any = None) -> Draft:
        draft = self.world.proposal(len(sequence.tokens), limit, self.world.guesses, self.name)
        kept = next(
            (n for n in range(1, len(draft)) if go_on and not go_on(draft.evidence[:n])), len(draft)
        )
        self.world.draft_s += kept * self.world.cost
        return Draft.chain(draft.tokens[:kept], source=self.name, evidence=draft.evidence[:kept])

    def close(self, sequence: Any) -> None: ...


class World:
    """`copied`: the share of the text in regions that a lookup gets right with 0.95 a token.

    `alpha`: how often the model is right. `cost`: c, a drafted token in plain steps.
    """

    def __init__(
        self, tokens: int, curve: Curve, copied: float, alpha: float, cost: float, seed: int
    ) -> None:
        random = Random(seed)
        self.tokens, self.curve, self.cost, self.draft_s = tokens, curve, cost, 0.0
        self.text = [random.randrange(1, 50_000) for _ in range(tokens + 64)]
        self.copies: list[tuple[float, bool] | None] = []
        while len(self.copies) < len(self.text):
            copying, matched = random.random() < copied, 3.0
            for _ in range(random.randint(10, 60)):
                right = random.random() < (0.95 if copying else 0.15)
                met = copying or random.random() < 0.3
                self.copies.append((matched, right) if met else None)
                matched = matched + 1 if copying and right else random.choice([1.0, 2.0])
        self.guesses: list[tuple[float, bool] | None] = []
        for _ in self.text:
            x = math.log(alpha / (1 - alpha)) + random.gauss(0, 1.5)
            sure = 1 / (1 + math.exp(-x - random.gauss(0, 0.7)))
            self.guesses.append((sure, random.random() < 1 / (1 + math.exp(-x))))

    def proposal(
        self, at: int, limit: int, known: Sequence[tuple[float, bool] | None], source: str
    ) -> Draft:
        drafted: list[int] = []
        evidence: list[float] = []
        for i in range(at, at + limit):
            guess = known[i]
            if guess is None:
                break
            evidence.append(guess[0])
            drafted.append(self.text[i] if guess[1] else -i)
        return Draft.chain(drafted, source=source, evidence=evidence)

    def adaptive(self, *kinds: type) -> Adaptive:
        prices = Prices(
            {n: self.curve(n) for n in (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)}, {"model": self.cost}
        )
        arms = [Arm(kind(self)) for kind in kinds]
        return Adaptive(arms, prices, Means(trees=True, whole=False))

    def fixed(self, kind: type, draft_len: int) -> Fixed:
        return Fixed(kind(self), draft_len)

    def best_fixed(self, *kinds: type) -> float:
        lengths = (0, 1, 2, 3, 5, 8, 12, 16)
        return min(self.play(self.fixed(k, g), 0.0).seconds for k in kinds for g in lengths)

    def play(self, controller: Controller, noise: float = 0.05, seed: int = 0) -> Any:
        """Decode the text; what it took, in plain steps, and how often each drafter was used."""
        random, seconds, rounds = Random(seed), 0.0, Counter[str]()
        sequence = SimpleNamespace(tokens=[])
        while (left := self.tokens - len(sequence.tokens)) > 0:
            at, self.draft_s = len(sequence.tokens), 0.0
            draft = controller.propose(sequence, min(left - 1, 63))  # type: ignore[arg-type]
            kept = sum(taken for _, taken in followed(draft, self.text[at:]))
            verify_s = self.curve(1 + len(draft)) * (1 + noise * (random.random() - 0.5))
            emitted = self.text[at : at + min(left, kept + 1)]
            controller.observe(Outcome(emitted, self.draft_s, verify_s))
            sequence.tokens += emitted
            seconds += self.draft_s + verify_s
            rounds[draft.source if len(draft) else "plain"] += 1
            rounds["asked"] += self.draft_s > 0
        return SimpleNamespace(seconds=seconds, rounds=rounds)
