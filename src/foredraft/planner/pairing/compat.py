"""Can two models pair, engine by engine, and what would the pair take?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.planner.facts.model import ModelFacts
from foredraft.planner.facts.read import read
from foredraft.planner.pairing.match import as_object, compared, match
from foredraft.planner.pairing.memory import Memory, memory
from foredraft.planner.pairing.rules import (
    foredraft,
    llama_cpp,
    lmstudio,
    ollama,
    transformers,
    vllm,
)
from foredraft.planner.pairing.ruling import Pair, Ruling, Verdict, wrong_head
from foredraft.targets.base import Progress

RULES = {
    "foredraft": foredraft.rule,
    "llama.cpp": llama_cpp.rule,
    "lmstudio": lmstudio.rule,
    "ollama": ollama.rule,
    "vllm": vllm.rule,
    "transformers": transformers.rule,
}


@dataclass(frozen=True, slots=True)
class Check:
    """A pair, each engine's ruling on it, its memory, and what else a person should know."""

    pair: Pair
    engines: Mapping[str, Ruling]
    memory: Memory
    notes: tuple[str, ...]

    @property
    def possible(self) -> bool:
        """Whether at least one engine can."""
        return any(ruling.verdict is not Verdict.NO for ruling in self.engines.values())

    def to_dict(self) -> dict[str, Any]:
        """The object of --json."""
        return {
            "target": self.pair.target.name,
            "draft": self.pair.draft.name,
            "engines": {name: asdict(ruling) for name, ruling in self.engines.items()},
            "tokenizers": {
                "target": as_object(self.pair.target),
                "draft": as_object(self.pair.draft),
                **compared(self.pair.match),
            },
            "memory": asdict(self.memory),
            "notes": list(self.notes),
        }


def check(target: str, draft: str, context: int | None, progress: Progress) -> Check:
    """Read what the names stand for and judge the pair; `context` is in tokens."""
    facts = [read(name, progress) for name in (target, draft)]
    return judge(facts[0], facts[1], context)


def judge(target: ModelFacts, draft: ModelFacts, context: int | None = None) -> Check:
    """Every engine's ruling; ForedraftError for what is no pair at all."""
    _refuse(target, draft)
    tokens = target.vocabulary, draft.vocabulary
    found = match(tokens[0], tokens[1]) if tokens[0] and tokens[1] else None
    pair = Pair(target, draft, found)
    wrong = wrong_head(pair)
    return Check(
        pair,
        {name: wrong or rule(pair) for name, rule in RULES.items()},
        memory(target, draft, context),
        tuple(_notes(pair)),
    )


def _refuse(target: ModelFacts, draft: ModelFacts) -> None:
    if target.head:
        raise ForedraftError(
            f"{target.name} is {target.head.phrase}, not a model by itself; name the model it was "
            "trained for as TARGET and the head as DRAFT."
        )
    for model in (target, draft):
        if model.vocabulary is None and model.head is None:
            raise ForedraftError(
                f"{model.name} has no tokenizer, so it cannot be compared; use files that were "
                "converted together with it."
            )


def _notes(pair: Pair) -> list[str]:
    """What no engine says."""
    target, draft, found = pair.target, pair.draft, pair.match
    notes = []
    if draft.head:
        notes.append(
            f"{draft.name} is {draft.head.phrase}"
            + (f", trained for {draft.made_for}." if draft.made_for else ".")
            + " It drafts for the one target whose hidden states it was trained on; equal sizes "
            "do not prove that this is it."
        )
    elif target.weights and draft.weights and 2 * draft.weights > target.weights:
        notes.append(
            "The draft has more than half as many bytes as the target: drafting will cost about "
            "as much as it saves."
        )
    if target.has_mtp:
        notes.append(
            "The target carries MTP heads of its own, which need no second model: llama.cpp "
            '(--spec-type draft-mtp), vLLM ("method": "mtp") and Transformers (use_mtp=True) use '
            "them."
        )
    if draft.head or found is None:
        return notes + _window(target, draft)
    if found.same and found.merges is False:
        notes.append("The merges differ: the same text may be cut into other tokens.")
    if found.same and found.roles:
        named = ", ".join(
            f"{role} ({left} and {right})" for role, (left, right) in found.roles.items()
        )
        notes.append(f"Special tokens have other ids: {named}.")
    if found.same and found.template is False:
        notes.append(
            "The chat templates differ: the draft reads chats in the target's format, which it "
            "may know less well."
        )
    return notes + _window(target, draft)


def _window(target: ModelFacts, draft: ModelFacts) -> list[str]:
    if not target.context or not draft.context or draft.head or draft.context >= target.context:
        return []
    return [
        f"The draft was made for {draft.context:,} tokens and the target for {target.context:,}: "
        "in longer texts its drafts are worth little."
    ]
