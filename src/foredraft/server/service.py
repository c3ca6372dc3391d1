"""What the endpoints share: the scheduler, the settings, and who is told of what happens."""

import threading
import time
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request

from foredraft.engine.job import Job, Step
from foredraft.engine.scheduler import Scheduler
from foredraft.server.errors import Refusal
from foredraft.server.metrics import Metrics
from foredraft.server.recent import Recent
from foredraft.server.structure import Structures


@dataclass(frozen=True, slots=True)
class Settings:
    """How requests are treated.

    `names` are the model's, the first of which is reported; without `keys` everyone is served.
    `timeout_s` is for a whole answer, `max_body` in bytes. `origins` are the web pages elsewhere
    that may ask (CORS). `lenient` passes over unknown fields instead of refusing them.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...] = ()
    timeout_s: float | None = None
    max_body: int = 4 << 20
    origins: tuple[str, ...] = ()
    lenient: bool = False
    log_prompts: bool = False


class Watcher(Protocol):
    """Hears of every job, in the event loop; must return at once."""

    def began(self, job: Job) -> None: ...

    def stepped(self, job: Job, step: Step) -> None: ...

    def refused(self, reason: str) -> None:
        """A request got no answer; `reason` is one word of a few."""


class Service:
    """One model being served. Once `draining` is set it says so to whoever asks for its health."""

    def __init__(self, scheduler: Scheduler, settings: Settings) -> None:
        self.scheduler = scheduler
        self.settings = settings
        self.metrics = Metrics(scheduler)
        self.recent = Recent()
        self.structures = Structures(scheduler.target)
        self.watchers: tuple[Watcher, ...] = (self.metrics, self.recent)
        self.started = time.time()
        self.draining = threading.Event()

    @property
    def name(self) -> str:
        """The model's name in answers."""
        return self.settings.names[0]

    def check_model(self, asked: str | None) -> None:
        """Refuse a request that names another model."""
        if asked is not None and asked not in self.settings.names:
            raise Refusal(
                404,
                f"The model {asked!r} does not exist here; this server has {self.name!r}.",
                param="model",
                code="model_not_found",
            )


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
"""The parameter by which an endpoint gets the service."""
