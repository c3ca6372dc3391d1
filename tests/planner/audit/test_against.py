"""A server audited from outside: one that is right, and several that are not.

The server is the same table as the target, asked over HTTP; where it is right it may be found off
by chance once in 1,000 seeds, and the seeds are fixed.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.planner.audit.against import against
from foredraft.planner.audit.audit import Audit
from foredraft.rivals.openai import Server
from foredraft.rivals.prompts import Sample
from tests.planner.audit.table import Table
from tests.rivals.fake import saying, serving

SAMPLES = [Sample(word, "free", [{"role": "user", "content": word}]) for word in ("abc", "hello")]
# Ids that are characters, so that a text has one tokenisation.
LETTERS = tuple(range(26))
LENGTH = 150


class Lettered(Table):
    """Only letters ever follow."""

    def __init__(self, **changes: float) -> None:
        super().__init__(**changes)
        self._logits[:, :, len(LETTERS) :] = -30


Change = Callable[[str, dict[str, Any]], str]


def at(server: Any) -> Server:
    return Server.at(server.url, 5.0).serving(None)


def asked(change: Change = lambda text, body: text, **changes: Any) -> Audit:
    """The audit of a server that alters its texts by `change`."""
    target = Lettered()

    def answer(body: dict[str, Any]) -> list[Any]:
        params = SamplingParams(body["temperature"] * changes.get("heat", 1.0))
        request = Request(params, body["max_tokens"], seed=body.get("seed", 0) + 100)
        result = Generator(target).generate(body["messages"], request)
        text = change(result.text, body)
        return saying(text, tokens=changes.get("tokens", LENGTH), finish="length")

    with serving(answer) as server:
        request = Request(SamplingParams(changes.get("temperature", 0.0)), LENGTH)
        return against(Generator(target), at(server), request, SAMPLES)


def test_a_right_server_passes() -> None:
    found = asked()
    assert found.ok
    assert found.greedy.equal == found.greedy.tokens == 2 * LENGTH
    assert found.fit is not None
    assert (found.fit.tokens, found.temperature) == (2 * LENGTH, 0.8)
    assert (found.exactness, found.same_seed, found.drafted) == (None, None, None)
    assert found.drafter.startswith("http://127.0.0.1:")


def test_one_wrong_letter_is_off() -> None:
    def change(text: str, body: dict[str, Any]) -> str:
        wrong = "a" if text[70] != "a" else "b"
        return text if body["temperature"] else text[:70] + wrong + text[71:]

    found = asked(change)
    assert not found.ok
    assert [item.at for item in found.greedy.differences] == [70, 70]
    assert all(item.margin is not None and not item.near for item in found.greedy.differences)


def test_a_wrong_temperature_is_off() -> None:
    found = asked(heat=0.6, temperature=1.0)
    assert found.greedy.ok
    assert found.fit is not None
    assert "surprise" in found.fit.off


def test_a_text_that_stops_early_is_off_and_white_space_at_its_end_is_not() -> None:
    found = asked(lambda text, body: text if body["temperature"] else text[:9])
    assert [(item.at, item.other) for item in found.greedy.differences] == [(9, "(the end)")] * 2
    assert asked(lambda text, body: text + "  ").greedy.ok


def test_a_text_whose_tokens_cannot_be_told_is_not_judged() -> None:
    assert asked(tokens=LENGTH + 1).fit is None


@pytest.mark.parametrize(
    "change",
    [{"draft_len": 3}, {"params": SamplingParams(0.5, top_p=0.9)}, {"stop": ("x",)}],
    ids=str,
)
def test_what_a_server_is_not_sent_is_refused(change: dict[str, Any]) -> None:
    with serving() as server, pytest.raises(ForedraftError, match="a seed only"):
        against(Generator(Table()), at(server), replace(Request(), **change), SAMPLES)
