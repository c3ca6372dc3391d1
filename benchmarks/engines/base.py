"""What a benchmark asks of an engine, and what an engine answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class EngineError(Exception):
    """An engine that cannot start, died, or answered nonsense; the text is one clear sentence."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One text to decode: the prompt's token ids, how many new tokens, and how they are drawn.

    Nothing but the temperature shapes the distribution: no top-k, top-p or penalties.
    """

    ids: list[int]
    tokens: int
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One text decoded; `decode_s` brought `decode_tokens` tokens, after `first_s` of prefill.

    `details` holds what only this engine reports, under its own names.
    """

    ids: list[int]
    decode_tokens: int
    decode_s: float
    first_s: float
    acceptance_rate: float | None = None
    tokens_per_pass: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def tokens_per_s(self) -> float | None:
        """Decode speed; None for a text so short that nothing was left to decode."""
        return self.decode_tokens / self.decode_s if self.decode_tokens and self.decode_s else None


@dataclass(frozen=True, slots=True)
class Method:
    """A way of decoding: who does it, on which weights, and its setting.

    `family` groups the settings of one method; `default` marks the one a user gets who sets
    nothing, or, where an engine has no default, the one its documentation shows. `baseline` is the
    label of the plain decoding it is measured by, when that is not its own.
    """

    engine: str
    form: str
    name: str
    family: str
    run: Callable[[Ask], Run]
    default: bool = False
    baseline: str = ""

    @property
    def side(self) -> str:
        """The engine on these weights."""
        return f"{self.engine} {self.form}".strip()

    @property
    def label(self) -> str:
        return f"{self.side} {self.name}"

    @property
    def plain(self) -> str:
        """The label of the plain decoding that `over_plain` divides by."""
        return self.baseline or f"{self.side} plain"
