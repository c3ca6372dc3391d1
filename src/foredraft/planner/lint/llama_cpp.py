"""llama.cpp: llama-server, llama-cli and their environment settings."""

import re

from foredraft.planner.export.llama_cpp import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when
from foredraft.planner.lint.source import Flags, flags

ENGINE = "llama.cpp"

_OURS = re.compile(
    r"\bllama-(server|cli|speculative)|llama\.cpp|\bLLAMA_ARG_|--spec-(type|draft|ngram|default)"
    r"|\bspeculative\.(n_max|n_min|p_min|type|ngram)"
)
_REQUEST = re.compile(r"speculative\.(?:n_max|n_min|p_min|type|ngram_\w+)")
_HEAD = re.compile("mtp|nextn|dflash|dspark", re.IGNORECASE)
_TYPES = {
    "none",
    *(f"draft-{kind}" for kind in ("simple", "eagle3", "mtp", "dflash", "dspark")),
    *(f"ngram-{kind}" for kind in ("simple", "map-k", "map-k4v", "mod", "cache")),
}
_BLOCKS = {"draft-dflash", "draft-dspark"}
_NEED_A_FILE = {"draft-simple", "draft-eagle3", *_BLOCKS}
_TYPE = ("--spec-type", "LLAMA_ARG_SPEC_TYPE")
_DRAFT = (
    *("--spec-draft-model", "-md", "--model-draft", "LLAMA_ARG_SPEC_DRAFT_MODEL"),
    *("--spec-draft-hf", "-hfd", "-hfrd", "--hf-repo-draft", "LLAMA_ARG_SPEC_DRAFT_HF_REPO"),
)
_N_MAX = ("--spec-draft-n-max", "LLAMA_ARG_SPEC_DRAFT_N_MAX")
_N_MIN = ("--spec-draft-n-min", "LLAMA_ARG_SPEC_DRAFT_N_MIN")
_P_MIN = ("--spec-draft-p-min", "--draft-p-min", "LLAMA_ARG_SPEC_DRAFT_P_MIN")
_SLOTS = ("-np", "--parallel", "LLAMA_ARG_N_PARALLEL")


def recognises(text: str) -> bool:
    """Whether `text` is, or starts, llama.cpp."""
    return _OURS.search(text) is not None


def findings(text: str) -> list[Finding]:
    """What stops llama.cpp, does nothing in it, or slows it down."""
    found = check(ENGINE, _RULES, flags(text))
    if request := _REQUEST.search(text):
        found.append(Finding(ENGINE, Severity.IGNORED, request[0], *_UNREAD))
    return found


def _types(given: Flags) -> set[str]:
    chosen = {"ngram-mod"} if given.first("--spec-default") else set[str]()
    named = given.value(*_TYPE)
    return chosen | (set(named.split(",")) if named else set())


def _drafts(given: Flags) -> bool:
    return any(kind.startswith("draft-") for kind in _types(given))


def _gone(names: tuple[str, ...], mend: str) -> Rule[Flags]:
    what = "was removed; llama.cpp stops at the start with an error."
    return Rule(Severity.ERROR, lambda given: given.first(*names), what, mend)


def _never_matches(given: Flags) -> str:
    """ngram-simple drops every draft that is shorter than what was matched."""
    sizes = "--spec-ngram-simple-size-n", "--spec-ngram-simple-size-m"
    n, m = given.number(sizes[0], default=12), given.number(sizes[1], default=48)
    return when("ngram-simple" in _types(given) and n > m, given.first(*reversed(sizes)))


def _untyped(given: Flags) -> str:
    draft = given.first(*_DRAFT)
    return when(not _types(given) and _HEAD.search(draft) is None, draft)


def _unread_hits(given: Flags) -> str:
    return given.first("--spec-ngram-simple-min-hits", "--spec-ngram-map-k-min-hits")


def _shared(given: Flags) -> str:
    mod = given.first(*_TYPE) or given.first("--spec-default")
    return when("ngram-mod" in _types(given) and given.number(*_SLOTS, default=4) != 1, mod)


def _unknown(given: Flags) -> str:
    return when(bool(_types(given) - _TYPES), given.first(*_TYPE))


