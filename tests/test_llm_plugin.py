"""The plug-in for the `llm` command, on a model without weights."""

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import llm
import pytest
from click.testing import CliRunner
from llm.cli import cli
from llm.plugins import load_plugins, pm

from foredraft import llm_plugin
from foredraft.core.errors import ForedraftError
from foredraft.targets.hub import KNOWN
from tests.cli.parrot import SAYS, loader


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """llm's settings and log are the test's own; the plug-in is there, installed or not."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    load_plugins()
    if not pm.has_plugin("foredraft"):
        pm.register(llm_plugin, "foredraft")


@pytest.fixture
def parrot(monkeypatch):
    """Put the parrot in the place of every model; what is loaded goes into the list it gives."""

    def put(**changes):
        loaded = []

        def load(name, *, drafter, draft_model, progress):
            loaded.append((name, drafter, draft_model))
            return loader(**changes)(name, progress=progress)

        monkeypatch.setattr(llm_plugin, "load", load)
        return loaded

    return put


def call(*arguments):
    return CliRunner().invoke(cli, arguments)


def test_it_is_registered_under_the_group_of_llm():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    points = tomllib.loads(text)["project"]["entry-points"]["llm"]
    assert import_module(points["foredraft"]) is llm_plugin


def test_every_named_model_has_an_id(parrot):
    loaded = parrot()
    listed = {model.model_id for model in llm.get_models()}
    assert listed >= {"foredraft", *(f"foredraft/{name}" for name in KNOWN)}
    llm.get_model("foredraft/qwen2.5-coder-1.5b").prompt("hello").text()
    llm.get_model("foredraft").prompt("hello").text()
    llm.get_model("foredraft").prompt("hello", model="./my.gguf", drafter="suffix").text()
    assert loaded == [
        ("qwen2.5-coder-1.5b", "auto", None),
        ("smollm2", "auto", None),
        ("./my.gguf", "suffix", None),
    ]


def test_the_answer_streams_and_reports_what_speculation_did(parrot):
    parrot()
    response = llm.get_model("foredraft").prompt("hello")
    pieces = list(response)
    assert len(pieces) > 5
    assert "".join(pieces) == SAYS
    usage = response.usage()
    assert usage.output == len(SAYS.encode()) + 1
    assert usage.input > len("hello")
    details = usage.details
    assert details["drafted"] >= details["accepted"] + details["rejected"]
    assert details["accepted"] > 0
    assert details["target_passes"] + details["accepted"] == usage.output
    assert 0 < details["acceptance_rate"] <= 1
    assert response.response_json["finish_reason"] == "eos"
    assert response.response_json["seed"] >= 0


def test_a_chat_keeps_the_model_and_tells_it_what_was_said(parrot):
    loaded = parrot()
    model = llm.get_model("foredraft")
    chat = model.conversation()
    chat.prompt("hello", system="be short").text()
    second = chat.prompt("and again")
    assert second.text() == SAYS
    assert len(loaded) == 1
    generator = model._loaded[1]
    asked = generator.encode(llm_plugin._asked(generator, second.prompt))
    said = bytes(asked[:-1]).decode()
    assert said == f"system: be short\nuser: hello\nassistant: {SAYS}\nuser: and again"
    assert generator.target.read < 2 * len(asked), "the first turn is not read again"


def test_a_model_without_a_chat_template_continues_text_only(parrot):
    parrot(has_template=False)
    model = llm.get_model("foredraft")
    assert model.prompt("hello").text()
    with pytest.raises(ForedraftError, match="no chat template"):
        model.prompt("hello", system="be short").text()


def test_a_conversation_with_other_than_text_is_refused(parrot):
    parrot()
    image = llm.user("look", llm.Attachment(type="image/png", content=b"png"))
    with pytest.raises(ForedraftError, match="attachments"):
        llm.get_model("foredraft").prompt("what is it?", messages=[image]).text()


def test_the_command_shows_the_usage(parrot):
    parrot()
    done = call("-m", "foredraft", "--usage", "--no-log", "hello")
    assert done.exit_code == 0
    assert done.stdout.startswith(SAYS)
    assert '"drafted"' in done.stderr


def test_the_chat_of_the_command(parrot):
    loaded = parrot()
    done = CliRunner().invoke(cli, ["chat", "-m", "foredraft"], input="hello\nand again\nquit\n")
    assert done.exit_code == 0
    assert done.stdout.count(SAYS) == 2
    assert len(loaded) == 1


def test_a_persons_defaults_hold_beside_other_options(parrot):
    loaded = parrot()
    assert call("models", "options", "set", "foredraft", "model", "./my.gguf").exit_code == 0
    assert call("-m", "foredraft", "-o", "max_tokens", "3", "--no-log", "hello").exit_code == 0
    assert loaded == [("./my.gguf", "auto", None)]


def test_the_command_lists_the_options():
    done = call("models", "--options", "-m", "foredraft")
    assert done.output.startswith("Foredraft: foredraft\n")
    for name in ("temperature", "top_p", "max_tokens", "seed", "drafter", "draft_model", "model"):
        assert f"{name}: " in done.output


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("temperature", "-1", "temperature is -1.0; it must be"),
        ("max_tokens", "0", "max_new_tokens is 0; it must be"),
        ("drafter", "oracle", "Unknown drafter 'oracle'; choose one of"),
        ("draft_len", "4", "draft_len"),
        ("seed", "soon", "seed"),
    ],
)
def test_mistakes_are_sentences(option, value, says):
    done = call("-m", "foredraft", "-o", option, value, "--no-log", "hello")
    assert done.exit_code == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_listing_models_does_not_import_torch():
    """llm imports every plug-in whenever it starts."""
    script = """
import sys
import foredraft.llm_plugin
assert not {"torch", "transformers", "rich.progress"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
