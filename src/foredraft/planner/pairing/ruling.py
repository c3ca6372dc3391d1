"""What is asked of an engine's rule, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from foredraft.planner.facts.heads import misfit
from foredraft.planner.facts.model import Format, ModelFacts
from foredraft.planner.pairing.match import Match


class Verdict(StrEnum):
    """Whether an engine can draft with a pair."""

    YES = "yes"
    WITH_SETTING = "with_setting"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Ruling:
    """An engine's verdict on a pair, why, and what to do about it (None: nothing)."""

    verdict: Verdict
    reason: str
    mend: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A target, a draft, and how their tokenizers agree (None where one has no tokenizer)."""

    target: ModelFacts
    draft: ModelFacts
    match: Match | None

    @property
    def same(self) -> bool:
        return self.match is not None and self.match.same

    @property
    def near(self) -> bool:
        return self.match is not None and self.match.near

    @property
    def difference(self) -> str:
        """How the tokenizers agree, as a sentence."""
        return self.match.sentence if self.match else "One of them has no tokenizer to compare."

    @property
    def misfit(self) -> str | None:
        """Why the draft, a trained head, cannot be the target's."""
        return misfit(self.target, self.draft) if self.draft.head else None

    def others(self, wanted: Format) -> list[str]:
        """The names of those of another format."""
        models = self.target, self.draft
        return list(dict.fromkeys(model.name for model in models if model.format is not wanted))


SAME_FAMILY = "Choose a smaller model of the target's own family as the draft."


def listed(names: Sequence[str], one: str = "", more: str = "") -> str:
    """The names with "and" between, and the verb for one or for more of them."""
    return f"{' and '.join(names)} {one if len(names) == 1 else more}".rstrip()


def yes(reason: str) -> Ruling:
    return Ruling(Verdict.YES, reason)


def with_setting(reason: str, mend: str) -> Ruling:
    return Ruling(Verdict.WITH_SETTING, reason, mend)


def no(reason: str, mend: str | None = None) -> Ruling:
    return Ruling(Verdict.NO, reason, mend)


def wrong_head(pair: Pair) -> Ruling | None:
    """Every engine's answer to a head that was trained for another target."""
    if pair.misfit is None:
        return None
    owner = pair.draft.made_for
    return no(pair.misfit, f"Use it with {owner}." if owner else "Use a head made for this target.")
