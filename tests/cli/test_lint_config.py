"""`foredraft lint-config`: commands and files, findings and exit status."""

import json

import pytest

OLD = ("llama-server", "-m", "big.gguf", "--draft-max", "16")
GOOD = "llama-server -m big.gguf --spec-type draft-simple -md small.gguf"


@pytest.mark.parametrize("arguments", [OLD, ("--", *OLD), (" ".join(OLD),)])
def test_a_command_is_read_bare_after_dashes_or_quoted(call, arguments):
    done = call("lint-config", *arguments)
    assert done.status == 1
    assert done.out.startswith("error    --draft-max 16\n")
    assert "→ Write --spec-draft-n-max N" in done.out
    assert "1 finding, by what holds for llama-server" in done.out


def test_a_file_or_standard_input_is_read(call, tmp_path):
    script = tmp_path / "start.sh"
    script.write_text("#!/bin/sh\n" + " ".join(OLD))
    assert "--draft-max 16" in call("lint-config", str(script)).out
    assert "--draft-max 16" in call("lint-config", "-", stdin=" ".join(OLD).encode()).out


def test_a_good_command_is_status_0(call):
    done = call("lint-config", GOOD)
    assert done.status == 0
    assert done.out.startswith("Nothing to point out, by what holds for llama-server")


def test_json_has_the_documented_names(call):
    done = call("lint-config", "--json", *OLD)
    assert done.status == 1
    result = json.loads(done.out)
    assert list(result["engines"]) == ["llama.cpp"]
    (finding,) = result["findings"]
    assert finding.keys() == {"engine", "severity", "setting", "what", "mend"}
    assert (finding["engine"], finding["severity"]) == ("llama.cpp", "error")
    assert json.loads(call("lint-config", "--json", GOOD).out)["findings"] == []


def test_what_cannot_be_read_or_recognised_is_status_2(refuse, tmp_path):
    refuse("lint-config", "nothing.sh", says="There is no file nothing.sh")
    refuse("lint-config", "echo hello", says="can be recognised")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    refuse("lint-config", str(tmp_path / "binary"), says="not text in UTF-8")
    refuse("lint-config", says="Missing argument")
