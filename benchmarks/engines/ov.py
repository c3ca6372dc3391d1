"""OpenVINO GenAI in a process of its own a pipeline, on the models openvino_models.sh made."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engines.base import Ask, EngineError, Method, Run

FORMATS = ("int8", "int4")
LENGTHS = (3, 5)
NGRAM = 3
"""The longest n-gram looked up, as in OpenVINO's own sample, which also drafts 5."""


class Worker:
    """One pipeline process; started when first asked."""

    def __init__(self, command: list[str], name: str) -> None:
        self._command = command
        self._name = name
        self._process: Any = None
        self._errors: Any = None

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # lives with the process
            try:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    text=True,
                )
            except OSError as error:
                raise EngineError(
                    f"{self._command[0]} cannot be started ({error.strerror}); make the folder "
                    "with benchmarks/openvino_models.sh and name it with --openvino."
                ) from error
            self._line()
        try:
            self._process.stdin.write(json.dumps(body) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # what killed it is read below
        return self._line()

    def _line(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            lines = self._errors.read().strip().splitlines() or ["nothing"]
            raise EngineError(
                f"OpenVINO ({self._name}) ended with code {code}; its last words: {lines[-1]}"
            )
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()


class OpenVINO:
    """Plain, lookup and draft pipelines in each format; `eos` are the target's ends of turn."""

    def __init__(
        self, folder: Path, target: str, draft: str | None, eos: list[int], threads: int
    ) -> None:
        self._folder, self._eos, self._threads = folder, eos, str(threads)
        self._target, self._draft = target, draft
        self._workers: list[Worker] = []

    def methods(self) -> Iterator[Method]:
        for form in FORMATS:
            yield self._method(self._worker(form, "plain"), form, "plain", "plain", 0)
            lookup = self._worker(form, "lookup")
            for n in LENGTHS:
                yield self._method(lookup, form, f"lookup {n}", "lookup", n)
            if self._draft is None:
                continue
            drafting = self._worker(form, "draft")
            for n in LENGTHS:
                yield self._method(drafting, form, f"draft {n}", "model", n)

    def _worker(self, form: str, mode: str) -> Worker:
        python = self._folder / "venv/bin/python"
        script = Path(__file__).with_name("ov_worker.py")
        models = [str(self._folder / f"{self._target}-{form}"), mode]
        if mode == "draft":
            models.append(str(self._folder / f"{self._draft}-{form}"))
        command = [str(python), str(script), *models, self._threads]
        self._workers.append(Worker(command, f"{form} {mode}"))
        return self._workers[-1]

    def _method(self, worker: Worker, form: str, name: str, family: str, length: int) -> Method:
        def run(ask: Ask) -> Run:
            answer = worker.ask(
                {
                    "ids": ask.ids,
                    "tokens": ask.tokens,
                    "temperature": ask.temperature,
                    "seed": ask.seed,
                    "eos": self._eos,
                    "draft_len": length,
                    "ngram": NGRAM if family == "lookup" else 0,
                }
            )
            return read(answer)

        return Method("OpenVINO", form, name, family, run, default=length in (0, 5))

    def close(self) -> None:
        for worker in self._workers:
            worker.close()


def read(answer: dict[str, Any]) -> Run:
    """A Run from a worker's answer; the tokens of the first step came with the prompt's pass."""
    (first, burst), *later = answer["rounds"]
    made, counts = sum(count for _, count in later), answer["counts"]
    return Run(
        ids=answer["ids"],
        decode_tokens=made,
        decode_s=later[-1][0] - first if later else 0.0,
        first_s=first,
        tokens_per_pass=made / len(later) if later else None,
        details={"first_round_tokens": burst} | ({"counts": counts} if counts else {}),
    )
