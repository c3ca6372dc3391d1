"""`speculation.details`: which tokens were drafted, and every round."""

import pytest

from tests.cli.parrot import SAYS
from tests.server.serving import FIXED

DETAILS = FIXED | {"details": True}


def rounds_of(served, stream):
    if not stream:
        return served.chat(speculation=DETAILS)["choices"][0]["speculation"]["rounds"]
    choices = [chunk["choices"][0] for chunk in served.chunks(speculation=DETAILS)[:-1]]
    return [choice["speculation"] for choice in choices if "speculation" in choice]


@pytest.mark.parametrize("stream", [False, True])
def test_rounds_and_tokens(served, stream):
    rounds = rounds_of(served, stream)
    tokens = [token for one in rounds for token in one["tokens"]]
    assert "".join(token["text"] for token in tokens) == SAYS
    assert bytes(token["id"] for token in tokens[:-1]).decode() == SAYS
    drafted = [token for token in tokens if token["from_draft"]]
    assert {token["drafter"] for token in drafted} == {"ngram"}
    assert len(drafted) == sum(one["round"]["accepted"] for one in rounds) > 0
    assert all(0.9 < token["p"] <= 1 and token["rank"] == 1 for token in tokens)


@pytest.mark.parametrize("stream", [False, True])
def test_a_round_adds_up(served, stream):
    for one in rounds_of(served, stream):
        made = one["round"]
        counted = made["accepted"] + made["rejected"] + made["ignored"]
        assert len(made["drafted"]) == counted
        assert made["emitted"] == len(one["tokens"])
        assert (made["sequences"], made["rows"]) == (1, 1 + len(made["drafted"]))
        assert (made["drafter"] == "ngram") == bool(made["drafted"])
        assert [piece["parent"] for piece in made["drafted"]] == list(range(-1, counted - 1))
        assert all(piece["text"] for piece in made["drafted"])


def test_without_details_there_are_none(served):
    assert "speculation" not in served.chat()["choices"][0]
    assert all("speculation" not in chunk["choices"][0] for chunk in served.chunks()[:-1])


def test_off_is_a_mode(served):
    assert served.chat(speculation={"mode": "off"})["usage"]["speculation"]["mode"] == "off"
