"""What one generation is asked to do, validated once."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.grammar.vocabulary import Constraint

Prompt = str | Sequence[int] | Sequence[dict[str, str]]
"""Raw text, token ids, or chat messages ({"role", "content"}) for the model's own template."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything about a generation but its prompt.

    `seed` None draws one, which the result reports. `draft_len` fixes γ, the tokens drafted a
    round; None chooses it anew each round from what was measured. `logprobs` n reports the n most
    likely tokens of p beside each chosen one; None reports none. Raises ForedraftError for a value
    out of range.
    """

    params: SamplingParams = field(default_factory=SamplingParams)
    max_new_tokens: int = 256
    stop: tuple[str, ...] = ()
    seed: int | None = None
    draft_len: int | None = None
    exactness: Exactness = Exactness.COUPLED
    logprobs: int | None = None
    ignore_eos: bool = False

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ForedraftError(f"max_new_tokens is {self.max_new_tokens}; it must be 1 or more.")
        if self.draft_len is not None and self.draft_len < 0:
            raise ForedraftError(
                f"draft_len (γ) is {self.draft_len}; it must be 0 (no drafting) or more."
            )
        if any(not text for text in self.stop):
            raise ForedraftError("A stop string is empty; give at least one character.")
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise ForedraftError(f"seed is {self.seed}; it must be between 0 and 2^63 − 1.")
        if self.logprobs is not None and self.logprobs < 0:
            raise ForedraftError(f"logprobs is {self.logprobs}; it must be 0 or more.")

    def constrained(self, constraint: Constraint, prompt_length: int) -> "Request":
        """The same for a prompt of that many tokens, with an answer that a grammar describes."""
        if self.ignore_eos:
            raise ForedraftError(
                f"ignore_eos goes on after the answer has ended, and the {constraint.grammar.kind} "
                "says nothing about that; leave one of them out."
            )
        return replace(self, params=constraint.on(self.params, prompt_length))
