"""GET /v1/models."""

import openai
import pytest


def test_the_list(client):
    (model,) = client.models.list().data
    assert (model.id, model.object, model.owned_by) == ("parrot", "model", "foredraft")


def test_one(client):
    assert client.models.retrieve("parrot").id == "parrot"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")
