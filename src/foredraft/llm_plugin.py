"""A plug-in for the `llm` command (https://llm.datasette.io): foredraft's models among its own."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import llm
from llm.parts import ReasoningPart, TextPart
from pydantic import Field

from foredraft.cli.bar import Bar
from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.engine.generator import Generator
from foredraft.engine.load import load
from foredraft.engine.request import Prompt, Request
from foredraft.engine.result import Result
from foredraft.targets.base import Progress
from foredraft.targets.hub import KNOWN


@llm.hookimpl  # type: ignore[untyped-decorator]
def register_models(register: Callable[[llm.Model], None]) -> None:
    """`foredraft` runs what its option `model` names; each named model has an id of its own too."""
    register(AnyModel())
    for name in KNOWN:
        register(NamedModel(name))


class NamedModel(llm.Model):  # type: ignore[misc]
    """One of the models that foredraft knows by name, kept loaded between the turns of a chat."""

    can_stream = True

    class Options(llm.Options):  # type: ignore[misc]
        """Settings of `foredraft run` under the names that llm's other models use.

        None is foredraft's own default: llm puts a person's defaults in the place of None alone.
        """

        temperature: float | None = Field(None, description="0 (default) is the likeliest token.")
        top_p: float | None = Field(None, description="Only the likeliest that sum to this.")
        max_tokens: int | None = Field(None, description="The most tokens; 256 by default.")
        seed: int | None = Field(None, description="The same seed gives the same text.")
        drafter: str | None = Field(None, description="auto (default), ngram, suffix, model, none.")
        draft_model: str | None = Field(None, description="A smaller model, which drafts too.")

    def __init__(self, name: str) -> None:
        self.model_id = f"foredraft/{name}"
        self._name = name
        self._loaded: tuple[tuple[str, str, str | None], Generator] | None = None

    def __str__(self) -> str:
        return f"Foredraft: {self.model_id}"

    def execute(
        self, prompt: Any, stream: bool, response: Any, conversation: Any = None
    ) -> Iterator[str]:
        """Yield the answer as it comes; usage and the statistics of speculation go to `response`.

        llm joins the pieces where no stream is wanted.
        """
        options = prompt.options
        shape = _given(temperature=options.temperature, top_p=options.top_p)
        length = _given(max_new_tokens=options.max_tokens)
        request = Request(SamplingParams(**shape), **length, seed=options.seed)
        name = self._model(options)
        with Bar(f"Loading {name}") as bar:
            generator = self._generator(name, options, bar)
            asked = _asked(generator, prompt)
            if generator.drafters:
                generator.calibrate(progress=bar)
        with closing(generator.stream(asked, request)) as tokens:
            for token in tokens:
                yield token.text
        _report(response, tokens.result)

    def _generator(self, name: str, options: Any, progress: Progress) -> Generator:
        """The model with its drafter, loaded unless the last turn was with the same."""
        wanted = (name, options.drafter or "auto", options.draft_model)
        if self._loaded is None or self._loaded[0] != wanted:
            _, drafter, draft = wanted
            generator = load(name, drafter=drafter, draft_model=draft, progress=progress)
            self._loaded = (wanted, generator)
        return self._loaded[1]

    def _model(self, options: Any) -> str:
        return self._name


class AnyModel(NamedModel):
    """Whatever `-o model` names: a path, a Hugging Face repository, a known name."""

    class Options(NamedModel.Options):
        """The same, and which model."""

        model: str | None = Field(
            None, description="A .gguf file, a folder, a repository or a known name (smollm2)."
        )

    def __init__(self) -> None:
        super().__init__("")
        self.model_id = "foredraft"

    def _model(self, options: Any) -> str:
        return options.model or "smollm2"


def _asked(generator: Generator, prompt: Any) -> Prompt:
    """The conversation so far, or plain text for a model without a chat template."""
    messages = [{"role": message.role, "content": _text(message)} for message in prompt.messages]
    if generator.target.tokenizer.has_template:
        return messages
    if len(messages) > 1:
        raise ForedraftError(
            f"{generator.target.name} has no chat template, so it continues a text but knows no "
            "system prompt and no conversation; ask once, without --system and --continue."
        )
    return messages[0]["content"] if messages else ""


def _text(message: Any) -> str:
    """What a message says; another model's reasoning is not part of its answer."""
    parts = [part for part in message.parts if not isinstance(part, ReasoningPart)]
    if not all(isinstance(part, TextPart) for part in parts):
        raise ForedraftError(
            "This conversation holds attachments or tool calls, and foredraft reads text alone; "
            "begin another one."
        )
    return "".join(part.text for part in parts)


def _report(response: Any, result: Result) -> None:
    """Token counts for llm, what speculation did beside them, and how to get this text again."""
    stats = result.stats
    details = {
        "target_passes": stats.target_passes,
        "drafted": stats.drafted,
        "accepted": stats.accepted,
        "rejected": stats.rejected,
        "acceptance_rate": _short(stats.acceptance_rate),
        "tokens_per_s": _short(stats.tokens_per_s),
        "speedup": _short(result.speedup),
    }
    response.set_usage(input=stats.prompt_tokens, output=stats.generated_tokens, details=details)
    response.response_json = {"finish_reason": result.finish_reason, "seed": result.seed}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
