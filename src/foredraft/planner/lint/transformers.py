"""Transformers: Python that calls generate()."""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from foredraft.core.errors import ForedraftError
from foredraft.planner.export.transformers import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when

ENGINE = "transformers"

_OURS = re.compile(
    r"\b(from|import)\s+transformers\b|\bassistant_model\b|\bprompt_lookup_num_tokens\b"
    r"|\bnum_assistant_tokens\b|\.generate\("
)
_ON_ASSISTANT = (
    *("num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold"),
    *("assistant_lookbehind", "target_lookbehind"),
)
_GEMMA = re.compile(r"gemma-?4[\w.-]*assistant", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    """One generate() with its keyword arguments as source text, or what leads up to it."""

    function: str
    given: dict[str, str]
    text: str

    def shown(self, *names: str) -> str:
        """The first of `names` that is given, as it is written; "" if none is."""
        return next((f"{name}={self.given[name]}" for name in names if name in self.given), "")


def recognises(text: str) -> bool:
    """Whether `text` is Python for Transformers."""
    return _OURS.search(text) is not None and "vllm" not in text


def findings(text: str) -> list[Finding]:
    """What generate() refuses, does not read, or lets change the text."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError as error:
        raise ForedraftError(
            f"This looks like Python for Transformers but cannot be read as Python (line "
            f"{error.lineno}: {error.msg}); give a whole snippet."
        ) from error
    calls = [*_calls(tree, text)]
    assistants = {
        call.given["assistant_model"] for call in calls if "assistant_model" in call.given
    }
    found = [finding for call in calls for finding in check(ENGINE, _RULES, call)]
    return [*found, *_misplaced(tree, assistants)]


def _calls(tree: ast.AST, text: str) -> Iterator[Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func).rpartition(".")[2]
            if function in ("generate", "generate_batch", "GenerationConfig", "pipeline"):
                given = {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg}
                yield Call(function, given, text)


def _misplaced(tree: ast.AST, assistants: set[str]) -> Iterator[Finding]:
    """An assistant's settings put on the target's generation_config."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)):
            continue
        owner, _, config = ast.unparse(node.targets[0].value).rpartition(".")
        misplaced = config == "generation_config" and owner not in assistants
        if misplaced and assistants and node.targets[0].attr in _ON_ASSISTANT:
            setting = ast.unparse(node)
            yield Finding(ENGINE, Severity.IGNORED, setting, _UNREAD, _mend(sorted(assistants)[0]))


def _mend(assistant: str) -> str:
    return f"Set it on {assistant}.generation_config."


def _set(call: Call, name: str) -> bool:
    return call.given.get(name, "None") not in ("None", "False", "0")


_UNREAD = "is read from the assistant's generation_config alone, and has no effect here."
_RULES: tuple[Rule[Call], ...] = (
    Rule(
        Severity.IGNORED,
        lambda call: call.shown(*_ON_ASSISTANT),
        _UNREAD,
        "Write assistant.generation_config.num_assistant_tokens = N (and the like) before "
        "generate().",
    ),
    Rule(
        Severity.ERROR,
        lambda call: when(
            call.function == "generate_batch" and _set(call, "assistant_model"),
            call.shown("assistant_model"),
        ),
        "is refused by generate_batch().",
        "Call generate() for one prompt at a time.",
    ),
    Rule(
        Severity.ERROR,
        lambda call: when(
            _speculates(call) and call.given.get("num_return_sequences", "1") != "1",
            call.shown("num_return_sequences"),
        ),
        "is refused together with speculation.",
        "Ask for one sequence.",
    ),
    Rule(
        Severity.ERROR,
        lambda call: when(
            _speculates(call) and call.given.get("use_cache") == "False", call.shown("use_cache")
        ),
        "is refused together with speculation, which needs the cache.",
        "Take it out.",
    ),
    Rule(
        Severity.ERROR,
        lambda call: when(
            _set(call, "prompt_lookup_num_tokens") and _set(call, "assistant_ensemble_weight"),
            call.shown("assistant_ensemble_weight"),
        ),
        "is refused with prompt lookup.",
        "Take it out.",
    ),
    Rule(
        Severity.IGNORED,
        lambda call: when(
            _speculates(call) and call.given.get("num_beams", "1") != "1", call.shown("num_beams")
        ),
        "turns speculation off, with a warning: beams are searched without an assistant.",
        "Take num_beams out, or the assistant.",
    ),
    Rule(
        Severity.IGNORED,
        lambda call: when(
            _set(call, "prompt_lookup_num_tokens") and _set(call, "assistant_model"),
            call.shown("assistant_model"),
        ),
        "is not asked: prompt lookup comes first, and nothing combines the two.",
        "Give one of the two.",
    ),
    Rule(
        Severity.IGNORED,
        lambda call: when(
            not _set(call, "prompt_lookup_num_tokens"), call.shown("max_matching_ngram_size")
        ),
        "does nothing without prompt_lookup_num_tokens.",
        "Add prompt_lookup_num_tokens=N.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda call: when(
            _set(call, "assistant_ensemble_weight"), call.shown("assistant_ensemble_weight")
        ),
        "is lossy: drafts are judged by a mixture with the assistant, and the text is not the "
        "target's any more.",
        "Take it out.",
    ),
    Rule(
        Severity.HARMFUL,
        lambda call: when(
            call.given.get("do_sample") == "True"
            and _set(call, "assistant_model")
            and _GEMMA.search(call.text),
            call.shown("do_sample"),
        ),
        "with a Gemma 4 assistant does not sample from the target: the assistant's likeliest "
        "tokens are judged as if it had sampled them, and too many pass.",
        "Use do_sample=False, or another assistant.",
    ),
)


def _speculates(call: Call) -> bool:
    return _set(call, "assistant_model") or _set(call, "prompt_lookup_num_tokens")
