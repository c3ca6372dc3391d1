"""foredraft: speculative decoding whose output is exactly the target model's, measured honestly.

import foredraft

generator = foredraft.load("smollm2")
for token in generator.stream("The tide comes in", foredraft.Request(max_new_tokens=40)):
    print(token.text, end="")
"""

from typing import TYPE_CHECKING

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.stats import Stats
from foredraft.core.types import Draft, Exactness
from foredraft.engine.generator import Generator
from foredraft.engine.load import load
from foredraft.engine.request import Request
from foredraft.engine.result import Token

if TYPE_CHECKING:
    from foredraft.engine.hook import generate

__version__ = "0.1.0"

__all__ = [
    "Draft",
    "Exactness",
    "ForedraftError",
    "Generator",
    "Request",
    "SamplingParams",
    "Stats",
    "Token",
    "generate",
    "load",
]


def __getattr__(name: str) -> object:
    """`generate` when it is first asked for: it imports torch, which takes seconds."""
    if name == "generate":
        from foredraft.engine.hook import generate

        return generate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
