"""A checked pair as people see it: a table of engines, then tokenizers and memory in lines."""

from foredraft.planner.facts.model import ModelFacts
from foredraft.planner.pairing.compat import Check
from foredraft.planner.pairing.match import Match
from foredraft.planner.pairing.memory import Memory, said
from foredraft.planner.pairing.ruling import Verdict

_ENGINES = {"lmstudio": "LM Studio", "ollama": "Ollama", "vllm": "vLLM"} | {
    "transformers": "Transformers"
}
_WORDS = {
    Verdict.YES: ("yes", "green"),
    Verdict.WITH_SETTING: ("with a setting", "yellow"),
    Verdict.NO: ("no", "red"),
}


def show(found: Check) -> None:
    """Print to standard output; colours on a terminal only."""
    # Rich costs 50 ms to import, which --help and --json need not pay.
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_lines=True)
    for column in ("engine", "can it?", "why, and → what to do"):
        table.add_column(column, no_wrap=column == "engine")
    for name, ruling in found.engines.items():
        word, colour = _WORDS[ruling.verdict]
        why = Text(ruling.reason)
        if ruling.mend:
            why.append(f"\n→ {ruling.mend}", style="dim")
        table.add_row(_ENGINES.get(name, name), Text(word, style=colour), why)
    console = Console(highlight=False)
    console.print(Text(f"Target  {_about(found.pair.target)}\nDraft   {_about(found.pair.draft)}"))
    console.print(table)
    for line in (*_tokenizers(found.pair.match), *_memory(found.memory), *found.notes):
        console.print(Text(line))


def _about(model: ModelFacts) -> str:
    """A model in a line."""
    parts = [f"{model.format}, {model.architecture}"]
    if model.head:
        parts.append(f"{model.head} head")
    if (tokens := model.vocabulary) is not None:
        parts.append(f"{tokens.count:,} tokens")
        if model.vocab_size and model.vocab_size > tokens.count:
            parts.append(f"{model.vocab_size - tokens.count:,} padding rows")
    if model.context:
        parts.append(f"made for {model.context:,} tokens of text")
    return f"{model.name}  ({', '.join(parts)})"


def _tokenizers(found: Match | None) -> list[str]:
    if found is None:
        return []
    agree = {
        "merges": found.merges,
        "special tokens": not found.roles,
        "BOS at the start": found.add_bos,
        "chat template": found.template,
    }
    same = [name for name, equal in agree.items() if equal]
    other = [name for name, equal in agree.items() if equal is False]
    both = ("the same", same), ("not the same", other)
    parts = [f"{word}: {', '.join(names)}" for word, names in both if names]
    return [f"Tokenizers: {found.sentence}", f"  {'; '.join(parts)}."]


def _memory(memory: Memory) -> list[str]:
    target, draft = memory.target, memory.draft
    line = (
        f"Memory at {memory.context:,} tokens: target {said(target.weights_bytes)} + "
        f"{said(target.kv_bytes)} of keys and values, draft {said(draft.weights_bytes)} + "
        f"{said(draft.kv_bytes)}"
    )
    return [line + (f"; {said(memory.total_bytes)} in all." if memory.total_bytes else ".")]
