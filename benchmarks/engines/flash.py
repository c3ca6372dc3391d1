"""flashspec (PyPI), in process on the models foredraft runs; its own path on a CPU is eager.

It has no plain decoding of its own and reports no time to the first token: it is measured by
Transformers' plain, and the time of a one-token call is taken off.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from engines.base import Ask, EngineError, Method, Run
from engines.pair import load_one
from foredraft.targets.torch_hf import TorchTarget


def methods(target: str, draft: str | None, forms: list[str]) -> Iterator[Method]:
    """Its default, prompt lookup before the draft model, and prompt lookup alone, in each form."""
    try:
        import flashspec.engine as parts
    except ImportError as error:
        raise EngineError("flashspec is not installed; pip install --no-deps flashspec.") from error
    for form in forms:
        loaded, cpu = load_one(target, form), torch.device("cpu")
        verifier = parts.TargetModel(target, cpu, loaded.model.dtype, model=loaded.model)
        how: dict[str, Any] = {"baseline": f"Transformers {form} plain"}
        run = _running(loaded, verifier, [parts.NgramDrafter()], "bandit")
        yield Method("flashspec", form, "lookup 4", "lookup", run, draft is None, **how)
        if draft is not None:
            small = load_one(draft, form).model
            drafter = parts.HuggingFaceDrafter(draft, cpu, small.dtype, model=small)
            run = _running(loaded, verifier, [drafter], "auto")
            yield Method("flashspec", form, "composite", "combined", run, True, **how)


def _running(
    loaded: TorchTarget, verifier: Any, drafters: list[Any], strategy: str
) -> Callable[[Ask], Run]:
    from flashspec import BanditConfig, FlashSpecConfig, SamplingConfig, SpeculativeEngine

    def run(ask: Ask) -> Run:
        sampling = SamplingConfig(temperature=ask.temperature, seed=ask.seed)
        config = FlashSpecConfig(
            device="cpu",
            sampling=sampling,
            drafter_strategy=strategy,
            bandit=BanditConfig(n_arms=1),
        )
        for drafter in drafters:
            if ask.temperature and hasattr(drafter, "set_temperature"):
                drafter.set_temperature(ask.temperature)
        engine = SpeculativeEngine(config, drafters, verifier)

        def timed(tokens: int) -> tuple[float, Any]:
            begun = time.perf_counter()
            out = engine.generate(
                torch.tensor([ask.ids]), tokens, eos_token_ids=sorted(loaded.tokenizer.eos_ids)
            )
            return time.perf_counter() - begun, out

        first, _ = timed(1)
        whole, out = timed(ask.tokens)
        ids = out.output_ids[0, : out.n_tokens_generated].tolist()
        return Run(
            ids=ids,
            decode_tokens=len(ids) - 1,
            decode_s=whole - first,
            first_s=first,
            tokens_per_pass=len(ids) / len(out.arm_steps) if out.arm_steps else None,
            details={"acceptance_as_reported": out.acceptance_rate},
        )

    return run
