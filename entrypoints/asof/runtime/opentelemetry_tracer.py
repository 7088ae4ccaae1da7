"""OpenTelemetry behind the port of tracing; the one module of asof that imports it, and only where spans are wanted.

In a program that uses asof as a library, spans go where the program's own do. A process of asof's own exports its spans
where the environment says so, by the variables of OpenTelemetry's SDK.
"""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Final

from asof.runtime.span_names import ERROR_TYPE
from asof_streams import tracing
from asof_streams.distribution import version
from asof_streams.tracing import TRACEPARENT, Kind, Value

if TYPE_CHECKING:
    from opentelemetry.trace import Link, TracerProvider
    from opentelemetry.trace import Span as RecordedSpan

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
log = logging.getLogger("asof.tracing")

_FLUSH_SECONDS: Final = 3.0  # for which a process that ends may wait for a collector


class OpenTelemetryTracer:
    """Implements Tracer by a provider of OpenTelemetry's. exports: whether the provider is asof's own."""

    def __init__(self, provider: "TracerProvider", *, exports: bool = False) -> None:
        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._context, self._trace = context, trace
        self._provider = provider
        self._processors = getattr(provider, "_active_span_processor", None)
        self._exports = exports
        self._tracer = provider.get_tracer("asof", version())
        self._propagator = TraceContextTextMapPropagator()
        self._kinds = {kind.name.lower(): kind for kind in trace.SpanKind}

    @property
    def is_heard(self) -> bool:
        """Whether the provider passes spans on: one of the SDK without a processor makes each for nobody.

        The SDK does not tell in public, so a provider that is not known to pass on nothing is taken to.
        """
        return getattr(self._processors, "_span_processors", None) != ()

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Value | None], kind: Kind = "internal", link: str | None = None
    ) -> Iterator["_Span"]:
        given = {key: value for key, value in attributes.items() if value is not None}
        with self._tracer.start_as_current_span(
            name,
            kind=self._kinds[kind],
            attributes=given,
            links=self._links(link),
            record_exception=False,  # its text may be content
            set_status_on_exception=False,
        ) as begun:
            yield _Span(begun)

    def _links(self, trace: str | None) -> "list[Link]":
        if trace is None:
            return []
        found = self._trace.get_current_span(self._propagator.extract({TRACEPARENT: trace})).get_span_context()
        return [self._trace.Link(found)] if found.is_valid else []

    def step(self, name: str, start: int, end: int) -> None:
        self._tracer.start_span(name, start_time=start, record_exception=False).end(end)

    @contextmanager
    def continued(self, trace: str) -> Iterator[None]:
        token = self._context.attach(self._propagator.extract({TRACEPARENT: trace}))
        try:
            yield
        finally:
            self._context.detach(token)

    def current(self) -> "_Span":
        return _Span(self._trace.get_current_span())

    def trace(self) -> str | None:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get(TRACEPARENT)

    def flush(self) -> None:
        if not self._exports:
            return
        flushing = Thread(target=getattr(self._provider, "force_flush"), daemon=True)  # noqa: B009 - of the SDK's alone
        flushing.start()
        flushing.join(_FLUSH_SECONDS)


class _Span:
    """Implements OpenSpan by one of OpenTelemetry's."""

    __slots__ = ("_span",)

    def __init__(self, span: "RecordedSpan") -> None:
        self._span = span

    @property
    def is_recording(self) -> bool:
        return self._span.is_recording()

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        from opentelemetry.trace import StatusCode

        self._span.set_attribute(ERROR_TYPE, error_type)
        self._span.set_status(StatusCode.ERROR)


def trace_as_the_program() -> None:
    """Let spans go where those of this program go, if it has set a provider by now; nothing is imported for that."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None or tracing.has_tracer():
        return
    provider = api.get_tracer_provider()
    if not isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        tracing.install(OpenTelemetryTracer(provider))


def trace_this_process() -> None:
    """Export the spans of this process, which is asof's own, if the environment says whereto and the SDK is there."""
    if not is_asked_for(os.environ) or tracing.has_tracer():
        return
    try:
        tracing.install(OpenTelemetryTracer(_exporting(), exports=True))
    except Exception as error:  # noqa: BLE001 - whatever it is, the work goes on without spans
        log.warning("no spans are exported: %s; asof doctor looks for the extra otel", type(error).__name__)


def is_asked_for(environment: Mapping[str, str]) -> bool:
    """Whether variables of OpenTelemetry's SDK say that spans are to be exported by OTLP over HTTP."""
    exporter = environment.get("OTEL_TRACES_EXPORTER") or "otlp"
    protocol = next((found for name in _PROTOCOLS if (found := environment.get(name))), "http/protobuf")
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
    has_endpoint = any(environment.get(name) for name in _ENDPOINTS)
    return has_endpoint and exporter == "otlp" and protocol == "http/protobuf" and not is_disabled


def _exporting() -> "TracerProvider":
    """Return a provider that exports, and make it that of the libraries in this process."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    ours = Resource({"service.name": "asof", "service.version": version()})
    resource = Resource.create().merge(ours).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)  # `flush` waits no longer than it says
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider
