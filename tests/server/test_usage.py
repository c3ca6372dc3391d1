"""The usage block: OpenAI's counts, and what speculation was worth."""

import openai

from foredraft.core.stats import Stats
from foredraft.engine.job import Job, Speculation
from foredraft.engine.request import Request
from foredraft.server.usage import merged, usage
from tests.cli.parrot import SAYS, Parrot, Steady
from tests.server.serving import ASK, FIXED, serving

FIELDS = [
    *("mode", "exactness", "lossy", "target_passes", "drafted", "accepted", "rejected"),
    *("ignored", "acceptance_rate", "per_position", "tokens_per_target_pass", "drafters"),
    *("seed", "queue_s", "prefill_s", "draft_s", "verify_s", "accept_s", "tokens_per_s"),
    *("plain_step_s", "speedup"),
]


def test_a_whole_answer_has_it(served):
    used = served.chat(seed=7, speculation=FIXED)["usage"]
    found = used["speculation"]
    assert list(found) == FIELDS
    assert (found["mode"], found["exactness"], found["lossy"]) == ("ngram", "coupled", False)
    assert found["drafted"] == found["accepted"] + found["rejected"] + found["ignored"] > 0
    assert found["acceptance_rate"] == found["accepted"] / (found["accepted"] + found["rejected"])
    assert found["drafters"]["ngram"][1:] == [found["drafted"], found["accepted"]]
    assert found["target_passes"] + found["accepted"] == used["completion_tokens"]
    assert found["seed"] == 7
    assert found["speedup"] == found["tokens_per_s"] * found["plain_step_s"]


def test_a_stream_has_it_when_asked(served):
    *_, last, end = served.chunks(stream_options={"include_usage": True})
    assert end == "[DONE]"
    assert list(last["usage"]["speculation"]) == FIELDS
    assert last["usage"]["completion_tokens"] == len(SAYS.encode()) + 1
    assert all("usage" not in chunk for chunk in served.chunks()[:-1])


def test_the_seed_that_was_drawn_gives_the_same_text(served):
    ask = {"temperature": 3.0, "logit_bias": {"257": -100, "256": -100}, "max_tokens": 20}
    first = served.chat(**ask, n=2)
    again = served.chat(**ask, n=2, seed=first["usage"]["speculation"]["seed"])
    assert [c["message"] for c in first["choices"]] == [c["message"] for c in again["choices"]]
    one = served.chat(**ask, seed=first["usage"]["speculation"]["seed"] + 1)
    assert one["choices"][0]["message"] == first["choices"][1]["message"]


def test_several_generations_as_one():
    one, other = Stats(prompt_tokens=2), Stats(prompt_tokens=3)
    one.record(3, 2, 1, 3, "ngram")
    one.record(0, 0, 0, 1)
    other.record(4, 4, 0, 5, "ngram")
    other.record(2, 0, 1, 1, "suffix")
    total = merged([one, other])
    assert (total.prompt_tokens, total.generated_tokens, total.target_passes) == (5, 10, 4)
    assert (total.drafted, total.accepted, total.rejected, total.ignored) == (9, 6, 2, 1)
    assert (
        total.sources == {"ngram": [2, 7, 6], "suffix": [1, 2, 0]} == merged([other, one]).sources
    )
    assert (total.judged, total.kept) == ([3, 2, 2, 1], [2, 2, 1, 1])
    assert total.lengths == {2: 1, 0: 2, 4: 1}


def test_the_share_of_a_prediction():
    job = Job([1, 2], Request(), Speculation("auto", (5, 6)), lambda step: None)
    job.cached_tokens, job.queue_s = 1, 0.25
    job.result.stats.record(5, 3, 1, 4, "prediction")
    job.result.stats.record(2, 1, 1, 2, "ngram")
    used = usage([job], 1)
    assert used["prompt_tokens_details"] == {"cached_tokens": 1}
    assert used["completion_tokens_details"] == {
        "accepted_prediction_tokens": 3,
        "rejected_prediction_tokens": 2,
    }
    assert used["speculation"]["queue_s"] == 0.25
    assert used["speculation"]["speedup"] is None


def test_a_prediction_is_drafted():
    with (
        serving(Steady(Parrot())) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none") as client,
    ):
        done = client.chat.completions.create(
            model="parrot",
            messages=ASK,
            prediction={"type": "content", "content": SAYS.replace("geht", "zieht")},
            extra_body={"speculation": {"draft_len": 5}},
        )
    counts = done.usage.completion_tokens_details
    assert done.choices[0].message.content == SAYS
    assert counts.accepted_prediction_tokens > 20
    assert counts.rejected_prediction_tokens > 0