_CONTEXT = "Take it out: a draft model's context is always the target's."
_RULES: tuple[Rule[Flags], ...] = (
    _gone(
        ("--draft-max", "--draft", "--draft-n", "LLAMA_ARG_DRAFT_MAX"),
        "Write --spec-draft-n-max N for a draft model, --spec-ngram-mod-n-max N for ngram-mod.",
    ),
    _gone(
        ("--draft-min", "--draft-n-min", "LLAMA_ARG_DRAFT_MIN"),
        "Write --spec-draft-n-min N for a draft model, --spec-ngram-mod-n-min N for ngram-mod.",
    ),
    *(
        _gone((f"--spec-ngram-{name}",), f"Write --spec-ngram-simple-{name}, or another type's.")
        for name in ("size-n", "size-m", "min-hits")
    ),
    _gone(("-cd", "--ctx-size-draft"), _CONTEXT),
    _gone(
        ("--spec-replace",),
        "Take it out: vocabularies are not translated any more; use a draft model of the same one.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: given.first("--spec-draft-conf-min"),
        "is in the documentation but not in the program, which stops at an unknown argument.",
        "Write --spec-draft-p-min P; DSpark reads it as its confidence threshold.",
    ),
    Rule(
        Severity.ERROR,
        _unknown,
        "names a type that does not exist; llama.cpp stops at the start.",
        f"The types are {', '.join(sorted(_TYPES))}.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: given.first("LLAMA_ARG_CTX_SIZE_DRAFT"),
        "is not read any more.",
        _CONTEXT,
    ),
    Rule(
        Severity.IGNORED,
        _untyped,
        "does nothing alone: the type of speculation is none unless it is named, so the draft "
        "model is loaded and dropped again.",
        "Add --spec-type draft-simple.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when("none" in _types(given) and len(_types(given)) > 1, given.first(*_TYPE)),
        "turns speculation off: none in the list drops every other type.",
        "Take none out of the list.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(
            bool(_types(given) & _NEED_A_FILE) and not given.first(*_DRAFT), given.first(*_TYPE)
        ),
        "has no draft model; llama.cpp logs an error and serves without speculation.",
        "Add --spec-draft-model FILE.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(bool(_types(given)) and not _drafts(given), given.first(*_DRAFT)),
        "is loaded for nothing: no type in --spec-type drafts with a model.",
        "Add draft-simple to --spec-type, or take the model out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(
            not _types(given) and not given.first(*_DRAFT), given.first(*_N_MAX, *_N_MIN, *_P_MIN)
        ),
        "does nothing: neither a type of speculation nor a draft model is named.",
        "Add --spec-type draft-simple and --spec-draft-model FILE.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(
            given.number(*_N_MIN, default=0) > given.number(*_N_MAX, default=3),
            given.first(*_N_MIN),
        ),
        "is more than --spec-draft-n-max (3 unless given), so every draft is thrown away as too "
        "short.",
        "Lower it to 0.",
    ),
    Rule(
        Severity.IGNORED,
        _never_matches,
        "makes the copy shorter than the match (12 and 48 unless given), and ngram-simple drops "
        "such drafts: it never drafts.",
        "Make --spec-ngram-simple-size-n the smaller of the two.",
    ),
    Rule(
        Severity.IGNORED,
        _unread_hits,
        "is accepted and never read; only ngram-map-k4v counts hits.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: given.first("--spec-draft-p-split", "--draft-p-split"),
        "is read by the demonstration program for trees alone, not by the server.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: given.first("--lookup-cache-dynamic", "-lcd"),
        "is read but never written by the server.",
        "Fill it with llama-lookup, or take it out.",
    ),
    Rule(
        Severity.HARMFUL,
        _shared,
        "keeps one table for all slots (four unless -np says otherwise), so users' texts draft "
        "each other's answers, and one user's misses empty it for all.",
        "Give it one slot, -np 1, or use ngram-simple.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda given: when("ngram-cache" in _types(given), given.first(*_TYPE)),
        "carries one request's counts over into the next, and accepts ever less.",
        "Use ngram-simple.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda given: given.first("--spec-synth-len", "--spec-synth-rates"),
        "accepts drafts by a dice, for benchmarks: the text is not the model's.",
        "Take it out.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda given: when(
            given.number(*_N_MAX, default=3) >= 16 and not _types(given) & _BLOCKS,
            given.first(*_N_MAX),
        ),
        "is advice from when 16 was the default (now 3): most of so long a draft is rejected and "
        "paid for twice, when it is drafted and when it is verified.",
        "Measure what pays with `foredraft plan`; 2 to 8 is usual.",
    ),
    Rule(
        Severity.HINT,
        lambda given: when(given.number(*_P_MIN, default=0) == 0.75, given.first(*_P_MIN)),
        "was the default once (now 0). It is compared with a probability among the ten likeliest "
        "tokens, so it is less strict than it looks.",
        "Leave it out, or measure both.",
    ),
    Rule(
        Severity.HINT,
        lambda given: when(
            given.number("--spec-ngram-mod-n-match", default=24) < 16,
            given.first("--spec-ngram-mod-n-match"),
        ),
        "is so short that ngram-mod, which does not check what it found, drafts much nonsense; "
        "llama.cpp warns below 16.",
        "Use 16 or more.",
    ),
)
_UNREAD = (
    "is not read from requests any more, without an error: speculation is set at the start.",
    "Take it out of the request, and start the server with --spec-type and its flags.",
)
