"""The answers as /openapi.json describes them; docs/server.md says what each field means."""

from typing import Any, Literal

from pydantic import BaseModel


class Error(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class ErrorReply(BaseModel):
    error: Error


class SpeculationUsage(BaseModel):
    mode: str
    exactness: str
    lossy: bool
    target_passes: int
    drafted: int
    accepted: int
    rejected: int
    ignored: int
    acceptance_rate: float | None
    per_position: list[float]
    tokens_per_target_pass: float
    drafters: dict[str, list[int]]
    seed: int
    queue_s: float
    prefill_s: float
    draft_s: float
    verify_s: float
    accept_s: float
    tokens_per_s: float
    plain_step_s: float | None
    speedup: float | None


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: dict[str, int]
    completion_tokens_details: dict[str, int]
    speculation: SpeculationUsage


class ChatMessage(BaseModel):
    role: Literal["assistant"]
    content: str | None
    refusal: None
    tool_calls: list[dict[str, Any]] | None = None


class ChatChoice(BaseModel):
    index: int
    message: ChatMessage
    logprobs: dict[str, Any] | None
    finish_reason: Literal["stop", "length", "tool_calls"]
    speculation: dict[str, Any] | None = None


class CompletionChoice(BaseModel):
    index: int
    text: str
    logprobs: dict[str, Any] | None
    finish_reason: Literal["stop", "length"]
    speculation: dict[str, Any] | None = None


class Answer(BaseModel):
    id: str
    created: int
    model: str
    system_fingerprint: str
    usage: Usage


class ChatAnswer(Answer):
    object: Literal["chat.completion"]
    choices: list[ChatChoice]


class CompletionAnswer(Answer):
    object: Literal["text_completion"]
    choices: list[CompletionChoice]


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "foredraft"


class Models(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


class Tokens(BaseModel):
    tokens: list[int]


class Text(BaseModel):
    content: str


class Health(BaseModel):
    status: Literal["ok", "draining"]


class Pass(BaseModel):
    drafted: int
    kept: int


class Replay(BaseModel):
    passes: list[Pass]
    target_passes: int
    speedup: float
