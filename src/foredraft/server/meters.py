"""Every number at /metrics: its name, its unit and what it means."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.process_collector import ProcessCollector

from foredraft.server.tallies import ByPosition, Weighted

_WAITS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Seconds a person waits: a GPU's first token up to a CPU's long prompt behind a queue."""
_STEPS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
"""Seconds between tokens: a small model on a GPU up to a large one on a CPU."""
_ANSWERS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0, 300.0, 600.0)
"""Seconds a whole answer takes."""


class Meters:
    """The meters of one server, in a registry of their own; docs/metrics.md explains them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"foredraft_{name}", about, labels, registry=self.registry)

        def gauge(name: str, about: str) -> Gauge:
            return Gauge(f"foredraft_{name}", about, registry=self.registry)

        def seconds(name: str, about: str, buckets: tuple[float, ...]) -> Histogram:
            name = f"foredraft_{name}_seconds"
            return Histogram(name, about, registry=self.registry, buckets=buckets)

        def positions(name: str, about: str) -> ByPosition:
            return ByPosition(f"foredraft_{name}_at_position", about, self.registry)

        ProcessCollector(registry=self.registry)
        self.server = Info(
            "foredraft_server", "What is served, and by what", registry=self.registry
        )

        self.requests = counter("requests", "Requests that were taken")
        self.refused = counter("requests_refused", "Requests that were refused", "reason")
        self.finished = counter("requests_finished", "Requests that ended", "finish_reason")
        self.running = gauge("requests_running", "Requests being answered")
        self.waiting = gauge("requests_waiting", "Requests waiting for a place")
        self.cells = gauge("cached_tokens", "Tokens the target's cache holds")

        self.prompt = counter("prompt_tokens", "Tokens of prompts that were read or found read")
        self.prompt_cached = counter("prompt_tokens_cached", "Those that had been read for others")
        self.generated = counter("generated_tokens", "Tokens that were generated")
        self.passes = counter("target_passes", "Passes of the target, over one or more sequences")
        self.rounds = counter("rounds", "Rounds of single sequences, with a draft and without")
        self.drafts = counter("drafts", "Rounds that had a draft", "drafter")

        self.drafted = counter("drafted_tokens", "Tokens that were drafted", "drafter")
        self.accepted = counter("accepted_tokens", "Drafted tokens that were kept", "drafter")
        self.rejected = counter("rejected_tokens", "First mismatches of rounds", "drafter")
        self.drafted_at = positions("drafted", "Drafts that reach this position, 0 the first")
        self.judged_at = positions("judged", "Drafts that were judged at this position")
        self.accepted_at = positions("accepted", "Drafts of which this position was kept")

        self.prefill_s = counter("prefill_seconds", "Seconds in which prompts were read")
        self.draft_s = counter("draft_seconds", "Seconds in which tokens were drafted")
        self.verify_s = counter("verify_seconds", "Seconds of the target's passes")
        self.actual_s = counter(
            "speedup_actual_seconds", "Decode seconds of the answers that speedup compares"
        )
        self.plain_s = counter(
            "speedup_plain_seconds", "What they would have taken without speculation"
        )
        self.speedup = gauge(
            "speedup", "Decode speed over plain decoding, the last minute of decoding counting most"
        )

        self.queue = seconds("queue", "From being taken to being begun", _WAITS)
        self.first_token = seconds(
            "time_to_first_token", "From being taken to the first token", _WAITS
        )
        self.inter_token = Weighted(
            "foredraft_inter_token_latency_seconds",
            "A token's part of the time since those before it",
            self.registry,
            _STEPS,
        )
        self.gap = seconds("token_gap", "Between arrivals of tokens, however many come", _STEPS)
        self.decode = seconds("request_decode", "From the first tokens to the last", _ANSWERS)
        self.whole = seconds("request", "From being taken to the end of the answer", _ANSWERS)
