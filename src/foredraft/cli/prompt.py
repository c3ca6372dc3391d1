"""Where a prompt comes from, and the form in which the model gets it."""

import sys
from pathlib import Path

from foredraft.core.errors import ForedraftError
from foredraft.engine.request import Prompt
from foredraft.targets.base import Target


def read_prompt(argument: str | None, file: Path | None) -> str:
    """The prompt as text, from the command line, a file or standard input.

    One newline at the end is dropped: editors and `echo` add it unasked.
    """
    if argument is not None and file is not None:
        raise ForedraftError("There are two prompts; give either PROMPT or --prompt-file.")
    if argument is None and file is None and sys.stdin.isatty():
        raise ForedraftError(
            'There is no prompt; give one in quotes (foredraft run "…"), as --prompt-file FILE, '
            "or through a pipe."
        )
    if file is not None:
        try:
            text = decode(file.read_bytes(), str(file))
        except OSError as error:
            raise ForedraftError(f"{file} cannot be read: {error.strerror}.") from error
    elif argument in (None, "-"):
        text = decode(sys.stdin.buffer.read(), "Standard input")
    else:
        text = decode(argument.encode(errors="surrogateescape"), "The prompt")
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise ForedraftError("The prompt is empty; give at least one character.")
    return text


def decode(data: bytes, source: str) -> str:
    """UTF-8 or a sentence about where it is not."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ForedraftError(
            f"{source} is not UTF-8 (byte {data[error.start]:#04x} at {error.start}); "
            "convert it first, for example with iconv."
        ) from error


def as_prompt(target: Target, text: str, system: str | None, raw: bool) -> Prompt:
    """Chat messages where the model has a chat template, otherwise text to continue."""
    if not raw and target.tokenizer.has_template:
        return [*opening(system), {"role": "user", "content": text}]
    if system is not None:
        reason = "--raw leaves it out" if raw else f"{target.name} has none"
        raise ForedraftError(f"--system is for the chat template, and {reason}; drop --system.")
    return text


def opening(system: str | None) -> list[dict[str, str]]:
    """The messages a conversation begins with."""
    return [] if system is None else [{"role": "system", "content": system}]
