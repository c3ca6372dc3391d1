"""From logits and a request's settings to p, the one law every path samples, judges and reports."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from foredraft.core.errors import ForedraftError
from foredraft.core.types import FloatArray, IntArray, LogitArray

Processor = Callable[[IntArray, FloatArray], FloatArray]
"""(the text so far, prompt included [n], scores [V]) → scores [V]; depends on these alone."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """What shapes p. Defaults leave the model's own choice: greedy, nothing filtered or penalised.

    Applied in Transformers' order: bias, penalties, masks, `processors`, temperature, top-k, top-p,
    min-p, typical-p. The repetition penalty sees prompt and output; presence and frequency
    penalties see the output only (OpenAI's definition). Raises ForedraftError for a value out of
    range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    allowed_tokens: Collection[int] | None = None
    min_tokens: int = 0
    processors: Sequence[Processor] = ()

    def __post_init__(self) -> None:
        for name, ok, want in (
            ("temperature", self.temperature >= 0, "0 (greedy) or more"),
            ("top_k", self.top_k >= 0, "0 (off) or more"),
            ("top_p", 0 < self.top_p <= 1, "above 0 and at most 1 (off)"),
            ("min_p", 0 <= self.min_p <= 1, "between 0 (off) and 1"),
            ("typical_p", 0 < self.typical_p <= 1, "above 0 and at most 1 (off)"),
            ("repetition_penalty", self.repetition_penalty > 0, "above 0 (1 is off)"),
            ("min_tokens", self.min_tokens >= 0, "0 (off) or more"),
        ):
            if not ok:
                raise ForedraftError(f"{name} is {getattr(self, name)}; it must be {want}.")
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ForedraftError(f"{item.name} is {value}; it must be a finite number.")
        for token, bias in self.logit_bias.items():
            if math.isnan(bias) or bias == math.inf:
                raise ForedraftError(f"logit_bias of token {token} is {bias}; it must be a number.")
        if self.allowed_tokens is not None and not self.allowed_tokens:
            raise ForedraftError("allowed_tokens is empty; at least one token must be allowed.")

    @property
    def is_greedy(self) -> bool:
        return self.temperature == 0

    @property
    def reported(self) -> "SamplingParams":
        """The settings whose p is reported as logprobs: greedy's one-hot p would only say 0.0."""
        return replace(self, temperature=1.0) if self.is_greedy else self


def law(
    logits: LogitArray,
    params: SamplingParams,
    prompt: IntArray,
    output: IntArray,
    eos: Collection[int] = (),
) -> FloatArray:
    """p after `prompt` and `output` (token ids so far, drafts included), [V] → [V], sums to 1.

    At temperature 0 p is one-hot at the largest logit, the lowest id on ties.
    """
    scores = logits.astype(np.float64)
    _bias(scores, params)
    _penalise(scores, params, prompt, output)
    _mask(scores, params, output, eos)
    for process in params.processors:
        scores = process(np.concatenate([prompt, output]), scores)
    if not np.isfinite(scores.max()):
        raise ForedraftError(
            "No token has a finite score: the masks exclude every token, or the model's numbers "
            "overflowed; loosen the masks or use --dtype float32."
        )
    if params.is_greedy:
        p = np.zeros_like(scores)
        p[np.argmax(scores)] = 1.0
        return p
    p = _softmax(scores, params.temperature)
    for keep in (_keep_top_k, _keep_top_p, _keep_min_p, _keep_typical):
        p = keep(p, params)
    return p


def _bias(scores: FloatArray, params: SamplingParams) -> None:
    for token, bias in params.logit_bias.items():
        if not 0 <= token < scores.size:
            raise ForedraftError(
                f"logit_bias names token {token}, but the vocabulary ends at {scores.size - 1}."
            )
        scores[token] += bias


def _penalise(
    scores: FloatArray, params: SamplingParams, prompt: IntArray, output: IntArray
) -> None:
    if params.repetition_penalty != 1:
        seen = np.unique(np.concatenate([prompt, output]))
        penalty = params.repetition_penalty
        scores[seen] = np.where(scores[seen] > 0, scores[seen] / penalty, scores[seen] * penalty)
    if params.presence_penalty or params.frequency_penalty:
        ids, counts = np.unique(output, return_counts=True)
        scores[ids] -= params.presence_penalty + params.frequency_penalty * counts


def _mask(
    scores: FloatArray, params: SamplingParams, output: IntArray, eos: Collection[int]
) -> None:
    if params.allowed_tokens is not None:
        allowed = np.fromiter(params.allowed_tokens, dtype=np.int64)
        if allowed.min() < 0 or allowed.max() >= scores.size:
            raise ForedraftError(
                f"allowed_tokens names a token outside the vocabulary 0…{scores.size - 1}."
            )
        barred = np.ones(scores.size, dtype=bool)
        barred[allowed] = False
        scores[barred] = -np.inf
    if output.size < params.min_tokens and eos:
        scores[list(eos)] = -np.inf


def _softmax(scores: FloatArray, temperature: float) -> FloatArray:
    # The maximum is taken off before dividing, so that a tiny temperature cannot overflow.
    with np.errstate(over="ignore"):
        weights: FloatArray = np.exp((scores - scores.max()) / temperature)
    weights /= weights.sum()
    return weights


def _only(p: FloatArray, kept: IntArray) -> FloatArray:
    """p restricted to the ids `kept` and renormalised."""
    weights = np.zeros_like(p)
    weights[kept] = p[kept]
    weights /= weights.sum()
    return weights


def _largest(p: FloatArray, count: int) -> IntArray:
    """The `count` most likely ids, most likely first, the lowest id first on ties."""
    if count < p.size:
        threshold = np.partition(p, p.size - count)[p.size - count]
        candidates = np.flatnonzero(p >= threshold)
    else:
        candidates = np.arange(p.size)
    return candidates[np.argsort(-p[candidates], kind="stable")][:count]


def _keep_top_k(p: FloatArray, params: SamplingParams) -> FloatArray:
    if not 0 < params.top_k < p.size:
        return p
    return _only(p, _largest(p, params.top_k))


def _keep_top_p(p: FloatArray, params: SamplingParams) -> FloatArray:
    """The fewest most likely tokens that together reach top_p."""
    if params.top_p == 1:
        return p
    # A full sort of a large vocabulary costs more than the model's own arithmetic on a small
    # model, so sort a growing head until it holds the mass.
    count = min(256, p.size)
    while True:
        order = _largest(p, count)
        mass = np.cumsum(p[order])
        if mass[-1] >= params.top_p or count == p.size:
            return _only(p, order[: int(np.searchsorted(mass, params.top_p)) + 1])
        count = min(count * 16, p.size)


def _keep_min_p(p: FloatArray, params: SamplingParams) -> FloatArray:
    """Tokens at least min_p times as likely as the most likely one (2407.01082)."""
    if params.min_p == 0:
        return p
    return _only(p, np.flatnonzero(p >= params.min_p * p.max()))


def _keep_typical(p: FloatArray, params: SamplingParams) -> FloatArray:
    """Tokens whose surprise is nearest the entropy, up to mass typical_p (2202.00666)."""
    if params.typical_p == 1:
        return p
    support = np.flatnonzero(p)
    surprise = -np.log(p[support])
    entropy = float(np.sum(p[support] * surprise))
    order = support[np.argsort(np.abs(surprise - entropy), kind="stable")]
    mass = np.cumsum(p[order])
    return _only(p, order[: int(np.searchsorted(mass, params.typical_p)) + 1])
