"""docs/structure.md: its example runs, and its limits are the code's."""

import json
import re
from pathlib import Path

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.grammar.grammar import MOST_BYTES, Grammar
from foredraft.grammar.vocabulary import LIMITS, Vocabulary
from foredraft.server import structure
from tests.cli.parrot import Parrot, loader

DOCS = (Path(__file__).parents[2] / "docs" / "structure.md").read_text(encoding="utf-8")


def test_the_example_in_python(monkeypatch, capsys):
    monkeypatch.setattr("foredraft.load", loader())
    exec(compile(re.search(r"```python\n(.*?)```", DOCS, re.S)[1], "structure.md", "exec"), {})
    assert capsys.readouterr().out.startswith("{")


def test_the_limits():
    assert f"{MOST_BYTES // 1024} KiB" in DOCS
    assert f"{structure._COMPILE_S:g} s" in DOCS
    assert f"more than {LIMITS['max_items_in_row']} open" in DOCS
    assert f"the last {structure._KEPT} of them" in DOCS
    vocabulary = Vocabulary(Parrot())
    for depth in (115, 130):
        schema = {"type": "integer"}
        for _ in range(depth):
            schema = {"type": "array", "items": schema}
        if depth == 115:
            vocabulary.compile(Grammar.schema(json.dumps(schema)))
        else:
            with pytest.raises(ForedraftError):
                vocabulary.compile(Grammar.schema(json.dumps(schema)))
