"""Whether texts are those of plain decoding, and where they are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from foredraft.planner.audit.chooser import Chooser
from foredraft.planner.audit.difference import Difference, margin
from foredraft.planner.audit.forced import Text, forced
from foredraft.planner.audit.runs import Run
from foredraft.targets.base import Target, shared_prefix


@dataclass(frozen=True, slots=True)
class Equality:
    """Texts beside those of plain decoding: `equal` of its `tokens` come before the first
    difference of each text.

    What follows a near tie is held against what the target alone would choose there, so that
    `differences` has at most one more for each text, a real one.
    """

    tokens: int
    equal: int
    differences: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        """Whether rounding explains every difference."""
        return all(difference.near for difference in self.differences)


def compare(target: Target, runs: Sequence[Run], allowed: float | None) -> Equality:
    """The texts of `runs` against their plain ones.

    A margin up to `allowed` is a near tie; with None nothing is, as at level `bitwise`.
    """
    tokens = equal = 0
    found: list[Difference] = []
    for run in runs:
        assert run.plain is not None
        at = shared_prefix(run.plain.output, run.text.output)
        tokens, equal = tokens + len(run.plain.output), equal + at
        if at == len(run.plain.output) == len(run.text.output):
            continue
        found.append(_first(target, run, run.plain, at, allowed))
        if found[-1].near and allowed is not None:
            found += _later(target, run, at, allowed)
    return Equality(tokens, equal, tuple(found))


def _first(target: Target, run: Run, plain: Text, at: int, allowed: float | None) -> Difference:
    """The difference at output token `at`, before which the texts are the same."""
    pair = [text.output[at] if at < len(text.output) else None for text in (plain, run.text)]
    off: float | None = None
    if None not in pair:  # else one text goes on where the other has ended: no rounding does that
        (logits,) = forced(target, target.open(), after(plain, at))
        choose = partial(Chooser(target, run.request).token, plain, at)
        margins = [margin(logits, choose, token) for token in pair if token is not None]
        off = None if None in margins else max(value for value in margins if value is not None)
    near = off is not None and allowed is not None and off <= allowed
    return Difference(run.id, at, shown(target, pair[0]), shown(target, pair[1]), off, near)


def _later(target: Target, run: Run, first: int, allowed: float) -> list[Difference]:
    """The first token beyond `first` that the target would not choose after the text before it,
    whatever the rounding."""
    chooser = Chooser(target, run.request)
    for at, logits in enumerate(forced(target, target.open(), run.text)):
        if at > first:
            off = margin(logits, partial(chooser.token, run.text, at), run.text.output[at])
            if off is None or off > allowed:
                right = shown(target, chooser.token(run.text, at, logits))
                wrong = shown(target, run.text.output[at])
                return [Difference(run.id, at, right, wrong, off, near=False)]
    return []


def after(text: Text, at: int) -> Text:
    """Output token `at` alone, as what follows all before it."""
    return Text([*text.prompt, *text.output[:at]], text.output[at : at + 1])


def shown(target: Target, token: int | None) -> str:
    """A token as people see it: its text, or its id where it has none."""
    if token is None or token in target.tokenizer.eos_ids:
        return "(the end)"
    return target.tokenizer.decode([token]) or f"(token {token})"
