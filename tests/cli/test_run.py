"""`foredraft run` on a model that always says the same."""

import json
import math

import pytest

from foredraft.cli.summary import as_object
from foredraft.core.errors import ForedraftError
from foredraft.engine.request import Request
from foredraft.engine.result import Result, Token
from tests.cli.parrot import SAYS, Parrot, loader

RESULT = [
    *("text", "tokens", "from_draft", "finish_reason", "model", "engine", "drafter"),
    *("exactness", "lossy", "seed", "stats", "plain_step_s", "speedup"),
]


def test_a_pipe_gets_the_text_and_a_newline(parrot, call):
    done = call("run", "hello")
    assert done.status == 0
    assert done.out == SAYS + "\n"


def test_the_last_line_says_what_speculation_was_worth(parrot, call):
    line = call("run", "hello").err
    assert line.startswith("56 tokens, 19 of them from the draft · ")
    assert " tok/s · α 0.83 (0.63–0.93) · 1.5 tokens/pass · " in line
    assert "x plain (measured " in line
    assert line.endswith(" · ngram, coupled, greedy, birds\n")


def test_the_last_line_names_the_seed_where_it_matters(parrot, call):
    line = call("run", "hello", "--temperature", "0.5", "--seed", "123").err
    assert line.endswith("seed 123, birds\n")


def test_the_last_line_without_a_drafter(parrot, call):
    line = call("run", "hello", "--drafter", "none", "-n", "3").err
    assert line.startswith("3 tokens (the limit) · ")
    assert line.endswith(" tok/s · plain decoding, greedy, birds\n")


def test_the_last_line_when_nothing_was_drafted(parrot, call):
    line = call("run", "hello", "-n", "1").err
    assert line.startswith("1 token (the limit) · ")
    assert "α" not in line
    assert "nothing drafted, so plain speed" in line


@pytest.mark.parametrize(("plain_s", "lost"), [(1.0, False), (1e-9, True)])
def test_the_last_line_admits_a_loss(parrot, call, monkeypatch, plain_s, lost):
    monkeypatch.setattr("foredraft.engine.generator.Generator._plain_step", lambda *_: plain_s)
    assert ("speculation lost here" in call("run", "hello").err) == lost


def test_json_is_one_object_and_nothing_else(parrot, call):
    done = call("run", "hello", "--json", "--seed", "5")
    assert done.err == ""
    made = json.loads(done.out)
    assert list(made) == RESULT
    assert made["text"] == SAYS
    assert len(made["tokens"]) == len(made["from_draft"]) == 56
    assert sum(made["from_draft"]) == made["stats"]["accepted"] == 19
    assert made["finish_reason"] == "eos"
    assert (made["model"], made["drafter"]) == ("parrot", "ngram")
    assert (made["exactness"], made["lossy"], made["seed"]) == ("coupled", False, 5)
    stats = made["stats"]
    assert stats["drafted"] == stats["accepted"] + stats["rejected"] + stats["ignored"]
    assert stats["prompt_tokens"] == len("user: hello") + 1
    assert made["plain_step_s"] > 0


def test_json_reports_logprobs_when_asked(parrot, call):
    made = json.loads(call("run", "hello", "--json", "--logprobs", "2", "-n", "3").out)
    assert list(made) == [*RESULT, "logprobs"]
    first = made["logprobs"][0]
    assert first["token"] == ord("d")
    assert first["top"][str(ord("d"))] == first["logprob"]
    assert -1e-3 < first["logprob"] < 0
    assert [len(item["top"]) for item in made["logprobs"]] == [2, 2, 2]


