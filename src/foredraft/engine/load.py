"""From names to a ready Generator."""

from foredraft.core.errors import ForedraftError
from foredraft.drafters.base import Drafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.none import NoDrafter
from foredraft.drafters.suffix import SuffixDrafter, SuffixStore
from foredraft.engine.generator import Generator
from foredraft.targets.base import Progress, Target
from foredraft.targets.engines import Placement

DRAFTERS = ("ngram", "suffix", "model", "none")


def load(
    model: str = "smollm2",
    *,
    drafter: str = "ngram",
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
    progress: Progress | None = None,
) -> Generator:
    """A Generator for a model: a known name, a folder, a .gguf file or a Hugging Face repository.

    `drafter` is one of DRAFTERS; `draft_model` names the smaller model for "model", which must
    share the tokenizer; `draft_greedy` drafts its likeliest tokens instead of sampling.
    `engine` "auto" runs a GGUF with llama.cpp if it is installed and no setting asks for PyTorch,
    all else with PyTorch; docs/engines.md has the settings of each.
    `progress(what, done, total)` hears of downloads and loading. Raises ForedraftError for
    anything that cannot be found, read or paired.
    """
    if drafter not in DRAFTERS:
        raise ForedraftError(f"Unknown drafter {drafter!r}; choose one of {', '.join(DRAFTERS)}.")
    if (drafter == "model") != (draft_model is not None):
        raise ForedraftError(
            "The drafter 'model' and --draft-model NAME go together: one was given without the "
            "other."
        )
    if draft_greedy and draft_model is None:
        raise ForedraftError("--draft-greedy needs --draft-model NAME: only a model is sampled.")
    if draft_engine != "auto" and draft_model is None:
        raise ForedraftError("--draft-engine needs --draft-model NAME: there is no draft to run.")
    placement = Placement(dtype, device, threads, gpu_layers, context, kv_type)
    engines = [placement.engine(model, engine)]
    if draft_model is not None:
        engines.append(placement.engine(draft_model, draft_engine))
    placement.check(engines)
    target = placement.load(model, engines[0], progress)
    if draft_model is None:
        return Generator(target, _lookup(drafter))
    draft = placement.of_a_draft(target).load(draft_model, engines[1], progress)
    return Generator(target, pair(target, draft, draft_greedy))


def _lookup(drafter: str) -> Drafter:
    if drafter == "suffix":
        return SuffixDrafter(SuffixStore())
    return NgramDrafter() if drafter == "ngram" else NoDrafter()


def pair(target: Target, draft: Target, greedy: bool = False) -> Drafter:
    """A drafter that drafts for `target` with `draft`; ForedraftError if their tokens differ."""
    difference = target.tokenizer.same_as(draft.tokenizer)
    if difference is not None:
        raise ForedraftError(
            f"{draft.name} cannot draft for {target.name}: {difference} Choose a draft of the "
            "same model family, or use --drafter ngram."
        )
    return ModelDrafter(draft, target.vocab_size, greedy)
