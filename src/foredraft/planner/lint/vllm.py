"""vLLM: `vllm serve`, a YAML or JSON configuration, or LLM(...) in Python."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from foredraft.planner.export.vllm import VERSIONS as VERSIONS
from foredraft.planner.lint.finding import Finding, Rule, Severity, check, when
from foredraft.planner.lint.source import (
    Flags,
    as_key,
    flags,
    nested,
    number,
    objects,
    scalar,
)

ENGINE = "vllm"

_OURS = re.compile(
    r"\bvllm\b|\bVLLM_|speculative[-_]config|num[-_]speculative[-_]tokens|--spec-(method|model)\b"
)
_SHORT = {
    "--spec-method": "method",
    "--spec-model": "model",
    "--spec-tokens": "num_speculative_tokens",
}
_REMOVED = (
    *("--speculative-model", "--num-speculative-tokens", "--speculative-max-model-len"),
    *("--speculative-draft-tensor-parallel-size", "--speculative-disable-by-batch-size"),
    *("--ngram-prompt-lookup-max", "--ngram-prompt-lookup-min"),
)
_WITH_A_MODEL = {"draft_model", "eagle", "eagle3", "mtp", "dflash", "dspark"}
_METHODS = _WITH_A_MODEL | {
    *("ngram", "ngram_gpu", "suffix", "custom_class", "extract_hidden_states")
}
_CONFIG = ("--speculative-config", "-sc")
_NO_JSON = (
    "cannot be read as JSON with a method and num_speculative_tokens.",
    'Write it in single quotes: \'{"method": "ngram", "num_speculative_tokens": 4}\'.',
)
_SCHEDULE = "num_speculative_tokens_per_batch_size"


@dataclass(frozen=True, slots=True)
class Speculation:
    """One speculative configuration, empty if there is none, and what is said around it."""

    config: dict[str, Any]
    flags: Flags
    text: str

    @property
    def method(self) -> str | None:
        method = self.config.get("method")
        return method if isinstance(method, str) else None

    def shown(self, key: str) -> str:
        """The key with its value, "" if it is not given."""
        return f'"{key}": {json.dumps(self.config[key])}' if key in self.config else ""

    def number(self, key: str) -> float | None:
        value = self.config.get(key)
        return value if isinstance(value, int | float) else None


def recognises(text: str) -> bool:
    """Whether `text` configures vLLM."""
    # TensorRT-LLM has a speculative_config as well, with a decoding_type instead of a method.
    return _OURS.search(text) is not None and "decoding_type" not in text


def findings(text: str) -> list[Finding]:
    """What stops vLLM, does nothing in it, slows it down or changes its text."""
    given = flags(text)
    found, configs = check(ENGINE, _COMMAND_RULES, given), [*_configs(text, given)]
    for config in configs or [{}]:
        found += check(ENGINE, _RULES, Speculation(config, given, text))
    if not configs and "{" in (given.value(*_CONFIG) or ""):
        found.append(Finding(ENGINE, Severity.ERROR, given.first(*_CONFIG), *_NO_JSON))
    return found


def _configs(text: str, given: Flags) -> Iterator[dict[str, Any]]:
    short = {key: given.given[flag] for flag, key in _SHORT.items() if flag in given.given}
    if short:
        yield {key: scalar(value) for key, value in short.items()}
    yield from nested(text, "speculative_config")
    for found in objects(text):
        inner = {as_key(key): value for key, value in found.items()}
        inner = inner.get("speculative_config", inner)
        if isinstance(inner, dict) and {"method", "num_speculative_tokens"} & inner.keys():
            yield {as_key(key): value for key, value in inner.items()}


def _missing_length(s: Speculation) -> str:
    needed = s.method in ("ngram", "ngram_gpu", "draft_model")
    return when(needed and "num_speculative_tokens" not in s.config, s.shown("method"))


def _missing_model(s: Speculation) -> str:
    needed = s.method in ("draft_model", "eagle", "eagle3", "dflash")
    return when(needed and "model" not in s.config, s.shown("method"))


def _draft_parallel(s: Speculation) -> str:
    key = "draft_tensor_parallel_size"
    ours = s.flags.number("--tensor-parallel-size", "-tp", default=1)
    return when(key in s.config and s.number(key) not in (1, ours), s.shown(key))


def _empty_window(s: Speculation) -> str:
    low, high = s.number("prompt_lookup_min"), s.number("prompt_lookup_max")
    return when(low and high and low > high, s.shown("prompt_lookup_min"))


def _ranges(s: Speculation) -> list[list[int]]:
    ranges = s.config.get(_SCHEDULE)
    whole = isinstance(ranges, list) and all(isinstance(r, list) and len(r) == 3 for r in ranges)
    return ranges if isinstance(ranges, list) and whole else []


def _broken_schedule(s: Speculation) -> str:
    ranges, most = _ranges(s), s.number("num_speculative_tokens") or 0
    broken = ranges and (ranges[0][0] != 1 or any(k > most for _, _, k in ranges))
    return when(broken, s.shown(_SCHEDULE))


def _old_runner(s: Speculation) -> str:
    if s.method in ("suffix", "custom_class"):
        return s.shown("method")
    if s.config.get("use_heterogeneous_vocab"):
        return s.shown("use_heterogeneous_vocab")
    parallel = s.config.get("parallel_drafting") and s.method not in ("dflash", "dspark")
    if parallel:
        return s.shown("parallel_drafting")
    chosen = "VLLM_USE_V2_MODEL_RUNNER"
    return when(s.flags.value(chosen) == "0", s.flags.first(chosen))


def _block_on_old_runner(s: Speculation) -> str:
    block = s.config.get("rejection_sample_method") == "block"
    return when(block and _old_runner(s), s.shown("rejection_sample_method"))


def _lossy(s: Speculation) -> str:
    return when(
        s.config.get("rejection_sample_method") in ("fly", "synthetic"),
        s.shown("rejection_sample_method"),
    )


def _typical(s: Speculation) -> str:
    for key in ("rejection_sample_method", "acceptance_method"):
        if "typical" in str(s.config.get(key)):
            return s.shown(key)
    flag = "--spec-decoding-acceptance-method"
    return when("typical" in (s.flags.value(flag) or ""), s.flags.first(flag))


def _greedy_draft(s: Speculation) -> bool:
    greedy = s.config.get("draft_sample_method", "greedy") == "greedy"
    return s.method in _WITH_A_MODEL and greedy


def _greedy_when_sampling(s: Speculation) -> str:
    sampling = (number(s.text, "temperature") or 0) > 0
    where = s.shown("draft_sample_method") or s.shown("method")
    return when(sampling and _greedy_draft(s), where)


def _greedy_unsaid(s: Speculation) -> str:
    unsaid = number(s.text, "temperature") is None and "draft_sample_method" not in s.config
    return when(unsaid and _greedy_draft(s), s.shown("method"))


def _refused_in_requests(s: Speculation) -> str:
    if not s.config:
        return ""
    return "min_p" if number(s.text, "min_p") else when("logit_bias" in s.text, "logit_bias")


_COMMAND_RULES: tuple[Rule[Flags], ...] = (
    Rule(
        Severity.ERROR,
        lambda given: given.first(*_REMOVED),
        "was removed in 2025; vLLM stops at an unknown argument.",
        'Write --speculative-config \'{"method": …, "num_speculative_tokens": …}\'.',
    ),
    Rule(
        Severity.IGNORED,
        lambda given: when(
            _SCHEDULE in (given.value(*_CONFIG) or "")
            and given.number("--data-parallel-size", "-dp", default=1) > 1,
            given.first("--data-parallel-size", "-dp"),
        ),
        f"turns {_SCHEDULE} off: the ranks could not agree on a draft length.",
        "Run replicas behind a router instead, or take the schedule out.",
    ),
)
_RULES: tuple[Rule[Speculation], ...] = (
    Rule(
        Severity.ERROR,
        lambda s: when(s.method in ("medusa", "mlp_speculator"), s.shown("method")),
        "was removed from vLLM.",
        "Use eagle3, mtp or draft_model.",
    ),
    Rule(
        Severity.ERROR,
        lambda s: when(
            s.method
            and s.method not in _METHODS | {"medusa", "mlp_speculator"}
            and not s.method.endswith("_mtp"),
            s.shown("method"),
        ),
        "is no method that vLLM knows.",
        f"The methods are {', '.join(sorted(_METHODS))}.",
    ),
    Rule(
        Severity.ERROR,
        _missing_length,
        "needs num_speculative_tokens.",
        'Add "num_speculative_tokens": 4, or what `foredraft plan` finds.',
    ),
    Rule(Severity.ERROR, _missing_model, "needs a draft model.", 'Add "model": "ORG/NAME".'),
    Rule(
        Severity.ERROR,
        lambda s: s.shown("tensor_parallel_size"),
        "is not a key of the speculative configuration.",
        "Write draft_tensor_parallel_size.",
    ),
    Rule(
        Severity.ERROR,
        _draft_parallel,
        "must be 1 or the target's --tensor-parallel-size.",
        "Leave it out, to follow the target.",
    ),
    Rule(
        Severity.ERROR,
        _empty_window,
        "is more than prompt_lookup_max.",
        "Make it at most prompt_lookup_max.",
    ),
    Rule(
        Severity.ERROR,
        lambda s: when(
            s.config.get("use_heterogeneous_vocab")
            and s.config.get("draft_sample_method") == "probabilistic",
            s.shown("use_heterogeneous_vocab"),
        ),
        "drafts greedily only.",
        'Take "draft_sample_method" out, or use a draft model of the same vocabulary.',
    ),
    Rule(
        Severity.ERROR,
        _broken_schedule,
        "must begin at batch size 1 and never draft more than num_speculative_tokens.",
        "Write [[first batch size, last, draft length], …], from 1.",
    ),
    Rule(
        Severity.ERROR,
        _refused_in_requests,
        "in a request is refused while vLLM speculates.",
        "Take it out of the requests, or serve those without speculation.",
    ),
    Rule(
        Severity.IGNORED,
        _block_on_old_runner,
        "does nothing on the old model runner, which verifies token by token all the same and "
        "makes a probabilistic draft greedy.",
        "Take it out, or what drops vLLM to the old runner.",
    ),
    Rule(
        Severity.HARMFUL,
        _old_runner,
        "drops vLLM 0.33 to its old, deprecated model runner, with one warning: what speculation "
        "gains may be lost to it.",
        "Use ngram or draft_model, or measure it beside plain decoding on the new runner.",
    ),
    Rule(
        Severity.HARMFUL,
        _lossy,
        "is lossy: the text is not the target's any more.",
        'Write "rejection_sample_method": "standard".',
    ),
    Rule(
        Severity.HARMFUL,
        _typical,
        "is lossy, and vLLM 0.33 has no typical acceptance any more.",
        "Take it out.",
    ),
    Rule(
        Severity.HARMFUL,
        _greedy_when_sampling,
        "drafts the likeliest token although requests sample, so fewer drafts are accepted than "
        "could be.",
        'Write "draft_sample_method": "probabilistic".',
    ),
    Rule(
        Severity.HINT,
        _greedy_unsaid,
        "drafts greedily unless told otherwise, which accepts less where requests sample.",
        'Write "draft_sample_method": "probabilistic" if their temperature is above 0, '
        '"greedy" if it is 0.',
    ),
    Rule(
        Severity.HINT,
        lambda s: when(s.method is None and "model" in s.config, s.shown("model")),
        "stands without a method, which vLLM then guesses from the checkpoint's name: renaming "
        "the folder changes it.",
        'Add "method": "draft_model" (or eagle3, mtp …).',
    ),
    Rule(
        Severity.HINT,
        lambda s: when((s.method or "").endswith("_mtp"), s.shown("method")),
        "is an old name that vLLM rewrites, with a warning.",
        'Write "method": "mtp".',
    ),
)
