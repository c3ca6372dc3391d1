"""Plain, n-gram and model drafting beside Transformers' generate, on the same weights, in one run.

Every prompt is decoded by every method in turn (alternating, so that a drifting machine touches
all alike). Decode time only: from Transformers' time that of a one-token call is taken off. Both
engines run the very same model object, so the comparison is between the loops; on a float32 CPU
its weights are packed, which speeds Transformers up as well.

    python benchmarks/decode.py                       # the Qwen2.5-Coder pair, as in the README
    python benchmarks/decode.py --dtype bfloat16
    python benchmarks/decode.py --target smollm2 --draft "" --tokens 32 --name decode-smollm2
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import geometric_mean, median
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from curve import verify_curve
from engines.base import Ask
from engines.hf import generating
from foredraft import Generator, Request
from foredraft.core.speedup import distance_to_ideal, tokens_from_positions
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.targets.torch_hf import TorchTarget, load_target
from prompts import choose
from report import publish

Run = dict[str, Any]
Method = Callable[[list[int], int], Run]


class ModelClock:
    """Seconds spent inside the models' forward, to tell the engine's own time from it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def watch(self, *models: Any) -> Iterator[None]:
        plain = [model.forward for model in models]
        for model, forward in zip(models, plain, strict=True):
            model.forward = self._timed(forward)
        try:
            yield
        finally:
            for model, forward in zip(models, plain, strict=True):
                model.forward = forward

    def _timed(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            begun = time.perf_counter()
            try:
                return forward(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - begun

        return timed


def ours(target: TorchTarget, drafter: Any, gamma: int, draft: TorchTarget | None) -> Method:
    """A method of this engine: decode tokens per second, counts, and the share outside models."""

    def run(ids: list[int], tokens: int) -> Run:
        clock, after_prefill, after_token = ModelClock(), 0.0, 0.0
        models = [target.model] + ([draft.model] if draft else [])
        drafters = [drafter] if drafter else []

        def prefilled(_: int) -> None:
            nonlocal after_prefill
            after_prefill = clock.seconds

        with clock.watch(*models):
            stream = Generator(target, *drafters).stream(
                ids, Request(max_new_tokens=tokens, draft_len=gamma, seed=0), prefilled
            )
            for _ in stream:
                after_token = clock.seconds
        result = stream.result
        inside = after_token - after_prefill
        return {
            "tokens_per_s": result.stats.tokens_per_s,
            "ids": [token.id for token in result.tokens],
            "outside_models": 1 - inside / result.stats.decode_s,
            "plain_step_s": result.plain_step_s,
            "stats": result.stats.to_dict(),
        }

    return run


def theirs(model: Any, gamma: int | None = None, **how: Any) -> Method:
    """Transformers' generate, greedy; `gamma` sets the assistant's draft length."""
    generate = generating(model, gamma, **how)

    def run(ids: list[int], tokens: int) -> Run:
        made = generate(Ask(ids, tokens))
        return {"tokens_per_s": made.tokens_per_s, "ids": made.ids}

    return run


def summarise(runs: list[Run], plain: list[Run]) -> dict[str, Any]:
    """One method on one prompt: medians, spread, and whether the text equals plain decoding's."""
    speeds = [run["tokens_per_s"] for run in runs]
    row: dict[str, Any] = {
        "tokens_per_s": round(median(speeds), 3),
        "low": round(min(speeds), 3),
        "high": round(max(speeds), 3),
        "n": len(speeds),
        "over_plain": round(
            median(a["tokens_per_s"] / b["tokens_per_s"] for a, b in zip(runs, plain, strict=True)),
            3,
        ),
        "same_text_as_plain": runs[0]["ids"] == plain[0]["ids"],
    }
    if "stats" in runs[0]:
        stats = runs[0]["stats"]
        row |= {
            "outside_models": round(median(run["outside_models"] for run in runs), 4),
            "acceptance_rate": stats["acceptance_rate"],
            "per_position": stats["per_position"],
            "tokens_per_target_pass": stats["tokens_per_target_pass"],
            "seconds": {
                k: round(stats[k], 3) for k in stats if k.endswith("_s") and k != "tokens_per_s"
            },
        }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="qwen2.5-coder-1.5b")
    parser.add_argument("--draft", default="qwen2.5-coder-0.5b", help='"" leaves the model out')
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompts", default="", help="ids with commas between; all by default")
    parser.add_argument("--gamma", type=int, default=5)
    parser.add_argument(
        "--assisted-default",
        action="store_true",
        help="also assisted generation at its default draft length, 20",
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--name", default="decode")
    options = parser.parse_args()

    target = load_target(options.target, options.dtype)
    gamma = options.gamma
    methods: dict[str, Method] = {
        "foredraft plain": ours(target, None, 0, None),
        "Transformers plain": theirs(target.model),
        "foredraft ngram": ours(target, NgramDrafter(), gamma, None),
        "Transformers lookup": theirs(target.model, prompt_lookup_num_tokens=gamma),
    }
    cost = None
    curve = verify_curve(target, gamma + 1)
    if options.draft:
        draft = load_target(options.draft, options.dtype)
        cost = verify_curve(draft, 1)[0] / curve[0]
        methods |= {
            "foredraft model": ours(target, ModelDrafter(draft, target.vocab_size), gamma, draft),
            "Transformers assisted": theirs(target.model, gamma, assistant_model=draft.model),
        }
        if options.assisted_default:
            methods["Transformers assisted, γ 20"] = theirs(
                target.model, 20, assistant_model=draft.model
            )
    prompts = choose(options.prompts)
    runs: dict[str, dict[str, list[Run]]] = {p["id"]: {m: [] for m in methods} for p in prompts}
    work = [(p, m) for _ in range(options.repeats) for p in prompts for m in methods]
    for prompt, method in track(work, console=Console(stderr=True), description="decoding"):
        ids = target.tokenizer.chat(prompt["messages"])
        runs[prompt["id"]][method].append(methods[method](ids, options.tokens))

    rows = {
        name: {m: summarise(found, by[f"{m.split()[0]} plain"]) for m, found in by.items()}
        for name, by in runs.items()
    }
    ratios = [step / curve[0] for step in curve]
    for name, row in rows.items():
        if (mine := row.get("foredraft model")) and cost is not None:
            ideal = tokens_from_positions(mine["per_position"]) / (gamma * cost + ratios[gamma])
            plain = runs[name]["foredraft model"][0]["plain_step_s"]
            mine["to_ideal"] = round(distance_to_ideal(mine["tokens_per_s"] * plain, ideal), 3)

    table = Table(title=f"{options.target}, tokens per second (over the same engine's plain)")
    table.add_column("prompt")
    for method in methods:
        table.add_column(method, justify="right")
    for name, row in rows.items():
        table.add_row(
            name, *(f"{r['tokens_per_s']:.2f} ({r['over_plain']:.2f}x)" for r in row.values())
        )
    means = {
        m: round(geometric_mean(row[m]["over_plain"] for row in rows.values()), 3) for m in methods
    }
    table.add_row("geometric mean", *(f"{ratio:.2f}x" for ratio in means.values()))
    Console().print(table)
    publish(
        options.name,
        {
            "target": options.target,
            "draft": options.draft or None,
            "dtype": str(target.model.dtype).removeprefix("torch."),
            "threads": torch.get_num_threads(),
            "new_tokens": options.tokens,
            "gamma": gamma,
            "repeats": options.repeats,
            "baseline": "the same engine without drafting, same prompt, same repeat",
            "plain_step_s": round(curve[0], 4),
            "verify_curve": [round(ratio, 3) for ratio in ratios],
            "cost_ratio": None if cost is None else round(cost, 3),
            "geometric_mean_over_plain": means,
            "prompts": rows,
        },
    )


if __name__ == "__main__":
    main()
