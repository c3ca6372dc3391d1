"""What every refusal and failure looks like: OpenAI's error object."""

import logging
import math
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from foredraft.core.errors import ForedraftError
from foredraft.engine.scheduler import Busy, Closing

_LOG = logging.getLogger(__name__)

_KINDS = {
    401: "authentication_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
    504: "timeout",
}


class Refusal(Exception):
    """A request that gets no answer: the status, one sentence, and the field that is to blame."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code
        self.headers = headers

    @property
    def body(self) -> dict[str, object]:
        """The JSON that says so."""
        kind = _KINDS.get(self.status, "invalid_request_error")
        error = {"message": str(self), "type": kind, "param": self.param, "code": self.code}
        return {"error": error}

    @property
    def response(self) -> Response:
        return JSONResponse(self.body, self.status, self.headers)


def refusal_of(error: Exception, where: str = "") -> Refusal:
    """Any failure as the refusal that a client is told; `where` is what was asked for."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, Busy):
        wait = {"Retry-After": str(math.ceil(error.retry_s))}
        return Refusal(429, str(error), code="queue_full", headers=wait)
    if isinstance(error, Closing):
        return Refusal(503, str(error), code="shutting_down")
    if isinstance(error, ForedraftError):
        return Refusal(400, str(error))
    if isinstance(error, HTTPException):
        said = f"{error.detail}: {where}; /openapi.json lists what there is."
        return Refusal(error.status_code, said, headers=error.headers)
    return Refusal(500, "The server failed at this request; its log says where.")


def install(app: FastAPI) -> None:
    """Answer every exception of `app` with an error object."""

    async def handle(request: Request, error: Exception) -> Response:
        where = f"{request.method} {_printable(request.url.path)}"
        refusal = refusal_of(error, where)
        for watcher in request.app.state.service.watchers:
            watcher.refused(refusal.code or str(refusal.status))
        blame = _printable(refusal.param or refusal.code or "")
        _LOG.info("%s %d %s", where, refusal.status, blame)
        return refusal.response

    for kind in (Refusal, ForedraftError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def _printable(text: str) -> str:
    """What a client sent as something that cannot forge a line of a log."""
    return ascii(text)[1:-1][:200]
