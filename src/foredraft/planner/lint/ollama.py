"""Ollama's Modelfile."""

import re
from dataclasses import dataclass

from foredraft.planner.export.ollama import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when

ENGINE = "ollama"

_LINE = re.compile(r"^[ \t]*(FROM|DRAFT|PARAMETER)[ \t]+(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FROM = re.compile(r"^[ \t]*FROM[ \t]+\S+[ \t]*$", re.MULTILINE | re.IGNORECASE)
_DOCKERFILE = re.compile(r"^[ \t]*(RUN|CMD|COPY|ENTRYPOINT|ENV)[ \t]", re.MULTILINE)
_VARIABLE = re.compile(r"\bOLLAMA_MTP\w*")
_HEAD = re.compile(r"mtp|nextn|dflash|assistant", re.IGNORECASE)
_REMOTE = re.compile(r"[\w.-]+(/[\w.-]+)*:[\w.-]+|hf\.co/.+|https?:.+")


@dataclass(frozen=True, slots=True)
class Modelfile:
    """The instructions that speculation depends on; "" for those not given."""

    base: str
    draft: str
    length: str
    variable: str


def recognises(text: str) -> bool:
    """Whether `text` is a Modelfile or sets Ollama's variables."""
    modelfile = _FROM.search(text) and not _DOCKERFILE.search(text)
    return bool(modelfile) or "OLLAMA_" in text


def findings(text: str) -> list[Finding]:
    """What stops Ollama from drafting."""
    return check(ENGINE, _RULES, _read(text))


def _read(text: str) -> Modelfile:
    lines = [(name.upper(), value.strip("\"'")) for name, value in _LINE.findall(text)]
    values = {name: value for name, value in lines if name != "PARAMETER"}
    parameters = dict(
        value.split(maxsplit=1) for name, value in lines if name == "PARAMETER" and " " in value
    )
    variable = _VARIABLE.search(text)
    return Modelfile(
        values.get("FROM", ""),
        values.get("DRAFT", ""),
        parameters.get("draft_num_predict", ""),
        variable[0] if variable else "",
    )


_RULES: tuple[Rule[Modelfile], ...] = (
    Rule(
        Severity.ERROR,
        lambda m: when(_REMOTE.fullmatch(m.draft), f"DRAFT {m.draft}"),
        "must be a local file, not a name from a library.",
        "Download the head and write its path.",
    ),
    Rule(
        Severity.ERROR,
        lambda m: when(m.draft and m.draft == m.base, f"DRAFT {m.draft}"),
        "is the file that FROM names.",
        "Take it out: heads inside the model need PARAMETER draft_num_predict alone.",
    ),
    Rule(
        Severity.IGNORED,
        lambda m: when(
            m.draft and m.draft != m.base and not _HEAD.search(m.draft), f"DRAFT {m.draft}"
        ),
        "does not look like an MTP or DFlash head, and Ollama starts every draft as one: a small "
        "model of the same family does not draft.",
        "Use llama-server with --spec-type draft-simple for a small model.",
    ),
    Rule(
        Severity.IGNORED,
        lambda m: when(m.draft and m.length == "0", "PARAMETER draft_num_predict 0"),
        "turns drafting off, and DRAFT is loaded for nothing.",
        "Write PARAMETER draft_num_predict 4, or take DRAFT out.",
    ),
    Rule(
        Severity.HINT,
        lambda m: when(
            not m.draft and m.length not in ("", "0"), f"PARAMETER draft_num_predict {m.length}"
        ),
        "drafts only if the model itself holds MTP heads; otherwise it does nothing.",
        "Check with `ollama show`, or take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda m: m.variable,
        "is a variable of other projects; Ollama does not read it.",
        "Write PARAMETER draft_num_predict N in the Modelfile (OLLAMA_MLX_MTP_… on MLX).",
    ),
)
