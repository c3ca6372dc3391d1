"""Tokenizers held against each other by what their entries stand for."""

from foredraft.planner.pairing.match import as_object, match
from tests.planner.facts.models import TOKENS, facts, vocabulary


def test_the_same():
    found = match(vocabulary(), vocabulary())
    assert found.same
    assert found.sentence == "All 300 shared token ids stand for the same text."
    assert (found.merges, found.template, found.add_bos, found.roles) == (True, True, True, {})


def test_spelling_does_not_matter_bytes_do():
    left = vocabulary(["Ġa", "b"], pieces=(b" a", b"b"))
    right = vocabulary(["▁a", "c"], pieces=(b" a", b"c"))
    found = match(left, right)
    assert (found.differing, found.first) == (1, (1, "b", "c"))
    assert found.sentence == (
        "Token 1 is 'b' in the target and 'c' in the draft, and 1 of 2 shared ids stand for other "
        "text."
    )


def test_padding_and_tails_are_passed_over():
    found = match(vocabulary([*TOKENS, None, None]), vocabulary([*TOKENS, "more"]))
    assert found.same
    assert found.shared == 300


def test_what_makes_texts_into_ids():
    other = vocabulary(
        merges=("b a",), roles={"bos": 1, "eos": 3, "pad": 4}, add_bos=True, template="other"
    )
    found = match(vocabulary(), other)
    assert found.same
    assert (found.merges, found.add_bos, found.template) == (False, False, False)
    assert found.roles == {"eos": (2, 3), "pad": (None, 4)}


def test_what_one_side_lacks_is_not_compared():
    found = match(vocabulary(), vocabulary(merges=None, template=None))
    assert (found.merges, found.template) == (None, None)


def test_one_in_a_hundred_may_be_odd():
    odd = [vocabulary([*(f"o{n}" for n in range(count)), *TOKENS[count:]]) for count in (3, 4)]
    assert match(vocabulary(), odd[0]).near
    assert not match(vocabulary(), odd[1]).near


def test_one_side_as_an_object():
    tokens = vocabulary([*TOKENS, None])
    assert as_object(facts(tokens=tokens, vocab_size=320)) == {
        "kind": "gpt2",
        "tokens": 300,
        "rows": 320,
        "padding_rows": 20,
        "merges": 1,
        "add_bos": False,
        "add_eos": False,
        "chat_template": True,
        "roles": {"bos": {"id": 1, "text": "t1"}, "eos": {"id": 2, "text": "t2"}},
    }
    assert as_object(facts(vocabulary=None)) is None
