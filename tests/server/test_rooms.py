"""The small endpoints: tokens, health, metrics, status, replay, and what is not there."""

import pytest

from tests.cli.parrot import ANSWER, SAYS
from tests.server.conftest import parrot
from tests.server.serving import ASK, FIXED, error_of, serving


def test_tokens_and_back(served):
    tokens = served.post("/tokenize", {"content": "潮!"}).json()
    assert tokens == {"tokens": list("潮!".encode())}
    assert served.post("/detokenize", tokens).json() == {"content": "潮!"}
    assert served.post("/detokenize", {"tokens": []}).json() == {"content": ""}


def test_tokens_that_begin_every_text(monkeypatch):
    with serving(parrot()) as served:
        codec = served.service.scheduler.target.tokenizer
        encode = codec.encode
        monkeypatch.setattr(codec, "encode", lambda text: [7, *encode(text)])
        bare = served.post("/tokenize", {"content": "a"}).json()
        whole = served.post("/tokenize", {"content": "a", "add_special": True}).json()
    assert (bare["tokens"], whole["tokens"]) == ([97], [7, 97])


@pytest.mark.parametrize("tokens", [[258], [-1], ["a"], None])
def test_what_are_no_tokens(served, tokens):
    reply = served.post("/detokenize", {"tokens": tokens})
    assert error_of(reply, 400)["param"].startswith("tokens")


def test_health(served):
    assert served.get("/health").json() == {"status": "ok"}


def test_metrics(served):
    served.chat()
    reply = served.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    assert "foredraft" in reply.text


def test_the_page(served):
    assert served.get("/").is_success


def test_what_is_not_there(served):
    error = error_of(served.get("/v1/files"), 404)
    assert error["message"].startswith("Not Found: GET /v1/files;")
    error_of(served.get("/v1/chat/completions"), 405)
    error_of(served.get("/docs"), 404)


def test_status():
    with serving(parrot()) as served:
        new = served.get("/foredraft/status").json()
        done = served.chat(speculation=FIXED)
        used = served.get("/foredraft/status").json()
    assert list(new) == [
        *("model", "engine", "drafters", "context", "running", "waiting", "cached_tokens"),
        *("uptime_s", "recent", "last", "verify_curve", "plain_step_s", "cost_ratio"),
    ]
    assert (new["model"], new["engine"], new["drafters"]) == ("parrot", "birds", ["ngram"])
    assert new["recent"] == {
        **{"requests": 0, "generated_tokens": 0, "acceptance_rate": None},
        **{"tokens_per_target_pass": None, "speedup": None, "tokens_per_s": 0.0},
    }
    assert len(new["verify_curve"]) == 16
    assert new["verify_curve"][0] == 1
    assert (new["last"], new["cost_ratio"]) == (None, {})
    usage, recent = done["usage"], used["recent"]
    assert recent["requests"] == 1
    assert recent["generated_tokens"] == usage["completion_tokens"]
    for name in ("acceptance_rate", "tokens_per_target_pass"):
        assert recent[name] == pytest.approx(usage["speculation"][name])
    assert recent["speedup"] == pytest.approx(usage["speculation"]["speedup"])
    assert used["cost_ratio"]["ngram"] > 0


@pytest.mark.parametrize("mode", ["ngram", "suffix"])
def test_replay(served, mode):
    tokens = list(SAYS.encode())
    body = {"prompt": ASK, "tokens": tokens, "mode": mode, "draft_len": 5}
    done = served.post("/foredraft/replay", body).json()
    assert sum(one["kept"] + 1 for one in done["passes"]) == len(tokens)
    assert done["target_passes"] == len(done["passes"]) < len(tokens)
    curve = served.service.scheduler.curve(6)
    price = sum(curve[one["drafted"]] for one in done["passes"])
    assert done["speedup"] == pytest.approx(len(tokens) / price)


@pytest.mark.parametrize("prompt", ["hello", [*b"hello", ANSWER]])
def test_replay_after_a_text_or_tokens(served, prompt):
    body = {"prompt": prompt, "tokens": [1], "mode": "ngram", "draft_len": 1}
    assert served.post("/foredraft/replay", body).json()["target_passes"] == 1


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"mode": "auto"}, "mode"),
        ({"draft_len": 0}, "draft_len"),
        ({"tokens": [1] * 600}, "tokens"),
    ],
)
def test_what_cannot_be_replayed(served, fields, param):
    body = {"prompt": "hello", "tokens": [1], "mode": "ngram", "draft_len": 1} | fields
    assert error_of(served.post("/foredraft/replay", body), 400)["param"] == param
