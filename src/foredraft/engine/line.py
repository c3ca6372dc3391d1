"""Where requests wait for a place."""

from collections import Counter
from collections.abc import Callable, Iterator

from foredraft.core.errors import ForedraftError
from foredraft.engine.job import Job


class Busy(ForedraftError):
    """The queue is full; `retry_s` is about when a place should be free."""

    def __init__(self, waiting: int, retry_s: float) -> None:
        super().__init__(
            f"{waiting} requests are waiting already; try again in {retry_s:.0f} s, or start the "
            "server with a longer --queue."
        )
        self.retry_s = retry_s


class Line:
    """At most `most` jobs, in the order they came; a job that was begun before goes first.

    Who has fewest jobs running is served first, so that many requests of one owner do not hold up
    another's only one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: list[Job] = []

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self._jobs))

    def join(self, job: Job, retry_s: float) -> None:
        """Wait at the end; raises Busy, which tells to come back after `retry_s`."""
        if len(self._jobs) >= self._most:
            raise Busy(len(self._jobs), retry_s)
        self._jobs.append(job)

    def rejoin(self, job: Job) -> None:
        """Wait at the head: it had a place and lost it."""
        self._jobs.insert(0, job)

    def next(self, running: Counter[str], may: Callable[[Job], bool]) -> Job | None:
        """Whose turn it is of those who `may`, given how many jobs of each owner run; it stays in
        the line."""
        return min(filter(may, self._jobs), key=lambda job: running[job.owner], default=None)

    def leave(self, job: Job) -> None:
        self._jobs.remove(job)

    def drop(self, gone: Callable[[Job], bool]) -> list[Job]:
        """Take out those for whom `gone` holds."""
        left = [job for job in self._jobs if gone(job)]
        self._jobs = [job for job in self._jobs if job not in left]
        return left
