"""Recorded generations: whole, honest, readable again, and priced anew."""

import pytest

from foredraft.core.errors import ForedraftError
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.replay import passes, replay
from foredraft.engine.request import Request
from foredraft.engine.trace import Trace, explained
from tests import tiny

PROMPT = [1, 2, 3, 4, 1, 2, 3]
PRICES = {
    "verify_s": {"1": 1.0, "2": 1.1, "4": 1.3, "8": 1.5, "32": 4.0},
    "draft_s": {"model": 0.1},
    "read_s": {},
}


def record(*drafters, tokens=40, draft_len=None):
    generator = Generator(tiny.target(eos=()), *drafters)
    trace = Trace.begin(generator, PROMPT, False)
    request = Request(max_new_tokens=tokens, seed=0, draft_len=draft_len)
    result = None
    stream = generator.stream(PROMPT, request, watch=trace.add)
    for _ in stream:
        pass
    result = stream.result
    return trace, result


def test_a_trace_holds_the_text_and_what_each_round_did():
    trace, result = record(NgramDrafter(1, 4), SuffixDrafter())
    assert trace.output[: len(result.tokens)] == [token.id for token in result.tokens]
    assert len(trace.rounds) == result.stats.target_passes
    assert sum(len(done["drafted"]) for done in trace.rounds) == result.stats.drafted
    assert sum(done["verify_s"] for done in trace.rounds) <= result.stats.verify_s
    assert all(done["options"] for done in trace.rounds), "the controller had a choice"


def test_a_trace_survives_the_disk(tmp_path):
    trace, _ = record(NgramDrafter(1, 4))
    trace.write(tmp_path / "t.json")
    assert Trace.read(tmp_path / "t.json") == trace
    assert list(tmp_path.iterdir()) == [tmp_path / "t.json"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("{}", "not a trace"), ("no json", "not a trace"), ('{"version": 7}', "another version")],
)
def test_what_is_no_trace_is_refused_in_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "t.json"
    path.write_text(content)
    with pytest.raises(ForedraftError, match=sentence):
        Trace.read(path)
    with pytest.raises(ForedraftError, match="cannot be read"):
        Trace.read(tmp_path / "missing.json")


def test_a_trace_without_rounds_or_prices_is_refused_before_it_is_priced(tmp_path):
    """Both ended in a traceback of `simulate replay`."""
    path = tmp_path / "t.json"
    Trace("m", "auto", PROMPT, PRICES).write(path)
    with pytest.raises(ForedraftError, match="holds no rounds"):
        Trace.read(path)
    Trace("m", "auto", PROMPT, {"verify_s": {"1": 1.0}}).write(path)
    with pytest.raises(ForedraftError, match="not a trace"):
        Trace.read(path)


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(ForedraftError, match="cannot be written"):
        Trace("m", "none", [1], {}).write(tmp_path / "no" / "t.json")


@pytest.mark.parametrize("draft_len", [1, 3, 5])
def test_replayed_passes_are_those_of_a_real_run(draft_len):
    """The text is the same under every setting, so the rounds can be known without a model."""
    trace, _ = record(NgramDrafter(1, 4), draft_len=2)
    real, result = record(NgramDrafter(1, 4), draft_len=draft_len)
    made = passes(NgramDrafter(1, 4), draft_len, PROMPT, trace.output[:40], 40)
    assert [one.drafted for one in made] == [len(done["drafted"]) for done in real.rounds]
    assert [one.kept for one in made[:-1]] == [done["accepted"] for done in real.rounds[:-1]]
    assert len(made) == result.stats.target_passes


def test_replay_prices_every_setting_and_what_was_recorded():
    trace = Trace("m", "auto", PROMPT, PRICES)
    for token in (4, 1, 2, 3) * 6:
        trace.rounds.append(
            {"source": "", "drafted": [], "parents": [], "accepted": 0, "emitted": [token],
             "draft_s": 0.0, "verify_s": 1.0, "rate": None, "why": "fixed", "options": []}
        )  # fmt: skip
    trace.rounds[3] |= {"source": "model", "drafted": [3, 9], "accepted": 1, "draft_s": 0.2}
    rows = {(row.drafter, row.draft_len): row for row in replay(trace)}
    assert rows["none", 0].speedup == 1.0
    assert rows["recorded", 0].seconds == pytest.approx(23 + 1.2 + 2 * 0.1)
    assert rows["ngram", 8].speedup > 2, "the text repeats"
    assert rows["ngram", 8].passes < rows["ngram", 1].passes
    assert rows["model", 1].estimated
    assert not rows["suffix", 3].estimated
    seconds = [row.seconds for row in replay(trace)]
    assert seconds == sorted(seconds)


def test_every_round_is_explained_in_a_line():
    trace, _ = record(NgramDrafter(1, 4), SuffixDrafter())
    lines = list(explained(trace.rounds))
    assert len(lines) == len(trace.rounds)
    assert "plain: 1.0 in" in lines[0]
    assert "to beat" in lines[0]
    fixed, _ = record(NgramDrafter(1, 4), draft_len=3)
    assert any("ngram 3" in line and "fixed" in line for line in explained(fixed.rounds))
