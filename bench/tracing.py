"""What tracing costs ingestion: the same turns are taken in with and without it, one after the other, again and again.

Each pair is compared with itself, by processor time, so what else the machine does meanwhile weighs on both.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

import asof
from asof.runtime.opentelemetry_tracer import OpenTelemetryTracer
from asof_streams import tracing
from bench.figures import Figure, Target
from bench.material import Material

_PAIRS = 11  # at full scale


class _Nowhere(SpanExporter):
    def export(self, spans: object) -> SpanExportResult:
        del spans
        return SpanExportResult.SUCCESS


def measure(material: Material) -> Iterator[Figure]:
    _, lines = material.chat(material.count(1_500, 50))
    for name, provider, targets in (
        ("the SDK, and no exporter", TracerProvider(shutdown_on_exit=False), (Target("ratio of a pair", 1.03),)),
        ("a trace that is not sampled", _exporting(ALWAYS_OFF), ()),
        ("every span exported", _exporting(ALWAYS_ON), ()),
    ):
        tracer = OpenTelemetryTracer(provider)
        _seconds(lines, tracer)
        pairs = [_pair(lines, tracer, is_first=bool(number % 2)) for number in range(material.count(_PAIRS, 2))]
        each = 1e6 / len(lines)
        values = {
            "p50": median(traced for _, traced in pairs) * each,
            "ratio of a pair": median(traced / plain for plain, traced in pairs),
        }
        untraced = {"p50": median(plain for plain, _ in pairs) * each}
        yield Figure(f"ingestion of a turn: {name}", "us of processor time", values, untraced, "no tracing", targets)


def _pair(lines: list[bytes], tracer: OpenTelemetryTracer, *, is_first: bool) -> tuple[float, float]:
    """Return what turns take without tracing and with it; `is_first`: with it first, as every other pair has it."""
    if is_first:
        traced = _seconds(lines, tracer)
        return _seconds(lines, None), traced
    return _seconds(lines, None), _seconds(lines, tracer)


def _exporting(sampler: Sampler) -> TracerProvider:
    provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_Nowhere()))
    return provider


def _seconds(lines: list[bytes], tracer: OpenTelemetryTracer | None) -> float:
    """Return the processor time that turns take."""
    with TemporaryDirectory() as folder, _installed(tracer), asof.open(folder, embedder="none") as memory:
        started = time.process_time()
        done = memory.produce(lines)
        seconds = time.process_time() - started
    assert not done.refused
    return seconds


@contextmanager
def _installed(tracer: OpenTelemetryTracer | None) -> Iterator[None]:
    tracing.install(tracer)
    try:
        yield
    finally:
        tracing.install(None)
