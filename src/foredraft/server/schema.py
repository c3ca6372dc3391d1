"""The bodies that requests may have: every field, its type and its limit."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from foredraft.core.types import Exactness

SEEDS = 2**63


def _whole(number: object) -> object:
    """JSON has one kind of number: 5.0 is an integer too."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _boolean(value: object) -> object:
    """0 equals False, but is none."""
    if not isinstance(value, bool):
        raise PydanticCustomError("boolean", "input should be a boolean")
    return value


No = Annotated[Literal[False], BeforeValidator(_boolean)]
Integer = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Integer, Field(ge=0)]
Share = Annotated[float, Field(gt=0, le=1)]
Penalty = Annotated[float, Field(ge=-2, le=2)]
Bias = Annotated[float, Field(ge=-100, le=100)]
Length = Annotated[Integer, Field(ge=1)]
Tops = Annotated[Integer, Field(ge=0, le=20)]
DraftLen = Annotated[Integer, Field(ge=0, le=64)]
Seed = Annotated[Integer, Field(ge=0, lt=SEEDS)]
Choices = Annotated[Integer, Field(ge=1, le=16)]
StopText = Annotated[str, Field(min_length=1, max_length=256)]
Stops = Annotated[list[StopText], Field(max_length=16)]
Label = Annotated[str, Field(max_length=256)]
TokenKey = Annotated[str, Field(pattern="^[0-9]{1,9}$")]
TokenIds = Annotated[list[Count], Field(min_length=1)]


class Body(BaseModel):
    """Strict: an unknown field, a number as text or a NaN is an error that names its place."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class TextPart(Body):
    """A piece of a message or prediction; text is the only kind there is."""

    type: Literal["text"]
    text: str

    @field_validator("type", mode="before")
    @classmethod
    def _only_text(cls, kind: object) -> object:
        if kind != "text":
            raise PydanticCustomError("part", "this server takes text parts only")
        return kind


Content = str | list[TextPart]


class SpeculationBody(Body):
    """How this request is drafted for; the law of its answer is the same whatever is said here.

    `mode` is "auto", "off" or a drafter's name; `draft_len` fixes γ. With `user_scope`, only
    answers to requests of the same scope are drafted from. `details` reports every round.
    """

    mode: Label = "auto"
    draft_len: DraftLen | None = None
    exactness: Exactness = Exactness.COUPLED
    allow_lossy: bool = False
    user_scope: Label | None = None
    details: bool = False

    @field_validator("allow_lossy")
    @classmethod
    def _nothing_lossy(cls, allowed: bool) -> bool:
        if allowed:
            raise PydanticCustomError("lossy", "nothing lossy is installed; leave it out")
        return allowed


class Prediction(Body):
    """Text that the answer is expected to hold; it is drafted."""

    type: Literal["content"]
    content: Content


class StreamOptions(Body):
    include_usage: bool | None = None
    include_obfuscation: No | None = None


class JsonSchema(Body):
    """`strict` asks for what is always done: the answer keeps to the schema."""

    name: Label
    description: str | None = None
    schema_: Annotated[dict[str, Any] | None, Field(alias="schema")] = None
    strict: bool | None = None


class ResponseFormat(Body):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class Function(Body):
    """A function that a model may call; its arguments are as `parameters`, a schema, says."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Body):
    type: Literal["function"]
    function: Function


class FunctionName(Body):
    name: str


class NamedTool(Body):
    """The one function that is to be called."""

    type: Literal["function"]
    function: FunctionName


class Called(Body):
    name: str
    arguments: str


class ToolCall(Body):
    """A call that an earlier answer made."""

    id: str | None = None
    index: Integer | None = None
    type: Literal["function"] = "function"
    function: Called


class GenerationBody(Body):
    """What chats and completions have in common.

    An absent field or a null means OpenAI's default: temperature 1, one choice, and an answer as
    long as the model and its context let it be.
    """

    model: Label | None = None
    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Share | None = None
    top_k: Count | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    typical_p: Share | None = None
    repetition_penalty: Annotated[float, Field(ge=0.01, le=100)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    logit_bias: Annotated[dict[TokenKey, Bias], Field(max_length=1024)] | None = None
    seed: Seed | None = None
    stop: StopText | Stops | None = None
    max_tokens: Length | None = None
    min_tokens: Count | None = None
    ignore_eos: bool | None = None
    n: Choices | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    speculation: SpeculationBody | None = None
    prediction: Prediction | None = None
    response_format: ResponseFormat | None = None
    grammar: str | None = None
    # Labels that ask nothing of a server that keeps no accounts and no answers.
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, str] | None = None
    store: No | None = None
    service_tier: Literal["auto", "default"] | None = None

    @property
    def drafting(self) -> SpeculationBody:
        return self.speculation or SpeculationBody()

    @property
    def stops(self) -> tuple[str, ...]:
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def most_tokens(self) -> int | None:
        """The most tokens an answer may have; None for as many as fit."""
        return self.max_tokens

    @property
    def tops(self) -> int | None:
        """How many alternatives logprobs list; None for no logprobs."""
        return None


class Message(Body):
    """One turn; which roles there are is the chat template's to say."""

    role: str
    content: Content | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    # What OpenAI's client sends back of an answer it was given.
    refusal: None = None
    annotations: Annotated[list[Any], Field(max_length=0)] | None = None
    audio: None = None
    function_call: None = None


class ChatBody(GenerationBody):
    messages: Annotated[list[Message], Field(min_length=1)]
    max_completion_tokens: Length | None = None
    logprobs: bool | None = None
    top_logprobs: Tops | None = None
    tools: Annotated[list[Tool], Field(max_length=128)] | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None

    @property
    def most_tokens(self) -> int | None:
        return self.max_completion_tokens or self.max_tokens

    @property
    def tops(self) -> int | None:
        return (self.top_logprobs or 0) if self.logprobs else None


class CompletionBody(GenerationBody):
    prompt: (
        str
        | TokenIds
        | Annotated[list[str], Field(min_length=1, max_length=16)]
        | Annotated[list[TokenIds], Field(min_length=1, max_length=16)]
    )
    logprobs: Tops | None = None
    echo: No | None = None
    suffix: None = None
    best_of: Annotated[Integer, Field(ge=1, le=1)] | None = None

    @property
    def tops(self) -> int | None:
        return self.logprobs


def text_of(content: Content | None) -> str:
    """A message's text, its parts joined."""
    if isinstance(content, list):
        return "".join(part.text for part in content)
    return content or ""
