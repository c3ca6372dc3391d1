"""From a body to what the engine is asked."""

from foredraft.core.sampling import SamplingParams
from foredraft.engine.job import Speculation
from foredraft.engine.request import Request
from foredraft.server.errors import Refusal
from foredraft.server.fields import SEEDS
from foredraft.server.schema import GenerationBody, text_of
from foredraft.targets.base import Target, TextCodec

_LAW = (
    *("top_p", "top_k", "min_p", "typical_p", "min_tokens"),
    *("repetition_penalty", "presence_penalty", "frequency_penalty"),
)


def params_of(body: GenerationBody, target: Target) -> SamplingParams:
    """The law that is asked for."""
    bias = {int(token): value for token, value in (body.logit_bias or {}).items()}
    beyond = [token for token in bias if token >= target.vocab_size]
    if beyond:
        raise Refusal(
            400,
            f"logit_bias names token {beyond[0]}, but the vocabulary ends at "
            f"{target.vocab_size - 1}.",
            param="logit_bias",
        )
    given = {name: value for name in _LAW if (value := getattr(body, name)) is not None}
    temperature = 1.0 if body.temperature is None else body.temperature
    return SamplingParams(temperature=temperature, logit_bias=bias, **given)


def request_of(
    body: GenerationBody, params: SamplingParams, prompt_tokens: int, seed: int, target: Target
) -> Request:
    """One choice's request."""
    tops = body.tops
    if tops is None and body.drafting.details:
        tops = 0  # details report each token's p
    return Request(
        params=params,
        max_new_tokens=body.most_tokens or target.context - prompt_tokens,
        stop=body.stops,
        seed=seed % SEEDS,
        draft_len=body.drafting.draft_len,
        exactness=body.drafting.exactness,
        logprobs=tops,
        ignore_eos=bool(body.ignore_eos),
    )


def speculation_of(body: GenerationBody, modes: tuple[str, ...], target: Target) -> Speculation:
    """How the request wants to be drafted for."""
    if body.drafting.mode not in modes:
        raise Refusal(
            400,
            f"speculation.mode is {body.drafting.mode!r}; choose one of {', '.join(modes)}.",
            param="speculation.mode",
        )
    prediction: list[int] = []
    if body.prediction is not None:
        prediction = bare(target.tokenizer, text_of(body.prediction.content))
    if len(prediction) > target.context:
        raise Refusal(
            400,
            f"prediction has {len(prediction)} tokens, more than the context of {target.context}.",
            param="prediction",
        )
    return Speculation(body.drafting.mode, tuple(prediction), body.drafting.user_scope)


def bare(codec: TextCodec, text: str) -> list[int]:
    """A text's tokens without those that begin every text (BOS)."""
    ids, opening = codec.encode(text), codec.encode("")
    return ids[len(opening) :] if ids[: len(opening)] == opening else ids


def check_prompt(ids: list[int], target: Target, param: str) -> None:
    """Refuse a prompt that has no room for an answer, or that is none."""
    if not ids:
        raise Refusal(400, f"{param} is empty; give at least one character.", param=param)
    if len(ids) >= target.context:
        raise Refusal(
            400,
            f"{param} has {len(ids)} tokens, but {target.name} has a context of {target.context}; "
            "shorten it.",
            param=param,
            code="context_length_exceeded",
        )
    if max(ids) >= target.vocab_size:
        raise Refusal(
            400,
            f"{param} holds token {max(ids)}, but the vocabulary ends at {target.vocab_size - 1}.",
            param=param,
        )
