"""Whether speculation changed a greedy text: where first, and by how little the tokens differed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

NEAR = 0.3
"""Nats. Two tokens whose log-probabilities are this close are a tie that the rounding of a pass
with another number of rows may turn: it moves those of a 4-bit model by a tenth or two."""
_SHOWN = 24
"""Characters of each text that are shown from where they part."""

Tokens = Sequence[Mapping[str, Any]]


class Verdict(StrEnum):
    """What two greedy texts say about the speculation between them.

    UNSTEADY: without speculation the text changes there as well, so nothing can be said.
    UNKNOWN: the server gives no log-probabilities from which more could be.
    """

    SAME = "same"
    NEAR_TIE = "near_tie"
    UNSTEADY = "unsteady"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Parting:
    """The first token that differs, numbered as without speculation. There, `margin` lies between
    the two likeliest tokens, and `gap` between the likeliest and the one that was taken with
    speculation, None if that is not among the likeliest."""

    token: int
    margin: float
    gap: float | None


@dataclass(frozen=True, slots=True)
class Parity:
    """A prompt's verdict. `character` is where the texts part, `on` and `off` are how each goes on,
    `parting` is what the server's log-probabilities tell about it."""

    prompt: str
    verdict: Verdict
    character: int | None = None
    on: str | None = None
    off: str | None = None
    parting: Parting | None = None


def parted(on: str, off: str) -> int | None:
    """The first character in which the texts differ; None if they are the same."""
    if on == off:
        return None
    shorter = min(len(on), len(off))
    return next((i for i in range(shorter) if on[i] != off[i]), shorter)


def judge(prompt: str, on: str, off: str, others: Sequence[str], tokens: Tokens) -> Parity:
    """Compare the texts of a pair. `others` are further texts of the off side, `tokens` the tokens
    of one of them with their likeliest rivals, none if it has none.

    Only the off side is asked: llama-server reports 0.0 for every token that was drafted.
    """
    where = parted(on, off)
    if where is None:
        return Parity(prompt, Verdict.SAME)
    parting = min(_partings(tokens, on.encode(), off.encode()), key=_likeliness, default=None)
    turns = (parted(other, off) for other in others)
    verdict = Verdict.UNKNOWN if parting is None else Verdict.DIFFERENT
    if parting is not None and parting.gap is not None and parting.gap <= NEAR:
        verdict = Verdict.NEAR_TIE
    elif any(turn is not None and turn <= where for turn in turns):
        verdict = Verdict.UNSTEADY
    return Parity(
        prompt,
        verdict,
        where,
        on[where : where + _SHOWN],
        off[where : where + _SHOWN],
        parting,
    )


def _likeliness(parting: Parting) -> tuple[bool, float]:
    return parting.gap is None, parting.gap or 0.0


def _partings(tokens: Tokens, on: bytes, off: bytes) -> Iterator[Parting]:
    """Where the on side may have left the off side's tokens: at the one that holds the first byte
    that differs, or at one before it, for another that reaches beyond that byte.

    The tokens may spell something before the text, such as the mark of a thought that the server
    removed. Nothing where they do not spell it, as when they are of a run that went astray.
    """
    shorter = min(len(on), len(off))
    where = next((i for i in range(shorter) if on[i] != off[i]), shorter)
    spelled = b"".join(map(_bytes, tokens))
    start = -spelled.find(off[: where + 1])
    if start > 0:  # not found
        return
    for number, token in enumerate(tokens):
        own = _bytes(token)
        end, top = start + len(own), sorted(_top(token), key=lambda rival: -rival[1])
        holds = where < end or (start == where and number == len(tokens) - 1)
        if 0 <= start <= where and len(top) > 1:
            best, margin = top[0][1], top[0][1] - top[1][1]
            # llama-server puts the tokens of one character together; the rivals are the last one's.
            head = own.removesuffix(top[0][0]) if own.endswith(top[0][0]) else b""
            for text, logprob in top:
                fits = text and head + text != own and on.startswith(head + text, start)
                if fits and (holds or start + len(head + text) > where):
                    yield Parting(number, margin, best - logprob)
            if holds and on.startswith(head, start):
                # How an end of text is spelled is an engine's own affair.
                yield Parting(number, margin, margin if len(on) == where else None)
        if holds:
            return
        start = end


def _top(token: Mapping[str, Any]) -> Iterator[tuple[bytes, float]]:
    for rival in token.get("top_logprobs") or ():
        if isinstance(rival, Mapping) and isinstance(rival.get("logprob"), int | float):
            yield _bytes(rival), rival["logprob"]


def _bytes(token: Mapping[str, Any]) -> bytes:
    spelled = token.get("bytes")
    if isinstance(spelled, list) and all(type(b) is int and 0 <= b < 256 for b in spelled):
        return bytes(spelled)
    return str(token.get("token", "")).encode()
