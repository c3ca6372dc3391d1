"""What a mask allows is a function of the text alone, however the engine came to ask about it."""

import json
import random

import numpy as np
import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.mask import GrammarMask
from foredraft.grammar.vocabulary import Constraint, Vocabulary
from tests.cli.parrot import EOS, Parrot

PROMPT = [1, 2, 3]
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 6}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def bytewise():
    """One token a byte: characters are cut everywhere they can be."""
    return Vocabulary(Parrot())


def mask_of(constraint: Constraint) -> GrammarMask:
    (mask,) = constraint.on(SamplingParams(), len(PROMPT)).processors
    assert isinstance(mask, GrammarMask)
    return mask


def allowed(mask: GrammarMask, output: list[int]) -> set[int]:
    scores = mask(np.array([*PROMPT, *output]), np.zeros(Parrot.vocab_size))
    return set(np.flatnonzero(np.isfinite(scores)).tolist())


def after(constraint: Constraint, text: str) -> set[int]:
    return allowed(mask_of(constraint), list(text.encode()))


def test_the_end_where_the_grammar_may_stop_and_nothing_else_where_it_must(bytewise):
    constraint = bytewise.compile(Grammar.lark('start: "ab" /[cd]{0,2}/'))
    assert after(constraint, "") == {ord("a")}
    assert after(constraint, "a") == {ord("b")}
    assert after(constraint, "ab") == {ord("c"), ord("d"), EOS}
    assert after(constraint, "abcd") == {EOS}


def test_text_that_left_the_grammar_or_has_ended_is_not_judged(bytewise):
    mask = mask_of(bytewise.compile(Grammar.lark('start: "ab" "c"?')))
    everything = set(range(Parrot.vocab_size))
    assert allowed(mask, [*b"xy"]) == everything
    assert allowed(mask, [*b"ab", EOS, 7]) == everything
    assert allowed(mask, [*b"ab"]) == {ord("c"), EOS}


def test_characters_cut_between_tokens(bytewise):
    constraint = bytewise.compile(Grammar.lark('start: "é" | "è" | "日本"'))
    first, second = "é".encode()
    mask = mask_of(constraint)
    assert allowed(mask, []) == {first, "日".encode()[0]}
    assert allowed(mask, [first]) == {second, "è".encode()[1]}
    assert allowed(mask, [first, second]) == {EOS}
    assert allowed(mask, list("日".encode())) == {"本".encode()[0]}
    # Half a character is no end.
    assert EOS not in allowed(mask, list("日本".encode())[:-1])


def test_the_prompt_is_no_part_of_it(bytewise):
    constraint = bytewise.compile(Grammar.lark('start: "ab"'))
    (mask,) = constraint.on(SamplingParams(), 2).processors
    scores = mask(np.array([*b"ab"]), np.zeros(Parrot.vocab_size))
    assert np.flatnonzero(np.isfinite(scores)).tolist() == [ord("a")]


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.schema(PERSON),
        Grammar.json_object(),
        Grammar.lark('start: (call | TEXT)*\ncall: "<" /[a-f]{3}/ ">"\nTEXT: /[a-zé日]/'),
    ],
    ids=["schema", "object", "lark"],
)
def test_any_order_of_asking_gives_the_same_masks(bytewise, grammar):
    """Branches, their siblings, shorter texts again, other texts: each as if asked first."""
    constraint, chance = bytewise.compile(grammar), random.Random(5)
    mask, texts = mask_of(constraint), [[]]
    for _ in range(150):
        text = chance.choice(texts[-12:])
        found = allowed(mask, text)
        assert found == allowed(mask_of(constraint), text), bytes(text)
        goes_on = sorted(found - {EOS})
        if goes_on and len(text) < 40:
            texts.append([*text, chance.choice(goes_on)])


def test_memory_is_bounded(bytewise):
    mask = mask_of(bytewise.compile(Grammar.lark("start: /a*/")))
    for size in range(200):
        assert allowed(mask, [*b"a"] * size) == {ord("a"), EOS}
    assert len(mask._masks) <= 64
    for size in (0, 3, 199, 0):  # an earlier text again, as when a request is made again
        assert allowed(mask, [*b"a"] * size) == {ord("a"), EOS}


def test_forced_tokens_are_all_that_may_follow(bytewise):
    mask = mask_of(bytewise.compile(Grammar.schema(PERSON)))
    forced = mask.forced(np.array([*b'{"']))
    assert bytes(forced) == b'name"'
    for i in range(len(forced)):
        assert allowed(mask, [*b'{"', *forced[:i]]) == {forced[i]}
    assert mask.forced(np.array([*b'{"name": "'])) == []
    assert mask.forced(np.array([*b"no"])) == []


def test_whitespace_is_bounded(bytewise):
    constraint = bytewise.compile(Grammar.schema(PERSON))
    assert ord(" ") in after(constraint, "{")
    assert after(constraint, "{ ") == {ord('"')}
    assert after(constraint, '{\n  "name": ') == {ord('"')}
    json.loads('{\n  "name": "x",\n  "age": 3}')
    assert EOS in after(constraint, '{\n  "name": "x",\n  "age": 3}')


def test_a_grammar_that_grows_too_costly_ends_in_words(bytewise):
    mask = mask_of(bytewise.compile(Grammar.lark("start: s\ns: s s s s | s s s | s s | /[a-z]/ |")))
    short = allowed(mask, [*b"aa"])
    with pytest.raises(ForedraftError, match="too costly to follow"):
        any(not allowed(mask, [*b"a"] * size) for size in range(60))
    # It may have been a draft that went so far: the text itself can still be followed.
    assert allowed(mask, [*b"aa"]) == short
