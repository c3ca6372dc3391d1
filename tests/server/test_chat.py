"""POST /v1/chat/completions, asked with OpenAI's own client."""

import asyncio

import openai
import pytest

from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.engine.job import Speculation
from tests.cli.parrot import SAYS
from tests.server.conftest import parrot
from tests.server.serving import ASK, serving


def test_a_whole_answer(client):
    done = client.chat.completions.create(model="parrot", messages=ASK, temperature=0)
    assert done.object == "chat.completion"
    assert done.id.startswith("chatcmpl-")
    assert done.model == "parrot"
    (choice,) = done.choices
    assert (choice.index, choice.finish_reason, choice.logprobs) == (0, "stop", None)
    assert (choice.message.role, choice.message.content) == ("assistant", SAYS)
    assert done.usage.completion_tokens == len(SAYS.encode()) + 1  # and the end of the text
    assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens


def test_a_stream(client):
    chunks = list(
        client.chat.completions.create(
            model="parrot",
            messages=ASK,
            temperature=0,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk.id for chunk in chunks}) == 1
    first, *middle, last, usage = chunks
    assert (first.choices[0].delta.role, first.choices[0].delta.content) == ("assistant", "")
    assert "".join(chunk.choices[0].delta.content for chunk in middle) == SAYS
    assert all(chunk.choices[0].finish_reason is None for chunk in (first, *middle))
    assert (last.choices[0].finish_reason, last.choices[0].delta.content) == ("stop", None)
    assert usage.choices == []
    assert usage.usage.completion_tokens == len(SAYS.encode()) + 1
    assert all(chunk.usage is None for chunk in (first, *middle, last))


def test_the_asynchronous_client(served):
    async def ask():
        async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none") as client:
            stream = await client.chat.completions.create(
                model="parrot", messages=ASK, temperature=0, stream=True
            )
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(ask()) == SAYS


def test_another_model(client):
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="gpt-9", messages=ASK)
    assert caught.value.code == "model_not_found"
    assert caught.value.param == "model"


def test_several_choices(client):
    done = client.chat.completions.create(model="parrot", messages=ASK, n=3, seed=5)
    assert [choice.index for choice in done.choices] == [0, 1, 2]
    assert {choice.message.content for choice in done.choices} == {SAYS}
    assert done.usage.prompt_tokens == len("user: hello") + 1  # once for all choices


def test_several_choices_in_a_stream(served):
    *chunks, end = served.chunks(n=2)
    assert end == "[DONE]"
    for index in (0, 1):
        mine = [c["choices"][0] for c in chunks if c["choices"][0]["index"] == index]
        assert "".join(choice["delta"].get("content", "") for choice in mine) == SAYS
        assert mine[-1]["finish_reason"] == "stop"


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_a_limit(served, field):
    done = served.chat(**{field: 4})
    assert done["choices"][0]["message"]["content"] == "die "
    assert done["choices"][0]["finish_reason"] == "length"


def test_without_a_limit_the_context_is_one():
    with serving(parrot(says="x" * 500, context=64)) as served:
        done = served.chat()
    assert done["choices"][0]["finish_reason"] == "length"
    assert done["usage"]["total_tokens"] == 64


def test_stop_strings(served):
    done = served.chat(stop=["Flut geht", "nie"])
    assert done["choices"][0]["message"]["content"] == "die Flut kommt, die "
    assert done["choices"][0]["finish_reason"] == "stop"
    assert served.chat(stop=" ")["choices"][0]["message"]["content"] == "die"


def test_half_a_character_makes_no_chunk(served):
    texts = [c["choices"][0]["delta"].get("content") for c in served.chunks()[1:-2]]
    assert all(texts)
    assert "潮" in "".join(texts)


def test_message_parts(served):
    parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
    done = served.chat(messages=[{"role": "user", "content": parts}])
    assert done["usage"]["prompt_tokens"] == len("user: hello") + 1


def test_an_answer_may_be_sent_back(client):
    first = client.chat.completions.create(model="parrot", messages=ASK)
    talk = [*ASK, first.choices[0].message, *ASK]
    assert client.chat.completions.create(model="parrot", messages=talk).choices


def test_a_base_model_has_no_chat():
    with serving(parrot(has_template=False)) as served:
        served.service.scheduler.target.tokenizer.chat = _refuse
        error = served.refused(400)
    assert error["param"] == "messages"
    assert "no chat template" in error["message"]


def _refuse(messages):
    raise ForedraftError("This model has no chat template.")


@pytest.fixture
def asked(served, monkeypatch):
    """What the scheduler is asked: requests, and how they are to be drafted for."""
    heard = []
    submit = served.service.scheduler.submit

    def spy(ids, request, *rest, speculation, **options):
        heard.append((request, speculation))
        return submit(ids, request, *rest, speculation=speculation, **options)

    monkeypatch.setattr(served.service.scheduler, "submit", spy)
    return heard


def test_how_it_is_drafted_for_is_passed_on(served, asked):
    served.chat(
        speculation={"mode": "suffix", "user_scope": "me"},
        prediction={"type": "content", "content": [{"type": "text", "text": "die"}]},
    )
    assert asked[0][1] == Speculation("suffix", tuple(b"die"), "me")


def test_temperature_is_one_if_absent(served, asked):
    served.post("/v1/chat/completions", {"messages": ASK})
    assert asked[0][0].params == SamplingParams(temperature=1.0)


def test_every_setting_reaches_the_engine(served, asked):
    served.chat(
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        min_p=0.05,
        typical_p=0.95,
        repetition_penalty=1.1,
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        logit_bias={"42": -5},
        min_tokens=3,
        seed=7,
        ignore_eos=True,
        max_tokens=9,
        speculation={"draft_len": 3, "exactness": "distribution"},
    )
    ((request, _),) = asked
    assert request.params == SamplingParams(
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        min_p=0.05,
        typical_p=0.95,
        repetition_penalty=1.1,
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        logit_bias={42: -5.0},
        min_tokens=3,
    )
    assert (request.seed, request.ignore_eos, request.max_new_tokens) == (7, True, 9)
    assert (request.draft_len, request.exactness) == (3, Exactness.DISTRIBUTION)
