"""What the server does, counted for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, generate_latest

from foredraft.engine.job import Job, Step
from foredraft.engine.scheduler import Scheduler


class Metrics:
    """Hears what becomes of requests and shows it as a page for Prometheus."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter("foredraft_requests", "Requests taken.", registry=self._registry)

    def began(self, job: Job) -> None:
        """A request was taken."""
        self._requests.inc()

    def stepped(self, job: Job, step: Step) -> None:
        """A job's step: a round, some tokens, its end."""

    def refused(self, reason: str) -> None:
        """A request was not taken; `reason` is one word of a few."""

    def text(self) -> bytes:
        """The page, in Prometheus' text format."""
        return generate_latest(self._registry)
