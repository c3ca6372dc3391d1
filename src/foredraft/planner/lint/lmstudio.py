"""LM Studio: `lms load`, and drafting settings in its SDKs."""

import re

from foredraft.planner.export.lmstudio import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when
from foredraft.planner.lint.source import Flags, flags

ENGINE = "lmstudio"

_OURS = re.compile(
    r"\blms\s+(load|get|server|ps)\b|\blmstudio\b|\bspeculative(Decoding|Draft)[A-Z]|\bdraftModel\b"
    r"|--speculative-draft-(simple|mtp|dflash|dspark|max-tokens|min-tokens|min-continue|model\b(?!-))"
)
_OLD_SDK = re.compile(
    r"speculativeDecoding(MinDraftLengthToConsider|MinContinueDraftingProbability"
    r"|NumDraftTokensExact)"
)
_SDK = re.compile(r"\bdraftModel\b")
_SIMPLE = "--speculative-draft-simple"
_MTP = ("--speculative-draft-mtp", "--mtp")
_FILES = (_SIMPLE, "--speculative-draft-dflash", "--speculative-draft-dspark")
"""Ways of drafting that need a second file."""
_MODES = (*_FILES, *_MTP)
_MODEL = ("--speculative-draft-model", "--drafter")
_MOST, _LEAST = "--speculative-draft-max-tokens", "--speculative-draft-min-tokens"
_TUNING = (_MOST, _LEAST, "--speculative-draft-min-continue-probability")


def recognises(text: str) -> bool:
    """Whether `text` is for LM Studio."""
    return _OURS.search(text) is not None


def findings(text: str) -> list[Finding]:
    """What `lms` refuses, and what its SDKs do not set."""
    given = flags(text)
    found = check(ENGINE, _RULES, given)
    if old := _OLD_SDK.search(text):
        found.append(Finding(ENGINE, Severity.HINT, old[0], *_DEPRECATED))
    elif (named := _SDK.search(text)) and not given.first(_MOST):
        found.append(Finding(ENGINE, Severity.HINT, named[0], *_LENGTH_UNSAID))
    return found


def _given(given: Flags, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if name in given.given]


def _at_once(given: Flags) -> str:
    """Two ways of drafting, two names of one model, or none and one."""
    modes, models = _given(given, _MODES), _given(given, _MODEL)
    off = "--no-drafter" in given.given
    if off and (modes or models or _given(given, _TUNING)):
        return given.first("--no-drafter")
    if len(modes) > 1:
        return given.first(modes[1])
    both = len(models) > 1 or ("--mtp" in modes and models)
    return when(both, given.first("--drafter", *models))


_RULES: tuple[Rule[Flags], ...] = (
    Rule(
        Severity.ERROR,
        _at_once,
        "is refused together with another setting of drafting that is given.",
        "Name one way of drafting, and one model for it.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(not _given(given, _MODEL), given.first(*_FILES)),
        "needs a draft model.",
        "Add --speculative-draft-model KEY; `lms ls` lists yours.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(not _given(given, _MODES), given.first("--speculative-draft-model")),
        "is refused without a way of drafting, but by the newest versions of lms.",
        f"Add {_SIMPLE}.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(
            not _given(given, (*_MODES, *_MODEL, "--no-drafter")), given.first(*_TUNING)
        ),
        "is refused where nothing drafts.",
        f"Add {_SIMPLE} --speculative-draft-model KEY, or --speculative-draft-mtp.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(
            given.number(_LEAST, default=0) > given.number(_MOST, default=float("inf")),
            given.first(_LEAST),
        ),
        f"is more than {_MOST}, which lms refuses.",
        "Lower it to 0.",
    ),
)
_DEPRECATED = (
    "is experimental and deprecated in the SDK: drafting is set when the model is loaded.",
    f"Write {_MOST} N (and the like) after `lms load`.",
)
_LENGTH_UNSAID = (
    "names the draft and not how long it drafts: that is as the app says, up to 16 tokens, each at "
    "least 0.75 likely, unless changed there.",
    f"Set the length when the model is loaded: {_MOST} N.",
)
