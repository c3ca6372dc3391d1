"""From an answer's text to OpenAI's message: its content, and the calls of tools in it."""

import json
import re
import secrets
from typing import Any, Protocol

from foredraft.server.tools import Form


class Reader(Protocol):
    """Makes a message of an answer's text: deltas as it comes, or all of it.

    `called` says, at the end, whether the model called a tool.
    """

    called: bool

    def push(self, text: str) -> dict[str, Any]:
        """The delta for more text; empty for none."""

    def finish(self) -> dict[str, Any]:
        """The delta for what was held back."""

    def message(self, text: str) -> dict[str, Any]:
        """The fields of the whole answer's message."""


class Plain:
    """Text is content, and nothing else."""

    called = False

    def push(self, text: str) -> dict[str, Any]:
        return {"content": text} if text else {}

    def finish(self) -> dict[str, Any]:
        return {}

    def message(self, text: str) -> dict[str, Any]:
        return {"content": text}


_FENCE = re.compile(r"\s*(?:```(?:json)?\s*)?")
_BARE = re.compile(r"\s*(?:```(?:json)?\s*)?(\{.*\})\s*(?:```)?\s*", re.S)

_ENOUGH = 200
"""Characters that show whether an answer is a call alone."""


class Calls:
    """Text around calls is content; a call is told when it is complete.

    What may be the beginning of a call is held back until that is known. What looks like a call
    but is none of the offered functions, or no JSON, is content as it stands. An answer that is a
    call's JSON alone is a call too: Llama's form, and what Qwen 2.5 Coder often makes of its own.
    """

    def __init__(self, form: Form, names: frozenset[str]) -> None:
        self.called = False
        self._form = form
        self._names = names
        self._begin, self._end = form.begin.strip(), form.end.strip()
        self._held = ""
        self._bare = True  # as far as one can tell
        self._calls = 0

    def push(self, text: str) -> dict[str, Any]:
        self._held += text
        self._bare = self._bare and _may_be_bare(self._held[:_ENOUGH])
        if self._bare:
            return {}
        if not self._begin:
            return _delta(self._take(len(self._held)), [])
        content = ""
        calls: list[dict[str, Any]] = []
        while (start := self._held.find(self._begin)) >= 0:
            content += self._take(start).rstrip()  # line breaks before a call say nothing
            stop = self._held.find(self._end)
            if stop < 0:
                return _delta(content, calls)
            whole = self._take(stop + len(self._end))
            call = self._read(whole[len(self._begin) : -len(self._end)])
            content += whole if call is None else ""
            calls += [] if call is None else [call]
        return _delta(content + self._take(len(self._held) - self._doubtful()), calls)

    def finish(self) -> dict[str, Any]:
        rest = self._take(len(self._held))
        inside = _BARE.fullmatch(rest) if self._bare else None
        said = inside[1] if inside else rest.removeprefix(self._begin)
        call = self._read(said) if inside or rest.startswith(self._begin) else None
        if call is not None:
            return _delta("", [call])
        return _delta(rest if rest.strip() or not self.called else "", [])

    def message(self, text: str) -> dict[str, Any]:
        reader = Calls(self._form, self._names)
        deltas = (reader.push(text), reader.finish())
        self.called = reader.called
        content = "".join(delta.get("content", "") for delta in deltas)
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        if not calls:
            return {"content": content}
        for call in calls:
            del call["index"]
        return {"content": content.strip() or None, "tool_calls": calls}

    def _take(self, size: int) -> str:
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def _doubtful(self) -> int:
        """How much of the end of what is held may begin a call, or part one from the next."""
        blank = len(self._held) - len(self._held.rstrip())
        longest = min(len(self._held), len(self._begin) - 1)
        sizes = range(longest, 0, -1)
        begun = next((n for n in sizes if self._held.endswith(self._begin[:n])), 0)
        before = self._held[: len(self._held) - begun]
        return begun + len(before) - len(before.rstrip()) if begun else blank

    def _read(self, text: str) -> dict[str, Any] | None:
        """The call that a text is, if it is one."""
        try:
            said = json.loads(text)
            name, arguments = said["name"], said[self._form.arguments]
            written = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
            written.encode()  # half a surrogate pair is no text that can be sent
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        offered = isinstance(name, str) and name in self._names
        if not offered or not isinstance(arguments, dict):
            return None
        self.called = True
        self._calls += 1
        return {
            "index": self._calls - 1,
            "id": f"call_{secrets.token_hex(12)}",
            "type": "function",
            "function": {"name": name, "arguments": written},
        }


def _may_be_bare(text: str) -> bool:
    """Whether an answer that begins so may be a call's JSON alone, in a code fence or not."""
    if "```json".startswith(text.strip()):
        return True
    fence = _FENCE.match(text)
    rest = text[fence.end() if fence else 0 :]
    return '{"name":'.startswith("".join(rest.split())[:8])


def _delta(content: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return ({"content": content} if content else {}) | ({"tool_calls": calls} if calls else {})
