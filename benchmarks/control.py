"""The controller on many prompts: `auto` beside plain decoding, and beside every fixed setting.

Plain and `auto` are decoded for real, in turn; each text starts cold. Every fixed length of both
lookups is then replayed on the recorded text: the text is the same, so its passes are known, and
they are priced as they were measured (`simulate replay`), as is `auto` itself. `within` compares
each drafted round with the plain rounds around it, which noise that lasts seconds leaves alone.

    python benchmarks/control.py                              # llama.cpp, both sets of prompts
    python benchmarks/control.py --engine torch --name control-torch --prompts summary,story
"""

import argparse
from statistics import geometric_mean, median
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from engines.pair import load_one
from foredraft import Generator, Request
from foredraft.core.types import Exactness
from foredraft.drafters.store import SuffixStore
from foredraft.engine.calibrate import prices_of
from foredraft.engine.load import WINDOW, lookups, pair
from foredraft.engine.prices import Prices
from foredraft.engine.replay import replay
from foredraft.engine.trace import Trace
from foredraft.targets.base import Target
from foredraft.targets.engines import Placement
from prompts import choose
from report import publish

_NEAREST = 7


def load(name: str, engine: str) -> Target:
    """A target at its default settings on an engine."""
    return Placement().load(name, engine) if engine == "llama.cpp" else load_one(name, "half")


def run(
    target: Target, drafters: list[Any], prices: Prices, ids: list[int], tokens: int
) -> tuple[float, Trace, list[int]]:
    """Decode one text; its tokens per second, its rounds, its tokens."""
    generator = Generator(target, *drafters)
    generator._prices[False] = Prices.from_dict(prices.to_dict(), None)
    trace = Trace.begin(generator, ids, False)
    request = Request(max_new_tokens=tokens, seed=0, exactness=Exactness.COUPLED)
    stream = generator.stream(ids, request, watch=trace.add)
    made = [token.id for token in stream]
    return stream.result.stats.tokens_per_s, trace, made


def within(trace: Trace, plain_s: float) -> float:
    """The speed over plain decoding by the plain rounds of the same run.

    A round that drafted is set against the plain rounds nearest to it, a plain one against itself,
    so that a machine which others slow down for seconds does not count as a gain or a loss.
    `plain_s` stands in where a run has hardly any plain round.
    """
    plain = [(i, r["verify_s"]) for i, r in enumerate(trace.rounds) if not r["drafted"]]
    spent = instead = 0.0
    for i, done in enumerate(trace.rounds):
        seconds = done["draft_s"] + done["verify_s"]
        near = sorted(plain, key=lambda one, i=i: abs(one[0] - i))[:_NEAREST]
        step = median(s for _, s in near) if len(near) == _NEAREST else plain_s
        spent += seconds
        instead += len(done["emitted"]) * step if done["drafted"] else done["verify_s"]
    return instead / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="qwen2.5-coder-1.5b")
    parser.add_argument("--draft", default="qwen2.5-coder-0.5b", help='"" leaves the model out')
    parser.add_argument("--engine", default="llama.cpp", choices=("llama.cpp", "torch"))
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--prompts", default="", help="ids with commas between; all by default")
    parser.add_argument("--name", default="control")
    options = parser.parse_args()

    target = load(options.target, options.engine)
    draft = load(options.draft, options.engine) if options.draft else None

    def drafters() -> list[Any]:
        found: list[Any] = lookups("auto", SuffixStore())
        return found + ([pair(target, draft, window=WINDOW)] if draft else [])

    prices = prices_of(target, drafters(), False, None)
    prompts = choose(options.prompts)
    if not options.prompts:
        prompts += choose(wide=True)
    console = Console(stderr=True)
    found: dict[str, dict[str, list[Any]]] = {p["id"]: {} for p in prompts}
    work = [(p, r) for r in range(options.repeats) for p in prompts]
    for prompt, repeat in track(work, console=console, description="decoding"):
        ids = target.tokenizer.chat(prompt["messages"])
        methods = [("plain", []), ("auto", drafters())]
        for name, using in methods[:: 1 if repeat % 2 == 0 else -1]:
            made = run(target, using, prices, ids, options.tokens)
            found[prompt["id"]].setdefault(name, []).append(made)

    rows: dict[str, dict[str, Any]] = {}
    for name, by in found.items():
        ratios = [a[0] / p[0] for a, p in zip(by["auto"], by["plain"], strict=True)]
        steps = [median(r["verify_s"] for r in plain[1].rounds) for plain in by["plain"]]
        withins = [within(a[1], step) for a, step in zip(by["auto"], steps, strict=True)]
        trace = by["auto"][0][1]
        priced = [row for row in replay(trace) if not row.estimated]
        recorded = next(row for row in priced if row.drafter == "recorded")
        best = next(row for row in priced if row.drafter != "recorded")
        sources = [done["source"] or "plain" for done in trace.rounds]
        rows[name] = {
            "tokens": len(by["plain"][0][2]),
            "plain_tokens_per_s": round(median(p[0] for p in by["plain"]), 3),
            "auto_tokens_per_s": round(median(a[0] for a in by["auto"]), 3),
            "over_plain": round(median(ratios), 3),
            "within": round(median(withins), 3),
            "same_text": [a[2] == p[2] for a, p in zip(by["auto"], by["plain"], strict=True)],
            "rounds": {source: sources.count(source) for source in sorted(set(sources))},
            "priced_over_plain": round(recorded.speedup, 3),
            "best_lookup": f"{best.drafter} {best.draft_len}" if best.draft_len else "none",
            "best_lookup_over_plain": round(best.speedup, 3),
            "of_best_lookup": round(recorded.speedup / best.speedup, 3),
        }
    table = Table("prompt", "plain tok/s", "auto", "over plain", "within", "best fixed", "of it")
    for name, row in rows.items():
        best = f"{row['best_lookup']} ({row['best_lookup_over_plain']:.2f}x)"
        table.add_row(
            name, f"{row['plain_tokens_per_s']:.2f}", f"{row['auto_tokens_per_s']:.2f}",
            f"{row['over_plain']:.2f}x", f"{row['within']:.2f}x", best,
            f"{row['of_best_lookup']:.2f}",
        )  # fmt: skip
    Console().print(table)
    over = [row["over_plain"] for row in rows.values()]
    publish(
        options.name,
        {
            "target": options.target,
            "draft": options.draft or None,
            "engine": options.engine,
            "new_tokens": options.tokens,
            "repeats": options.repeats,
            "baseline": "plain decoding of the same engine, same prompt, same repeat",
            "prices": prices.to_dict(),
            "verify_curve": [round(v, 3) for v in prices.curve(16)],
            "geometric_mean_over_plain": round(geometric_mean(over), 3),
            "lowest_over_plain": min(over),
            "geometric_mean_within": round(
                geometric_mean(row["within"] for row in rows.values()), 3
            ),
            "lowest_within": min(row["within"] for row in rows.values()),
            "geometric_mean_of_best_lookup": round(
                geometric_mean(row["of_best_lookup"] for row in rows.values()), 3
            ),
            "prompts": rows,
        },
    )


if __name__ == "__main__":
    main()
