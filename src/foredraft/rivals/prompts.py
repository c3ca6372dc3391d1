"""Prompts to measure with: eight that differ much, or a person's own file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.targets.base import TextCodec

EIGHT = Path(__file__).with_name("prompts.jsonl")


@dataclass(frozen=True, slots=True)
class Sample:
    """A prompt as chat messages; `kind` says what its answer is like: copy, code, free …"""

    id: str
    kind: str
    messages: list[dict[str, str]]

    def tokens(self, tokenizer: TextCodec) -> list[int]:
        """As the model's chat template makes them, or of the bare text where it has none."""
        if tokenizer.has_template:
            return tokenizer.chat(self.messages)
        return tokenizer.encode("\n\n".join(message["content"] for message in self.messages))


def read_samples(path: Path | None = None) -> list[Sample]:
    """The prompts of a file, or the eight that come with foredraft.

    JSON lines, each a string or an object with `messages` or `prompt`, and `id` and `kind` if it
    has them; any other text file is one prompt a line. ForedraftError for a file without a prompt.
    """
    path = path or EIGHT
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise ForedraftError(
            f"The prompts {path} cannot be read ({error.strerror}); check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise ForedraftError(f"{path} is not UTF-8; convert it first, with iconv.") from error
    if not lines:
        raise ForedraftError(f"{path} holds no prompt; write one a line.")
    if lines[0][0] not in '{"':
        return [_sample({"prompt": line}, path, number) for number, line in enumerate(lines, 1)]
    samples = [_sample(_parse(line, path, n), path, n) for n, line in enumerate(lines, 1)]
    if twice := {s.id for s in samples if [other.id for other in samples].count(s.id) > 1}:
        raise ForedraftError(
            f"{path} has several prompts with the id {min(twice)!r}; give each its own, or none."
        )
    return samples


def _parse(line: str, path: Path, number: int) -> Any:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ForedraftError(
            f"Line {number} of {path} is not JSON; write a string or an object with messages."
        ) from error
    return {"prompt": value} if isinstance(value, str) else value


def _sample(item: Any, path: Path, number: int) -> Sample:
    item = item if isinstance(item, dict) else {}
    messages = item.get("messages") or [{"role": "user", "content": item.get("prompt")}]
    if not _are_messages(messages):
        raise ForedraftError(
            f"Line {number} of {path} has neither a prompt nor messages with role and content."
        )
    return Sample(str(item.get("id", number)), str(item.get("kind", "mine")), messages)


def _are_messages(messages: Any) -> bool:
    return isinstance(messages, Sequence) and all(
        isinstance(m, dict) and all(isinstance(m.get(k), str) for k in ("role", "content"))
        for m in messages
    )
