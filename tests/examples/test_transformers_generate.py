"""examples/transformers_generate.py."""

import re
import runpy
import sys

import pytest

from tests.examples.conftest import EXAMPLES


@pytest.mark.parametrize("drafts", [0, 1])
def test_it_streams_an_answer_and_says_what_speculation_did(folder, drafts, monkeypatch, capsys):
    script = str(EXAMPLES / "transformers_generate.py")
    monkeypatch.setattr(sys, "argv", [script, str(folder), *[str(folder)] * drafts])
    runpy.run_path(script, run_name="__main__")
    *answer, last = capsys.readouterr().out.splitlines()
    assert "".join(answer)
    said = re.fullmatch(r"(\d+) tokens in (\d+) passes, (\d+) of them from the draft", last)
    assert said is not None
    tokens, passes, accepted = map(int, said.groups())
    assert tokens == passes + accepted
    if drafts:
        assert accepted > 0
