"""llama.cpp's comparison of vocabularies, on both sides of each of its bounds.

Held against llama-server itself (llama.cpp 0c1e57098) on files made like these.
"""

import pytest

from foredraft.planner.pairing.rules.llama_vocab import refusal, unshared
from tests.planner.facts.models import TOKENS, facts, folder_facts, vocabulary


def said(target, draft):
    return refusal(facts(tokens=target), facts("small", tokens=draft))


def longer(count):
    return vocabulary([*TOKENS, *(f"[PAD{300 + n}]" for n in range(count))])


def changed(i):
    return vocabulary([*TOKENS[:i], "other", *TOKENS[i + 1 :]])


@pytest.mark.parametrize("apart", [0, 127, 128])
def test_sizes_may_be_128_apart(apart):
    assert said(vocabulary(), longer(apart)) is None
    assert said(longer(apart), vocabulary()) is None


def test_sizes_may_not_be_129_apart():
    assert "have 300 and 429 tokens: 129 apart, and llama.cpp allows 128" in said(
        vocabulary(), longer(129)
    )
    assert "have 429 and 300" in said(longer(129), vocabulary())


def test_texts_are_compared_from_id_5():
    for i in range(5):
        assert said(vocabulary(), changed(i)) is None
    assert said(vocabulary(), changed(5)) == (
        "Token 5 is 't5' in the target and 'other' in the draft."
    )
    assert "Token 299 is 't299'" in said(vocabulary(), changed(299))


def test_types():
    assert said(vocabulary(), vocabulary(kind="llama")) == (
        "The vocabulary types differ: BPE and SPM."
    )
    assert said(vocabulary(), vocabulary(kind="gemma4")) is None


@pytest.mark.parametrize(("role", "flag"), [("bos", "add_bos"), ("eos", "add_eos")])
def test_an_edge_token_counts_only_where_it_is_added(role, flag):
    other = {"bos": 1, "eos": 2} | {role: 3}
    assert said(vocabulary(), vocabulary(roles=other)) is None
    added, elsewhere = vocabulary(**{flag: True}), vocabulary(roles=other, **{flag: True})
    assert said(added, added) is None
    assert f"is token {added.roles[role]} in the target and 3 in the draft" in said(
        added, elsewhere
    )
    assert f"Only the target's texts {'begin' if role == 'bos' else 'end'}" in said(
        added, vocabulary()
    )
    assert "Only the draft's texts" in said(vocabulary(), added)


def test_ids_that_a_file_does_not_name_are_llama_cpps_own():
    plain, named = vocabulary(roles={}, add_bos=True), vocabulary(roles={"bos": 11}, add_bos=True)
    assert said(plain, named) is None
    assert "is token 11 in the target and 1" in said(
        plain, vocabulary(roles={"bos": 1}, add_bos=True)
    )


def test_a_folder_is_judged_as_its_conversion():
    """Qwen2.5: 151,665 tokens, and matrices of 151,936 and 152,064 rows: 128 apart."""
    big, small = folder_facts(vocab_size=448), folder_facts("org/small", vocab_size=320)
    assert refusal(big, small) is None
    assert "449 and 320" in refusal(folder_facts(vocab_size=449), small)
    holes = vocabulary([*TOKENS, *(f"[PAD{n}]" for n in range(300, 320))])
    assert refusal(facts(tokens=holes), small) is None


def test_an_empty_entry_gets_a_name():
    empty = vocabulary([*TOKENS[:7], "", *TOKENS[8:]])
    assert "Token 7 is '[EMPTY_7]' in the target and 't7'" in said(empty, vocabulary())


def test_no_tokenizer():
    head = facts("small", vocabulary=None)
    assert refusal(facts(), head) == "One of the files has no tokenizer inside."


def test_tokens_of_one_side_only():
    padding = vocabulary([*TOKENS, None])
    assert unshared(vocabulary(), padding) == 0
    assert unshared(vocabulary([*TOKENS, "more"]), vocabulary()) == 1
    assert unshared(vocabulary(), vocabulary([*TOKENS, "more"])) == 1
