"""docs/train.md says what the code does."""

import re
from pathlib import Path

from foredraft.cli.main import app
from foredraft.cli.train import KINDS
from foredraft.training import answers, material, openings, prompts, states
from foredraft.training.lesson import Curriculum

TEXT = (Path(__file__).parents[2] / "docs/train.md").read_text()


def test_every_kind_and_every_option_it_names_is_there() -> None:
    from typer.main import get_command

    command = get_command(app).commands["train"]  # type: ignore[attr-defined]
    known = {name for parameter in command.params for name in parameter.opts}
    others = {"--engine", "--draft-model", "--draft-len", "--model", "--model-draft"}
    others |= {"--speculative-config", "--speculative-algorithm"}
    others |= {"--speculative-draft-model-path"}
    assert set(re.findall(r"--[a-z][a-z-]+", TEXT)) <= known | others
    for kind in KINDS:
        assert f"| `{kind}`" in TEXT


def test_its_numbers_are_those_of_the_code() -> None:
    for said, value in (
        ("One prompt in (\\d+)", states._HELD_OUT),
        ("prompt of more than ([\\d,]+) tokens", answers._LONGEST),
        ("shares (\\d+) bytes", prompts._SHARED),
        ("`--vocabulary` \\(([\\d,]+)\\)", Curriculum.__dataclass_fields__["vocabulary"].default),
    ):
        found = re.search(said, TEXT)
        assert found is not None
        assert int(found[1].replace(",", "")) == value
    assert 80 < sum(map(len, openings.KINDS)) < 130  # "some hundred"
    assert material._BESIDE * 200_000 * 12_288 / 1e9 < 3.5  # "about 3 GB"


def test_the_disk_table_adds_up() -> None:
    rows = re.findall(r"\(?(?:hidden size )?([\d,]+)\) \| ([\d.]+) kB[^|]*\| ([\d.]+) kB", TEXT)
    assert len(rows) == 3
    for hidden, four, one in rows:
        bytes_ = 2 * int(hidden.replace(",", "")) / 1e3
        assert abs(float(four) - 4 * bytes_) < 0.06
        assert abs(float(one) - bytes_) < 0.06
