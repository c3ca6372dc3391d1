"""A person's own data: texts to read, and chats to answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.training.answers import Answering
from foredraft.training.write import Job

_PIECE = 512
_BEGUN = 16
"""Tokens of a piece from which nothing is learnt: there is little yet to tell what comes."""
_LEAST = 2 * _BEGUN


@dataclass(frozen=True, slots=True)
class Chat:
    """Messages that end with a user's, and the answer that was given to them, if any."""

    messages: list[dict[str, str]]
    answer: str | None


def read_data(path: Path) -> list[Chat | str]:
    """What a file holds: chats as JSON lines with `messages`, `prompt` or `text`, or one long text.

    ForedraftError names the line that is none of these.
    """
    try:
        content = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ForedraftError(
            f"The data {path} cannot be read ({error.strerror}); check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise ForedraftError(f"{path} is not UTF-8; convert it first, with iconv.") from error
    if not content.strip():
        raise ForedraftError(f"{path} is empty; give it text or chats to learn from.")
    if content.lstrip()[0] != "{":
        return [content]
    lines = enumerate(content.splitlines(), 1)
    return [_parsed(line, path, number) for number, line in lines if line.strip()]


def _parsed(line: str, path: Path, number: int) -> Chat | str:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ForedraftError(
            f"Line {number} of {path} is not JSON; write one object a line, with messages, prompt "
            "or text."
        ) from error
    match value:
        case {"text": str(text)}:
            return text
        case {"prompt": str(prompt), **rest}:
            return Chat([{"role": "user", "content": prompt}], _given(rest))
        case {"messages": [*messages]} if messages and all(map(_is_message, messages)):
            if messages[-1]["role"] == "assistant" and len(messages) > 1:
                return Chat(messages[:-1], messages[-1]["content"])
            return Chat(messages, None)
    raise ForedraftError(
        f"Line {number} of {path} has neither messages (each with role and content), a prompt nor "
        "a text."
    )


def _given(rest: Mapping[Any, Any]) -> str | None:
    return next((rest[k] for k in ("answer", "completion") if isinstance(rest.get(k), str)), None)


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and all(
        isinstance(message.get(key), str) for key in ("role", "content")
    )


def data_jobs(data: Sequence[Chat | str], answering: Answering, own_answers: bool) -> Iterator[Job]:
    """Jobs for all that is new: chats are answered, by the target itself if `own_answers` or where
    no answer was given; texts are read, a piece at a time."""
    for one in data:
        if isinstance(one, str):
            yield from _pieces(one, answering)
        elif job := _chat(one, answering, own_answers):
            yield job


def _chat(chat: Chat, answering: Answering, own_answers: bool) -> Job | None:
    codec, said = answering.codec, chat.messages[-1]["content"]
    if codec.has_template:
        prompt = codec.chat(chat.messages)
    else:
        prompt = codec.encode("\n\n".join(message["content"] for message in chat.messages))
    if chat.answer is None or own_answers:
        return answering.to(said, prompt)
    given = codec.spell(chat.answer)[: answering.limit]
    fits = given and answering.fits(said, prompt)
    return Job(prompt + given, 0, len(prompt)) if fits else None


def _pieces(text: str, answering: Answering) -> Iterator[Job]:
    tokens = answering.codec.encode(text)
    for start in range(0, len(tokens), _PIECE):
        piece = tokens[start : start + _PIECE]
        if len(piece) >= _LEAST and answering.fits(answering.codec.decode(piece), piece[:_BEGUN]):
            yield Job(piece, 0, _BEGUN)
