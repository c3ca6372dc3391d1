"""LM Studio: how to load the pair, and the same per answer from Python and TypeScript."""

import json

from foredraft.planner.export.models import stem
from foredraft.planner.export.settings import (
    Settings,
    advised,
    command,
    document,
    drafts_greedily,
)
from foredraft.planner.plan import Plan

VERSIONS = "LM Studio 0.4.14 or newer (llama.cpp engine 2.15), its Python SDK 1.2 and TypeScript \
SDK 1.5"


def export(plan: Plan) -> Settings:
    """`lms load` with a draft model, and the SDKs' draftModel; LM Studio has no lookups."""
    choice, notes = advised(plan), [_KEYS]
    if choice is not None and choice.drafter != "model":
        notes.append(
            f"LM Studio drafts with a second model alone and the plan's best is {choice.drafter}; "
            "for that, export to llama.cpp, or plan with --draft MODEL."
        )
        choice = None
    target = stem(plan.target)
    if choice is None:
        text = _fence("sh", command(("lms", "load", target)))
        return document(plan, None, "lmstudio", VERSIONS, "lmstudio.md", text, notes, ">")
    draft = stem(choice.draft or "")
    notes += [*drafts_greedily(plan, choice, "LM Studio"), _LENGTH]
    load = command(
        ("lms", "load", target),
        ("--speculative-draft-simple", "--speculative-draft-model", draft),
        ("--speculative-draft-max-tokens", str(choice.draft_len)),
        ("--speculative-draft-min-tokens", "0"),
        ("--speculative-draft-min-continue-probability", "0"),
    )
    names = {"TARGET": json.dumps(target), "DRAFT": json.dumps(draft)}
    text = (
        f"When the model is loaded:\n\n{_fence('sh', load)}\n"
        f"Or for one answer, from Python:\n\n{_fence('python', _PYTHON.format(**names))}\n"
        f"Or from TypeScript:\n\n{_fence('typescript', _TYPESCRIPT.format(**names))}"
    )
    return document(plan, choice, "lmstudio", VERSIONS, "lmstudio.md", text, notes, ">")


def _fence(language: str, code: str) -> str:
    return f"```{language}\n{code}```\n"


_KEYS = "LM Studio calls models by its own keys; `lms ls` lists yours, `lms import FILE` adds a \
GGUF file."
_LENGTH = "draftModel alone drafts as LM Studio's own settings say (up to 16 tokens, each at least \
0.75 likely, unless changed in the app); the length planned is set when the model is loaded."
_PYTHON = """\
import lmstudio as lms

model = lms.llm({TARGET})
result = model.respond("Hello!", config={{"draftModel": {DRAFT}}})
print(result)
print(result.stats.accepted_draft_tokens_count, "of", result.stats.total_draft_tokens_count)
"""
_TYPESCRIPT = """\
import {{ LMStudioClient }} from "@lmstudio/sdk";

const model = await new LMStudioClient().llm.model({TARGET});
const {{ content, stats }} = await model.respond("Hello!", {{ draftModel: {DRAFT} }});
console.info(content);
console.info(`${{stats.acceptedDraftTokensCount}} of ${{stats.totalDraftTokensCount}}`);
"""
