"""What a pair takes: its weights, and its keys and values at a context length."""

from dataclasses import dataclass

from foredraft.planner.facts.model import ModelFacts

USUAL_CONTEXT = 8192


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """One model's bytes; `context_window` is the longest text it was made for, in tokens.

    `rollback` is how refused drafts leave it: "free" by cutting, "snapshot" by restoring a state.
    """

    weights_bytes: int | None
    kv_bytes: int
    context_window: int | None
    rollback: str


@dataclass(frozen=True, slots=True)
class Memory:
    """A pair's bytes at `context` tokens; keys and values at 16 bits, states at 32."""

    context: int
    target: ModelMemory
    draft: ModelMemory
    total_bytes: int | None


def said(count: int | None) -> str:
    """Bytes as people say them."""
    if count is None:
        return "weights of unknown size"
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def memory(target: ModelFacts, draft: ModelFacts, context: int | None = None) -> Memory:
    """`context` is by default 8192, or what the models were made for where that is less."""
    tokens = context or usual_context(target, draft)
    both = bill(target, tokens), bill(draft, tokens)
    known = [part.weights_bytes for part in both if part.weights_bytes is not None]
    total = sum(known) + both[0].kv_bytes + both[1].kv_bytes if len(known) == 2 else None
    return Memory(tokens, *both, total)


def usual_context(*models: ModelFacts) -> int:
    """8192 tokens, or what the models were made for where that is less."""
    return min([USUAL_CONTEXT, *(model.context for model in models if model.context)])


def bill(model: ModelFacts, tokens: int) -> ModelMemory:
    """One model's bytes with `tokens` tokens of text."""
    rollback = "snapshot" if model.keeps_state else "free"
    return ModelMemory(model.weights, model.kv(tokens), model.context, rollback)
