"""Log-probabilities, in a chat's shape and in a completion's."""

import math

import pytest

from tests.cli.parrot import ANSWER, SAYS
from tests.server.serving import ASK


def test_of_a_chat(client):
    done = client.chat.completions.create(
        model="parrot", messages=ASK, logprobs=True, top_logprobs=2, max_tokens=5
    )
    content = done.choices[0].logprobs.content
    assert "".join(entry.token for entry in content) == "die F"
    for entry in content:
        assert bytes(entry.bytes).decode() == entry.token
        assert -0.001 < entry.logprob < 0
        likeliest, other = entry.top_logprobs
        assert likeliest.token == entry.token
        assert other.logprob == pytest.approx(entry.logprob - 20)


def test_half_a_character_has_its_bytes(served):
    done = served.chat(logprobs=True)
    content = done["choices"][0]["logprobs"]["content"]
    assert bytes(byte for entry in content for byte in entry["bytes"]).decode() == SAYS
    assert all(entry["top_logprobs"] == [] for entry in content)
    assert "�" in [entry["token"] for entry in content]


def test_of_a_stream(served):
    chunks = served.chunks(logprobs=True, top_logprobs=1)[:-1]
    entries = [
        entry
        for chunk in chunks
        if chunk["choices"][0]["logprobs"] is not None
        for entry in chunk["choices"][0]["logprobs"]["content"]
    ]
    assert bytes(byte for entry in entries for byte in entry["bytes"]).decode() == SAYS


def test_what_cannot_be_is_a_number(served):
    done = served.chat(logprobs=True, top_logprobs=3, top_k=1, temperature=1, max_tokens=1)
    (entry,) = done["choices"][0]["logprobs"]["content"]
    assert entry["logprob"] == 0.0
    assert len(entry["top_logprobs"]) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_of_a_completion(client, stream):
    made = client.completions.create(
        model="parrot", prompt=[ANSWER], logprobs=1, max_tokens=5, stream=stream
    )
    parts = [c.choices[0].logprobs for c in made if c.choices[0].logprobs] if stream else None
    found = parts or [made.choices[0].logprobs]
    assert "".join(token for part in found for token in part.tokens) == "die F"
    assert [offset for part in found for offset in part.text_offset] == [0, 1, 2, 3, 4]
    assert all(math.isfinite(p) for part in found for p in part.token_logprobs)
    assert [list(top) for part in found for top in part.top_logprobs] == [list(c) for c in "die F"]