def test_json_has_no_infinity():
    """A greedy token that typical-p leaves out of the reported law has the logprob −∞."""
    result = Result(tokens=[Token(7, "x", False, -math.inf, {})])
    made = as_object(result, loader()(), Request(logprobs=1))
    assert made["logprobs"] == [{"token": 7, "logprob": None, "top": {}}]


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["run"], b"hello\n"),
        (["run", "-"], b"hello\r\n"),
        (["run", "--prompt-file", "{file}"], b""),
        (["run", "hello"], b"not this"),
    ],
)
def test_where_prompts_come_from(parrot, call, tmp_path, arguments, stdin):
    file = tmp_path / "prompt"
    file.write_text("hello\n")
    arguments = [text.format(file=file) for text in arguments]
    made = json.loads(call(*arguments, "--json", stdin=stdin).out)
    assert made["stats"]["prompt_tokens"] == len("user: hello") + 1


def test_the_system_text_goes_first(parrot, call):
    made = json.loads(call("run", "hello", "--system", "be kind", "--json").out)
    assert made["stats"]["prompt_tokens"] == len("system: be kind\nuser: hello") + 1


@pytest.mark.parametrize("has_template", [True, False])
def test_raw_text_is_continued_as_it_is(parrot, call, has_template):
    parrot(has_template=has_template)
    raw = ["--raw"] if has_template else []
    made = json.loads(call("run", "hello", *raw, "-n", "1", "--json").out)
    assert made["stats"]["prompt_tokens"] == len("hello")


def test_stop_ends_before_its_text(parrot, call):
    assert call("run", "hello", "--stop", ", die", "--stop", "zzz").out == "die Flut kommt\n"


def test_settings_reach_the_law(parrot, call):
    """Token 101 is 'e'; everything else is ruled out."""
    assert call("run", "hello", "--allowed-tokens", "101", "-n", "4").out == "eeee\n"


def test_no_drafting_is_allowed(parrot, call):
    made = json.loads(call("run", "hello", "--draft-len", "0", "--json").out)
    assert made["stats"]["drafted"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["hello", "--draft-len", "-1"], "draft_len (γ) is -1"),
        (["hello", "--draft-len", "512"], "context of 512"),
        (["hello", "--temperature", "-0.1"], "temperature is -0.1"),
        (["hello", "--temperature", "nan"], "temperature is nan"),
        (["hello", "--top-p", "0"], "top_p is 0.0"),
        (["hello", "--top-p", "1.01"], "top_p is 1.01"),
        (["hello", "--logit-bias", "300=1"], "token 300"),
        (["hello", "--stop", ""], "stop string is empty"),
        (["hello", "--exactness", "bitwise"], "'bitwise' cannot be promised"),
        (["x" * 600], "context of 512"),
        ([""], "prompt is empty"),
        (["hello", "--prompt-file", "also"], "two prompts"),
        (["--prompt-file", "no/such/file"], "no/such/file cannot be read: No such file"),
        (["--prompt-file", "."], "Is a directory"),
        (["hello", "--raw", "--system", "x"], "--raw leaves it out"),
        (["hello\udcff"], "The prompt is not UTF-8"),
    ],
)
def test_mistakes_are_one_sentence(parrot, refuse, arguments, says):
    refuse("run", *arguments, says=says)


@pytest.mark.parametrize(("stdin", "says"), [(b"", "empty"), (b"caf\xe9", "byte 0xe9 at 3")])
def test_bad_standard_input(parrot, refuse, stdin, says):
    refuse("run", stdin=stdin, says=says)


def test_settings_are_checked_before_a_model_is_loaded(refuse, monkeypatch):
    monkeypatch.setattr("foredraft.cli.options.load", None)
    refuse("run", "hello", "--top-p", "2", says="top_p")


def test_an_error_in_the_middle_leaves_the_text_on_its_own_line(parrot, call, monkeypatch):
    score = Parrot.score

    def tired(self, batch):
        self.passes = getattr(self, "passes", 0) + 1
        if self.passes > 3:
            raise ForedraftError("The parrot is tired.")
        return score(self, batch)

    monkeypatch.setattr(Parrot, "score", tired)
    done = call("run", "hello")
    assert (done.status, done.out) == (2, "die\n")
    assert done.err == "foredraft: The parrot is tired.\n"
