"""What a generation amounted to: one line for people, one object for programs."""

import math

from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.engine.result import Result

_ENDED = {"length": " (the limit)", "context": " (the context is full)", None: " (interrupted)"}


def legend(result: Result) -> str:
    """The piece of the line that says how many tokens came from the draft."""
    accepted = result.stats.accepted
    return f"{accepted} of them from the draft" if accepted else ""


def line(result: Result, generator: Generator, request: Request) -> list[str]:
    """The last line's parts."""
    stats = result.stats
    count = stats.generated_tokens
    parts = [f"{count} token{'s' * (count != 1)}{_ENDED.get(result.finish_reason, '')}"]
    if drafted := legend(result):
        parts[0] += f", {drafted}"
    parts.append(f"{stats.tokens_per_s:.1f} tok/s")
    if stats.acceptance_interval is not None:
        low, high = stats.acceptance_interval
        parts.append(f"α {stats.acceptance_rate:.2f} ({low:.2f}–{high:.2f})")
    if stats.drafted:
        parts.append(f"{stats.tokens_per_target_pass:.1f} tokens/pass")
    chosen = "greedy" if request.params.is_greedy else f"seed {result.seed}"
    if generator.drafter == "none":
        return [*parts, f"plain decoding, {chosen}, {generator.target.engine}"]
    how = f"{generator.drafter}, {request.exactness}, {chosen}, {generator.target.engine}"
    return [*parts, _against_plain(result), how]


def _against_plain(result: Result) -> str:
    if not result.stats.drafted:
        return "nothing drafted, so plain speed"
    if result.plain_step_s is None or result.speedup is None:
        return "plain speed not measured"
    lost = ": speculation lost here" if round(result.speedup, 2) < 1 else ""
    return f"{result.speedup:.2f}x plain (measured {_ms(result.plain_step_s)}/token){lost}"


def details(result: Result) -> list[str]:
    """What /stats shows: where the tokens and the time of an answer went."""
    stats = result.stats
    lines = [
        f"prompt  {stats.prompt_tokens} tokens, read in {stats.prefill_s:.2f} s",
        f"answer  {stats.generated_tokens} tokens in {stats.decode_s:.2f} s and "
        f"{stats.target_passes} target passes",
        f"draft   {stats.drafted} tokens = {stats.accepted} accepted + {stats.rejected} rejected "
        f"+ {stats.ignored} ignored",
        f"time    draft {stats.draft_s:.2f} s, verify {stats.verify_s:.2f} s, "
        f"accept {stats.accept_s:.2f} s, other {stats.other_s:.2f} s",
    ]
    lines += [
        f"by      {name}: {rounds} rounds, {drafted} drafted, {accepted} accepted"
        for name, (rounds, drafted, accepted) in stats.sources.items()
    ]
    if stats.per_position:
        rates = "  ".join(f"{rate:.2f}" for rate in stats.per_position)
        lines.append(f"α       {rates}  by draft position")
    return lines


def as_object(result: Result, generator: Generator, request: Request) -> dict[str, object]:
    """The object of `--json`."""
    made: dict[str, object] = {
        "text": result.text,
        "tokens": [token.id for token in result.tokens],
        "from_draft": [token.from_draft for token in result.tokens],
        "finish_reason": result.finish_reason,
        "model": generator.target.name,
        "engine": generator.target.engine,
        "drafter": generator.drafter,
        "exactness": request.exactness.value,
        "lossy": False,
        "seed": result.seed,
        "stats": result.stats.to_dict(),
        "plain_step_s": result.plain_step_s,
        "speedup": result.speedup,
    }
    if request.logprobs is not None:
        made["logprobs"] = [
            {
                "token": token.id,
                "logprob": _finite(token.logprob),
                "top": {str(i): _finite(value) for i, value in (token.top_logprobs or {}).items()},
            }
            for token in result.tokens
        ]
    return made


def _finite(logprob: float | None) -> float | None:
    """JSON has no infinity."""
    return logprob if logprob is not None and math.isfinite(logprob) else None


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.{0 if seconds >= 0.01 else 1}f} ms"
