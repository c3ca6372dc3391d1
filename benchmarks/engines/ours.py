"""foredraft itself: fixed drafters and the choice it makes, in PyTorch and in llama.cpp."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import foredraft
from curve import verify_curve
from engines.base import Ask, Method, Run
from engines.pair import load_one
from foredraft import Generator, Request, SamplingParams
from foredraft.core.speedup import distance_to_ideal, verify_price
from foredraft.core.stats import Stats
from foredraft.core.tree import depth
from foredraft.core.types import Draft
from foredraft.drafters.base import CostlyDrafter, Drafter, is_costly
from foredraft.drafters.head import HeadDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.load import WINDOW, lookups, pair
from foredraft.engine.result import Result
from foredraft.heads.load import load_head
from foredraft.targets.base import Target, TextCodec

LLAMA = "llama.cpp"
SECONDS = ("draft_s", "verify_s", "accept_s", "other_s")
HEADS = (2, 4, 6)
"""Fixed lengths at which a trained head drafts."""
CURVE = 9
"""Row counts measured for the ideal; more rows than that continue its last slope."""


class Counted:
    """A target that notes the rows of each pass."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.rows: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def score(self, batch: Any) -> Any:
        self.rows += [len(rows.tokens) for rows in batch]
        return self._target.score(batch)


class Drafting:
    """A costly drafter that notes how many passes of its model its drafts took."""

    def __init__(self, drafter: CostlyDrafter) -> None:
        self._drafter = drafter
        self.made = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._drafter, name)

    def propose(self, *args: Any) -> Draft:
        draft = self._drafter.propose(*args)
        self.made += self._drafter.passes(depth(draft))
        return draft


class Ours:
    """Every method of one engine (a form of `engines.pair`, or llama.cpp) over one target.

    Drafters are made anew for every text, so that none remembers an earlier repeat of a prompt;
    what passes cost is measured once.
    """

    def __init__(
        self, target: str, draft: str | None, form: str, threads: int, head: str | None = None
    ) -> None:
        self.form = form
        self._target = Counted(_load(target, form, threads))
        self._draft = None if draft is None else _load(draft, form, threads)
        self._head = None if head is None else load_head(head, self._target._target)
        self._prices = tempfile.TemporaryDirectory(prefix="foredraft-prices-")
        self.plain_step_s: float | None = None
        self.curve: list[float] = []
        self.costs: dict[str, float] = {}

    @property
    def tokenizer(self) -> TextCodec:
        return self._target.tokenizer

    def measure(self) -> dict[str, Any]:
        """v(n) and c, from which the ideal of every run is computed; to be published with them."""
        seconds = verify_curve(self._target._target, CURVE, repeats=3)
        self.plain_step_s = seconds[0]
        self.curve = [second / seconds[0] for second in seconds]
        for drafter in self._costly():
            prices = Generator(self._target, drafter, prices=Path(self._prices.name)).calibrate()
            self.costs[drafter.name] = prices.draft(drafter.name) / prices.verify(1)
        Generator(self._target, *self._all(), prices=Path(self._prices.name)).calibrate()
        return {
            "plain_step_s": round(seconds[0], 4),
            "verify_curve": [round(ratio, 3) for ratio in self.curve],
            "cost_ratio": {name: round(cost, 3) for name, cost in self.costs.items()},
        }

    def methods(self) -> Iterator[Method]:
        yield self._method("plain", "plain", lambda: [], 0)
        yield self._method("ngram 5", "lookup", lambda: [NgramDrafter()], 5)
        yield self._method("suffix 8", "lookup", lambda: [SuffixDrafter(SuffixStore())], 8)
        if self._draft is not None:
            yield self._method("model 3", "model", lambda: [self._model()], 3)
        if self._head is not None:
            for gamma in HEADS:
                name = f"{self._head.name} {gamma}"
                yield self._method(name, "head", lambda: [self._trained()], gamma)
        yield self._method("auto", "auto", self._all, None)

    def _method(
        self, name: str, family: str, drafters: Callable[[], list[Drafter]], gamma: int | None
    ) -> Method:
        def run(ask: Ask) -> Run:
            drafting = [Drafting(d) if is_costly(d) else d for d in drafters()]
            generator = Generator(self._target, *drafting, prices=Path(self._prices.name))
            stream = generator.stream(
                ask.ids,
                Request(
                    SamplingParams(temperature=ask.temperature),
                    max_new_tokens=ask.tokens,
                    seed=ask.seed,
                    draft_len=gamma,
                ),
            )
            begun, first = time.perf_counter(), 0.0
            self._target.rows.clear()
            for _ in stream:
                first = first or time.perf_counter() - begun
            made = {d.name: d.made for d in drafting if isinstance(d, Drafting)}
            return self._read(stream.result, first, made)

        return Method("foredraft", self.form, name, family, run, default=True)

    def _model(self, window: int | None = None) -> CostlyDrafter:
        return pair(self._target, self._draft, window=window)

    def _trained(self) -> CostlyDrafter:
        assert self._head is not None
        return HeadDrafter(self._head, self._target)

    def _costly(self) -> list[CostlyDrafter]:
        """What is named as the draft: the head if there is one, else the draft model."""
        if self._head is not None:
            return [self._trained()]
        return [] if self._draft is None else [self._model(WINDOW)]

    def _all(self) -> list[Drafter]:
        """What `load(drafter="auto")` chooses from, as it makes them."""
        return [*lookups("auto", SuffixStore()), *self._costly()]

    def _read(self, result: Result, first_s: float, made: Mapping[str, int]) -> Run:
        stats = result.stats
        found: dict[str, Any] = stats.to_dict()
        details: dict[str, Any] = {
            "seconds": {name: found[name] for name in SECONDS},
            "per_position": stats.per_position,
            "sources": stats.sources,
        }
        step = result.plain_step_s or self.plain_step_s
        if step and self.curve and stats.generated_tokens:
            rows = self._target.rows[: stats.target_passes]
            drafting = sum(self.costs[name] * passes for name, passes in made.items())
            best = ideal(stats, rows, self.curve, drafting)
            details["to_ideal"] = distance_to_ideal(stats.tokens_per_s * step, best)
        return Run(
            ids=[token.id for token in result.tokens],
            decode_tokens=stats.generated_tokens,
            decode_s=stats.decode_s,
            first_s=first_s,
            acceptance_rate=stats.acceptance_rate,
            tokens_per_pass=stats.tokens_per_target_pass,
            details=details,
        )


def ideal(stats: Stats, rows: list[int], curve: list[float], drafting: float) -> float:
    """The speed over plain that these very passes, and drafts of so many plain steps, would have
    had at no other cost."""
    return stats.generated_tokens / (sum(verify_price(n, curve) for n in rows) + drafting)


def _load(name: str, form: str, threads: int) -> Target:
    if form != LLAMA:
        return load_one(name, form)
    return foredraft.load(name, drafter="none", engine=LLAMA, threads=threads).target
