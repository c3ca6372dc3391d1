"""docs/plan.md names every field that a program may read."""

from dataclasses import fields
from pathlib import Path

import pytest

from foredraft.planner.plan import AtTemperature, Choice, Kind, Plan, VerifyCurve
from foredraft.planner.what_if import Load, Supposed, WhatIf

DOCS = (Path(__file__).parents[2] / "docs" / "plan.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "kind", [Plan, Choice, Kind, VerifyCurve, AtTemperature, WhatIf, Load, Supposed]
)
def test_every_field_is_documented(kind: type) -> None:
    schema = DOCS.partition("## JSON")[2]
    assert [item.name for item in fields(kind) if f"`{item.name}`" not in schema] == []
