"""One answer of a server, timed from outside, made of the chunks of its stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from foredraft.rivals.counters import Counts, of_answer


@dataclass(frozen=True, slots=True)
class Answer:
    """What came and when: `first_s` after the request was sent, the last piece `decode_s` later.

    A piece of text may hold several tokens; `gaps` are the seconds between pieces. `tokens` is the
    server's own count, None if it gives none.
    """

    text: str
    tokens: int | None
    first_s: float | None
    decode_s: float
    gaps: tuple[float, ...]
    finish_reason: str | None
    counts: Counts | None = None

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens after the first / seconds after it: what decoding does, the prompt left out."""
        if self.tokens is None or self.tokens < 2 or self.decode_s <= 0:
            return None
        return (self.tokens - 1) / self.decode_s


@dataclass(frozen=True, slots=True)
class Explained:
    """A text and its tokens, each with its likeliest rivals as OpenAI's `logprobs.content` has it;
    none where the server does not tell them."""

    text: str
    tokens: Sequence[Mapping[str, Any]]


class Reader:
    """Makes an Answer of the chunks of a streamed chat completion, each with its arrival."""

    def __init__(self, sent: float) -> None:
        self._sent = sent
        self._texts: list[str] = []
        self._times: list[float] = []
        self._tokens: int | None = None
        self._counts: Counts | None = None
        self.finish_reason: str | None = None

    def add(self, chunk: Mapping[str, Any], at: float) -> None:
        """Take a chunk; whatever it lacks, or has in another form than usual, is passed over."""
        if text := _text(_choice(chunk).get("delta")):
            self._texts.append(text)
            self._times.append(at)
        choice = _choice(chunk)
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"]
        for place, name in (("timings", "predicted_n"), ("usage", "completion_tokens")):
            counted = chunk.get(place)
            if isinstance(counted, Mapping) and type(counted.get(name)) is int:
                self._tokens = counted[name]
        self._counts = of_answer(chunk) or self._counts

    @property
    def pieces(self) -> int:
        """How many pieces of text have come."""
        return len(self._texts)

    def answer(self) -> Answer:
        """The answer so far."""
        times = self._times
        return Answer(
            text="".join(self._texts),
            tokens=self._tokens,
            first_s=times[0] - self._sent if times else None,
            decode_s=times[-1] - times[0] if times else 0.0,
            gaps=tuple(b - a for a, b in pairwise(times)),
            finish_reason=self.finish_reason,
            counts=self._counts,
        )


def _choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _text(message: Any) -> str:
    """What a message or a piece of one says, aloud and in thought, however that is named."""
    if not isinstance(message, Mapping):
        return ""
    found = (message.get(name) for name in ("reasoning_content", "reasoning", "content"))
    return "".join(text for text in found if isinstance(text, str))


def explained(whole: Mapping[str, Any]) -> Explained:
    """A chat completion that was not streamed."""
    choice = _choice(whole)
    logprobs = choice.get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    known = isinstance(tokens, list) and all(isinstance(token, Mapping) for token in tokens)
    return Explained(_text(choice.get("message")), tokens if known and tokens else ())
