"""Whole answers under a grammar: valid, the same whatever drafts, and ended where they must be."""

import json
from zlib import crc32

import jsonschema_rs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.drafters.forced import ForcedDrafter
from foredraft.drafters.model import ModelDrafter
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.vocabulary import Vocabulary
from tests import tiny
from tests.cli.parrot import ANSWER, Parrot

PROMPT = [*b"say", ANSWER]


class Rambler(Parrot):
    """Random logits that depend on the last bytes of the text, so that it repeats itself."""

    def _score(self, sequence, tokens):
        sequence.scored = tokens
        text = sequence.tokens + tokens
        laws = []
        for row in range(len(tokens)):
            ending = text[: len(sequence.tokens) + row + 1][-3:]
            chance = np.random.default_rng(crc32(bytes(i % 256 for i in ending)))
            laws.append(chance.normal(0, 3, self.vocab_size).astype(np.float32))
        return np.stack(laws)


RAMBLER = Rambler(context=2048)
BYTES = Vocabulary(RAMBLER)
NAMES = st.sampled_from(["a", "né", 'q"', "b c"])
LEAVES = st.one_of(
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.builds(lambda n: {"type": "integer", "minimum": -n, "maximum": n}, st.integers(0, 2000)),
    st.builds(lambda n: {"type": "string", "maxLength": n}, st.integers(0, 5)),
    st.just({"type": "string", "pattern": "^[a-f]{2}é?$"}),
    st.just({"type": "string", "format": "date"}),
    st.builds(lambda v: {"enum": v}, st.lists(st.sampled_from(["x", 1, None, "日"]), min_size=1)),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda items, most: {"type": "array", "items": items, "maxItems": most},
            inner,
            st.integers(0, 3),
        ),
        st.builds(
            lambda properties, count: {
                "type": "object",
                "properties": properties,
                "required": sorted(properties)[:count],
                "additionalProperties": False,
            },
            st.dictionaries(NAMES, inner, max_size=3),
            st.integers(0, 3),
        ),
        st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner),
    ),
    max_leaves=6,
)


def answer(target, drafter, request, prompt=PROMPT):
    drafters = [] if drafter is None else [drafter]
    return Generator(target, *drafters).generate(prompt, request)


@given(schema=SCHEMAS, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_finished_answer_is_valid_and_the_same_with_speculation(schema, seed):
    compiled = BYTES.compile(Grammar.schema(schema))
    law = SamplingParams(temperature=0.8)
    request = Request(law, 400, seed=seed, draft_len=4).constrained(compiled, len(PROMPT))
    plain = answer(RAMBLER, None, Request(law, 400, seed=seed).constrained(compiled, len(PROMPT)))
    drafted = answer(RAMBLER, NgramDrafter(1, 4), request)
    assert drafted.text == plain.text
    assert drafted.finish_reason == plain.finish_reason
    if plain.finish_reason == "eos":
        said = json.loads(plain.text)
        assert jsonschema_rs.is_valid(schema, said), plain.text


GRAMMAR = Grammar.lark('start: WORD (" " WORD)*\nWORD: /[a-h]{2}|[e-m]{3}/')
TINY_PROMPT = [1, 2, 3, 4, 1, 2, 3]


@pytest.fixture(scope="module")
def target():
    return tiny.target()


def drafters(target):
    return {
        "tree": SuffixDrafter(branching=True, least=0.0),
        "chain": NgramDrafter(1, 3),
        "model": ModelDrafter(tiny.target(seed=1), target.vocab_size),
        "twin": ModelDrafter(target, target.vocab_size),
    }


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("name", ["tree", "chain", "model", "twin"])
@pytest.mark.parametrize("exactness", [Exactness.COUPLED, Exactness.BITWISE])
def test_the_text_is_that_of_plain_decoding(target, name, temperature, exactness):
    compiled = Vocabulary(target).compile(GRAMMAR)
    law = SamplingParams(temperature=temperature)

    def asked(draft_len):
        request = Request(law, 60, seed=3, draft_len=draft_len, exactness=exactness)
        return request.constrained(compiled, len(TINY_PROMPT))

    plain = answer(target, None, asked(0), TINY_PROMPT)
    drafted = answer(target, drafters(target)[name], asked(6), TINY_PROMPT)
    assert drafted.text == plain.text
    assert drafted.stats.drafted > 0
    words = plain.text.split(" ")
    assert all(len(word) in (2, 3) for word in words[:-1])


def test_a_draft_that_has_no_row_for_what_must_follow(target):
    """Its draft ends there: "!" and the end are beyond its 28 rows."""
    compiled = Vocabulary(target).compile(Grammar.lark('start: WORD ("!" WORD)*\nWORD: /[a-h]{2}/'))
    small = ModelDrafter(tiny.target(seed=1, eos=(), vocab_size=28), target.vocab_size)

    def asked(draft_len):
        request = Request(SamplingParams(temperature=0.8), 30, seed=3, draft_len=draft_len)
        return request.constrained(compiled, len(TINY_PROMPT))

    drafted = answer(target, small, asked(4), TINY_PROMPT)
    assert "!" in drafted.text
    assert drafted.stats.drafted > 0
    assert drafted.text == answer(target, None, asked(0), TINY_PROMPT).text


class Priced(Generator):
    """Passes that cost little, so that the controller drafts."""

    def calibrate(self, bitwise=False, progress=None):
        return Prices({1: 0.01, 32: 0.012})


@pytest.mark.parametrize("exactness", list(Exactness))
def test_the_controllers_choice_of_forced_and_found_tokens(target, exactness):
    """They are merged into a tree where the level allows it."""
    words = Grammar.lark('start: ("abcdefgh" /[i-k]{1,3}/){6,}')
    law = SamplingParams(temperature=0.8)
    request = Request(law, 80, seed=3, exactness=exactness).constrained(
        Vocabulary(target).compile(words), len(TINY_PROMPT)
    )
    suffix = SuffixDrafter(branching=True, least=0.02)
    drafted = Priced(target, suffix, ForcedDrafter()).generate(TINY_PROMPT, request)
    assert drafted.stats.accepted > 30
    assert drafted.text.startswith("abcdefgh")
    if exactness is not Exactness.DISTRIBUTION:
        assert drafted.text == answer(target, None, request, TINY_PROMPT).text
