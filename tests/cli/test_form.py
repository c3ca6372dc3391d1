"""--json-schema and --grammar: the parrot says what they allow, with speculation as without."""

import json

import pytest

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["tide", "wave"]}, "high": {"type": "boolean"}},
    "required": ["kind", "high"],
    "additionalProperties": False,
}


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return str(path)


def test_a_schema(parrot, call, schema):
    done = call("run", "hello", "--json-schema", schema, "-n", "400")
    assert done.status == 0
    assert json.loads(done.out).keys() == SCHEMA["properties"].keys()
    assert call("run", "hello", "--json-schema", schema, "-n", "400", "--drafter", "none").out == (
        done.out
    )


def test_a_grammar(parrot, call, tmp_path):
    path = tmp_path / "answer.lark"
    path.write_text('start: "die " /[A-Z][a-z]+/ "!"')
    assert call("run", "hello", "--grammar", str(path)).out == "die Flut!\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--grammar", "missing.lark"], "missing.lark cannot be read"),
        (["--json-schema", "SCHEMA", "--grammar", "SCHEMA"], "give one"),
        (["--json-schema", "SCHEMA", "--ignore-eos"], "ignore_eos goes on"),
        (["--json-schema", "SCHEMA", "--min-tokens", "3"], "min_tokens is 3"),
        (["--grammar", "SCHEMA"], "The grammar cannot be used"),
    ],
)
def test_what_cannot_be(parrot, call, schema, options, said):
    done = call("run", "hello", *(schema if option == "SCHEMA" else option for option in options))
    assert done.status == 2
    assert said in done.err
    assert "Traceback" not in done.err
