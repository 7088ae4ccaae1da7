"""Five minutes of facts on Kafka at the rate that a worker takes: neither its memory nor its lag may grow."""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Outgoing
from bench import synthetic
from bench.figures import Figure, Target
from bench.following import Following
from bench.kafka import ROOT, topics_of, worker
from bench.material import Material

_PAGE = os.sysconf("SC_PAGE_SIZE")
_AHEAD = 2_000  # messages that may wait: as many as keep the worker busy


def measure(material: Material) -> Iterator[Figure]:
    sys.path.append(str(ROOT / "docker" / "kafka"))
    from kafka_broker import Broker

    seconds = material.count(300, 15)
    folder = material.folder / "soak"
    with Broker(material.folder / "soak-kafka") as broker, Client(Connection(broker.bootstrap)) as client:
        topics = topics_of(client, "soak")
        with worker(client.connection, topics, folder) as process:
            following, stop = Following(folder), threading.Event()
            sending = threading.Thread(target=_keep_busy, args=(client, topics.messages, following, stop))
            sending.start()
            following.wait_for(1)
            memory, lag, began = [], [], time.monotonic()
            while time.monotonic() - began < seconds:
                time.sleep(seconds / 60)
                memory.append(_resident(process.pid) / 1e6)
                lag.append(client.extent(topics.messages, 0)[1] - following.taken())
            taken = following.taken()
            stop.set()
            sending.join()
    third = len(memory) // 3
    grown = mean(memory[-third:]) / mean(memory[third : 2 * third])
    yield Figure(f"{seconds} s without a pause", "messages/s", {"messages/s": taken / seconds})
    yield Figure(
        "memory of the last third, beside the second",
        "times",
        {"times": grown},
        targets=(Target("times", 1.1),),
        note=f"{memory[0]:.0f} MB at first, {memory[-1]:.0f} MB at last; the worker and its partition's process",
    )
    yield Figure("lag", "messages", {"most": max(lag)}, targets=(Target("most", 3 * _AHEAD),))


def _keep_busy(client: Client, topic: str, following: Following, stop: threading.Event) -> None:
    """Send facts so that some always wait, and never many."""
    sent, lines = 0, synthetic.fact_lines(10_000_000)
    while not stop.is_set():
        if sent - following.taken() < _AHEAD:
            some = [next(lines) for _ in range(500)]
            client.send(topic, 0, [Outgoing(json.loads(line)["group_id"].encode(), line, []) for line in some])
            sent += len(some)
        else:
            time.sleep(0.02)


def _resident(pid: int) -> int:
    """Return the bytes that a process and its children have resident."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) * _PAGE for one in [pid, *children])
