"""Traces over Kafka: a record brings its own, and the spans of the agents link to the one that sent it."""

from collections.abc import Callable
from pathlib import Path

import pytest

import asof
from kafka_worker import Running, World, dump
from patience import wait_until
from traced import Spanned, collecting, recorded, trees

Start = Callable[..., Running]

SENT = """\
upsert_memory asof.operation=add asof.position=0 gen_ai.memory.record.count=1 gen_ai.memory.store.id=default \
gen_ai.operation.name=upsert_memory
  send {prefix}.messages (producer) messaging.batch.message_count=1 messaging.destination.name={prefix}.messages \
messaging.operation.name=send messaging.operation.type=send messaging.system=kafka"""
RECORDED = """\
process {prefix}.messages (consumer) asof.ingest.chunks_processed=1 asof.ingest.entities_extracted=2 \
asof.ingest.relations_extracted=1 asof.lag_seconds=* asof.message.type=message.sent asof.position=0 \
gen_ai.memory.store.id=default messaging.destination.name={prefix}.messages messaging.destination.partition.id=0 \
messaging.operation.name=process messaging.operation.type=process messaging.system=kafka linked
  ucotron.ner
  ucotron.chunk
  ucotron.graph_update"""
BELIEVED = """\
process {prefix}.episodic (consumer) asof.ingest.edges_created=3 asof.ingest.entity_nodes_created=2 \
asof.lag_seconds=* asof.message.type=episode.recorded asof.position=0 gen_ai.memory.store.id=default \
messaging.destination.name={prefix}.episodic messaging.destination.partition.id=0 messaging.operation.name=process \
messaging.operation.type=process messaging.system=kafka linked
  ucotron.entity_resolution
  ucotron.relations
  ucotron.contradiction_detection
  ucotron.graph_update"""
FOREIGN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
LINE = {"group_id": "default", "content": "I live in Oslo.", "role": "Ana", "role_type": "user"}


def test_the_spans_of_both_agents_link_to_the_one_that_sent_the_record(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = world.topics.prefix
    with recorded() as spans, asof.open(tmp_path / "none", embedder="none", **world.settings()) as memory:
        memory.add("I live in Oslo.", role="Ana")
        sent = spans.take()
    assert trees(sent) == SENT.format(prefix=prefix)
    [producing] = [span for span in sent if span.kind == "producer"]

    with collecting() as collector:
        for name, value in collector.settings.items():
            monkeypatch.setenv(name, value)
        worker = start(world)
        names = [f"process {prefix}.messages", f"process {prefix}.episodic"]
        wait_until(lambda: all(map(collector.named, names)), worker.said)
        worker.stop()
        taken = [collector.of_trace(collector.named(name)[0].trace) for name in names]

    assert [trees(some) for some in taken] == [RECORDED.format(prefix=prefix), BELIEVED.format(prefix=prefix)]
    assert [linked(some) for some in taken] == [(producing.id,)] * 2


def linked(spans: list[Spanned]) -> tuple[int, ...]:
    return next(span.links for span in spans if span.kind == "consumer")


def test_a_record_of_another_client_brings_its_trace_and_what_is_none_is_passed_over(
    world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.send([LINE], traceparent=FOREIGN.encode())
    world.send([LINE], traceparent=b"no trace")
    end = world.send([LINE], traceparent=None)
    name = f"process {world.topics.prefix}.messages"
    with collecting() as collector:
        for key, value in collector.settings.items():
            monkeypatch.setenv(key, value)
        worker = start(world)
        wait_until(lambda: len(collector.named(name)) == end, worker.said)
        worker.stop()
        links = [span.links for span in collector.named(name)]

    assert links == [(int("00f067aa0ba902b7", 16),), (), ()]


def test_a_trace_changes_nothing_of_what_is_logged(world: World, tmp_path: Path) -> None:
    world.send([LINE], traceparent=FOREIGN.encode())
    with recorded():
        world.partition(tmp_path / "traced").close()
    looked = dump(tmp_path / "traced")

    assert looked == world.afresh(tmp_path / "plain")
