"""llama.cpp's comparison of two vocabularies, check by check in its order."""

from collections.abc import Sequence

from foredraft.planner.facts.model import Format, ModelFacts, Vocabulary

MOST_APART = 128
FIRST_COMPARED = 5
_KINDS = {"llama": "SPM", "gpt2": "BPE", "gemma4": "BPE", "bert": "WPM", "t5": "UGM"}
_DEFAULTS = {"llama": {"bos": 1, "eos": 2}, "gpt2": {"bos": 11, "eos": 11}, "t5": {"eos": 1}}
"""Ids that llama.cpp takes where a file names none."""


def refusal(target: ModelFacts, draft: ModelFacts) -> str | None:
    """The first check that the pair fails, or None; a folder is judged as its conversion would be.

    Merges, padding and other roles are not looked at, nor are the first five ids.
    """
    left, right = target.vocabulary, draft.vocabulary
    if left is None or right is None:
        return "One of the files has no tokenizer inside."
    kinds = [_KINDS.get(tokens.kind, tokens.kind) for tokens in (left, right)]
    if kinds[0] != kinds[1]:
        return f"The vocabulary types differ: {kinds[0]} and {kinds[1]}."
    for role, what, flags in (
        ("bos", "begin with BOS", (left.add_bos, right.add_bos)),
        ("eos", "end with EOS", (left.add_eos, right.add_eos)),
    ):
        if flags[0] != flags[1]:
            wants = "target" if flags[0] else "draft"
            return f"Only the {wants}'s texts {what} (add_{role}_token)."
        ids = _role(left, role), _role(right, role)
        if flags[0] and ids[0] != ids[1]:
            return f"Texts {what}, which is token {ids[0]} in the target and {ids[1]} in the draft."
    return _texts_differ(_texts(target, left), _texts(draft, right))


def unshared(target: Vocabulary, draft: Vocabulary) -> int:
    """How many tokens, padding aside, only the larger of two agreeing vocabularies has."""
    both = len(target.pieces), len(draft.pieces)
    larger = target if both[0] > both[1] else draft
    return sum(piece is not None for piece in larger.pieces[min(both) :])


def _texts_differ(left: Sequence[str], right: Sequence[str]) -> str | None:
    apart = abs(len(left) - len(right))
    if apart > MOST_APART:
        return (
            f"The vocabularies have {len(left):,} and {len(right):,} tokens: {apart:,} apart, and "
            f"llama.cpp allows {MOST_APART}."
        )
    pairs = list(zip(left, right, strict=False))
    for i in range(FIRST_COMPARED, len(pairs)):
        if pairs[i][0] != pairs[i][1]:
            return f"Token {i} is {pairs[i][0]!r} in the target and {pairs[i][1]!r} in the draft."
    return None


def _texts(model: ModelFacts, tokens: Vocabulary) -> list[str]:
    """The entries as llama.cpp has them; the converter fills a folder's up to the matrix."""
    if model.format is Format.GGUF:
        return [text or f"[EMPTY_{i}]" for i, text in enumerate(tokens.tokens)]
    size = model.vocab_size or len(tokens.tokens)
    known = dict(enumerate(tokens.tokens[:size]))
    return [known.get(i) or f"[PAD{i}]" for i in range(size)]


def _role(tokens: Vocabulary, role: str) -> int | None:
    return tokens.roles.get(role, _DEFAULTS.get(tokens.kind, {}).get(role))
