"""From names to a ready Generator."""

from collections.abc import Sequence
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.drafters.base import CostlyDrafter, Drafter
from foredraft.drafters.head import HeadDrafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.heads.base import Head
from foredraft.heads.load import is_head, load_head
from foredraft.targets.base import Progress, Target
from foredraft.targets.engines import TORCH, Placement

DRAFTERS = ("auto", "ngram", "suffix", "model", "none")
WINDOW = 256
"""Tokens a draft model reads at first where it may turn out not to pay: reading takes time."""
_SAMPLE = "It's 1,024 naïve tests: def f(x): return x  # 日本語 😀"
"""What a tokenizer makes of this tells it from others: answers are remembered as its tokens."""


def load(
    model: str = "smollm2",
    *,
    drafter: str = "auto",
    draft_model: str | None = None,
    draft_greedy: bool = False,
    dtype: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    engine: str = "auto",
    draft_engine: str = "auto",
    gpu_layers: int | None = None,
    context: int | None = None,
    kv_type: str | None = None,
    store: Path | None = None,
    progress: Progress | None = None,
) -> Generator:
    """A Generator for a model: a known name, a folder, a .gguf file or a Hugging Face repository.

    `drafter` is one of DRAFTERS: "auto" chooses among all that apply, each round; `draft_model`
    names a smaller model of the same tokenizer, or a head that was trained for this one (EAGLE,
    Medusa, MTP …); `draft_greedy` drafts its likeliest tokens instead of sampling. `store` is a
    file in which answers are remembered, to draft from.
    `engine` "auto" runs a GGUF with llama.cpp if it is installed and neither a setting nor a head
    asks for PyTorch, all else with PyTorch; docs/engines.md has the settings of each.
    `progress(what, done, total)` hears of downloads and loading. Raises ForedraftError for
    anything that cannot be found, read or paired.
    """
    if drafter not in DRAFTERS:
        raise ForedraftError(f"Unknown drafter {drafter!r}; choose one of {', '.join(DRAFTERS)}.")
    if drafter == "model" and draft_model is None:
        raise ForedraftError("The drafter 'model' needs --draft-model NAME: which one?")
    if drafter not in ("auto", "model") and draft_model is not None:
        raise ForedraftError(
            f"--draft-model is {draft_model}, but --drafter {drafter} asks no model; use --drafter "
            "auto or model."
        )
    if draft_greedy and draft_model is None:
        raise ForedraftError("--draft-greedy needs --draft-model NAME: only a model is sampled.")
    if store is not None and drafter not in ("auto", "suffix"):
        raise ForedraftError(
            f"--store is {store}, but --drafter {drafter} does not draft from earlier answers; use "
            "--drafter auto or suffix."
        )
    from foredraft.targets.hub import cache_dir

    if draft_engine != "auto" and draft_model is None:
        raise ForedraftError("--draft-engine needs --draft-model NAME: there is no draft to run.")
    placement = Placement(dtype, device, threads, gpu_layers, context, kv_type)
    named = [] if draft_model is None else [draft_model]
    target, drafts = models(placement, model, engine, named, draft_engine, progress)
    answers = SuffixStore(path=store, vocabulary=target.tokenizer.encode(_SAMPLE))
    drafters = lookups(drafter, answers)
    window = WINDOW if drafter == "auto" else None
    drafters += [pair(target, draft, draft_greedy, window) for draft in drafts]
    return Generator(target, *drafters, prices=cache_dir() / "prices")


def models(
    placement: Placement,
    model: str,
    engine: str,
    drafts: Sequence[str],
    draft_engine: str,
    progress: Progress | None = None,
) -> tuple[Target, list[Target | Head]]:
    """A target and what is to draft for it: models, each on its engine, and heads beside it."""
    heads = {draft for draft in drafts if is_head(draft, model, progress)}
    if heads and draft_engine not in ("auto", TORCH):
        raise ForedraftError(
            f"{min(heads)} is a draft head, which runs on its target's engine; leave "
            f"--draft-engine {draft_engine} out."
        )
    engines = {
        draft: placement.engine(draft, draft_engine) for draft in drafts if draft not in heads
    }
    # Only PyTorch hands out the hidden states that a head reads.
    where = placement.engine(model, TORCH if heads and engine == "auto" else engine)
    placement.check([where, *engines.values()])
    target = placement.load(model, where, progress)
    beside = placement.of_a_draft(target)
    return target, [
        load_head(draft, target) if draft in heads else beside.load(draft, engines[draft], progress)
        for draft in drafts
    ]


def lookups(drafter: str, answers: SuffixStore) -> list[Drafter]:
    """The free drafters that a choice of DRAFTERS stands for."""
    found: dict[str, list[Drafter]] = {
        # The controller cuts a draft to what pays, so it is offered the unlikely branches as well.
        # An n-gram lookup beside it only lost (docs/log.md).
        "auto": [SuffixDrafter(answers, branching=True, least=0.02)],
        "ngram": [NgramDrafter()],
        "suffix": [SuffixDrafter(answers)],
    }
    return found.get(drafter, [])


def pair(
    target: Target, draft: Target | Head, greedy: bool = False, window: int | None = None
) -> CostlyDrafter:
    """A drafter that drafts for `target` with `draft`; ForedraftError if their tokens differ, or
    if a head finds no hidden states to read."""
    if isinstance(draft, Head):
        return HeadDrafter(draft, target, greedy)
    difference = target.tokenizer.same_as(draft.tokenizer)
    if difference is not None:
        raise ForedraftError(
            f"{draft.name} cannot draft for {target.name}: {difference} Choose a draft of the "
            "same model family, or use --drafter ngram."
        )
    return ModelDrafter(draft, target.vocab_size, greedy, window=window)
