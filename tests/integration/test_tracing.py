"""The spans of a program that uses asof as a library, by the SDK of OpenTelemetry: which there are, and what they say.

The trees are what people build dashboards on: a changed line is a change for them.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

import asof
from asof.api.memory import Memory
from asof.runtime.opentelemetry_tracer import OpenTelemetryTracer, is_asked_for
from asof_streams import tracing
from traced import Recorded, recorded

ADD = """\
upsert_memory asof.operation=add asof.position=0 gen_ai.memory.record.count=1 gen_ai.memory.record.id=* \
gen_ai.memory.store.id=default gen_ai.operation.name=upsert_memory
  asof.ingest asof.ingest.chunks_processed=1 asof.ingest.edges_created=3 asof.ingest.entities_extracted=2 \
asof.ingest.entity_nodes_created=2 asof.ingest.relations_extracted=1 asof.lag_seconds=* \
asof.message.type=message.sent asof.position=0 gen_ai.memory.store.id=default
    ucotron.ner
    ucotron.chunk
    ucotron.graph_update
    ucotron.entity_resolution
    ucotron.relations
    ucotron.contradiction_detection
    ucotron.graph_update"""
AS_OF = "asof.generation=main asof.known_at=* asof.lag=0"
OF_DEFAULT = "gen_ai.memory.store.id=default gen_ai.operation.name=search_memory"
LEGS = "asof.retrieval.legs=words,vectors asof.retrieval.profile=default asof.retrieval.vectors_behind=0"
SEARCH = f"""\
search_memory {AS_OF} asof.operation=search asof.position=1 {LEGS} asof.valid_at=2024-05-01T00:00:00Z \
gen_ai.memory.record.count=2 {OF_DEFAULT}
  asof.search_facts gen_ai.memory.record.count=1
    ucotron.embed
  asof.search_episodes gen_ai.memory.record.count=1
    ucotron.embed"""
CONTEXT = f"""\
search_memory {AS_OF} asof.operation=context asof.position=1 {LEGS} asof.valid_at=2024-05-01T00:00:00Z \
gen_ai.memory.record.count=4 {OF_DEFAULT}
  asof.search_facts gen_ai.memory.record.count=1
  asof.search_episodes gen_ai.memory.record.count=1
  asof.search_facts gen_ai.memory.record.count=1"""
PIPELINE = f"""\
search_memory {AS_OF} asof.operation=search asof.position=1 \
asof.retrieval.legs=words,vectors asof.retrieval.profile=pipeline asof.retrieval.vectors_behind=0 \
asof.valid_at=2024-05-01T00:00:00Z gen_ai.memory.record.count=2 {OF_DEFAULT}
  ucotron.embed
  ucotron.query_embed
  ucotron.vector_search
  ucotron.query_ner
  ucotron.graph_traverse
  ucotron.community
  ucotron.rerank"""
ERASE = """\
delete_memory asof.operation=erase asof.position=1 gen_ai.memory.store.id=default gen_ai.operation.name=delete_memory
  asof.ingest asof.lag_seconds=* asof.message.type=erasure.requested asof.position=1 \
