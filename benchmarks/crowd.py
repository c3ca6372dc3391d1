"""Many clients of one server at once, and what they saw."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from engines.base import EngineError
from foredraft.rivals.answer import Answer
from foredraft.rivals.counters import total
from foredraft.rivals.openai import Question, Server
from foredraft.rivals.ratios import speedup

Cell = dict[str, Any]
"""What one arm did at one level in one repeat."""
Cells = Mapping[int, Mapping[str, list[Cell]]]
"""level → arm → a cell a repeat."""


def ask(server: Server, questions: Sequence[tuple[str, Question]], clients: int) -> Cell:
    """Ask everything, each client its next question when its last one is answered."""

    def one(question: Question) -> tuple[Answer, float]:
        sent = time.perf_counter()
        answer = server.ask(question)
        return answer, time.perf_counter() - sent

    with ThreadPoolExecutor(clients) as pool:
        begun = time.perf_counter()
        answers = list(pool.map(one, [question for _, question in questions]))
        wall_s = time.perf_counter() - begun
    return cell([name for name, _ in questions], answers, wall_s)


def cell(prompts: Sequence[str], answers: Sequence[tuple[Answer, float]], wall_s: float) -> Cell:
    """Throughput is tokens / wall time, prompts included; a token's time leaves the first out."""
    found = [answer for answer, _ in answers]
    if any(answer.tokens is None for answer in found):
        raise EngineError("A server does not count its tokens, so its speed is unknown.")
    tokens = sum(answer.tokens or 0 for answer in found)
    counts = total(answer.counts for answer in found if answer.counts is not None)
    return {
        "wall_s": round(wall_s, 3),
        "tokens": tokens,
        "tokens_per_s": round(tokens / wall_s, 3),
        "first_s": _spread([a.first_s for a in found if a.first_s is not None]),
        "token_s": _spread([1 / a.tokens_per_s for a in found if a.tokens_per_s]),
        "gap_s": _spread([gap for answer in found for gap in answer.gaps]),
        "acceptance_rate": counts and _round(counts.acceptance_rate),
        "accepted_of_drafted": counts and _round(counts.accepted_of_drafted),
        "tokens_per_pass": counts and _round(counts.tokens_per_pass(tokens)),
        "answers": [
            {
                "prompt": prompt,
                "tokens": answer.tokens,
                "first_s": _round(answer.first_s),
                "decode_s": _round(answer.decode_s),
                "whole_s": _round(whole_s),
                "text": hashlib.sha256(answer.text.encode()).hexdigest()[:12],
            }
            for prompt, (answer, whole_s) in zip(prompts, answers, strict=True)
        ],
    }


def levels(cells: Cells, ours: str) -> dict[str, Any]:
    """Every level: each arm's medians and spread over its repeats, and `ours` over the others."""
    return {
        str(level): {
            "arms": {arm: _arm(found) for arm, found in arms.items() if found},
            "over": {
                arm: _over(arms[ours], found)
                for arm, found in arms.items()
                if arm != ours and found and arms.get(ours)
            },
        }
        for level, arms in cells.items()
    }


def _arm(found: Sequence[Cell]) -> dict[str, Any]:
    speeds = [one["tokens_per_s"] for one in found]
    row: dict[str, Any] = {
        "tokens_per_s": median(speeds),
        "low": min(speeds),
        "high": max(speeds),
        "n": len(found),
    }
    for name in ("first_s", "token_s", "gap_s"):
        spreads = [one[name] for one in found if one[name] is not None]
        row[name] = (
            {k: _round(median(s[k] for s in spreads)) for k in spreads[0]} if spreads else None
        )
    for name in ("acceptance_rate", "accepted_of_drafted", "tokens_per_pass"):
        known = [one[name] for one in found if one[name] is not None]
        row[name] = _round(median(known)) if known else None
    return row


def _over(ours: Sequence[Cell], others: Sequence[Cell]) -> dict[str, Any]:
    """Throughput over throughput of the same repeat; and the other's time for an answer over ours,
    paired by prompt, whose interval says how sure it is."""
    ratios = [a["tokens_per_s"] / b["tokens_per_s"] for a, b in zip(ours, others, strict=False)]
    answers: dict[str, list[float]] = {}
    same = n = 0
    for mine, other in zip(ours, others, strict=False):
        for a, b in zip(mine["answers"], other["answers"], strict=True):
            answers.setdefault(a["prompt"], []).append(b["whole_s"] / a["whole_s"])
            same, n = same + (a["text"] == b["text"]), n + 1
    gain = speedup(answers)
    return {
        "throughput": _round(geometric_mean(ratios)),
        "low": _round(min(ratios)),
        "high": _round(max(ratios)),
        "n": len(ratios),
        "answer_time": gain and {key: _round(value) for key, value in asdict(gain).items()},
        "same_text": [same, n],
    }


def _spread(values: Sequence[float]) -> dict[str, float | None] | None:
    if not values:
        return None
    return {"median": _round(median(values)), "p95": _round(float(np.percentile(values, 95)))}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
