"""Which tokens were drafted and what each round did, for requests that ask to see it."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from foredraft.engine.job import Step
from foredraft.engine.result import Token
from foredraft.targets.base import TextCodec


def facts(step: Step, codec: TextCodec) -> dict[str, Any]:
    """What the round of a step did, as JSON; its step must have one."""
    done, share = step.round, step.share
    assert done is not None
    draft, accepted, rejected = done.draft, step.accepted, step.rejected
    pieces = (codec.spelling(token).decode(errors="replace") for token in draft.tokens)
    drafted = zip(draft.tokens, pieces, draft.parents, strict=True)
    return {
        "drafted": [dict(zip(("id", "text", "parent"), one, strict=True)) for one in drafted],
        "drafter": draft.source if len(draft) else None,
        "accepted": accepted,
        "rejected": rejected,
        "ignored": len(draft) - accepted - rejected,
        "emitted": len(step.tokens),
        "draft_s": done.draft_s,
        "verify_s": done.verify_s,
        "sequences": share.sequences if share else 1,
        "rows": share.rows if share else 1 + len(draft),
        "why": done.decision.why if done.decision else None,
        "options": [asdict(option) for option in done.decision.options] if done.decision else [],
    }


def shown(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    """Each token, whose it was and how likely p took it to be."""
    return [
        {
            "id": token.id,
            "text": token.text,
            "from_draft": token.from_draft,
            "drafter": token.drafter,
            "p": None if token.logprob is None else math.exp(token.logprob),
            "rank": token.rank,
        }
        for token in tokens
    ]
