"""`foredraft export`: to the screen, to a file, as JSON, and what it refuses."""

import json

import pytest

from foredraft.planner.export import ENGINES
from tests.planner.plans import LOSING, plan


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "plan.json"
    plan(temperature=0.7).write(path)
    return str(path)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_prints_its_settings_and_nothing_else(call, saved, engine):
    done = call("export", saved, "--to", engine)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(("# By foredraft, for ", "> By foredraft, for "))


def test_json_has_the_documented_names(call, saved):
    settings = json.loads(call("export", saved, "--to", "llama.cpp", "--json").out)
    assert settings.keys() == {"engine", "versions", "filename", "text", "warnings"}
    assert settings["engine"] == "llama.cpp"
    assert "--spec-type draft-simple" in settings["text"]
    assert any("likeliest" in warning for warning in settings["warnings"])


def test_a_file_gets_the_settings_and_the_screen_what_to_know(call, saved, tmp_path):
    out = tmp_path / "server.sh"
    done = call("export", saved, "--to", "llama.cpp", "--out", str(out))
    assert (done.status, done.out) == (0, "")
    assert "--spec-draft-n-max 3" in out.read_text()
    assert "Note: llama.cpp always drafts the likeliest token" in done.err
    assert f"Wrote {out}, for llama-server" in done.err


def test_a_losing_plan_is_exported_plain(call, tmp_path):
    LOSING.write(tmp_path / "plan.json")
    out = call("export", str(tmp_path / "plan.json"), "--to", "vllm").out
    assert out.endswith("\nvllm serve org/big\n")


def test_what_cannot_be_is_refused_in_a_sentence(refuse, saved, tmp_path):
    refuse("export", saved, "--to", "tgi", says="No engine is called 'tgi'")
    refuse("export", str(tmp_path / "none.json"), "--to", "vllm", says="cannot be read")
    refuse("export", saved, says="--to")
    absent = str(tmp_path / "absent" / "x.sh")
    refuse("export", saved, "--to", "vllm", "--out", absent, says="cannot be written")
