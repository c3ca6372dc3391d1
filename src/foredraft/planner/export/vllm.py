"""vLLM's command."""

import json
from typing import Any

from foredraft.drafters.ngram import LONGEST, SHORTEST
from foredraft.planner.export.models import original
from foredraft.planner.export.schedule import by_batch_size
from foredraft.planner.export.settings import Settings, advised, command, document
from foredraft.planner.plan import Choice, Plan

VERSIONS = "vLLM 0.33"
_HEADS = ("eagle", "eagle3", "mtp", "dflash", "dspark")
"""Kinds of head by the names that both use."""


def export(plan: Plan) -> Settings:
    """`vllm serve` with --speculative-config; every key whose default would surprise is written."""
    choice, target = advised(plan, _HEADS), original(plan.target, "vLLM")
    notes, parts = list(target.notes), [["vllm", "serve", target.where]]
    if choice is not None:
        config, more = _config(plan, choice)
        parts.append(["--speculative-config", json.dumps(config)])
        notes += more
    return document(plan, choice, "vllm", VERSIONS, "vllm.sh", command(*parts), notes)


def _config(plan: Plan, choice: Choice) -> tuple[dict[str, Any], list[str]]:
    length = {"num_speculative_tokens": choice.draft_len}
    if choice.drafter == "suffix":
        # As measured: nothing is remembered from one request to the next.
        alone = {"suffix_decoding_max_cached_requests": 0}
        return {"method": "suffix", **length, **alone}, [_OLD_RUNNER]
    scheduled, notes = _schedule(plan, choice)
    if choice.drafter == "ngram":
        lookup = {"prompt_lookup_min": SHORTEST, "prompt_lookup_max": LONGEST}
        return {"method": "ngram", **length, **lookup, **scheduled}, notes
    draft = original(choice.draft or "", "vLLM")
    head = choice.drafter in _HEADS
    config = {
        "method": choice.drafter if head else "draft_model",
        "model": draft.where,
        **length,
        "draft_sample_method": "probabilistic" if plan.temperature > 0 else "greedy",
        **scheduled,
    }
    return config, [*draft.notes, *notes, _ONE_TARGET if head else _VOCABULARY]


def _schedule(plan: Plan, choice: Choice) -> tuple[dict[str, Any], list[str]]:
    """Only a schedule that changes something is worth its graphs."""
    ranges = by_batch_size(choice, plan.verify_curve)
    if len(ranges) < 2:
        return {}, []
    note = (
        f"the draft length falls with the batch as the verify curve of {plan.machine} says, "
        f"measured up to {max(plan.verify_curve.rows)} rows; on another machine leave out "
        "num_speculative_tokens_per_batch_size. vLLM ignores it with data parallelism."
    )
    return {"num_speculative_tokens_per_batch_size": ranges}, [note]


_OLD_RUNNER = "suffix drops vLLM 0.33 to its old model runner (one warning at the start) and needs \
`pip install arctic-inference`; measure it beside plain decoding on the new runner."
_ONE_TARGET = "a head drafts for the very weights it learnt from; with others it is accepted less \
often, though nothing wrong is generated."
_VOCABULARY = "vLLM compares the two vocab_size only: it refuses the same tokenizer with other \
padding, and lets another tokenizer of the same size pass, to accept nothing."
