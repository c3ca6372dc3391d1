"""Why each round drafted what it did, on the screen and in a file that can be replayed."""

import json

import pytest

from foredraft.engine.trace import Trace


def test_explain_says_a_line_a_round_and_leaves_the_text_alone(call, parrot):
    plain = call("run", "hello")
    done = call("run", "--explain", "hello")
    assert done.out == plain.out
    lines = done.err.splitlines()[:-1]
    assert len(lines) > 10
    assert lines[0].split(":")[0].split() == ["1", "plain"]
    assert any("ngram 5, 5 accepted: 6 in" in line for line in lines)


def test_a_trace_is_written_and_replayed(call, parrot, tmp_path):
    file = tmp_path / "trace.json"
    made = json.loads(call("run", "--json", "--trace", str(file), "hello").out)
    trace = Trace.read(file)
    assert trace.output[: len(made["tokens"])] == made["tokens"]
    rows = json.loads(call("simulate", "replay", "--json", str(file)).out)
    assert {row["drafter"] for row in rows} == {"none", "ngram", "suffix", "recorded"}
    assert set(rows[0]) == {"drafter", "draft_len", "seconds", "passes", "speedup", "estimated"}
    table = call("simulate", "replay", str(file))
    assert "over plain" in table.out
    assert "recorded" in table.out
    assert table.out.rstrip().endswith("recorded with --drafter ngram.")


@pytest.mark.parametrize("name", ["no/such/trace.json", "empty.json"])
def test_bad_files_are_refused(refuse, parrot, tmp_path, name):
    (tmp_path / "empty.json").write_text("{}")
    refuse("simulate", "replay", str(tmp_path / name), says="trace")
    refuse("run", "--trace", str(tmp_path / "no" / "t.json"), "hello", says="There is no folder")


def test_a_fixed_length_for_many_drafters_is_refused(refuse, monkeypatch):
    from foredraft.drafters.ngram import NgramDrafter
    from foredraft.engine.generator import Generator
    from tests.cli.parrot import Parrot

    monkeypatch.setattr(
        "foredraft.cli.options.load",
        lambda *_, **__: Generator(Parrot(), NgramDrafter(), NgramDrafter(1, 3)),
    )
    refuse("run", "--draft-len", "4", "hello", says="name one drafter")
