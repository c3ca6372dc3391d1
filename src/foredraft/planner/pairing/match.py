"""Two vocabularies held against each other, token by token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foredraft.planner.facts.model import ROLES, ModelFacts, Vocabulary
from foredraft.targets.pieces import differing


@dataclass(frozen=True, slots=True)
class Match:
    """How two tokenizers agree.

    `shared` ids stand for text in both, `differing` of them for other text; the `first` such is
    (id, the target's text, the draft's). `merges` and `template` are None where one side has none
    to compare. `roles` has the roles that are filled by other ids: (target's, draft's).
    """

    shared: int
    differing: int
    first: tuple[int, str, str] | None
    merges: bool | None
    roles: Mapping[str, tuple[int | None, int | None]]
    add_bos: bool
    template: bool | None

    @property
    def same(self) -> bool:
        """Whether an id means the same text to both, which is all that drafting by id needs."""
        return self.differing == 0

    @property
    def near(self) -> bool:
        """Whether at most one id in a hundred differs, as between releases of a family: an engine
        that does not look drafts with such a pair, and refuses the odd ones as it meets them."""
        return 100 * self.differing <= self.shared

    @property
    def sentence(self) -> str:
        if self.first is None:
            return f"All {self.shared:,} shared token ids stand for the same text."
        i, left, right = self.first
        return (
            f"Token {i} is {left!r} in the target and {right!r} in the draft, and "
            f"{self.differing:,} of {self.shared:,} shared ids stand for other text."
        )


def match(target: Vocabulary, draft: Vocabulary) -> Match:
    """Compare the bytes of every id, then what makes texts into ids."""
    different = differing(target.pieces, draft.pieces)
    first = None
    if different:
        i = different[0]
        first = i, _text(target, i), _text(draft, i)
    ids = {role: (target.roles.get(role), draft.roles.get(role)) for role in ROLES}
    has_merges = target.merges is not None and draft.merges is not None
    has_template = target.template is not None and draft.template is not None
    return Match(
        shared=sum(None not in pair for pair in zip(target.pieces, draft.pieces, strict=False)),
        differing=len(different),
        first=first,
        merges=target.merges == draft.merges if has_merges else None,
        roles={role: pair for role, pair in ids.items() if pair[0] != pair[1]},
        add_bos=target.add_bos == draft.add_bos,
        template=target.template == draft.template if has_template else None,
    )


def compared(found: Match | None) -> dict[str, Any]:
    """Both sides' part of `tokenizers` in --json; all null where one has no tokenizer."""
    first = found.first if found else None
    return {
        "same": found and found.same,
        "shared_ids": found and found.shared,
        "differing_ids": found and found.differing,
        "first_difference": first and dict(zip(("id", "target", "draft"), first, strict=True)),
        "merges_equal": found and found.merges,
        "roles_that_differ": found and {role: list(ids) for role, ids in found.roles.items()},
        "add_bos_equal": found and found.add_bos,
        "chat_template_equal": found and found.template,
    }


def as_object(model: ModelFacts) -> dict[str, Any] | None:
    """One side of `tokenizers` in --json."""
    tokens = model.vocabulary
    if tokens is None:
        return None
    rows = model.vocab_size
    return {
        "kind": tokens.kind,
        "tokens": tokens.count,
        "rows": rows,
        "padding_rows": None if rows is None else max(0, rows - tokens.count),
        "merges": None if tokens.merges is None else len(tokens.merges),
        "add_bos": tokens.add_bos,
        "add_eos": tokens.add_eos,
        "chat_template": tokens.template is not None,
        "roles": {
            role: {"id": i, "text": _text(tokens, i)} for role, i in sorted(tokens.roles.items())
        },
    }


def _text(tokens: Vocabulary, i: int) -> str:
    piece = tokens.pieces[i] if i < len(tokens.pieces) else None
    return "" if piece is None else piece.decode("utf-8", errors="replace")
