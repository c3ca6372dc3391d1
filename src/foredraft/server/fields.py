"""The kinds of fields that bodies have, each with its limit.

A list ends at its first wrong item and at its length: a long body must not take long to refuse.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

SEEDS = 2**63
BIASES = 1024


def _whole(number: object) -> object:
    """JSON has one kind of number: 5.0 is an integer too."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _boolean(value: object) -> object:
    """0 equals False, but is none."""
    if not isinstance(value, bool):
        raise PydanticCustomError("boolean", "input should be a boolean")
    return value


def _few(value: Any) -> Any:
    """Pydantic would look at every item of a dictionary before it counts them."""
    if isinstance(value, dict) and len(value) > BIASES:
        raise PydanticCustomError("few", f"input should have at most {BIASES} items")
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
Labels = Annotated[dict[str, str], Field(max_length=16)]
TokenKey = Annotated[str, Field(pattern="^[0-9]{1,9}$")]
Biases = Annotated[dict[TokenKey, Bias], Field(max_length=BIASES), BeforeValidator(_few)]
Token = Annotated[int, Field(ge=0)]
Tokens = Annotated[list[Token], Field(fail_fast=True)]
TokenIds = Annotated[Tokens, Field(min_length=1)]
