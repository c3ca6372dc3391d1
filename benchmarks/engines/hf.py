"""Transformers' `generate`: plain, prompt lookup and assisted, on the models foredraft runs."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from engines.base import Ask, Method, Run
from engines.pair import load_one

LOOKUPS = (3, 5, 10)
ASSISTED = (3, 5)


class Clock:
    """A streamer that notes when each round's tokens arrive, and how many; the prompt is first."""

    def __init__(self) -> None:
        self.begun = time.perf_counter()
        self.rounds: list[tuple[float, int]] = []

    def put(self, tokens: torch.Tensor) -> None:
        self.rounds.append((time.perf_counter() - self.begun, tokens.numel()))

    def end(self) -> None:
        pass


def generating(
    model: Any, gamma: int | None = None, schedule: str = "constant", **how: Any
) -> Callable[[Ask], Run]:
    """A way of calling `generate`; `gamma` and `schedule` set the assistant's draft length.

    The decode time starts when the first round's tokens arrive and counts the tokens after them.
    """

    def run(ask: Ask) -> Run:
        if gamma is not None:
            # The only place from which generate reads them, and heuristic schedules write there.
            settings = how["assistant_model"].generation_config
            settings.num_assistant_tokens = gamma
            settings.num_assistant_tokens_schedule = schedule
        law: dict[str, Any] = {"do_sample": False}
        if ask.temperature:
            law = {"do_sample": True, "temperature": ask.temperature, "top_k": 0, "top_p": 1.0}
        torch.manual_seed(ask.seed)
        clock = Clock()
        out = model.generate(
            torch.tensor([ask.ids]),
            attention_mask=torch.ones(1, len(ask.ids), dtype=torch.long),
            max_new_tokens=ask.tokens,
            pad_token_id=0,
            streamer=clock,
            **law,
            **how,
        )
        (first, burst), *later = clock.rounds[1:]
        made = sum(count for _, count in later)
        return Run(
            ids=out[0, len(ask.ids) :].tolist(),
            decode_tokens=made,
            decode_s=later[-1][0] - first if later else 0.0,
            first_s=first,
            tokens_per_pass=made / len(later) if later else None,
            details={"first_round_tokens": burst},
        )

    return run


def methods(target: str, draft: str | None, forms: list[str]) -> Iterator[Method]:
    """Every setting in every form. Lookup has no default length; 5 stands for it."""
    for form in forms:
        model = load_one(target, form).model
        side = ("Transformers", form)
        yield Method(*side, "plain", "plain", generating(model), default=True)
        for n in LOOKUPS:
            run = generating(model, prompt_lookup_num_tokens=n)
            yield Method(*side, f"lookup {n}", "lookup", run, default=n == 5)
        if draft is None:
            continue
        how = {"assistant_model": load_one(draft, form).model}
        for n in ASSISTED:
            yield Method(*side, f"assisted {n}", "model", generating(model, n, **how))
        run = generating(model, 20, **how)
        yield Method(*side, "assisted 20", "model", run, default=True)
        run = generating(model, 5, "heuristic_transient", **how)
        yield Method(*side, "assisted heuristic", "model", run)
