"""POST /v1/chat/completions, asked with OpenAI's own client."""

import asyncio

import openai
import pytest

from tests.cli.parrot import SAYS

ASK = [{"role": "user", "content": "hello"}]


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
