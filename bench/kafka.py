"""On one Kafka broker, in one run: the worker beside a bare Faust agent, a bare aiokafka loop, and the engine embedded.

Every rate is of messages taken from a topic where they all wait. A worker's also pays for what it makes of them.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from subprocess import DEVNULL, Popen

from asof.runtime.inbound_message import InboundMessage
from asof.runtime.json_lines import Read, as_fact, as_message, read_lines
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import writable_log
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.topics import Topics, create
from bench import synthetic
from bench.figures import Figure, Target, percentiles
from bench.following import Following
from bench.material import Material, child

ROOT = Path(__file__).resolve().parents[1]
_SHARE = 0.8  # of the slower of what runs beside it


def measure(material: Material) -> Iterator[Figure]:
    sys.path.append(str(ROOT / "docker" / "kafka"))
    from kafka_broker import Broker

    facts = list(islice(synthetic.fact_lines(1_000_000), material.count(50_000, 1_000)))
    name, turns = material.chat(2_760)
    chat = list(islice(_again_and_again(turns), material.count(20_000, 1_000)))
    with Broker(material.folder / "kafka") as broker, Client(Connection(broker.bootstrap)) as client:
        rate = yield from _beside(
            client, material.folder / "facts-kafka", "structured facts", facts, as_fact(recorded=False, ontology=None)
        )
        yield from _beside(client, material.folder / "chat-kafka", f"chat ({name}), rules", chat, as_message)
        yield from _latency(client, material.folder / "latency", facts, rate / 2, material.count(20, 3))
        yield from _caught_up(client, material.folder / "facts-kafka", facts)


def _beside(client: Client, folder: Path, what: str, lines: list[bytes], read: Read) -> Generator[Figure, None, float]:
    topics = topics_of(client, folder.name)
    client.send(topics.messages, 0, [Outgoing(json.loads(line)["group_id"].encode(), line, []) for line in lines])
    at = (client.connection.bootstrap, topics.messages, topics.dead_letters, len(lines))
    (folder / "faust").mkdir(parents=True)
    bare = {
        "bare_loop": child("bare_loop", *at)["rate"],
        "bare_faust": child("bare_faust", *at, folder / "faust")["rate"],
    }
    engine = _embedded(folder / "embedded", lines, read)
    with worker(client.connection, topics, folder / "worker"):
        taken = Following(folder / "worker").rate(len(lines))
    slower = min(bare["bare_faust"], engine)
    unit = "messages/s"
    yield Figure(f"{what}: bare aiokafka loop", unit, {unit: bare["bare_loop"]})
    yield Figure(f"{what}: bare Faust agent", unit, {unit: bare["bare_faust"]})
    yield Figure(f"{what}: engine, embedded", unit, {unit: engine})
    yield Figure(
        f"{what}: worker, {len(lines):,} messages",
        unit,
        {unit: taken},
        {unit: slower},
        "the slower of the bare agent and the engine",
        (Target(f"ratio {unit}", _SHARE, at_least=True),),
    )
    return taken


def _again_and_again(turns: list[bytes]) -> Iterator[bytes]:
    """Yield a chat without end, each time in other groups."""
    for again in count():
        for turn in turns:
            line = json.loads(turn)
            yield json.dumps(line | {"group_id": f"{line['group_id']}-{again}"}).encode()


def _embedded(folder: Path, lines: list[bytes], read: Read) -> float:
    writer = open_writer(
        DirectoryLayout(folder), Settings(data=folder, embedder="none"), writable_log
    )  # in this process alone
    writer.messages.accept(
        [line.event for line in read_lines(lines, read) if isinstance(line, InboundMessage)], clock=0
    )
    began = time.perf_counter()
    writer.process(flush=True)
    rate = len(lines) / (time.perf_counter() - began)
    writer.close()
    return rate


def _latency(client: Client, folder: Path, lines: list[bytes], rate: float, seconds: int) -> Iterator[Figure]:
    """Send facts at a rate; one is there when the graph that readers see has what follows from it."""
    topics = topics_of(client, folder.name)
    size = min(int(rate * seconds), 20_000)
    records = [
        Outgoing(json.loads(lines[n % len(lines)])["group_id"].encode(), lines[n % len(lines)], []) for n in range(size)
    ]
    with worker(client.connection, topics, folder / "worker"):
        following = Following(folder / "worker")
        client.send(topics.messages, 0, records[:1])
        following.wait_for(1)
        sent, seen = following.while_sending(client, topics.messages, records[1:], rate)
    delays = [(seen[n] - moment) * 1e3 for n, moment in enumerate(sent, 1)]
    yield Figure(
        f"from produced to queryable, {rate:,.0f} messages/s",
        "ms",
        percentiles(delays),
        targets=(Target("p50", 50), Target("p99", 250)),
        note="half the highest rate; " + histogram(delays),
    )


def _caught_up(client: Client, folder: Path, lines: list[bytes]) -> Iterator[Figure]:
    """Open the partition of topics that are full, in a directory that is empty."""
    topics = Topics(folder.name)
    events = sum(client.extent(topic, 0)[1] for topic in (topics.messages, topics.episodic, topics.semantic("main")))
    done = child("open_partition", folder / "anew", client.connection.bootstrap, topics.prefix)
    assert done["offset"] == len(lines)
    yield Figure(
        f"a deleted local state made again, {events:,} records",
        "events/s",
        {"events/s": events / done["seconds"]},
        targets=(Target("events/s", 20_000, at_least=True),),
    )


def histogram(delays: list[float]) -> str:
    """Return how many delays there are up to some bounds, in milliseconds."""
    bounds = (5, 10, 20, 50, 100, 250, 500, 1_000, float("inf"))
    lower = (0.0, *bounds)
    counts = [sum(low < delay <= high for delay in delays) for low, high in zip(lower, bounds, strict=False)]
    return ", ".join(f"<= {bound:g} ms: {count}" for bound, count in zip(bounds, counts, strict=True) if count)


def topics_of(client: Client, prefix: str) -> Topics:
    topics = Topics(prefix)
    asyncio.run(create(client.connection, topics, ["main"]))
    return topics


@contextmanager
def worker(connection: Connection, topics: Topics, data: Path) -> Iterator["Popen[bytes]"]:
    """Run `asof worker` in a process of its own."""
    command = [sys.executable, "-c", "from asof.cli import script; script()", "worker"]
    environment = {"ASOF_KAFKA_PREFIX": topics.prefix, "ASOF_EMBEDDER": "none"}
    process = Popen(
        [*command, "--kafka", connection.bootstrap, "--data", str(data)],
        stdout=DEVNULL,
        env=os.environ | environment,
    )
    try:
        yield process
        assert process.poll() is None, "the worker has ended"
    finally:
        process.terminate()
        process.wait()
