"""The `usage` block: what a request took, and what speculation was worth in it."""

from collections.abc import Sequence
from dataclasses import fields
from statistics import mean
from typing import Any

from foredraft.core.stats import Stats
from foredraft.drafters.prediction import PredictionDrafter
from foredraft.engine.job import Job

_COUNTS = ("target_passes", "drafted", "accepted", "rejected", "ignored")
_RATES = ("acceptance_rate", "per_position", "tokens_per_target_pass")
_SECONDS = ("prefill_s", "draft_s", "verify_s", "accept_s", "tokens_per_s")


def usage(jobs: Sequence[Job], choices: int) -> dict[str, Any]:
    """OpenAI's counts, and `speculation`. A prompt's `choices` answers count it once."""
    prompts = jobs[::choices]
    read = sum(len(job.ids) for job in prompts)
    written = sum(len(job.result.tokens) for job in jobs)
    stats = merged([job.result.stats for job in jobs])
    _, predicted, accepted = stats.sources.get(PredictionDrafter.name, (0, 0, 0))
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": sum(job.cached_tokens for job in prompts)},
        "completion_tokens_details": {
            "accepted_prediction_tokens": accepted,
            "rejected_prediction_tokens": predicted - accepted,
        },
        "speculation": _speculation(jobs, stats),
    }


def _speculation(jobs: Sequence[Job], stats: Stats) -> dict[str, Any]:
    first = jobs[0]
    steps = [s for job in jobs if (s := job.result.plain_step_s) is not None]
    plain = mean(steps) if steps else None
    return {
        "mode": first.speculation.mode,
        "exactness": first.request.exactness.value,
        "lossy": False,
        **{name: getattr(stats, name) for name in (*_COUNTS, *_RATES)},
        "drafters": stats.sources,
        "seed": first.request.seed,
        "queue_s": max(job.queue_s or 0.0 for job in jobs),
        **{name: getattr(stats, name) for name in _SECONDS},
        "plain_step_s": plain,
        "speedup": None if plain is None else stats.tokens_per_s * plain,
    }


def merged(parts: Sequence[Stats]) -> Stats:
    """The statistics of several generations as if they had been one after the other."""
    total = Stats()
    for part in parts:
        for item in fields(Stats):
            old, new = getattr(total, item.name), getattr(part, item.name)
            setattr(total, item.name, _sum(old, new))
    return total


def _sum(old: Any, new: Any) -> Any:
    if isinstance(old, dict):
        values = (*old.values(), *new.values())
        none: Any = [] if any(isinstance(value, list) for value in values) else 0
        return {key: _sum(old.get(key, none), new.get(key, none)) for key in {**old, **new}}
    if isinstance(old, list):
        size = max(len(old), len(new))
        padded = ([*counts, *[0] * (size - len(counts))] for counts in (old, new))
        return [sum(pair) for pair in zip(*padded, strict=True)]
    return old + new
