"""Real answers of the target, and what its passes cost while it wrote them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.stats import Stats
from foredraft.core.types import Exactness
from foredraft.drafters.none import NoDrafter
from foredraft.engine.calibrate import timed
from foredraft.engine.control import Fixed
from foredraft.engine.loop import Cycle, Round
from foredraft.planner.temperatures import HeardSequence
from foredraft.targets.base import CachedSequence, Rollback, Rows, Target

PROBED = (2, 3, 4, 5, 6, 7, 8, 9, 13, 17)
"""Row counts to price: drafts of 1 to 8 tokens, and the longer ones of the lookups."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A prompt's answer by plain decoding.

    `limit` is how long it might have become; `step_s` a plain token's seconds, of which `pass_s`
    are the target's; `ratios[n]` what passes over n rows cost in plain passes, each against those
    just before and after it, for a shared machine is now faster, now slower. A tenth of the plain
    tokens took less than `quick_s`, a tenth more than `slow_s`. `drawn` has, by temperature, what
    the target would have drawn at each place of the same text.
    """

    kind: str
    prompt: list[int]
    output: list[int]
    limit: int
    step_s: float
    pass_s: float
    ratios: dict[int, list[float]]
    quick_s: float
    slow_s: float
    drawn: dict[float, list[int]] = field(default_factory=dict)


def write(
    target: Target,
    kind: str,
    prompt: list[int],
    params: SamplingParams,
    seed: int,
    limit: int,
    probes: int,
    go_on: Callable[[int], bool],
    temperatures: Sequence[float] = (),
) -> Answer:
    """Answer a prompt of at most `limit` tokens; `go_on(tokens so far)` is asked after each.

    Between its tokens, passes over more rows are timed and taken back, `probes` of each count, so
    that prices belong to this model, this text and this moment; none where the target cannot take
    rows back for nothing.
    """
    eos = target.tokenizer.eos_ids
    sequence = HeardSequence(prompt, params, Noise(seed, True), eos)
    cache = target.open()
    target.prefill(cache, prompt[:-1])
    stats = Stats()
    plain = Cycle(target, Fixed(NoDrafter(), 0), sequence, cache, Exactness.COUPLED, stats)
    limit = min(limit, target.context - len(prompt))
    free = target.capabilities.rollback is Rollback.FREE
    counts = iter(PROBED * (probes if free else 0))
    apart = max(1, limit // max(1, probes * len(PROBED)))
    steps: list[float] = []
    drawn: list[list[int]] = []

    def read(_: Round) -> int:
        drawn.append(sequence.draw(temperatures))
        return 1

    probed: list[tuple[int, int, float]] = []  # (how many plain steps came before, rows, seconds)
    while True:
        before = _busy(stats)
        plain.round(0, read)
        steps.append(_busy(stats) - before)
        output = sequence.output
        if output[-1] in eos or len(output) >= limit or not go_on(len(output)):
            break
        rows = next(counts, 0) if len(steps) % apart == 0 else 0
        if 0 < rows <= target.room(cache):
            probed.append((len(steps), rows, _probe(target, cache, sequence.tokens, rows)))
    if output[-1] not in eos:
        limit = len(output)
    passes = plain.plain_steps
    ratios: dict[int, list[float]] = {}
    for before, rows, seconds in probed:
        ratios.setdefault(rows, []).append(2 * seconds / (passes[before - 1] + passes[before]))
    order = sorted(steps)
    tenth = len(order) // 10
    return Answer(
        kind=kind,
        prompt=prompt,
        output=sequence.output,
        limit=limit,
        step_s=median(steps),
        pass_s=median(passes),
        ratios=ratios,
        quick_s=order[tenth],
        slow_s=order[-1 - tenth],
        drawn=dict(zip(temperatures, map(list, zip(*drawn, strict=True)), strict=True)),
    )


def _busy(stats: Stats) -> float:
    """Seconds of a plain step; what is drawn at other temperatures is no part of it."""
    return stats.draft_s + stats.verify_s + stats.accept_s


def _probe(target: Target, cache: CachedSequence, tokens: Sequence[int], rows: int) -> float:
    """Seconds of a pass over `rows` rows after the text; the cache is left as it was."""
    again = [tokens[-1 - i % len(tokens)] for i in range(rows)]
    return timed(target, [Rows(cache, again)])
