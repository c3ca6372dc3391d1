"""docs/server.md: its examples run, and its tables are complete."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from foredraft.cli.main import main
from foredraft.server.schema import ChatBody, CompletionBody, SpeculationBody
from tests.cli.parrot import SAYS

DOCS = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def section(title):
    return re.split(r"\n#+ ", DOCS.partition(f" {title}\n")[2])[0]


def example(language, served):
    code = re.search(rf"```{language}\n(.*?)```", DOCS, re.S)[1]
    return code.replace("http://127.0.0.1:8000", served.url).replace("smollm2", "parrot")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_example_with_curl(served):
    done = subprocess.run(["sh", "-c", example("sh", served)], capture_output=True, check=True)
    assert json.loads(done.stdout)["choices"][0]["message"]["content"] == SAYS[:40]


def test_the_example_with_openais_client(served, capsys):
    exec(compile(example("python", served), "docs/server.md", "exec"), {})
    text, figures = capsys.readouterr().out.split("\n", 1)
    assert text == SAYS[:40]
    assert len(figures.split()) == 3


def test_the_example_with_bench(served, capsys, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("hello")
    command = shlex.split(example("console", served))[1:]
    assert main([*command, "--prompts", str(prompts), "--repeats", "1", "-n", "8", "--json"]) == 0
    (counted,) = json.loads(capsys.readouterr().out)["sides"]["off"]["counters"]
    assert counted["drafted"] == 0


@pytest.mark.parametrize("body", [ChatBody, CompletionBody])
def test_every_field_is_documented(body):
    fields = section("Fields of a request")
    assert [name for name in body.model_fields if f"`{name}" not in fields] == []


def test_every_field_of_speculation_is_documented():
    fields = section("speculation")
    assert [name for name in SpeculationBody.model_fields if f"`{name}`" not in fields] == []


def test_every_figure_of_usage_is_documented(served):
    answers = section("Answers")
    used = served.chat()["usage"]["speculation"]
    assert [name for name in used if f"`{name}`" not in answers] == []


def test_every_error_and_endpoint_is_documented(served):
    described = served.get("/openapi.json").json()["paths"]
    statuses = {
        s for path in described.values() for route in path.values() for s in route["responses"]
    }
    assert [s for s in statuses - {"200"} if f"| {s} |" not in section("Errors")] == []
    paths = [path.replace("{name}", "NAME") for path in described]
    assert [path for path in paths if f"{path}`" not in section("Endpoints")] == []


def test_every_setting_is_documented(capsys):
    main(["serve", "--help"])
    own = capsys.readouterr().out.partition("Options")[2].partition("Model")[0]
    settings = set(re.findall(r"│ (--[a-z-]+)", own)) - {"--help"}
    assert len(settings) > 10
    assert [name for name in settings if f"| `{name}` |" not in section("Starting it")] == []


def test_the_limits_are_those_of_the_schema(served):
    schemas = served.get("/openapi.json").json()["components"]["schemas"]
    found = json.dumps([schemas[name] for name in ("ChatBody", "SpeculationBody")])
    limits = section("Fields of a request") + section("speculation")
    for number in (16, 20, 64, 100, 256, 1024):
        assert f": {number}" in found
        assert re.search(rf"\b{number}\b", limits)
