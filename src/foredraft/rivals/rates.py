"""How a running server speculates, from its counters at two moments."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from foredraft.core.errors import ForedraftError
from foredraft.rivals.counters import share
from foredraft.rivals.openai import Server
from foredraft.rivals.prometheus import Totals, read_totals


@dataclass(frozen=True, slots=True)
class Rates:
    """What happened in `seconds`, or since the server's start if that is None.

    `acceptance_rate` is α, for which most servers count too little. `accepted_of_drafted` is not:
    it takes drafted tokens that were never judged for refused. `per_position[i]` is the share of
    drafts of which position i was accepted. `decode_tokens_per_s` is the speed of one answer, which
    vLLM does not tell; `tokens_per_s` is all answers' together.
    """

    seconds: float | None
    generated: int
    running: int
    drafts: int | None
    drafted: int | None
    accepted: int | None
    acceptance_rate: float | None
    accepted_of_drafted: float | None
    per_position: tuple[float, ...] | None
    tokens_per_target_pass: float | None
    tokens_per_s: float | None
    decode_tokens_per_s: float | None


def rates(totals: Totals, seconds: float | None) -> Rates:
    """The rates of the counts that `totals` gained in `seconds`."""
    counts, positions = totals.counts(), None
    if totals.per_position is not None and totals.drafts:
        positions = tuple(kept / totals.drafts for kept in totals.per_position)
    return Rates(
        seconds,
        totals.generated,
        totals.running,
        totals.drafts,
        totals.drafted,
        totals.accepted,
        counts.acceptance_rate if counts else None,
        counts.accepted_of_drafted if counts else None,
        positions,
        counts.tokens_per_pass(totals.generated) if counts else None,
        share(totals.generated, seconds),
        share(totals.generated, totals.decode_s),
    )


class Watch:
    """Reads a server's totals again and again; `summary` is all since the first reading."""

    def __init__(self, read: Callable[[], Totals]) -> None:
        self._read = read
        self._first = self._last = read()
        self._begun = self._at = time.monotonic()

    @property
    def totals(self) -> Totals:
        """The last reading."""
        return self._last

    def poll(self, interval: float) -> Iterator[Rates]:
        """The rates of every `interval` seconds, without end."""
        while True:
            time.sleep(max(0.0, self._at + interval - time.monotonic()))
            last, at = self._last, self._at
            self._last, self._at = self._read(), time.monotonic()
            yield rates(self._last.since(last), self._at - at)

    def summary(self) -> Rates:
        """The rates from the first reading to the last."""
        return rates(self._last.since(self._first), self._at - self._begun)


def counted(server: Server) -> Totals:
    """A reading of the server's counters; ForedraftError says which flag gives them."""
    page = server.metrics()
    if page is None:
        raise ForedraftError(
            f"{server.url} has no /metrics: foredraft serve has it, llama-server needs --metrics, "
            "vLLM has it unless --disable-log-stats is given, LM Studio and Ollama have none."
        )
    totals = read_totals(page)
    if totals is None:
        raise ForedraftError(
            f"{server.url}/metrics has no counters of foredraft, llama-server or vLLM; other "
            "engines' are not known here."
        )
    return totals


def hint(server: Server, totals: Totals) -> str | None:
    """Why a server drafts nothing, if that is sure."""
    if totals.drafted is None:
        return f"{server.url} counts no drafts; vLLM speculates with --speculative-config only."
    if totals.drafted == 0 and server.speculates() is False:
        return f"{server.url} does not speculate; llama-server does so with --spec-type only."
    return None
