"""What a grammar forces is drafted, and always accepted."""

import json

import pytest

from foredraft.core.noise import Noise
from foredraft.core.sampling import SamplingParams
from foredraft.core.sequence import TextSequence
from foredraft.core.types import Exactness
from foredraft.drafters.forced import ForcedDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.vocabulary import Vocabulary
from tests.cli.parrot import ANSWER, Parrot

PROMPT = [*b"say", ANSWER]
SCHEMA = {
    "type": "object",
    "properties": {"temperature": {"enum": ["high", "low"]}, "wind": {"type": "boolean"}},
    "required": ["temperature", "wind"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def constraint():
    return Vocabulary(Parrot()).compile(Grammar.schema(SCHEMA))


def proposed(params, output, limit):
    sequence = TextSequence(PROMPT, params, Noise(0, True))
    sequence.tokens += output
    return bytes(ForcedDrafter().propose(sequence, limit).tokens)


def test_what_is_drafted(constraint):
    params = constraint.on(SamplingParams(), len(PROMPT))
    assert proposed(params, [*b'{"'], 100) == b'temperature"'
    assert proposed(params, [*b'{"'], 4) == b"temp"
    assert proposed(params, [*b'{"'], 0) == b""
    assert proposed(params, [], 100) == b"{"
    assert proposed(params, [*b'{"temperature": "h'], 100) == b'igh"'
    assert proposed(params, [*b'{"temperature": "'], 100) == b""
    assert proposed(params, [*b"left"], 100) == b""
    assert proposed(SamplingParams(), [*b'{"'], 100) == b""


def test_a_grammar_that_grew_too_costly_fails_no_draft():
    """Other texts draft in the same round; the text's own p says what is wrong."""
    costly = Grammar.lark("start: s\ns: s s s s | s s s | s s | /[a-z]/ |")
    params = Vocabulary(Parrot()).compile(costly).on(SamplingParams(), len(PROMPT))
    assert proposed(params, [*b"a"] * 60, 10) == b""


@pytest.mark.parametrize("exactness", [Exactness.COUPLED, Exactness.DISTRIBUTION])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_all_of_it_is_accepted(constraint, exactness, temperature):
    law = SamplingParams(temperature=temperature)

    def answer(draft_len, *drafters):
        request = Request(law, 500, seed=2, draft_len=draft_len, exactness=exactness)
        target = Parrot(context=1024)
        return Generator(target, *drafters).generate(
            PROMPT, request.constrained(constraint, len(PROMPT))
        )

    drafted, plain = answer(8, ForcedDrafter()), answer(0)
    assert drafted.stats.drafted > 20
    assert drafted.stats.accepted == drafted.stats.drafted
    assert json.loads(drafted.text).keys() == SCHEMA["properties"].keys()
    if exactness is Exactness.COUPLED:
        assert drafted.text == plain.text
        assert drafted.stats.target_passes < plain.stats.target_passes
