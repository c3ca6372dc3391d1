"""Predictions beside what was measured afterwards, kept so that the next plan owns up to them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from foredraft.core.files import write_whole

_KEPT = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """A plan's prediction for a setting of a target on an engine, and what came of it."""

    target: str
    engine: str
    drafter: str
    draft: str | None
    draft_len: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1


def past(path: Path, target: str, engine: str) -> list[Outcome]:
    """What became of earlier predictions for a target on an engine, oldest first."""
    return [one for one in _read(path) if (one.target, one.engine) == (target, engine)]


def keep(path: Path, outcome: Outcome) -> None:
    """Remember one more; raises OSError where that is refused."""
    lines = [json.dumps(asdict(one)) for one in [*_read(path), outcome][-_KEPT:]]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "\n".join(lines) + "\n")


def _read(path: Path) -> list[Outcome]:
    try:
        return [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]
    except (OSError, ValueError, TypeError):
        return []  # none yet, or not ours: a plan does not depend on it
