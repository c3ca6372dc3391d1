"""SGLang: `sglang.launch_server` and its environment settings."""

import re

from foredraft.planner.export.sglang import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when
from foredraft.planner.lint.source import Flags, flags

ENGINE = "sglang"

_OURS = re.compile(
    r"\bsglang\b|\bSGLANG_"
    r"|--speculative[-_](algorithm|num[-_]steps|eagle[-_]topk|num[-_]draft[-_]tokens|ngram|accept)"
)
_EAGLE = {"EAGLE", "EAGLE3", "NEXTN"}
_CHAINS = _EAGLE | {"STANDALONE"}
"""Those that draft in steps of a draft model."""
_ALGORITHMS = _CHAINS | {"FROZEN_KV_MTP", "DFLASH", "DSPARK", "NGRAM"}
_ALGORITHM = "--speculative-algorithm"
_STEPS = "--speculative-num-steps"
_TOPK = "--speculative-eagle-topk"
_ROWS = "--speculative-num-draft-tokens"
_DRAFT = "--speculative-draft-model-path"
_ADAPTIVE = "--speculative-adaptive"
_REJECTION = "--speculative-use-rejection-sampling"
_LOSSY = ("--speculative-accept-threshold-single", "--speculative-accept-threshold-acc")


def recognises(text: str) -> bool:
    """Whether `text` is, or starts, SGLang."""
    return _OURS.search(text) is not None


def findings(text: str) -> list[Finding]:
    """What stops SGLang, does nothing in it, or changes its text."""
    return check(ENGINE, _RULES, flags(text))


def _algorithm(given: Flags) -> str:
    return (given.value(_ALGORITHM) or "").upper()


def _unmatched_rows(given: Flags) -> str:
    chain = _algorithm(given) in _CHAINS and given.value(_TOPK) == "1" and given.value(_STEPS)
    steps = given.number(_STEPS, default=0)
    return when(chain and given.number(_ROWS, default=steps + 1) != steps + 1, given.first(_ROWS))


def _unadapted(given: Flags) -> str:
    able = _algorithm(given) in _EAGLE and given.number(_TOPK, default=1) == 1
    return when(not able, given.first(_ADAPTIVE))


def _lossy(given: Flags) -> str:
    low = (name for name in _LOSSY if given.number(name, default=1.0) < 1)
    return given.first(*low)


_RULES: tuple[Rule[Flags], ...] = (
    Rule(
        Severity.ERROR,
        lambda given: when(
            _algorithm(given) and _algorithm(given) not in _ALGORITHMS, given.first(_ALGORITHM)
        ),
        "names an algorithm that SGLang does not have, unless a plug-in adds it.",
        f"The algorithms are {', '.join(sorted(_ALGORITHMS))}.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(
            _algorithm(given) in _CHAINS and not given.first(_STEPS, _ADAPTIVE),
            given.first(_ROWS, _TOPK),
        ),
        "stops SGLang at the start, without a word why: it takes all three numbers, or none.",
        f"Add {_STEPS} N.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(
            _algorithm(given) in ("STANDALONE", "EAGLE3", "DFLASH") and not given.first(_DRAFT),
            given.first(_ALGORITHM),
        ),
        "needs a draft model.",
        f"Add {_DRAFT} ORG/NAME.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(
            _algorithm(given) in ("STANDALONE", "NGRAM"), given.first("--enable-dp-attention")
        ),
        "is refused together with STANDALONE and NGRAM.",
        "Take it out, or draft with EAGLE.",
    ),
    Rule(
        Severity.ERROR,
        lambda given: when(
            _algorithm(given) not in _EAGLE or given.number(_TOPK, default=1) != 1,
            given.first(_REJECTION),
        ),
        f"is refused but with EAGLE, EAGLE3 or NEXTN and {_TOPK} 1.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(not _algorithm(given), given.first(_DRAFT, _STEPS, _TOPK, _ROWS)),
        "does nothing: no algorithm is named.",
        f"Add {_ALGORITHM} STANDALONE (or EAGLE3, NGRAM …).",
    ),
    Rule(
        Severity.IGNORED,
        _unmatched_rows,
        f"counts the verified token too, and is set to {_STEPS} + 1 where {_TOPK} is 1, with a "
        "warning.",
        f"Write {_STEPS} for the draft length, and one more here.",
    ),
    Rule(
        Severity.IGNORED,
        _unadapted,
        f"is turned off, with a warning: draft lengths adapt for EAGLE and EAGLE3 with {_TOPK} 1 "
        "alone.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(_algorithm(given), given.first("--enable-mixed-chunk")),
        "is turned off while SGLang speculates, with a warning.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda given: given.first("SGLANG_ENABLE_SPEC_V2"),
        "is not read any more: what it turned on is what runs.",
        "Take it out; --disable-overlap-schedule turns the overlap off.",
    ),
    Rule(
        Severity.HARMFUL,
        _lossy,
        "below 1 is lossy: the text is not the target's any more.",
        "Take it out.",
    ),
)
