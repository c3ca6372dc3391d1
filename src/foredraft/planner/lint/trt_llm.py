"""TensorRT-LLM: the YAML for `trtllm-serve --config`."""

import json
import re
from dataclasses import dataclass
from typing import Any

from foredraft.planner.export.trt_llm import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when
from foredraft.planner.lint.source import nested

ENGINE = "trt-llm"

_OURS = re.compile(r"\btrtllm-(serve|bench|eval)\b|\btensorrt_llm\b|\bdecoding_type\b")
_OLD = {"Medusa", "Lookahead"}
_WITH_A_MODEL = {"Draft_Target", "Eagle", "Eagle3"}
_WITH_A_LENGTH = _WITH_A_MODEL | {"NGram"}
_TYPES = _WITH_A_LENGTH | {
    *("AUTO", "DFlash", "DSpark", "MTP", "PARD", "SA", "SaveState", "User_Provided")
}
_GATE = ("acceptance_rate_window_size", "acceptance_rate_threshold")
_OLD_GATE = ("acceptance_window", "acceptance_length_threshold")


@dataclass(frozen=True, slots=True)
class Speculation:
    """One speculative_config."""

    config: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.config.get("decoding_type", ""))

    def shown(self, *names: str) -> str:
        """The first of `names` that is given, as YAML has it; "" if none is."""
        found = (f"{n}: {json.dumps(self.config[n])}" for n in names if n in self.config)
        return next(found, "")


def recognises(text: str) -> bool:
    """Whether `text` starts or configures TensorRT-LLM."""
    return _OURS.search(text) is not None


def findings(text: str) -> list[Finding]:
    """What stops TensorRT-LLM, does nothing in it, or changes its text."""
    configs = map(Speculation, nested(text, "speculative_config"))
    return [finding for config in configs for finding in check(ENGINE, _RULES, config)]


def _lacks(kinds: set[str], key: str) -> Rule[Speculation]:
    return Rule(
        Severity.ERROR,
        lambda s: when(s.kind in kinds and not s.config.get(key), s.shown("decoding_type")),
        f"needs {key}.",
        f"Add {key}.",
    )


_RULES: tuple[Rule[Speculation], ...] = (
    Rule(
        Severity.ERROR,
        lambda s: when(s.kind == "DraftTarget", s.shown("decoding_type")),
        "is an old spelling, and refused.",
        "Write Draft_Target.",
    ),
    Rule(
        Severity.ERROR,
        lambda s: when(s.kind in _OLD, s.shown("decoding_type")),
        "runs on the old TensorRT backend alone, and not on PyTorch's.",
        "Use Eagle3, MTP, Draft_Target or NGram.",
    ),
    Rule(
        Severity.ERROR,
        lambda s: when(s.kind not in _TYPES | _OLD | {"DraftTarget"}, s.shown("decoding_type")),
        "is no type that TensorRT-LLM knows; capitals and underscores count.",
        f"The types are {', '.join(sorted(_TYPES))}.",
    ),
    _lacks(_WITH_A_LENGTH, "max_draft_len"),
    _lacks(_WITH_A_MODEL, "speculative_model"),
    Rule(
        Severity.ERROR,
        lambda s: s.shown(*_OLD_GATE),
        "was renamed, and an unknown key is refused.",
        f"Write {' and '.join(_GATE)}: a share of drafted tokens, not a length.",
    ),
    Rule(
        Severity.IGNORED,
        lambda s: when(s.kind == "AUTO", s.shown(*(n for n in s.config if n != "decoding_type"))),
        "is not read: AUTO chooses the way of drafting and its numbers by itself.",
        "Take it out, or name a type.",
    ),
    Rule(
        Severity.IGNORED,
        lambda s: s.shown("mtp_eagle_one_model"),
        "does nothing in 1.3: drafting with two models was dropped for MTP.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda s: when("sa_config" in s.config, s.shown("use_rejection_sampling")),
        "is turned off without a word where sa_config is given.",
        "Give one of the two.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda s: when(
            s.config.get("use_relaxed_acceptance_for_thinking"),
            s.shown("use_relaxed_acceptance_for_thinking"),
        ),
        "is lossy: while the model thinks, the text is not its own any more.",
        "Take it out.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda s: s.shown("posterior_threshold"),
        "is lossy: typical acceptance, whose text is not the target's.",
        "Take it out.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda s: when(
            s.kind == "NGram" and s.config.get("is_public_pool", True),
            s.shown("is_public_pool", "decoding_type"),
        ),
        "keeps one pool for all requests unless told otherwise, so users' texts draft each "
        "other's answers.",
        "Write is_public_pool: false.",
    ),
    Rule(
        Severity.HINT,
        lambda s: s.shown(*_GATE),
        "turns speculation off for good once too few drafts are accepted: nothing but a restart "
        "turns it on again.",
        "Take it out, or watch for it.",
    ),
)
