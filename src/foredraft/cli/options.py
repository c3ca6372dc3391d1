"""The settings that commands share, each stated once: name, default, help."""

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.engine.generator import Generator
from foredraft.engine.load import load
from foredraft.engine.request import Request
from foredraft.targets.base import Progress
from foredraft.targets.engines import Placement

_PLAIN = SamplingParams()
_USUAL = Request()


def _option(panel: str, metavar: str, help: str, *names: str) -> Any:
    # Where the help names the default itself, it need not be shown again.
    show = "(default)" not in help
    return typer.Option(
        *names, help=help, metavar=metavar, rich_help_panel=panel, show_default=show
    )


_model = partial(_option, "Model")
_speculation = partial(_option, "Speculation")
_sampling = partial(_option, "Sampling")
_ending = partial(_option, "Where the text ends")
_output = partial(_option, "Output")

_MODEL = "The target: a name from `foredraft pull --list`, a folder, a .gguf file or a Hugging \
Face repository."
_DTYPE = "Precision: auto (default) takes what is fastest here; or float32, bfloat16, float16."
_ENGINE = "What runs it: auto (default) takes llama.cpp for a GGUF if it is installed; or torch, \
llama.cpp."
_DRAFTER = "What proposes tokens: auto (default) takes what pays, each round; ngram copies from \
the text so far, suffix weighs all its continuations and earlier answers, model asks \
--draft-model, none decodes plainly."
_EXACTNESS = "What speculation must not change. bitwise: any bit. coupled (default): the text a \
seed gives, floating-point ties aside. distribution: how likely each text is."


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What runs, and on what."""

    model: Annotated[str, _model("NAME", _MODEL, "--model", "-m")] = "smollm2"
    dtype: Annotated[str, _model("TYPE", _DTYPE)] = "auto"
    device: Annotated[
        str, _model("DEVICE", "auto (default) takes a GPU if there is one; or cpu, cuda, mps.")
    ] = "auto"
    threads: Annotated[
        int | None, _model("N", "CPU threads; as many as physical cores is usually best.")
    ] = None

    engine: Annotated[str, _model("ENGINE", _ENGINE)] = "auto"
    gpu_layers: Annotated[
        int | None, _model("N", "llama.cpp: layers that go to a GPU; all if the build has one.")
    ] = None
    context: Annotated[
        int | None,
        _model("N", "llama.cpp: room for N tokens; the model's own by default, at most 8192."),
    ] = None
    kv_type: Annotated[
        str | None,
        _model("TYPE", "llama.cpp: how keys and values are kept: f16 by default; q8_0 is half."),
    ] = None

    def placement(self) -> Placement:
        """Where models run; ForedraftError for a value that its engine checks first."""
        return Placement(**self._as(Placement))

    def _as(self, kind: type) -> dict[str, Any]:
        """The fields that `kind` has under the same name."""
        mine = {item.name for item in fields(self)}
        return {f.name: getattr(self, f.name) for f in fields(kind) if f.name in mine}


@dataclass(frozen=True, slots=True)
class LawSettings(ModelSettings):
    """And what shapes p."""

    temperature: Annotated[
        float, _sampling("T", "0 (default) takes the likeliest token, 0.7 varies, above 1 wanders.")
    ] = _PLAIN.temperature
    top_k: Annotated[
        int, _sampling("K", "Only the K likeliest tokens; 0 (default) is off, 40 is usual.")
    ] = _PLAIN.top_k
    top_p: Annotated[
        float,
        _sampling("P", "The likeliest tokens that sum to P; 1 (default) is off, 0.9 is usual."),
    ] = _PLAIN.top_p
    min_p: Annotated[
        float,
        _sampling(
            "P",
            "Tokens at least P times as likely as the top one; 0 (default) is off, 0.05 is usual.",
        ),
    ] = _PLAIN.min_p
    typical_p: Annotated[
        float,
        _sampling(
            "P",
            "The most typical tokens that sum to P; 1 (default) is off, 0.95 is usual.",
        ),
    ] = _PLAIN.typical_p
    repetition_penalty: Annotated[
        float, _sampling("R", "Holds back tokens seen before; 1 (default) is off, 1.1 is usual.")
    ] = _PLAIN.repetition_penalty
    presence_penalty: Annotated[
        float,
        _sampling("X", "Taken off the score of tokens in the answer, once; 0 (default) is off."),
    ] = _PLAIN.presence_penalty
    frequency_penalty: Annotated[
        float, _sampling("X", "The same for every time they are in it; 0 (default) is off.")
    ] = _PLAIN.frequency_penalty
    logit_bias: Annotated[
        list[str] | None, _sampling("ID=VALUE", "Added to the score of a token id; repeatable.")
    ] = None
    allowed_tokens: Annotated[
        str | None, _sampling("ID,ID,…", "The only token ids that may appear.")
    ] = None
    seed: Annotated[
        int | None,
        _sampling(
            "N", "A seed gives the same text each time (at distribution with --draft-len only)."
        ),
    ] = None
    min_tokens: Annotated[
        int, _ending("N", "No end of text before N tokens; 0 (default) is off.")
    ] = _PLAIN.min_tokens

    def params(self) -> SamplingParams:
        """The law that is asked for; ForedraftError for a value out of range."""
        bias = dict(_bias(text) for text in self.logit_bias or ())
        tokens = {"logit_bias": bias, "allowed_tokens": _ids(self.allowed_tokens)}
        return SamplingParams(**self._as(SamplingParams) | tokens)


@dataclass(frozen=True, slots=True)
class Settings(LawSettings):
    """All that a person may set about a generation."""

    drafter: Annotated[str, _speculation("METHOD", _DRAFTER)] = "auto"
    draft_model: Annotated[
        str | None,
        _speculation("NAME", "A smaller model of the same tokenizer, or a trained head, to draft."),
    ] = None
    draft_engine: Annotated[
        str, _speculation("ENGINE", "What runs the draft model, as --engine does the target.")
    ] = "auto"
    draft_greedy: Annotated[
        bool,
        _speculation(
            "", "Draft the draft model's likeliest tokens; sampled by default.", "--draft-greedy"
        ),
    ] = False
    draft_len: Annotated[
        int | None,
        _speculation("N", "γ, always this many drafted a round; chosen each round if unset."),
    ] = _USUAL.draft_len
    store: Annotated[
        Path | None,
        _speculation("FILE", "Remember answers in FILE and draft from them; off by default."),
    ] = None
    exactness: Annotated[Exactness, _speculation("LEVEL", _EXACTNESS)] = _USUAL.exactness

    max_new_tokens: Annotated[
        int, _ending("N", "The most tokens to generate.", "--max-new-tokens", "-n")
    ] = _USUAL.max_new_tokens
    stop: Annotated[list[str] | None, _ending("TEXT", "End before TEXT; repeatable.")] = None
    ignore_eos: Annotated[
        bool, _ending("", "Go on where the model would end (for benchmarks).", "--ignore-eos")
    ] = _USUAL.ignore_eos

    logprobs: Annotated[
        int | None, _output("N", "With --json: each token's logprob and the N likeliest.")
    ] = None
    json: Annotated[bool, _output("", "Print JSON and nothing else.", "--json")] = False
    no_color: Annotated[
        bool,
        _output("", "No colours; NO_COLOR set in the environment does it too.", "--no-color"),
    ] = False

    def request(self) -> Request:
        """What the engine is asked; ForedraftError for a value out of range."""
        if self.logprobs is not None and not self.json:
            raise ForedraftError("--logprobs are reported in --json only; add it.")
        own = {"params": self.params(), "stop": tuple(self.stop or ())}
        return Request(**self._as(Request) | own)

    def generator(self, progress: Progress | None = None) -> Generator:
        """The model and its drafter, loaded."""
        generator = load(
            self.model,
            drafter=self.drafter,
            draft_model=self.draft_model,
            draft_greedy=self.draft_greedy,
            dtype=self.dtype,
            device=self.device,
            threads=self.threads,
            engine=self.engine,
            draft_engine=self.draft_engine,
            gpu_layers=self.gpu_layers,
            context=self.context,
            kv_type=self.kv_type,
            store=self.store,
            progress=progress,
        )
        if self.draft_len is None and generator.drafters:
            generator.calibrate(self.exactness is Exactness.BITWISE, progress)
        return generator


def _bias(text: str) -> tuple[int, float]:
    token, _, value = text.partition("=")
    try:
        return int(token), float(value)
    except ValueError as error:
        raise ForedraftError(
            f"--logit-bias is {text!r}; it must be a token id, '=' and a number, as in 42=-5."
        ) from error


def _ids(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(token) for token in text.split(",") if token.strip())
    except ValueError as error:
        raise ForedraftError(
            f"--allowed-tokens is {text!r}; it must be token ids with commas between, as in 11,42."
        ) from error
