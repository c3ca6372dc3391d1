"""Token ids into streamed text: whole characters only, and never past a stop string."""

from foredraft.targets.base import TextCodec

_REPLACEMENT = "\ufffd"
_LONGEST_CHARACTER = 4  # bytes, each of which may be a token of its own


class TextStream:
    """Turns tokens into text pieces that are safe to show at once.

    Holds back bytes that do not make a character yet, and text that may be the start of a stop
    string. `stopped` becomes True at the first stop string, which is not part of the text.
    """

    def __init__(self, codec: TextCodec, stops: tuple[str, ...]) -> None:
        self.text = ""
        self.stopped = False
        self._codec = codec
        self._stops = stops
        self._ids: list[int] = []
        self._known = ""  # what the ids before `_fresh` decode to
        self._fresh = 0
        self._held = ""

    def push(self, token: int) -> str:
        """The text that this token makes safe to show; often not the token's own, or empty."""
        self._ids.append(token)
        whole = self._codec.decode(self._ids)
        if whole.endswith(_REPLACEMENT) and len(self._ids) - self._fresh < _LONGEST_CHARACTER:
            return ""
        piece = whole[len(self._known) :]
        # A window of earlier ids keeps decoding linear and spaces right (some tokenizers drop a
        # space at the start of what they decode).
        self._ids, self._fresh = self._ids[self._fresh :], len(self._ids) - self._fresh
        self._known = self._codec.decode(self._ids)
        return self._show(self._held + piece)

    def finish(self) -> str:
        """What is still held back when the tokens have ended."""
        if self.stopped:
            return ""
        rest = self._held + self._codec.decode(self._ids)[len(self._known) :]
        self._held = ""
        self.text += rest
        return rest

    def _show(self, pending: str) -> str:
        cut = min((i for s in self._stops if (i := pending.find(s)) >= 0), default=None)
        if cut is not None:
            self.stopped = True
            self._held = ""
            self.text += pending[:cut]
            return pending[:cut]
        hold = max((_overlap(pending, stop) for stop in self._stops), default=0)
        shown, self._held = pending[: len(pending) - hold], pending[len(pending) - hold :]
        self.text += shown
        return shown


def _overlap(text: str, stop: str) -> int:
    """The length of the longest ending of `text` that begins `stop`."""
    return next((n for n in range(len(stop) - 1, 0, -1) if text.endswith(stop[:n])), 0)
