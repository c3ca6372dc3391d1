"""Every option must reach the engine, and every default must be the engine's own."""

import inspect
from dataclasses import fields

import pytest

from foredraft.cli.options import Settings
from foredraft.cli.spread import with_settings
from foredraft.core.errors import ForedraftError
from foredraft.core.sampling import SamplingParams
from foredraft.core.types import Exactness
from foredraft.engine.generator import Generator
from foredraft.engine.request import Request


def test_the_defaults_are_the_engines():
    assert Settings().request() == Request()


def test_every_setting_of_the_engine_has_an_option():
    options = {item.name for item in fields(Settings)}
    asked = {item.name for item in fields(Request)} - {"params"}
    shaping = {item.name for item in fields(SamplingParams)} - {"processors"}  # functions
    assert asked | shaping <= options


def test_settings_become_the_request():
    settings = Settings(
        temperature=0.7,
        top_k=40,
        top_p=0.9,
        min_p=0.05,
        typical_p=0.95,
        repetition_penalty=1.1,
        presence_penalty=0.2,
        frequency_penalty=0.3,
        logit_bias=["5=-100", "7=2.5"],
        allowed_tokens="5,7, 11",
        min_tokens=3,
        seed=123,
        max_new_tokens=9,
        stop=["END", "\n\n"],
        draft_len=0,
        exactness=Exactness.DISTRIBUTION,
        logprobs=2,
        json=True,
        ignore_eos=True,
    )
    assert settings.request() == Request(
        params=SamplingParams(
            0.7, 40, 0.9, 0.05, 0.95, 1.1, 0.2, 0.3, {5: -100.0, 7: 2.5}, (5, 7, 11), 3
        ),
        max_new_tokens=9,
        stop=("END", "\n\n"),
        seed=123,
        draft_len=0,
        exactness=Exactness.DISTRIBUTION,
        logprobs=2,
        ignore_eos=True,
    )


@pytest.mark.parametrize("bias", ["5", "five=1", "5=much", "=", "5=1=2"])
def test_a_bad_bias_is_refused(bias):
    with pytest.raises(ForedraftError, match="--logit-bias"):
        Settings(logit_bias=[bias]).request()


@pytest.mark.parametrize("ids", ["a", "1;2"])
def test_bad_token_ids_are_refused(ids):
    with pytest.raises(ForedraftError, match="--allowed-tokens"):
        Settings(allowed_tokens=ids).request()


def test_logprobs_without_json_are_refused_since_nothing_would_show_them():
    with pytest.raises(ForedraftError, match="add it"):
        Settings(logprobs=3).request()


@pytest.mark.parametrize(
    ("given", "drafter"),
    [
        ({}, "auto"),
        ({"drafter": "none"}, "none"),
        ({"draft_model": "small"}, "auto"),
        ({"draft_model": "small", "drafter": "model"}, "model"),
    ],
)
def test_a_draft_model_is_enough_to_draft_with_it(monkeypatch, given, drafter):
    heard = {}
    monkeypatch.setattr(
        "foredraft.cli.options.load", lambda model, **rest: heard.update(rest) or Generator(None)
    )
    Settings(**given).generator()
    assert heard["drafter"] == drafter
    assert heard["draft_model"] == given.get("draft_model")


def test_spread_shows_typer_the_commands_own_parameters_and_then_every_setting():
    heard = []

    @with_settings
    def command(settings: Settings, word: str) -> None:
        """Its help."""
        heard.append((settings, word))

    names = list(inspect.signature(command).parameters)
    assert names == ["word", *(item.name for item in fields(Settings))]
    assert (command.__name__, command.__doc__) == ("command", "Its help.")
    defaults = {item.name: item.default for item in fields(Settings)}
    command(word="hello", **defaults | {"top_k": 3})
    assert heard == [(Settings(top_k=3), "hello")]
