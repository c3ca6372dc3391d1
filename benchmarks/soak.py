"""Half an hour of mixed and hostile load on foredraft's server, and a kill -9 in the middle.

Clients ask in every way at once (chats, completions, whole, streamed, several choices, with
log-probabilities, drafted for in every way), hang up, read slowly, and send bodies that are none,
keys that open nothing and texts that are too long. Every answer that can be known beforehand must
be what it was when it was asked alone. In the middle the server is killed and started again with
the same store. In the end nothing may run or wait, and memory, files and threads must be flat.

    python benchmarks/soak.py --minutes 30 --model smollm2
"""

import argparse
import json
import os
import random
import shlex
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console
from rich.progress import Progress

from engines.base import EngineError
from engines.served import FOREDRAFT, Served
from report import publish
from soaking.acts import TIMEOUT_S, Client
from soaking.cases import Case, solo
from soaking.crowd import Crowd
from soaking.stored import stored
from soaking.watch import Watch, totals, verdict

KEY = "soak-key"
MAX_BODY_KIB = 64
IDLE_S = 30.0


class Soak:
    """One run: the server, the crowd, and what is found out."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options = options
        self._store = folder / "answers.npz"
        command = [*options.foredraft, "serve", options.model, "--api-key", KEY]
        command += ["--max-body", str(MAX_BODY_KIB), "--slots", str(options.slots)]
        command += ["--store", str(self._store), *options.serve]
        self._server = Served("foredraft serve", command, "install foredraft[server]")
        self._cases: tuple[Case, ...] = ()
        self._drafters: tuple[str, ...] = ()
        self._said = ""
        self.crowd = Crowd(self._client)

    def run(self) -> dict[str, Any]:
        half = self._options.minutes * 30
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("starting", total=2 * half)
            with self._server:
                self._learn()
                self.crowd.start(self._options.clients)
                progress.update(task, description="first half")
                first = self._half(half, progress)
                crash = self._crash()
                progress.update(task, description="second half, after kill -9")
                second = self._half(half, progress)
                self.crowd.stop()
                idle = self._idle()
                ended = self._end()
        return self._result(first, second, crash, idle, ended)

    def _learn(self) -> None:
        """What the server has, and every answer alone."""
        with self._http() as http:
            self._drafters = tuple(http.get("/foredraft/status").json()["drafters"])
            self._cases = tuple(solo(http, self._options.exactness))

    def _half(self, seconds: float, progress: Progress) -> dict[str, Any]:
        watch = Watch(self._server.process.pid, max(0.2, seconds / 300))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(1.0, seconds / 10))
            progress.advance(progress.task_ids[0], min(1.0, seconds / 10))
            self._server.check()
        return verdict(watch.stop())

    def _crash(self) -> dict[str, Any]:
        """Kill it without warning, under load, and start it again with what it has kept."""
        before = stored(self._store)
        self.crowd.fall()
        os.kill(self._server.process.pid, signal.SIGKILL)
        self._server.process.wait()
        self._hear()
        after = stored(self._store)
        begun = time.monotonic()
        self._server.start()
        self.crowd.rise()
        return {"before": before, "after": after, "restart_s": round(time.monotonic() - begun, 1)}

    def _idle(self) -> dict[str, Any]:
        """What is left when nobody asks any more; it has a while to notice who hung up."""
        end = time.monotonic() + IDLE_S
        with self._http() as http:
            while True:
                status = http.get("/foredraft/status").json()
                if not (status["running"] or status["waiting"]) or time.monotonic() > end:
                    break
                time.sleep(0.2)
            page = totals(http.get("/metrics").text)
        return {
            "running": status["running"],
            "waiting": status["waiting"],
            "requests": page["foredraft_requests_total"],
            "finished": page["foredraft_requests_finished_total"],
            "alpha": status["recent"]["acceptance_rate"],
        }

    def _end(self) -> dict[str, Any]:
        """SIGTERM: how it ends, and what it leaves."""
        begun = time.monotonic()
        self._server.process.terminate()
        code = self._server.process.wait(60)
        seconds = round(time.monotonic() - begun, 1)
        self._hear()
        return {"code": code, "seconds": seconds, "store": stored(self._store)}

    def _hear(self) -> None:
        """Keep what a server that has ended said."""
        self._said += self._server.log.read_text(errors="replace")
        self._server.log.unlink()

    def _client(self, chance: random.Random) -> Client:
        return Client(
            self._server.url,
            KEY,
            self._cases,
            self._drafters,
            self._options.exactness,
            MAX_BODY_KIB * 1024,
            chance,
        )

    def _http(self) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {KEY}"}
        return httpx2.Client(base_url=self._server.url, headers=headers, timeout=TIMEOUT_S)

    def _result(
        self,
        first: dict[str, Any],
        second: dict[str, Any],
        crash: dict[str, Any],
        idle: dict[str, Any],
        ended: dict[str, Any],
    ) -> dict[str, Any]:
        crowd = self.crowd
        kept = [crash["before"], crash["after"], ended["store"]]
        checks = {
            "every answer as expected": not crowd.problems,
            "nothing stuck": not (idle["running"] or idle["waiting"]),
            "every request ended": idle["requests"] == idle["finished"],
            "memory, files and threads flat": None not in (first["flat"], second["flat"])
            and first["flat"]
            and second["flat"],
            "store whole after kill -9": all(one["whole"] for one in kept)
            and kept[0]["answers"] <= kept[1]["answers"] <= kept[2]["answers"],
            "no traceback in the log": "Traceback" not in self._said,
            "ended by SIGTERM without an error": ended["code"] == 0,
        }
        return {
            "model": self._options.model,
            "minutes": self._options.minutes,
            "clients": self._options.clients,
            "slots": self._options.slots,
            "exactness": self._options.exactness,
            "serve": self._options.serve,
            "drafters": self._drafters,
            "passed": all(checks.values()),
            "checks": checks,
            "acts": dict(sorted(crowd.done.items())),
            "turned_away": crowd.turned,
            "lost_in_the_crash": crowd.lost,
            "problems": crowd.problems,
            "problems_not_told": crowd.unsaid,
            "first_traceback": self._said.partition("Traceback")[2][:8000],
            "halves": [first, second],
            "crash": crash,
            "idle": idle,
            "ended": ended,
        }


def show(found: dict[str, Any]) -> None:
    for what, well in found["checks"].items():
        print(f"{'ok ' if well else 'NO '} {what}")
    for problem in found["problems"][:10]:
        print(f"    {problem}")
    acts = ", ".join(f"{n} {act}" for act, n in found["acts"].items())
    print(f"{acts}; {found['turned_away']} turned away, {found['lost_in_the_crash']} lost.")
    for half in found["halves"]:
        print(json.dumps(half))


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--minutes", type=float, default=30.0)
    add("--model", default="smollm2")
    add("--clients", type=int, default=8)
    add("--slots", type=int, default=4, help="requests the server runs at once")
    add("--exactness", default="bitwise", help="the level of the answers that are compared")
    add("--foredraft", type=shlex.split, default=FOREDRAFT, help="the command to serve with")
    add("--serve", type=shlex.split, default=[], help="more options of foredraft serve")
    add("--name", default="soak")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = options_of(arguments)
    with tempfile.TemporaryDirectory(prefix="foredraft-soak-") as folder:
        found = Soak(options, Path(folder)).run()
    publish(options.name, found, show=False)
    show(found)
    return 0 if found["passed"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (EngineError, httpx2.HTTPError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
