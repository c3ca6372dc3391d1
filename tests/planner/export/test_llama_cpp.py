"""llama-server's command: every flag is one that its --help shows; for real where it is built.

llama_server_flags.txt holds the flags of --help, those it calls removed left out.
"""

import re
import shlex
from pathlib import Path

import pytest

from foredraft.planner.export import export
from foredraft.planner.plan import Plan
from tests.planner.plans import CHOICES, LOSING, plan

FLAGS = (Path(__file__).parents[1] / "llama_server_flags.txt").read_text().split()


def command(of: Plan) -> list[str]:
    text = export(of, "llama.cpp").text
    return shlex.split(text.replace("\\\n", ""), comments=True)


@pytest.mark.parametrize("of", [*map(plan, CHOICES), LOSING, plan(best={"draft": "a/b/c.gguf"})])
def test_every_flag_is_one_of_the_help(of: Plan) -> None:
    words = command(of)
    assert words[0] == "llama-server"
    assert {word for word in words if word.startswith("-")} <= set(FLAGS)


def test_a_draft_model_names_its_type_and_every_default() -> None:
    assert command(plan(target="/m/big.gguf", best={"draft": "/m/small.gguf"}))[1:] == [
        *("--model", "/m/big.gguf"),
        *("--spec-type", "draft-simple"),
        *("--spec-draft-model", "/m/small.gguf"),
        *("--spec-draft-n-max", "3"),
        *("--spec-draft-n-min", "0"),
        *("--spec-draft-p-min", "0"),
    ]


def test_files_in_repositories_are_named_as_llama_cpp_downloads_them() -> None:
    of = plan(target="org/big/q4.gguf", best={"draft": "org/small/q8.gguf"})
    words = shlex.join(command(of))
    assert "--hf-repo org/big --hf-file q4.gguf" in words
    assert "--spec-draft-hf org/small --spec-draft-model q8.gguf" in words


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_a_lookup_copies_at_least_what_it_matches(length: int) -> None:
    text = export(plan("ngram", {"draft_len": length}), "llama.cpp").text
    found = re.search(r"size-n (\d+) \\\n  --spec-ngram-simple-size-m (\d+)", text)
    assert found is not None
    match, copied = int(found[1]), int(found[2])
    assert match <= copied
    assert copied == max(length, 2)


def test_a_suffix_lookup_becomes_the_nearest_and_says_so() -> None:
    settings = export(plan("suffix"), "llama.cpp")
    assert "--spec-type ngram-simple" in settings.text
    assert any("no suffix lookup" in said for said in settings.warnings)
