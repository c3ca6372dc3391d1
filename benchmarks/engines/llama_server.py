"""llama-server: one server a setting, kept alive while memory allows, asked over HTTP."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines.base import Ask, EngineError, Method, Run
from engines.served import Served
from foredraft.targets import hub
from foredraft.targets.source import Kind, resolve

CONTEXT = 4096
ANSWER_S = 1800
MEND = "build it with benchmarks/llama_server.sh and name it with --llama-server"
ROOM = 3 << 30
"""Bytes that must be free before one more server starts: repacked weights, draft and caches."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What one server is started with. A `remembering` one learns from texts it has answered."""

    name: str
    family: str
    args: tuple[str, ...] = ()
    default: bool = False
    drafts: bool = False
    remembering: bool = False


def settings() -> Iterator[Setting]:
    """Every --spec-type that needs no trained head. --spec-default stands for ngram-mod."""
    yield Setting("plain", "plain", default=True)
    for n in (1, 2, 3, 5):
        args = ("--spec-type", "draft-simple", "--spec-draft-n-max", str(n))
        yield Setting(f"draft-simple {n}", "model", args, n == 3, drafts=True)
    for kind in ("ngram-simple", "ngram-map-k", "ngram-map-k4v"):
        yield Setting(kind, "lookup", ("--spec-type", kind))
    short = ("--spec-ngram-simple-size-n", "4", "--spec-ngram-simple-size-m", "8")
    yield Setting("ngram-simple 4/8", "lookup", ("--spec-type", "ngram-simple", *short))
    yield Setting("ngram-mod", "lookup", ("--spec-default",), True, remembering=True)
    yield Setting("ngram-cache", "lookup", ("--spec-type", "ngram-cache"), remembering=True)
    both = ("--spec-type", "ngram-simple,draft-simple", "--spec-draft-n-max", "3")
    yield Setting("ngram-simple,draft-simple", "combined", both, True, drafts=True)


def gguf(name: str) -> Path:
    """The GGUF file a name stands for; llama-server reads nothing else."""
    source = resolve(name)
    if source.kind is Kind.NAMED:
        return hub.pull(source.where, lambda done, total: None)
    if source.kind is not Kind.GGUF:
        raise EngineError(f"llama-server needs a GGUF file, and {name} is none.")
    return Path(source.where)


def served(setting: Setting, command: list[str]) -> Served:
    """A llama-server that is still to be started."""
    return Served(f"llama-server ({setting.name})", command, MEND)


def complete(server: Served, body: dict[str, Any]) -> dict[str, Any]:
    """What it answers; EngineError if it does not."""
    try:
        return server.send("/completion", body, ANSWER_S)
    except (OSError, ValueError) as error:
        time.sleep(0.5)  # a process that crashed may not have ended yet
        server.check()
        raise EngineError(f"{server.title} did not answer ({error}); see {server.log}.") from error


class Servers:
    """The servers alive, the least recently asked first; that one makes room when memory is short.

    One that remembers is started anew for every text, so that no answer is copied from an earlier
    repeat of the same prompt.
    """

    def __init__(self, binary: str, target: Path, draft: Path | None, threads: int) -> None:
        self._command = [binary, "-m", str(target), "-c", str(CONTEXT), "-np", "1"]
        self._command += ["-t", str(threads), "--no-ui", "--offline", "-cram", "0"]
        self._draft = draft
        self._alive: dict[str, Served] = {}

    def methods(self) -> Iterator[Method]:
        for setting in settings():
            if setting.drafts and self._draft is None:
                continue

            def run(ask: Ask, setting: Setting = setting) -> Run:
                return self._run(setting, ask)

            yield Method(
                "llama-server", "", setting.name, setting.family, run, default=setting.default
            )

    def _run(self, setting: Setting, ask: Ask) -> Run:
        body = {
            "prompt": ask.ids,
            "n_predict": ask.tokens,
            "temperature": ask.temperature,
            "samplers": ["temperature"],
            "seed": ask.seed,
            "cache_prompt": False,
            "return_tokens": True,
        }
        return read(setting.name, complete(self._server(setting), body))

    def _server(self, setting: Setting) -> Served:
        server = self._alive.pop(setting.name, None)
        if server is not None and setting.remembering:
            server.stop()
            server = None
        if server is None:
            while self._alive and free_memory() < ROOM:
                self._alive.pop(next(iter(self._alive))).stop()
            extra = ["-md", str(self._draft)] if setting.drafts else []
            server = served(setting, [*self._command, *setting.args, *extra])
            server.start()
        self._alive[setting.name] = server
        return server

    def close(self) -> None:
        while self._alive:
            self._alive.popitem()[1].stop()


def read(name: str, answer: dict[str, Any]) -> Run:
    """A Run from the server's answer. Its first token comes with the prompt's pass.

    It says how many draft tokens were made and kept, but not how many were judged, so α is unknown.
    """
    try:
        timings, ids = answer["timings"], list(answer["tokens"])
        made, decode_s = timings["predicted_n"] - 1, timings["predicted_ms"] / 1000
        first_s = timings["prompt_ms"] / 1000
    except (KeyError, TypeError) as error:
        raise EngineError(f"llama-server ({name}) answered without {error}.") from error
    drafted, kept = timings.get("draft_n", 0), timings.get("draft_n_accepted", 0)
    return Run(
        ids=ids,
        decode_tokens=made,
        decode_s=decode_s,
        first_s=first_s,
        tokens_per_pass=made / (made - kept) if made > kept else None,
        details={"drafted": drafted, "accepted": kept} if drafted else {},
    )


def free_memory() -> int:
    """Bytes the system can still give without swapping."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    found = dict(line.split(":") for line in lines)
    return int(found["MemAvailable"].split()[0]) * 1024
