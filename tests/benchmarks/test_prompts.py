"""The prompt sets are well formed, and the wider one covers what it says it covers."""

from collections import Counter

import pytest

from foredraft.rivals.prompts import EIGHT
from prompts import KINDS, WIDE, choose, read

MORE = read(WIDE)
BOTH = read(EIGHT) + MORE


def test_ids_are_unique_over_both_sets():
    assert [name for name, n in Counter(p["id"] for p in BOTH).items() if n > 1] == []


@pytest.mark.parametrize("prompt", BOTH, ids=lambda prompt: prompt["id"])
def test_a_prompt_is_a_chat_that_ends_with_the_user(prompt):
    assert prompt.keys() == {"id", "kind", "lang", "messages"}
    assert prompt["kind"] in KINDS
    assert prompt["lang"] in ("en", "ja")
    roles = [message["role"] for message in prompt["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    assert all(message["content"].strip() for message in prompt["messages"])


def test_the_wider_set_is_varied():
    kinds = Counter(prompt["kind"] for prompt in MORE)
    least = {"edit": 4, "extract": 3, "translate": 3, "chat": 3, "free": 3}
    assert {kind: kinds[kind] for kind in least if kinds[kind] < least[kind]} == {}
    assert len(MORE) >= 24
    assert sum(prompt["lang"] == "ja" for prompt in MORE) >= 5
    assert sum(len(prompt["messages"]) > 1 for prompt in MORE) >= 3


def test_the_wider_set_has_long_documents():
    words = sorted(
        sum(len(message["content"].split()) for message in prompt["messages"])
        for prompt in MORE
        if prompt["lang"] == "en"
    )
    assert words[-1] >= 1150
    assert sum(count >= 300 for count in words) >= 5


def test_prompts_are_chosen_by_id_from_either_set():
    assert [p["id"] for p in choose("story,ja_chat")] == ["story", "ja_chat"]
    assert choose(wide=True) == MORE
    with pytest.raises(SystemExit, match="There is no prompt 'nonsense'"):
        choose("nonsense")
