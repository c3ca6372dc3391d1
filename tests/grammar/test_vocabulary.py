"""Which grammars are taken, which are refused, how soon, and in what words."""

import json
import time

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.engine.request import Request
from foredraft.grammar.grammar import MOST_BYTES, Grammar
from foredraft.grammar.trial import try_compile
from foredraft.grammar.vocabulary import Vocabulary
from tests.cli.parrot import Parrot


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(Parrot())


def nested(depth):
    schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def branching(depth):
    """A schema whose expansion has 2^depth leaves."""
    leaf = {f"a{depth}": {"type": "string"}}
    each = {
        f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}, {"$ref": f"#/$defs/a{i + 1}"}]}
        for i in range(depth)
    }
    return {"$defs": each | leaf, "$ref": "#/$defs/a0"}


def conflicting(count):
    patterns = [{"type": "string", "pattern": f"^.*a.{{{i}}}b.*$"} for i in range(5, 5 + count)]
    return {"allOf": patterns}


HUGE = {
    "maxLength": {"type": "string", "maxLength": 10**9},
    "minLength": {"type": "string", "minLength": 10**9},
    "minItems": {"type": "array", "items": {"type": "integer"}, "minItems": 10**9},
    "arrays of arrays": {
        "type": "array",
        "minItems": 1000,
        "items": {"type": "array", "minItems": 1000, "items": {"type": "string"}},
    },
    "branching references": branching(30),
    "a bomb of repetitions": {"type": "string", "pattern": "^((a{0,1000}){0,1000}){0,1000}$"},
    "many states": {"type": "string", "pattern": "(a|b)*a(a|b){25}$"},
    "3000 alternatives": {"enum": [f"value number {i}" for i in range(2500)]},
    "1000 properties": {"type": "object", "properties": {f"p{i}": {} for i in range(1000)}},
}
REFUSED = {
    "too deep": (nested(200), "recursion limit"),
    "no type": ({"type": "strin"}, "strin"),
    "remote": ({"$ref": "https://example.com/x.json"}, "does not fetch"),
    "a file": ({"$ref": "file:///etc/passwd"}, "does not fetch"),
    "itself": ({"$ref": "#"}, "no text follows it"),
    "unenforceable": ({"type": "array", "uniqueItems": True}, "uniqueItems"),
    "unknown format": ({"type": "string", "format": "made-up"}, "made-up"),
    "look-around": ({"type": "string", "pattern": "(?=a)b"}, "look-around"),
    "too many parentheses": ({"type": "string", "pattern": "(" * 5000 + ")" * 5000}, "regex"),
}


@pytest.mark.parametrize("name", HUGE)
def test_large_numbers_cost_little(vocabulary, name):
    begun = time.perf_counter()
    vocabulary.compile(Grammar.schema(HUGE[name]))
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize("name", REFUSED)
def test_schemas_that_are_refused(vocabulary, name):
    schema, said = REFUSED[name]
    begun = time.perf_counter()
    with pytest.raises(ForedraftError, match=said) as caught:
        vocabulary.compile(Grammar.schema(schema))
    assert time.perf_counter() - begun < 2
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start: X", "X"),
        ("start: " + "(" * 5000 + '"a"' + ")" * 5000, "too deeply nested"),
        ("start: X\nX: Y\nY: X", "circular"),
        ("start: start", "no text follows it"),
        ('root ::= "a"', "gbnf_to_lark"),
        ("start: a\na[max_tokens=3]: /[a-z]*/", "max_tokens="),
        ("start: a\na[temperature=0.3]: /[a-z]*/", "temperature="),
        ("x" * (MOST_BYTES + 1), "bytes"),
    ],
)
def test_grammars_that_are_refused(vocabulary, text, said):
    with pytest.raises(ForedraftError, match=said):
        vocabulary.compile(Grammar.lark(text))


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "cannot be read as JSON"),
        ("[1]", "must be an object"),
        ({"type": object()}, "cannot be read as JSON"),
        ({"enum": ["é" * MOST_BYTES]}, "bytes"),
    ],
)
def test_what_is_no_schema(schema, said):
    with pytest.raises(ForedraftError, match=said):
        Grammar.schema(schema)


class TestTrial:
    def test_a_good_grammar_passes(self):
        try_compile(Grammar.json_object(), seconds=20)

    def test_a_bad_one_is_refused_in_the_same_words(self, vocabulary):
        grammar = Grammar.schema({"type": "strin"})
        with pytest.raises(ForedraftError) as tried:
            try_compile(grammar, seconds=20)
        with pytest.raises(ForedraftError) as compiled:
            vocabulary.compile(grammar)
        assert str(tried.value) == str(compiled.value)

    def test_one_that_takes_minutes_is_stopped(self):
        begun = time.perf_counter()
        with pytest.raises(ForedraftError, match="more than 1 s to compile"):
            try_compile(Grammar.schema(conflicting(60)), seconds=1)
        assert time.perf_counter() - begun < 3


def test_settings_that_contradict_a_grammar(vocabulary):
    constraint = vocabulary.compile(Grammar.json_object())
    with pytest.raises(ForedraftError, match="ignore_eos goes on"):
        Request(ignore_eos=True).constrained(constraint, 3)
    with pytest.raises(ForedraftError, match="min_tokens is 5"):
        Request(SamplingParams(min_tokens=5)).constrained(constraint, 3)


def test_a_target_without_an_end():
    parrot = Parrot()
    parrot.tokenizer.eos_ids = frozenset()
    with pytest.raises(ForedraftError, match="no token that ends"):
        Vocabulary(parrot)


def test_the_source_is_what_the_library_takes():
    assert json.loads(Grammar.lark("start: X").source) == {
        "grammars": [{"lark_grammar": "start: X"}]
    }
