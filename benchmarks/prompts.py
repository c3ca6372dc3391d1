"""The prompts that benchmarks decode: eight that differ much, and a wider set beside them."""

import json
from pathlib import Path
from typing import Any

from foredraft.rivals.prompts import EIGHT

Prompt = dict[str, Any]
"""id, kind (what the answer is like), lang, and chat messages."""

WIDE = Path(__file__).with_name("prompts_wide.jsonl")
KINDS = frozenset({"chat", "code", "copy", "edit", "explain", "extract", "free", "translate"})


def read(path: Path) -> list[Prompt]:
    """Every prompt of a .jsonl file."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def choose(ids: str = "", wide: bool = False) -> list[Prompt]:
    """The prompts of either set whose ids are named, with commas between; else the whole set."""
    eight, more = read(EIGHT), read(WIDE)
    if not ids:
        return more if wide else eight
    known = {prompt["id"]: prompt for prompt in eight + more}
    if missing := [name for name in ids.split(",") if name not in known]:
        raise SystemExit(f"There is no prompt {missing[0]!r}; choose from {', '.join(known)}.")
    return [known[name] for name in ids.split(",")]