gen_ai.memory.store.id=default
    ucotron.chunk
    ucotron.graph_update
    ucotron.graph_update"""
CANARIES = ("Canarywood", "Where does", "Ana")
QUESTION = "Where does Ana live?"


@pytest.fixture
def spans() -> Iterator[Recorded]:
    with recorded() as found:
        yield found


@pytest.fixture
def memory(tmp_path: Path, spans: Recorded) -> Iterator[Memory]:  # noqa: ARG001 - opened while somebody looks
    with asof.open(tmp_path / "data", embedder="hash") as opened:
        yield opened


def say(memory: Memory, spans: Recorded) -> None:
    memory.add("I live in Canarywood.", role="Ana", timestamp="2024-04-02")
    spans.take()


def test_what_is_added_is_a_span_with_each_step_of_its_ingestion(memory: Memory, spans: Recorded) -> None:
    memory.add("I live in Canarywood.", role="Ana", timestamp="2024-04-02")

    assert spans.tree() == ADD


def test_a_search_tells_its_moment_on_both_clocks_its_generation_and_its_legs(memory: Memory, spans: Recorded) -> None:
    say(memory, spans)
    memory.search(QUESTION, valid_at="2024-05-01")

    assert spans.tree() == SEARCH


def test_a_search_by_the_pipeline_has_the_spans_of_its_specification(memory: Memory, spans: Recorded) -> None:
    say(memory, spans)
    memory.search(QUESTION, valid_at="2024-05-01")
    spans.take()
    memory.search(QUESTION, valid_at="2024-05-01", profile="pipeline")

    assert spans.tree() == PIPELINE


def test_a_context_is_one_search_of_memory(memory: Memory, spans: Recorded) -> None:
    say(memory, spans)
    memory.search(QUESTION, valid_at="2024-05-01")
    spans.take()
    memory.context(QUESTION, valid_at="2024-05-01")

    assert spans.tree() == CONTEXT


def test_an_erasure_is_a_deletion_from_memory(memory: Memory, spans: Recorded) -> None:
    say(memory, spans)
    memory.erase("default")

    assert spans.tree() == ERASE


def test_lines_that_are_produced_are_one_span_that_counts_them(memory: Memory, spans: Recorded) -> None:
    memory.produce([{"content": text, "role": "Ana", "role_type": "user"} for text in ("I like tea.", "I like rye.")])

    first, *rest = spans.tree().splitlines()
    assert first == "upsert_memory asof.position=0 gen_ai.memory.record.count=2 gen_ai.operation.name=upsert_memory"
    assert [line.split()[0] for line in rest if line.startswith("  asof")] == ["asof.ingest", "asof.ingest"]


def test_a_question_that_fails_says_the_class_of_the_error_and_no_more(memory: Memory, spans: Recorded) -> None:
    say(memory, spans)
    with pytest.raises(asof.NotFound):
        memory.fact("Canarywood")

    [span] = spans.take()
    assert (
        span.told == "search_memory asof.operation=fact error.type=NotFound gen_ai.operation.name=search_memory FAILED"
    )


def test_a_list_of_an_empty_memory_has_not_failed(memory: Memory, spans: Recorded) -> None:
    assert memory.facts() == []

    assert not any(span.has_failed for span in spans.take())


def test_no_span_says_what_was_said_asked_or_found(memory: Memory, spans: Recorded) -> None:
    memory.add("I live in Canarywood.", role="Ana")
    memory.search(QUESTION)
    memory.context(QUESTION)
    memory.facts(about="Ana")
    memory.entities()

    found = [span.told for span in spans.take()]
    assert len(found) > 10
    assert not [line for line in found if any(word in line for word in CANARIES)]


def test_with_the_switch_on_spans_say_what_was_said_asked_and_found(tmp_path: Path, spans: Recorded) -> None:
    with asof.open(tmp_path / "data", embedder="hash", trace_content=True) as memory:
        memory.add("I live in Canarywood.", role="Ana")
        [hit] = memory.search(QUESTION, over="facts")

    added, searched = (span for span in spans.take() if span.name in ("upsert_memory", "search_memory"))
    assert json.loads(added.attributes["gen_ai.memory.records"]) == [{"content": "I live in Canarywood."}]
    assert searched.attributes["gen_ai.memory.query.text"] == QUESTION
    told = [{"content": "Ana lives in Canarywood", "id": hit.uuid, "score": hit.score}]
    assert json.loads(searched.attributes["gen_ai.memory.records"]) == told


def test_spans_are_within_the_one_that_the_program_is_in(tmp_path: Path, spans: Recorded) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory, tracing.span("program"):
        memory.add("I like tea.", role="Ana")

    found = {span.name: span for span in spans.take()}
    assert found["upsert_memory"].parent == found["program"].id


def test_the_async_twin_goes_on_with_the_trace_of_each_task(tmp_path: Path, spans: Recorded) -> None:
    async def ask() -> None:
        async with asof.open_async(tmp_path / "data", embedder="none") as memory:

            async def add(number: int) -> None:
                with tracing.span(f"task {number}"):
                    await memory.add("I like tea.", role="Ana")

            await asyncio.gather(*map(add, range(3)))

    asyncio.run(ask())

    found = spans.take()
    tasks = {span.id: span.trace for span in found if span.name.startswith("task")}
    added = {span.parent: span.trace for span in found if span.name == "upsert_memory"}
    assert len(tasks) == 3
    assert added == tasks


def test_of_a_trace_that_is_not_sampled_a_message_costs_no_span_for_its_steps(tmp_path: Path) -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))

    assert begun_by(provider, tmp_path / "data") == ["upsert_memory", "asof.ingest"]


def test_no_span_is_made_where_a_provider_passes_none_on(tmp_path: Path) -> None:
    assert begun_by(TracerProvider(shutdown_on_exit=False), tmp_path / "data") == []


def begun_by(provider: TracerProvider, data: Path) -> list[str]:
    """Return the names of the spans and steps that are begun while a message is added."""
    begun: list[str] = []

    class Counting(OpenTelemetryTracer):
        def span(self, name, attributes, kind="internal", link=None):
            begun.append(name)
            return super().span(name, attributes, kind, link)

        def step(self, name, start, end):
            begun.append(name)
            super().step(name, start, end)

    tracing.install(Counting(provider))
    try:
        with asof.open(data, embedder="none") as memory:
            memory.add("I like tea.", role="Ana")
    finally:
        tracing.install(None)
    return begun


WITHOUT = """\
import sys
import asof
with asof.open(sys.argv[1], embedder="none") as memory:
    memory.add("I like tea.", role="Ana")
    memory.search("tea")
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
WITH = """\
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
import asof
with asof.open(sys.argv[1], embedder="none") as memory:
    memory.add("I like tea.", role="Ana")
[span] = [span for span in exporter.get_finished_spans() if span.name == "upsert_memory"]
assert span.instrumentation_scope.name == "asof"
"""
UNSET = """\
import sys
import opentelemetry.sdk.trace
import asof
from asof_streams import tracing
with asof.open(sys.argv[1], embedder="none") as memory:
    assert not tracing.is_on()
"""


@pytest.mark.parametrize("program", [WITHOUT, WITH, UNSET], ids=["without", "with", "unset"])
def test_a_library_traces_where_its_program_does_and_loads_nothing_where_it_does_not(
    program: str, tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "data")], check=True)


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
    ],
)
def test_a_process_of_asofs_own_exports_where_the_environment_says_whereto(
    environment: dict[str, str], asked: bool
) -> None:
    assert is_asked_for(environment) is asked
