"""What a server takes up while it runs: memory, open files, threads."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import psutil
from prometheus_client.parser import text_string_to_metric_families

MOST_GROWTH = 0.03
LEAST_GROWTH = 16e6
"""Bytes below which growth is no leak, whatever share of the whole they are."""
MOST_HANDLES = 4


@dataclass(frozen=True, slots=True)
class Sample:
    at: float
    rss: int
    files: int
    threads: int


class Watch:
    """Samples a process from its creation to `stop`."""

    def __init__(self, pid: int, every: float) -> None:
        self.samples: list[Sample] = []
        self._process = psutil.Process(pid)
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> list[Sample]:
        self._over.set()
        self._thread.join()
        return self.samples

    def _run(self) -> None:
        begun = time.monotonic()
        while not self._over.wait(self._every):
            try:
                with self._process.oneshot():
                    sample = Sample(
                        time.monotonic() - begun,
                        self._process.memory_info().rss,
                        self._process.num_fds(),
                        self._process.num_threads(),
                    )
            except psutil.Error:  # it was killed
                return
            self.samples.append(sample)


def verdict(samples: Sequence[Sample]) -> dict[str, Any]:
    """Whether it grew: the last quarter beside the second; the first is for warming up."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[3 * quarter :]
    if not early:
        return {"seconds": round(samples[-1].at, 1) if samples else 0.0, "flat": None}
    rows = {
        name: [median(getattr(sample, name) for sample in part) for part in (early, late)]
        for name in ("rss", "files", "threads")
    }
    grown = {name: late - early for name, (early, late) in rows.items()}
    allowed = max(LEAST_GROWTH, MOST_GROWTH * rows["rss"][0])
    handles = max(grown["files"], grown["threads"])
    hours = (late[0].at - early[0].at) / 3600
    return {
        "seconds": round(samples[-1].at, 1),
        "rss_mb": [round(value / 1e6, 1) for value in rows["rss"]],
        "rss_mb_per_hour": round(grown["rss"] / 1e6 / hours, 1) if hours else None,
        "files": rows["files"],
        "threads": rows["threads"],
        "flat": grown["rss"] <= allowed and handles <= MOST_HANDLES,
    }


def totals(page: str) -> dict[str, float]:
    """The values of a page of Prometheus text by name, summed over their labels."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found
