"""What happened in each round, for people to read and for `simulate replay` to price anew."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.core.files import write_whole
from foredraft.engine.generator import Generator
from foredraft.engine.loop import Round
from foredraft.engine.prices import Prices

VERSION = 1


@dataclass(slots=True)
class Trace:
    """A generation's prompt, prices and rounds; each round as plain data (docs/architecture.md)."""

    model: str
    drafter: str
    prompt: list[int]
    prices: dict[str, Any]
    rounds: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def begin(cls, generator: Generator, prompt: Sequence[int], bitwise: bool) -> "Trace":
        """A trace of the generation that is about to start."""
        prices = generator.calibrate(bitwise).to_dict()
        return cls(generator.target.name, generator.drafter, list(prompt), prices)

    def add(self, done: Round) -> None:
        """Hear of a round; see Generator.stream's `watch`."""
        decision = done.decision
        self.rounds.append(
            {
                "source": done.draft.source,
                "drafted": list(done.draft.tokens),
                "parents": list(done.draft.parents),
                "accepted": len(done.verdict.path),
                "emitted": done.emitted,
                "draft_s": done.draft_s,
                "verify_s": done.verify_s,
                "rate": decision.rate if decision else None,
                "why": decision.why if decision else "fixed",
                "options": [asdict(option) for option in decision.options] if decision else [],
            }
        )

    @property
    def output(self) -> list[int]:
        """The text; the last round's may run on past where the answer was cut."""
        return [token for done in self.rounds for token in done["emitted"]]

    def write(self, path: Path) -> None:
        """Store the trace as JSON, whole or not at all; it holds the text as token ids."""
        try:
            write_whole(path, json.dumps({"version": VERSION, **asdict(self)}))
        except OSError as error:
            raise ForedraftError(
                f"The trace cannot be written to {path} ({error.strerror}); name another file."
            ) from error

    @classmethod
    def read(cls, path: Path) -> "Trace":
        """A stored trace; ForedraftError for a file that is none."""
        try:
            saved = json.loads(path.read_text())
            if saved.pop("version") != VERSION:
                raise ForedraftError(
                    f"{path} is a trace of another version; record it again with --trace."
                )
            trace = cls(**saved)
            Prices.from_dict(trace.prices, None)
            if not trace.output:
                raise ForedraftError(
                    f"{path} holds no rounds: the answer was stopped before the first; record it "
                    "again with --trace."
                )
        except OSError as error:
            raise ForedraftError(
                f"The trace {path} cannot be read ({error.strerror}); check the path."
            ) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ForedraftError(
                f"{path} is not a trace; make one with `foredraft run --trace FILE`."
            ) from error
        return trace


def explained(rounds: Sequence[dict[str, Any]]) -> Iterator[str]:
    """One line a round: what was chosen, what was expected of it, what it was preferred to."""
    for number, done in enumerate(rounds, 1):
        took = 1000 * (done["draft_s"] + done["verify_s"])
        drafted = f"{done['source']} {len(done['drafted'])}" if done["drafted"] else "plain"
        kept = f", {done['accepted']} accepted" if done["drafted"] else ""
        line = f"{number:4} {drafted}{kept}: {len(done['emitted'])} in {took:.0f} ms"
        options = "; ".join(_option(option) for option in done["options"])
        beat = "" if done["rate"] is None else f" (to beat: {done['rate']:.1f}/s)"
        yield f"{line} — {done['why']}{beat}" + (f" [{options}]" if options else "")


def _option(option: dict[str, Any]) -> str:
    what = f"{option['drafter']} {option['drafted']}" if option["drafted"] else "plain"
    if not option["drafted"] and option["drafter"] != "none":
        return f"{option['drafter']} not worth a row"
    return f"{what}: {option['tokens']:.1f} in {1000 * option['seconds']:.0f} ms"
