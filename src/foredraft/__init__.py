"""foredraft: speculative decoding whose output is exactly the target model's, measured honestly.

import foredraft

generator = foredraft.load("smollm2")
for token in generator.stream("The tide comes in", foredraft.Request(max_new_tokens=40)):
    print(token.text, end="")
"""

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.stats import Stats
from foredraft.core.types import Draft, Exactness
from foredraft.engine.generator import Generator, Result, Token
from foredraft.engine.load import load
from foredraft.engine.request import Request

__version__ = "0.1.0"

__all__ = [
    "Draft",
    "Exactness",
    "ForedraftError",
    "Generator",
    "Request",
    "Result",
    "SamplingParams",
    "Stats",
    "Token",
    "load",
]
