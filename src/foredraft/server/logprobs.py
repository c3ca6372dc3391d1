"""Log-probabilities in the two shapes that OpenAI's interface has for them; they are always p's."""

import math
from collections.abc import Sequence
from typing import Any

from foredraft.engine.result import Token
from foredraft.targets.base import TextCodec

_LEAST = -9999.0
"""What stands for log 0, which JSON cannot say; OpenAI's value."""


def chat_logprobs(tokens: Sequence[Token], codec: TextCodec) -> dict[str, Any]:
    """`choices[].logprobs` of a chat: each token with its bytes and its likeliest rivals."""
    return {
        "content": [
            {
                **_entry(token.id, token.logprob, codec),
                "top_logprobs": [
                    _entry(i, p, codec) for i, p in (token.top_logprobs or {}).items()
                ],
            }
            for token in tokens
        ],
        "refusal": None,
    }


def completion_logprobs(tokens: Sequence[Token], codec: TextCodec, offset: int) -> dict[str, Any]:
    """`choices[].logprobs` of a completion; `offset` characters came before these tokens."""
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token.text)
    return {
        "tokens": [_text(token.id, codec) for token in tokens],
        "token_logprobs": [_finite(token.logprob) for token in tokens],
        "top_logprobs": [
            {_text(i, codec): _finite(p) for i, p in (token.top_logprobs or {}).items()}
            for token in tokens
        ],
        "text_offset": offsets,
    }


def _entry(token: int, logprob: float | None, codec: TextCodec) -> dict[str, Any]:
    spelt = codec.spelling(token)
    return {
        "token": spelt.decode(errors="replace"),
        "logprob": _finite(logprob),
        "bytes": list(spelt),
    }


def _text(token: int, codec: TextCodec) -> str:
    return codec.spelling(token).decode(errors="replace")


def _finite(logprob: float | None) -> float:
    return logprob if logprob is not None and math.isfinite(logprob) else _LEAST
