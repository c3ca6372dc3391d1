"""Ollama's Modelfile."""

from foredraft.planner.export.models import gguf
from foredraft.planner.export.settings import Settings, advised, document
from foredraft.planner.plan import Plan

VERSIONS = "Ollama of October 2026 (commit 00f6d62)"


def export(plan: Plan) -> Settings:
    """A plain Modelfile: no drafter of a plan is within Ollama's reach.

    Its DRAFT takes heads made for one target (MTP, DFlash) and starts any other file as such, so
    a small model or a lookup would only fail; the lines for a head are there as a comment.
    """
    choice, target = advised(plan), gguf(plan.target)
    where = target.where if target.file is None else f"hf.co/{target.where}:{target.file}"
    text, notes = f"FROM {where}\n", list(target.notes)
    if choice is not None:
        wanted = f"the model {choice.draft}" if choice.drafter == "model" else choice.drafter
        notes.append(
            f"Ollama cannot draft with {wanted}: its DRAFT takes MTP and DFlash heads alone, and "
            "it has no lookups. llama-server can: export to llama.cpp."
        )
        text += _HEAD.format(length=choice.draft_len)
    return document(plan, None, "ollama", VERSIONS, "Modelfile", text, notes)


_HEAD = """
# With a head that was trained for this target, as a local file:
# DRAFT ./head.gguf
# PARAMETER draft_num_predict {length}
"""
