"""TensorRT-LLM: the file for `trtllm-serve --config`."""

import json
from typing import Any

from foredraft.drafters.ngram import LONGEST
from foredraft.planner.export.models import original
from foredraft.planner.export.settings import (
    Settings,
    advised,
    document,
    drafts_greedily,
)
from foredraft.planner.plan import Choice, Plan

VERSIONS = "TensorRT-LLM 1.3 (PyTorch backend)"


def export(plan: Plan) -> Settings:
    """YAML for the LLM API; the overlap scheduler is off where a drafter cannot run under it."""
    choice, target = advised(plan), original(plan.target, "TensorRT-LLM")
    lines, notes = [f"# trtllm-serve {target.where}"], list(target.notes)
    if choice is not None:
        lines[0] += " --config trtllm.yaml"
        config, overlap, more = _speculation(plan, choice)
        lines += [] if overlap else ["disable_overlap_scheduler: true"]
        lines += ["speculative_config:"]
        lines += [f"  {key}: {json.dumps(value)}" for key, value in config.items()]
        notes += more
    text = "".join(f"{line}\n" for line in lines)
    return document(plan, choice, "trt-llm", VERSIONS, "trtllm.yaml", text, notes)


def _speculation(plan: Plan, choice: Choice) -> tuple[dict[str, Any], bool, list[str]]:
    """The keys, whether the overlap scheduler may stay, and notes."""
    length = {"max_draft_len": choice.draft_len}
    if choice.drafter == "model":
        draft = original(choice.draft or "", "TensorRT-LLM")
        config = {"decoding_type": "Draft_Target", **length, "speculative_model": draft.where}
        greedy = drafts_greedily(plan, choice, "TensorRT-LLM")
        return config, False, [*draft.notes, _SPELLING, *greedy]
    if choice.drafter == "suffix":
        return {"decoding_type": "SA", **length}, True, []
    lookup = {
        "max_matching_ngram_size": LONGEST,
        "is_use_oldest": False,
        "is_public_pool": False,
    }
    return {"decoding_type": "NGram", **length, **lookup}, False, []


_SPELLING = "older versions spell the type DraftTarget; the two tokenizers must be the same, \
which TensorRT-LLM does not check."
