"""Tracing for doors: the span of a request, and the spans of a process of asof's own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from asof.runtime.opentelemetry_tracer import trace_this_process
from asof.runtime.span_names import HTTP_METHOD, HTTP_ROUTE, HTTP_STATUS, URL_SCHEME
from asof_streams import tracing
from asof_streams.tracing import TRACEPARENT, OpenSpan, Value, continued, flush, is_on

__all__ = [
    "HTTP_METHOD",
    "HTTP_ROUTE",
    "HTTP_STATUS",
    "TRACEPARENT",
    "URL_SCHEME",
    "OpenSpan",
    "continued",
    "flush",
    "is_on",
    "request_span",
    "trace_this_process",
]


@contextmanager
def request_span(name: str, attributes: Mapping[str, Value | None], trace: str | None) -> Iterator[OpenSpan]:
    """Make what happens meanwhile the span of a request, in the trace that came with it, if one did."""
    with continued(trace or ""), tracing.span(name, attributes, "server") as span:
        yield span
