"""The parrot behind a real server, and OpenAI's own client before it."""

import openai
import pytest

from foredraft.drafters.ngram import NgramDrafter
from tests.cli.parrot import Parrot, Steady
from tests.server.serving import serving


def parrot(**changes):
    return Steady(Parrot(**changes), NgramDrafter())


@pytest.fixture(scope="session")
def served():
    with serving(parrot()) as server:
        yield server


@pytest.fixture
def client(served):
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as made:
        yield made
