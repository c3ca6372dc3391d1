"""How good the planner's predictions are: predicted against measured, cell by cell.

Each prompt is planned alone and every drafter and draft length then run on it, beside plain
decoding in turns; a cell is one prompt with one setting.

    python benchmarks/plan.py                                   # llama.cpp
    python benchmarks/plan.py --engine torch --name plan-torch
"""

import argparse
import time
from dataclasses import asdict
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from foredraft.core.sampling import SamplingParams
from foredraft.drafters.base import Drafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.load import models, pair
from foredraft.planner.advice import judge
from foredraft.planner.confirm import speedups
from foredraft.planner.planning import plan
from foredraft.planner.predict import predict
from foredraft.planner.survey import Scope, Setting, Survey, survey
from foredraft.rivals.prompts import Sample
from foredraft.targets.engines import Placement
from prompts import choose
from report import publish


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="qwen2.5-coder-1.5b")
    parser.add_argument("--draft", default="qwen2.5-coder-0.5b")
    parser.add_argument("--engine", default="llama.cpp", choices=("llama.cpp", "torch"))
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--prompts", default="", help="ids with commas between; all by default")
    parser.add_argument("--model-lengths", default="1,2,3,4,5,6,7,8")
    parser.add_argument("--lookup-lengths", default="2,4,8")
    parser.add_argument("--threshold", type=float, default=1.2)
    parser.add_argument("--name", default="plan")
    options = parser.parse_args()

    drafts = [options.draft] if options.draft else []
    target, loaded = models(Placement(), options.target, options.engine, drafts, options.engine)

    def maker(setting: Setting) -> Drafter:
        if setting.drafter == "model":
            return pair(target, loaded[0])
        return NgramDrafter() if setting.drafter == "ngram" else SuffixDrafter()

    lengths = {
        "model": [int(n) for n in options.model_lengths.split(",")],
        "ngram": [int(n) for n in options.lookup_lengths.split(",")],
        "suffix": [int(n) for n in options.lookup_lengths.split(",")],
    }
    console = Console(stderr=True)
    params = SamplingParams(temperature=options.temperature)
    plain = Generator(target)
    cells: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for prompt in track(choose(options.prompts), console=console, description="planning"):
        sample = Sample(prompt["id"], prompt["kind"], prompt["messages"])
        scope = Scope([sample], params, options.tokens, 1e9, seed=0)
        begun = time.perf_counter()
        using = {name: pair(target, draft) for name, draft in zip(drafts, loaded, strict=True)}
        found: Survey = survey(target, using, scope, lambda what, done, total: None)
        planned = plan(target, found, scope, options.threshold)
        planned_s = time.perf_counter() - begun
        mine = []
        for setting, made in found.written.items():
            if setting.draft_len not in lengths[setting.drafter]:
                continue
            (measured,) = speedups(
                plain,
                lambda setting=setting: maker(setting),
                setting.draft_len,
                found.answers,
                scope,
                lambda what, done, total: None,
                options.repeats,
            )
            predicted, low, high = predict(made, found.curve)
            mine.append(
                asdict(setting)
                | {
                    "prompt": prompt["id"],
                    "predicted": round(predicted, 3),
                    "low": round(low, 3),
                    "high": round(high, 3),
                    "measured": round(measured, 3),
                    "error": round(predicted / measured - 1, 4),
                }
            )
        cells += mine
        console.print(f"{prompt['id']}: {[(c['predicted'], c['measured']) for c in mine]}")
        top = max(mine, key=lambda cell: cell["predicted"])
        fastest = max(mine, key=lambda cell: cell["measured"])
        verdicts.append(
            {
                "prompt": prompt["id"],
                "verdict": judge(planned.best, options.threshold).value,
                "predicted_best": f"{top['drafter']} {top['draft_len']}",
                "predicted": top["predicted"],
                "measured": top["measured"],
                "measured_best": f"{fastest['drafter']} {fastest['draft_len']}",
                "measured_best_speedup": fastest["measured"],
                "planned_s": round(planned_s, 1),
                "verify_curve": {n: round(v, 3) for n, v in found.curve.measured.items()},
            }
        )
    errors = [abs(cell["error"]) for cell in cells]
    table = Table("prompt", "verdict", "predicted best", "predicted", "measured", "fastest")
    for row in verdicts:
        table.add_row(
            row["prompt"], row["verdict"], row["predicted_best"], f"{row['predicted']:.2f}x",
            f"{row['measured']:.2f}x",
            f"{row['measured_best']} ({row['measured_best_speedup']:.2f}x)",
        )  # fmt: skip
    Console().print(table)
    publish(
        options.name,
        {
            "target": options.target,
            "draft": options.draft or None,
            "engine": options.engine,
            "temperature": options.temperature,
            "new_tokens": options.tokens,
            "repeats": options.repeats,
            "threshold": options.threshold,
            "baseline": "plain decoding, same engine and prompt, in turns with each setting",
            "cells_n": len(cells),
            "median_error": round(median(errors), 4),
            "worst_error": round(max(errors), 4),
            "within_interval": round(
                sum(c["low"] <= c["measured"] <= c["high"] for c in cells) / len(cells), 3
            ),
            "verdicts": verdicts,
            "cells": cells,
        },
    )


if __name__ == "__main__":
    main()
