"""What drafts for a request under a grammar, where the server chooses."""

import pytest

from foredraft.core.sampling import SamplingParams
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.job import Speculation
from foredraft.engine.menu import Menu
from foredraft.engine.prices import Prices
from foredraft.engine.request import Request
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.vocabulary import Vocabulary
from tests.cli.parrot import Parrot

PRICES = Prices({1: 0.01, 8: 0.02})


@pytest.mark.parametrize(
    ("mode", "draft_len", "grammar", "names"),
    [
        ("auto", None, True, ["ngram", "forced"]),
        ("auto", None, False, ["ngram"]),
        ("auto", 3, True, ["ngram"]),
        ("ngram", None, True, ["ngram"]),
        ("off", None, True, []),
    ],
)
def test_forced_tokens_are_drafted_where_auto_chooses(mode, draft_len, grammar, names):
    target, speculation = Parrot(), Speculation(mode)
    request = Request(SamplingParams(), draft_len=draft_len)
    if grammar:
        constraint = Vocabulary(target).compile(Grammar.json_object())
        request = request.constrained(constraint, 3)
    menu = Menu(target, [NgramDrafter()])
    menu.check(speculation, request)
    assert [drafter.name for drafter in menu.order(speculation, request, PRICES)[1]] == names
    assert "forced" not in menu.modes
