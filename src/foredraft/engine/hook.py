"""Foredraft as the decoding method of `model.generate`, for a Transformers model in memory."""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationMixin
from transformers.generation import EosTokenCriteria, GenerateDecoderOnlyOutput

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.stats import Stats
from foredraft.core.types import Exactness, FloatArray, IntArray
from foredraft.drafters.base import Drafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.store import SuffixStore
from foredraft.engine.generator import Generator
from foredraft.engine.hook_limits import refuse
from foredraft.engine.load import DRAFTERS, WINDOW, lookups
from foredraft.engine.request import Request
from foredraft.targets.base import TextCodec
from foredraft.targets.hub import cache_dir
from foredraft.targets.torch_hf import TorchTarget

_GENERATE = inspect.unwrap(GenerationMixin.generate).__code__


@dataclass
class Output(GenerateDecoderOnlyOutput):  # type: ignore[misc]
    """What `generate` returns under `return_dict_in_generate`, and what its rounds did."""

    stats: Stats | None = None


def generate(
    model: Any,
    input_ids: torch.Tensor,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    synced_gpus: bool | None = None,
    streamer: Any = None,
    assistant_model: Any = None,
    drafter: str = "auto",
    draft_len: int | None = None,
    exactness: str = Exactness.COUPLED,
    **inputs: Any,
) -> Any:
    """The decoding loop that `model.generate(…, custom_generate=foredraft.generate)` calls.

    `assistant_model` is the draft model; `drafter`, `draft_len` and `exactness` mean what they do
    in `load` and `Request`. p is what generate's own logits processors make of the model's logits,
    its stopping criteria are asked after every token, and a seed comes from torch's generator. The
    model is called, never changed. Raises ForedraftError for whatever would be done otherwise.
    """
    given = _call(model)
    streamer = given.get("streamer") if streamer is None else streamer
    assistant_model = given.get("assistant_model") if assistant_model is None else assistant_model
    synced_gpus = synced_gpus or given.get("synced_gpus")
    refuse(model, input_ids, logits_processor, generation_config, synced_gpus, inputs)
    ends = [item for item in stopping_criteria if isinstance(item, EosTokenCriteria)]
    target = _target(model, frozenset(i for item in ends for i in item.eos_token_id.tolist()))
    prices = cache_dir() / "prices"
    generator = Generator(target, *_drafters(target, drafter, assistant_model), prices=prices)
    length = stopping_criteria.max_length or target.context
    request = Request(
        _params(logits_processor, generation_config, input_ids.device),
        max_new_tokens=max(1, length - input_ids.shape[1]),
        seed=int(torch.randint(2**62, ())) if generation_config.do_sample else 0,
        draft_len=draft_len,
        exactness=_level(exactness),
    )
    with closing(generator.stream(input_ids[0].tolist(), request)) as stream:
        for token in stream:
            fresh = input_ids.new_tensor([token.id])
            input_ids = torch.cat([input_ids, fresh[None]], dim=-1)
            if streamer is not None:
                streamer.put(fresh.cpu())
            if stopping_criteria(input_ids, None).all():
                break
        else:
            full = f"The text ends at {target.name}'s context of {target.context} tokens."
            warnings.warn(full, stacklevel=2)
    if streamer is not None:
        streamer.end()
    if generation_config.return_dict_in_generate:
        return Output(sequences=input_ids, stats=stream.result.stats)
    return input_ids


def _call(model: Any) -> Mapping[str, Any]:
    """What the running `model.generate` was given.

    Transformers keeps `streamer`, `assistant_model` and `synced_gpus` from a callable (5.24), so
    they are read where they are: to ignore them would be worse.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code is _GENERATE and frame.f_locals["self"] is model:
            return frame.f_locals
        frame = frame.f_back
    return {}


class TokenIds:
    """A codec without text: generate deals in ids, and its criteria see to stop strings."""

    has_template = False
    template = ""
    special_ids: frozenset[int] = frozenset()

    def __init__(self, eos_ids: frozenset[int]) -> None:
        self.eos_ids = eos_ids

    def decode(self, ids: Sequence[int]) -> str:
        return ""

    def spelling(self, token: int) -> bytes:
        return b""

    def encode(self, text: str) -> list[int]:
        raise NotImplementedError

    def spell(self, text: str) -> list[int]:
        raise NotImplementedError

    def chat(self, messages: Sequence[dict[str, str]], **options: object) -> list[int]:
        raise NotImplementedError

    def same_as(self, other: TextCodec) -> str | None:
        """Nobody knows, and no text depends on it: a draft of other tokens is only refused."""
        return None


def _target(model: Any, eos_ids: frozenset[int] = frozenset()) -> TorchTarget:
    return TorchTarget(model, TokenIds(eos_ids), model.name_or_path or type(model).__name__)


def _drafters(target: TorchTarget, drafter: str, assistant: Any) -> list[Drafter]:
    if drafter not in DRAFTERS:
        raise ForedraftError(f"Unknown drafter {drafter!r}; choose one of {', '.join(DRAFTERS)}.")
    if drafter == "model" and assistant is None:
        raise ForedraftError("The drafter 'model' needs assistant_model: which one?")
    if drafter not in ("auto", "model") and assistant is not None:
        raise ForedraftError(
            f"There is an assistant_model, but the drafter {drafter!r} asks no model; use drafter "
            "'auto' or 'model'."
        )
    found = lookups(drafter, SuffixStore())
    if assistant is not None:
        window = WINDOW if drafter == "auto" else None
        found.append(ModelDrafter(_target(assistant), target.vocab_size, window=window))
    return found


def _level(exactness: str) -> Exactness:
    try:
        return Exactness(exactness)
    except ValueError as error:
        raise ForedraftError(
            f"Unknown exactness {exactness!r}; choose one of {', '.join(Exactness)}."
        ) from error


def _params(processors: Any, config: Any, device: torch.device) -> SamplingParams:
    """p as generate makes it: its processors hold the temperature and the filters too."""

    def process(tokens: IntArray, scores: FloatArray) -> FloatArray:
        ids = torch.from_numpy(tokens)[None].to(device)
        made = processors(ids, torch.from_numpy(scores)[None].to(device, torch.float32))
        shaped: FloatArray = made[0].double().cpu().numpy()
        return shaped

    temperature = 1.0 if config.do_sample else 0.0
    return SamplingParams(temperature, processors=(process,) if processors else ())
