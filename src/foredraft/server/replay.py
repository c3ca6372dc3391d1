"""POST /foredraft/replay: a text again, as one lookup with a fixed γ would have written it."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from foredraft.drafters.base import Drafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.replay import passes
from foredraft.server.body import body
from foredraft.server.chat import template_ids
from foredraft.server.errors import Refusal
from foredraft.server.fields import Integer, TokenIds
from foredraft.server.openapi import BODY, refusals, takes
from foredraft.server.replies import Pass, Replay
from foredraft.server.schema import Body, Message, Messages
from foredraft.server.service import Service, Serving
from foredraft.server.translate import check_prompt

router = APIRouter()


class ReplayBody(Body):
    """A prompt, the tokens that answered it, and the setting to try."""

    prompt: str | TokenIds | Messages
    tokens: TokenIds
    mode: Literal["suffix", "ngram"]
    draft_len: Annotated[Integer, Field(ge=1, le=64)]


@router.post("/foredraft/replay", openapi_extra=takes(ReplayBody), responses=refusals(*BODY))
async def replay(asked: Annotated[ReplayBody, body(ReplayBody)], service: Serving) -> Replay:
    """The passes it would have taken, and the speed-up by what passes cost here."""
    return await asyncio.to_thread(_replayed, asked, service)


def _replayed(asked: ReplayBody, service: Service) -> Replay:
    prompt, tokens = _ids(asked, service), asked.tokens
    target = service.scheduler.target
    check_prompt(prompt, target, "prompt")
    if len(prompt) + len(tokens) > target.context:
        raise Refusal(400, "prompt and tokens are longer than the context.", param="tokens")
    drafter: Drafter = NgramDrafter() if asked.mode == "ngram" else SuffixDrafter()
    made = passes(drafter, asked.draft_len, prompt, tokens, len(tokens))
    price = service.scheduler.curve(1 + asked.draft_len)
    return Replay(
        passes=[Pass(drafted=one.drafted, kept=one.kept) for one in made],
        target_passes=len(made),
        speedup=len(tokens) / sum(price[one.rows - 1] for one in made),
    )


def _ids(asked: ReplayBody, service: Service) -> list[int]:
    target = service.scheduler.target
    if isinstance(asked.prompt, str):
        return target.tokenizer.encode(asked.prompt)
    messages = [one for one in asked.prompt if isinstance(one, Message)]
    if messages:
        return template_ids(messages, target, "prompt", {})
    return [one for one in asked.prompt if isinstance(one, int)]
