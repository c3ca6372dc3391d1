"""What is asked, and what must be answered: each question's text when it was asked alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import httpx2

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
PROMPTS = (
    "Name three rivers.",
    "Say twice, word for word: the tide comes in, the tide goes out.",
    "Count from one to twenty.",
    "How do you say good morning in Japanese?",
    "Write a line about rain, and then the same line again.",
)
LENGTHS = (4, 24)
LAWS: tuple[dict[str, Any], ...] = ({"temperature": 0}, {"temperature": 0.8, "seed": 11})


@dataclass(frozen=True, slots=True)
class Case:
    """A request and the text it had when nothing else ran and nothing was drafted."""

    path: str
    body: dict[str, Any]
    text: str

    @property
    def greedy(self) -> bool:
        return self.body["temperature"] == 0


def solo(client: httpx2.Client, exactness: str) -> Iterator[Case]:
    """Ask everything alone, without speculation."""
    for path, prompt, length, law in product((CHAT, COMPLETIONS), PROMPTS, LENGTHS, LAWS):
        asked = {"messages": [{"role": "user", "content": prompt}]}
        body = (asked if path == CHAT else {"prompt": prompt}) | {"max_tokens": length, **law}
        alone = {"speculation": {"mode": "off", "exactness": exactness}}
        response = client.post(path, json=body | alone)
        response.raise_for_status()
        yield Case(path, body, texts(response.json())[0])


def texts(whole: dict[str, Any]) -> list[str]:
    """What each choice says, or a chunk of it."""
    return [_text(choice) for choice in whole["choices"]]


def _text(choice: dict[str, Any]) -> str:
    if "text" in choice:
        return str(choice["text"])
    return (choice.get("message") or choice.get("delta") or {}).get("content") or ""
