"""The crowd: clients that act at random until it is over, and what came of it."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx2

from soaking.acts import ACTS, Client, Turned, Wrong

MOST_PROBLEMS = 50
"""Problems that are told in full; the rest are counted."""


@dataclass
class Crowd:
    """`client` makes one of them for the server as it is now.

    Between `fall` and `rise` the server is down: what fails then is lost, and no problem.
    """

    client: Callable[[random.Random], Client]
    done: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    turned: int = 0
    problems: list[str] = field(default_factory=list)
    unsaid: int = 0
    _falls: int = 0
    _up: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, clients: int) -> None:
        self._up.set()
        for number in range(clients):
            thread = threading.Thread(target=self._run, args=(random.Random(number),), daemon=True)
            self._threads.append(thread)
            thread.start()

    def fall(self) -> None:
        with self._lock:
            self._falls += 1
            self._up.clear()

    def rise(self) -> None:
        self._up.set()

    def stop(self) -> None:
        """Let everyone finish what they do."""
        self._over.set()
        self._up.set()
        for thread in self._threads:
            thread.join()

    def _run(self, chance: random.Random) -> None:
        acts, weights = list(ACTS), list(ACTS.values())
        while not self._over.is_set():
            self._up.wait()
            falls, act = self._falls, chance.choices(acts, weights)[0]
            try:
                act(self.client(chance))
                problem = ""
            except Turned:
                self.turned += 1
                time.sleep(chance.uniform(0.1, 1.0))
                continue
            except (Wrong, httpx2.HTTPError, OSError) as error:
                problem = f"{act.__name__}: {type(error).__name__}: {error}"
            with self._lock:
                self._note(act.__name__, problem, fallen=falls != self._falls)

    def _note(self, act: str, problem: str, fallen: bool) -> None:
        if problem and fallen:
            self.lost += 1
        elif not problem:
            self.done[act] += 1
        elif len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.unsaid += 1
