"""POST /tokenize and /detokenize: text to the model's tokens and back."""

import asyncio
from typing import Annotated

from fastapi import APIRouter

from foredraft.server import fields
from foredraft.server.body import body
from foredraft.server.errors import Refusal
from foredraft.server.openapi import BODY, refusals, takes
from foredraft.server.replies import Text, Tokens
from foredraft.server.schema import Body
from foredraft.server.service import Serving
from foredraft.server.translate import bare

router = APIRouter()


class TokenizeBody(Body):
    """`add_special` keeps the tokens that begin every text (BOS), where the model has any."""

    content: str
    add_special: bool = False


class DetokenizeBody(Body):
    tokens: fields.Tokens


@router.post("/tokenize", openapi_extra=takes(TokenizeBody), responses=refusals(*BODY))
async def tokenize(asked: Annotated[TokenizeBody, body(TokenizeBody)], service: Serving) -> Tokens:
    """A text's tokens."""
    codec = service.scheduler.target.tokenizer
    if asked.add_special:
        return Tokens(tokens=await asyncio.to_thread(codec.encode, asked.content))
    return Tokens(tokens=await asyncio.to_thread(bare, codec, asked.content))


@router.post("/detokenize", openapi_extra=takes(DetokenizeBody), responses=refusals(*BODY))
async def detokenize(
    asked: Annotated[DetokenizeBody, body(DetokenizeBody)], service: Serving
) -> Text:
    """The tokens' text, special tokens left out."""
    target = service.scheduler.target
    if max(asked.tokens, default=0) >= target.vocab_size:
        raise Refusal(
            400,
            f"tokens holds {max(asked.tokens)}, but the vocabulary ends at "
            f"{target.vocab_size - 1}.",
            param="tokens",
        )
    return Text(content=await asyncio.to_thread(target.tokenizer.decode, asked.tokens))
