"""A target's tokens as a grammar sees them, and grammars compiled for them."""

from dataclasses import dataclass, replace
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.mask import GrammarMask
from foredraft.targets.base import Target, TextCodec

LIMITS: dict[str, Any] = {
    "initial_lexer_fuel": 500_000,
    "step_lexer_fuel": 100_000,
    "step_max_items": 20_000,
    "max_items_in_row": 500,
    "max_grammar_size": 200_000,
    "max_lexer_states": 100_000,
}
"""What compiling a grammar, and a token under it, may take; llguidance's own are for trusted text:
with them one ambiguous grammar of two lines takes minutes a token, with these 0.1 s."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A grammar compiled for a vocabulary; each request gets a mask of its own from it."""

    grammar: Grammar
    matcher: Any

    def on(self, params: SamplingParams, prompt_length: int) -> SamplingParams:
        """`params` for a prompt of that many tokens, whose answer the grammar describes."""
        if params.min_tokens:
            raise ForedraftError(
                f"min_tokens is {params.min_tokens}, but where the answer ends is for the "
                f"{self.grammar.kind} to say; leave one of them out."
            )
        mask = GrammarMask(self.matcher, prompt_length, self.grammar.kind)
        return replace(params, processors=(*params.processors, mask))


class Vocabulary:
    """The tokens of a target, prepared for grammars: seconds for a large one, so keep it."""

    def __init__(self, target: Target) -> None:
        try:
            from llguidance import LLTokenizer, TokenizerWrapper
        except ImportError as error:
            raise ForedraftError(
                "Answers in a given form need llguidance; pip install 'foredraft[grammar]'."
            ) from error
        codec = target.tokenizer
        if not codec.eos_ids:
            raise ForedraftError(
                f"{target.name} has no token that ends a text, so no answer could end where its "
                "form does; use a model whose tokenizer names one."
            )
        self._tokenizer = LLTokenizer(
            TokenizerWrapper(_Tokens(codec, target.vocab_size)),
            n_vocab=target.vocab_size,
            eos_token=_rows(codec.eos_ids, target.vocab_size),
        )

    def compile(self, grammar: Grammar) -> Constraint:
        """`grammar` for these tokens; ForedraftError if it cannot be followed, or no text does.

        Takes milliseconds for what people write; for text of strangers see trial.py.
        """
        from llguidance import LLMatcher, LLParserLimits

        limits = LLParserLimits(**LIMITS, verbose_errors=False)
        matcher = LLMatcher(self._tokenizer, grammar.source, limits=limits, log_level=0)
        if matcher.is_error():
            raise refused(grammar, matcher.get_error())
        first = matcher.deep_copy()
        first.compute_bitmask()
        if first.is_error():
            why = first.get_error()
            raise refused(grammar, "no text follows it" if why.startswith("NoExt") else why)
        return Constraint(grammar, matcher)


def _rows(ids: frozenset[int], size: int) -> list[int]:
    """Those that the target has logits for."""
    return sorted(token for token in ids if token < size)


def refused(grammar: Grammar, why: str) -> ForedraftError:
    """The error for a grammar that llguidance does not take."""
    lines = why.strip().splitlines()
    said = lines[0]
    if lines[-1].startswith("error: "):  # a regular expression's, after a picture of it
        said = f"{said.rstrip(':')}: {lines[-1].removeprefix('error: ')}"
    return ForedraftError(f"The {grammar.kind} cannot be used: {said[:300].rstrip('.:')}.")


class _Tokens:
    """A codec in the form that llguidance asks for."""

    def __init__(self, codec: TextCodec, size: int) -> None:
        self.tokens = [codec.spelling(token) for token in range(size)]
        self.special_token_ids = _rows(codec.special_ids | codec.eos_ids, size)
        self.eos_token_id = min(codec.eos_ids)
        self.bos_token_id = None
        self._codec = codec

    def __call__(self, text: str) -> list[int]:
        return self._codec.spell(text)
