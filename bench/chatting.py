"""Chat through the engine without a model and without vectors: rules, resolution, graph."""

import time
from collections.abc import Iterator
from pathlib import Path

import asof
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.json_lines import as_message, read_lines
from asof.runtime.layout import DirectoryLayout
from asof.runtime.writer import open_writer
from asof.settings import Settings
from bench.figures import Figure, Target, percentiles
from bench.material import Material


def measure(material: Material) -> Iterator[Figure]:
    name, lines = material.chat(material.count(2_760, 100))
    target = (Target("messages/s", 1_000, at_least=True),)
    times, total = _through_the_engine(material.folder / "engine", lines)
    rate = {"messages/s": len(times) / total}
    yield Figure(f"engine, {len(times):,} turns of {name}", "messages/s", rate, targets=target)
    yield Figure("engine, one message", "ms", percentiles(times, 1e3))
    with asof.open(material.folder / "produce", embedder="none") as memory:
        began = time.perf_counter()
        done = memory.produce(lines)
        seconds = time.perf_counter() - began
    assert not done.refused
    yield Figure("produce from end to end", "messages/s", {"messages/s": done.accepted / seconds}, targets=target)


def _through_the_engine(directory: Path, lines: list[bytes]) -> tuple[list[float], float]:
    """Return the seconds of each message, and of all with the flush at the end; they are on the log already."""
    writer = open_writer(DirectoryLayout(directory), Settings(data=directory, embedder="none"))
    messages = [line.event for line in read_lines(lines, as_message) if isinstance(line, InboundMessage)]
    writer.messages.accept(messages, clock=0)
    times = []
    began = time.perf_counter()
    for record in writer.messages.read():
        start = time.perf_counter()
        writer.engine.ingest(record)
        times.append(time.perf_counter() - start)
    writer.engine.flush()
    total = time.perf_counter() - began
    writer.close()
    return times, total
