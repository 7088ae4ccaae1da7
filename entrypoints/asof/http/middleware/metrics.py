"""Metrics of a service for Prometheus. No label holds a group, an id or content."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.operations.answers import RetrievalMetrics, Usage
from asof.operations.process import version

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_OF_MODELS: Final = {
    "calls": "Calls of language models.",
    "failed": "Calls that gave no answer that could be read.",
    "retries": "Calls made again after one that failed.",
    "prompt_tokens": "Tokens that models read, by their servers' count.",
    "completion_tokens": "Tokens that models wrote.",
    "refused": "Requests that were not made, because the budget of a group was spent.",
}
_OF_CONSOLIDATION: Final = {
    "passes": "Passes of consolidation.",
    "communities_detected": "Communities of the entities that passes looked at.",
    "communities_changed_nodes": "Entities that passes moved to another community.",
    "entity_duplicates_found": "Pairs of entities of one name and type that passes found.",
    "entity_merges_performed": "Entities that passes linked as duplicates.",
    "nodes_decayed": "Entities that had faded, as each pass counted them.",
}
_OF_INGESTION: Final = {
    "messages": "Messages that the worker took since it began.",
    "chunks_processed": "Sentences of these messages.",
    "chunks_failed": "Readings by a language model that gave no answer.",
    "entities_extracted": "Mentions of entities.",
    "relations_extracted": "Relations stated.",
    "entity_nodes_created": "Entities that were not known.",
    "entity_merges": "Entities that were known, for each message that names them.",
    "edges_created": "Facts, links of mentions to entities, and conflicts of facts.",
    "contradictions_detected": "Facts displaced by others, or flagged as contradicting them.",
    "parts_refused": "Parts of a model's answers that cannot stand.",
}
METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
_STEP_SECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)
_MESSAGE_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class _Models(Collector):
    """The calls of language models and their tokens, as the worker reported them last."""

    def __init__(self) -> None:
        self.usage: Usage = {}

    def collect(self) -> Iterable[CounterMetricFamily]:
        for name, what in _OF_MODELS.items():
            family = CounterMetricFamily(f"asof_model_{name}", what, labels=("prompt", "model"))
            for asked, used in self.usage.items():
                family.add_metric(asked, getattr(used, name))
            yield family


class _Consolidation(Collector):
    """The passes of consolidation: the sums of their results, and the times of their phases in this worker."""

    def __init__(self) -> None:
        self.counts: Mapping[str, int] = {}
        self.phases: Mapping[str, tuple[int, float]] = {}

    def collect(self) -> Iterable[Metric]:
        for name, what in _OF_CONSOLIDATION.items():
            yield CounterMetricFamily(f"asof_consolidation_{name}", what, value=self.counts.get(name, 0))
        what = "The time of a phase of consolidation, and of a whole pass, since the worker began."
        family = SummaryMetricFamily("asof_consolidation_phase_duration_seconds", what, labels=("phase",))
        for phase, (runs, seconds) in self.phases.items():
            family.add_metric((phase,), runs, seconds)
        yield family


class _Ingestion(Collector):
    """The messages that the worker took since it began: their counts, and the seconds of each phase."""

    def __init__(self) -> None:
        self.counts: Mapping[str, int] = {}
        self.seconds: Mapping[str, float] = {}

    def collect(self) -> Iterable[Metric]:
        for name, what in _OF_INGESTION.items():
            yield CounterMetricFamily(f"asof_ingestion_{name}", what, value=self.counts.get(name, 0))
        what = "The time of a phase of ingestion, and of whole messages, since the worker began."
        family = CounterMetricFamily("asof_ingestion_phase_seconds", what, labels=("phase",))
        for phase in sorted(self.seconds):
            family.add_metric((phase,), self.seconds[phase])
        yield family


class Metrics:
    """The counters and gauges of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "asof_http_requests", "Requests answered.", ["route", "method", "status"], registry=self._registry
        )
        self._request_seconds = Histogram(
            "asof_http_request_duration_seconds",
            "From a request to the end of its answer.",
            ["route", "method"],
            buckets=_REQUEST_SECONDS,
            registry=self._registry,
        )
        self._message_seconds = Histogram(
            "asof_message_processing_duration_seconds",
            "From when a message is picked up until it can be asked about.",
            buckets=_MESSAGE_SECONDS,
            registry=self._registry,
        )
        self._step_seconds = Histogram(
            "asof_retrieval_step_duration_seconds",
            "What a step of the retrieval pipeline took.",
            ["step"],
            buckets=_STEP_SECONDS,
            registry=self._registry,
        )
        self.messages = self._gauge("asof_messages", "Where the messages log ends.")
        self.processed = self._gauge("asof_messages_processed", "The position of the next message to process.")
        self.waiting = self._gauge("asof_queue_messages", "Messages on the log that wait to be processed.")
        self.oldest = self._gauge("asof_queue_oldest_seconds", "The age of the oldest message that waits, else 0.")
        self.parked = self._gauge("asof_messages_parked", "Messages of which nothing could be made.")
        self.failed = self._gauge("asof_messages_failed", "Messages about which a model gave no answer.")
        self.embeds = self._gauge("asof_embedder_up", "1, if the embedder answered when it was last asked; else 0.")
        self.vectors = self._gauge("asof_vectors", "Vectors that a search compares with; 0 before the first search.")
        self.models: Final = _Models()
        self._registry.register(self.models)
        self.ingestion: Final = _Ingestion()
        self._registry.register(self.ingestion)
        self.consolidation: Final = _Consolidation()
        self._registry.register(self.consolidation)
        build = Gauge("asof_build_info", "The version that runs.", ["version"], registry=self._registry)
        build.labels(version()).set(1)

    def _gauge(self, name: str, what: str) -> Gauge:
        return Gauge(name, what, registry=self._registry)

    def answered(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        route = getattr(scope.get("route"), "path_format", "none")  # a path that no route has may be content
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._request_seconds.labels(route, method).observe(seconds)

    def took(self, seconds: Iterable[float]) -> None:
        """Count processed messages, by the seconds that each took."""
        for each in seconds:
            self._message_seconds.observe(each)

    def retrieved(self, metrics: RetrievalMetrics) -> None:
        """Count a search by the retrieval pipeline, by what each of its steps took."""
        for field in fields(metrics):
            self._step_seconds.labels(field.name.removesuffix("_us")).observe(getattr(metrics, field.name) / 1_000_000)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class Counted:
    """Counts each request, also those that another middleware answers."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            self._metrics.answered(scope, status, time.perf_counter() - started)
