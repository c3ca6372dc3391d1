"""`foredraft verify` on the parrot: its report, its JSON and its exit statuses."""

import json
from dataclasses import replace

import pytest

from foredraft.cli.verify import SOME
from foredraft.engine import loop
from foredraft.rivals.prompts import read_samples
from tests.cli.parrot import SAYS
from tests.rivals.fake import saying, serving


@pytest.fixture
def prompts(tmp_path):
    file = tmp_path / "prompts.txt"
    file.write_text("hello\nand again\n")
    return ("--prompts", str(file))


@pytest.fixture
def wrong(monkeypatch):
    """Every round that drafts emits something else than the target's token."""
    right = loop.judge

    def judge(laws, draft, sequence, exactness):
        verdict = right(laws, draft, sequence, exactness)
        return replace(verdict, token=ord("x")) if len(draft) else verdict

    monkeypatch.setattr(loop, "judge", judge)


def test_an_exact_engine_passes(parrot, call, prompts):
    done = call("verify", *prompts, "--tokens", "112")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("parrot on birds, ngram, coupled: 2 prompts, seed 0, ")
    assert lines[1] == "✓ Greedy text: all 112 tokens are plain decoding's"
    assert lines[2] == "✓ Text of a seed at temperature 0.8: all 112 tokens are plain decoding's"
    assert [line[0] for line in lines[3:-1]] == ["✓"] * 5
    assert lines[-1].startswith("Nothing is off. Of 1,000 audits of an exact engine one would ")


def test_json_is_one_object_and_nothing_else(parrot, call, prompts):
    done = call("verify", *prompts, "--tokens", "40", "--json", "--seed", "5", "--temperature", "1")
    assert (done.status, done.err) == (0, "")
    made = json.loads(done.out)
    assert list(made) == [
        *("version", "ok", "false_alarm", "model", "engine", "drafter", "exactness"),
        *("temperature", "seed", "prompts", "drafted", "accepted", "rounding"),
        *("greedy", "same_seed", "fit"),
    ]
    assert (made["ok"], made["seed"], made["temperature"]) == (True, 5, 1.0)
    assert made["prompts"] == ["1", "2"]
    assert made["greedy"] == {"tokens": 40, "equal": 40, "differences": [], "ok": True}
    assert list(made["fit"]) == [
        *("tokens", "impossible", "surprise", "entropy", "error", "likeliest", "overrated"),
        *("distance", "correlation", "p_values", "surprise_z", "visible", "off"),
    ]
    assert list(made["fit"]["overrated"]) == ["places", "came", "expected"]


def test_what_is_off_is_said_and_is_status_1(parrot, call, prompts, wrong):
    done = call("verify", *prompts, "--tokens", "112")
    assert (done.status, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[1].startswith("✗ Greedy text: ")
    assert "    1, token " in lines[2]
    assert "here 'x'; real difference: margin 20, rounding reaches 0" in lines[2]
    assert lines[-1].startswith("Something is off: see the lines with ✗.")


def test_json_of_what_is_off_is_status_1_too(parrot, call, prompts, wrong):
    done = call("verify", *prompts, "--json")
    assert done.status == 1
    made = json.loads(done.out)
    assert not made["ok"]
    first = made["greedy"]["differences"][0]
    assert list(first) == ["prompt", "at", "plain", "other", "margin", "near"]
    assert (first["other"], first["near"]) == ("x", False)


def test_at_distribution_a_seed_promises_no_text(parrot, call, prompts):
    out = call("verify", *prompts, "--tokens", "40", "--exactness", "distribution").out
    assert "Text of a seed" not in out


def test_nothing_drafted_is_no_proof(parrot, call, tmp_path):
    parrot(says="abcdefg")
    file = tmp_path / "p"
    file.write_text("hello")
    done = call("verify", "--prompts", str(file), "--tokens", "8")
    assert done.status == 0
    assert "– Nothing was drafted, so nothing is proved" in done.out


def test_four_of_our_prompts_are_used_without_a_file(parrot, call):
    parrot(context=4096)
    made = json.loads(call("verify", "--tokens", "64", "--json").out)
    assert made["prompts"] == list(SOME)
    assert set(SOME) < {sample.id for sample in read_samples()}


def test_few_tokens_are_spent_on_few_prompts(parrot, call, prompts):
    made = json.loads(call("verify", *prompts, "--tokens", "20", "--json").out)
    assert made["prompts"] == ["1"]
    assert made["greedy"]["tokens"] == 20


@pytest.mark.parametrize("has_template", [True, False])
def test_a_base_model_continues_the_text(parrot, call, prompts, has_template):
    parrot(has_template=has_template)
    assert call("verify", *prompts, "--tokens", "20").status == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--drafter", "none"], "no speculation to audit"),
        (["--draft-len", "0"], "no speculation to audit"),
        (["--tokens", "0"], "--tokens"),
        (["--tokens", "many"], "--tokens"),
        (["--max-new-tokens", "9"], "--max-new-tokens"),
        (["--logprobs", "2"], "--logprobs"),
        (["--exactness", "bitwise"], "'bitwise' cannot be promised"),
        (["--top-p", "2"], "top_p is 2"),
        (["--against", "http://127.0.0.1:9"], "127.0.0.1:9"),
    ],
)
def test_mistakes_are_one_sentence(parrot, refuse, prompts, arguments, says):
    refuse("verify", *prompts, *arguments, says=says)


def test_a_file_without_prompts_is_refused(parrot, refuse):
    refuse("verify", "--prompts", "no/such/file", says="no/such/file cannot be read")


@pytest.mark.parametrize(("said", "status"), [(SAYS, 0), (SAYS.replace("geht", "ging"), 1)])
def test_a_server_is_audited_from_outside(parrot, call, prompts, said, status):
    with serving(lambda body: saying(said, tokens=56)) as server:
        done = call("verify", *prompts, "--tokens", "112", "--against", server.url)
    assert (done.status, done.err) == (status, "")
    assert done.out.startswith(f"{server.url} against parrot on birds: 2 prompts, seed 0\n")
    assert ("real difference" in done.out) == bool(status)


@pytest.mark.parametrize(
    "arguments",
    [["--drafter", "suffix"], ["--draft-model", "x"], ["--draft-greedy"], ["--store", "x"]],
)
def test_a_server_drafts_as_it_likes(parrot, refuse, prompts, arguments):
    with serving() as server:
        refuse(
            "verify",
            *prompts,
            "--against",
            server.url,
            *arguments,
            says="with --against the server",
        )
