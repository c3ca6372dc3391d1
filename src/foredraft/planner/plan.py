"""A plan: whether to speculate on this machine with these prompts, with what, and why."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole

VERSION = 1


class Verdict(StrEnum):
    """What a plan advises."""

    USE = "use"
    DO_NOT = "do_not"
    MEASURE_LONGER = "measure_longer"


@dataclass(frozen=True, slots=True)
class Choice:
    """A drafter with a draft length γ, and its speed over plain decoding.

    `drafter` is ngram, suffix or model; `draft` names the model that drafts. `acceptance_rate` is
    α (0 where nothing was drafted), `cost_ratio` c, `drafting_share` the share of rounds that
    draft. `low` and `high` bound the prediction, `token_s` is the predicted time of a token;
    `measured_speedup` is None until it ran.
    """

    drafter: str
    draft_len: int
    acceptance_rate: float
    cost_ratio: float
    predicted_speedup: float
    low: float
    high: float
    token_s: float
    draft: str | None = None
    drafting_share: float = 1.0
    measured_speedup: float | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of prompt: how many there were, and on them the best choice's speed-up and its α at
    each draft position."""

    prompts: int
    predicted_speedup: float
    acceptance: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AtTemperature:
    """The best of each drafter at a temperature, fastest first, along the plan's own answers: at
    another temperature than the plan's the texts would differ."""

    temperature: float
    rows: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class VerifyCurve:
    """v(n): what a pass over `rows[i]` rows costs, in plain steps."""

    rows: tuple[int, ...]
    ratio: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What `foredraft plan` found. `best` is the fastest choice, whatever the verdict on it.

    `target` and `engine` are what was measured, by the names they were asked by, `made` is when and
    with which versions; `kinds` looks at the best choice by kind of prompt, `notes` are what else
    a person should know. `temperatures` are those that were looked at beside the plan's own.
    """

    target: str
    engine: str
    temperature: float
    machine: str
    made: str
    verdict: Verdict
    why: str
    threshold: float
    best: Choice | None
    verify_curve: VerifyCurve
    plain_step_s: float
    rows: tuple[Choice, ...]
    kinds: dict[str, Kind]
    notes: tuple[str, ...] = ()
    temperatures: tuple[AtTemperature, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON, with the schema's version."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "Plan":
        """The plan of such JSON; raises KeyError, TypeError or ValueError for anything else."""
        saved = dict(saved)
        if saved.pop("version") != VERSION:
            raise ValueError("a plan of another version")
        for beside in ("what_if", "settings"):  # printed with a plan, and found anew from it
            saved.pop(beside, None)
        best, curve = saved.pop("best"), saved.pop("verify_curve")
        return cls(
            verdict=Verdict(saved.pop("verdict")),
            best=Choice(**best) if best else None,
            verify_curve=VerifyCurve(tuple(curve["rows"]), tuple(curve["ratio"])),
            rows=_choices(saved.pop("rows")),
            kinds={name: _kind(**kind) for name, kind in saved.pop("kinds").items()},
            notes=tuple(saved.pop("notes")),
            temperatures=tuple(_at(**one) for one in saved.pop("temperatures", ())),
            **saved,
        )

    def write(self, path: Path) -> None:
        """Store the plan; ForedraftError where it cannot be."""
        try:
            write_whole(path, json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ForedraftError(
                f"The plan cannot be written to {path} ({error.strerror}); name another file."
            ) from error

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """A stored plan; ForedraftError for a file that is none."""
        try:
            return cls.from_dict(json.loads(path.read_text()))
        except OSError as error:
            raise ForedraftError(
                f"The plan {path} cannot be read ({error.strerror}); check the path."
            ) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ForedraftError(
                f"{path} is not a plan; make one with `foredraft plan TARGET --json > FILE`."
            ) from error


def _choices(rows: list[dict[str, Any]]) -> tuple[Choice, ...]:
    return tuple(Choice(**row) for row in rows)


def _at(temperature: float, rows: list[dict[str, Any]]) -> AtTemperature:
    return AtTemperature(temperature, _choices(rows))


def _kind(prompts: int, predicted_speedup: float, acceptance: list[float]) -> Kind:
    return Kind(prompts, predicted_speedup, tuple(acceptance))
