"""Spans as trees: of this process, from memory, or of others, from a collector that they export to."""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from asof.runtime.opentelemetry_tracer import OpenTelemetryTracer
from asof_streams import tracing

ANY: Final = "*"  # in place of what differs from run to run
_DIFFERS: Final = {"asof.known_at", "asof.lag_seconds", "gen_ai.memory.record.id", "mcp.protocol.version"}
_KINDS: Final = ("", "internal", "server", "client", "producer", "consumer")
_FAILED: Final = 2


@dataclass(frozen=True)
class Spanned:
    """A span that has ended."""

    name: str
    kind: str
    trace: int
    id: int
    parent: int  # 0: it is the first of its trace
    links: tuple[int, ...]
    attributes: Mapping[str, Any]
    has_failed: bool

    @property
    def told(self) -> str:
        """The span as a line: name, kind and attributes, without what differs from run to run."""
        shown = {key: ANY if key in _DIFFERS else value for key, value in sorted(self.attributes.items())}
        words = [self.name, *(["(" + self.kind + ")"] if self.kind != "internal" else [])]
        words += [f"{key}={','.join(value) if isinstance(value, tuple) else value}" for key, value in shown.items()]
        return " ".join([*words, *(["linked"] if self.links else []), *(["FAILED"] if self.has_failed else [])])


def trees(spans: Sequence[Spanned]) -> str:
    """Return spans as lines, each below its parent, in the order in which they are given: that in which they ended."""
    ids = {span.id for span in spans}

    def below(parent: int | None, depth: int) -> Iterator[str]:
        for span in spans:
            if span.parent == parent or (parent is None and span.parent not in ids):
                yield "  " * depth + span.told
                yield from below(span.id, depth + 1)

    return "\n".join(below(None, 0))


class Recorded:
    """The spans of this process."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def take(self) -> list[Spanned]:
        """Return the spans that have ended since the last call."""
        found = [_of_sdk(span) for span in self._exporter.get_finished_spans()]
        self._exporter.clear()
        return found

    def tree(self) -> str:
        return trees(self.take())


def _of_sdk(span: ReadableSpan) -> Spanned:
    context, attributes = span.context, dict(span.attributes or {})
    assert context is not None
    return Spanned(
        span.name,
        span.kind.name.lower(),
        context.trace_id,
        context.span_id,
        span.parent.span_id if span.parent else 0,
        tuple(link.context.span_id for link in span.links),
        attributes,
        not span.status.is_unset and not span.status.is_ok,
    )


@contextmanager
def recorded() -> Iterator[Recorded]:
    """Record the spans of this process, and of no test after it."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.install(OpenTelemetryTracer(provider))
    try:
        yield Recorded(exporter)
    finally:
        tracing.install(None)


class Collector:
    """A collector that takes OTLP over HTTP."""

    def __init__(self) -> None:
        found = self.spans = list[Spanned]()
        services = self.services = set[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers["Content-Encoding"] == "gzip":
                    body = gzip.decompress(body)
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    services.add(_values(resource.resource.attributes)["service.name"])
                    found.extend(_of_wire(span) for scope in resource.scope_spans for span in scope.spans)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def settings(self) -> dict[str, str]:
        """What the environment of a process has to say, so that it exports here soon."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }

    def named(self, name: str) -> list[Spanned]:
        return [span for span in list(self.spans) if span.name == name]

    def of_trace(self, trace: int) -> list[Spanned]:
        return [span for span in list(self.spans) if span.trace == trace]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _of_wire(span: Any) -> Spanned:
    return Spanned(
        span.name,
        _KINDS[span.kind],
        int.from_bytes(span.trace_id),
        int.from_bytes(span.span_id),
        int.from_bytes(span.parent_span_id),
        tuple(int.from_bytes(link.span_id) for link in span.links),
        _values(span.attributes),
        span.status.code == _FAILED,
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(_value(each) for each in value.array_value.values)
    return getattr(value, kind)


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    try:
        yield collector
    finally:
        collector.close()
