"""A real, tiny model behind the server: what it answers is what the engine writes."""

import openai

from foredraft.core.sampling import SamplingParams
from foredraft.drafters.ngram import NgramDrafter
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request
from tests import tiny
from tests.server.serving import serving

PROMPT = "the tide comes in"


def test_the_same_text_as_the_engine():
    target = tiny.target()
    plain = Generator(target).generate(
        PROMPT, Request(SamplingParams(temperature=0.8), max_new_tokens=40, seed=11)
    )
    generator = Generator(target, NgramDrafter())
    generator.calibrate()
    with (
        serving(generator) as served,
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="none") as client,
    ):
        done = client.completions.create(
            model="tiny-llama", prompt=PROMPT, temperature=0.8, max_tokens=40, seed=11
        )
        stream = client.completions.create(
            model="tiny-llama", prompt=PROMPT, temperature=0.8, max_tokens=40, seed=11, stream=True
        )
        streamed = "".join(chunk.choices[0].text for chunk in stream)
        bitwise = served.post(
            "/v1/completions",
            {
                **{"prompt": PROMPT, "temperature": 0, "max_tokens": 20},
                "speculation": {"exactness": "bitwise", "draft_len": 3},
            },
        ).json()
    assert done.choices[0].text == streamed == plain.text
    assert bitwise["usage"]["speculation"]["exactness"] == "bitwise"
