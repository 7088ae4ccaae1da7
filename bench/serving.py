"""`asof serve` as its clients see it: sending beside a worker that never has a pause, and searching among many facts.

Clients are threads here, on connections that stay open; the bodies are made beforehand.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from itertools import count, islice
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import urlsplit

from asof.runtime.layout import DirectoryLayout
from bench import synthetic
from bench.figures import Figure, Target, percentiles
from bench.material import Material, child
from bench.random_vectors import give_vectors

_TOGETHER: Final = 100  # messages in a request of the one who keeps the worker busy
_WAITING: Final = 1_000  # at full scale: so many of them wait, and a hundred more
_WARMING: Final = 50  # searches that are not measured, before those that are
_ASKED: Final = 200  # so many at full scale
_PAUSE_SECONDS: Final = 0.01  # between two requests of those that are measured


def measure(material: Material) -> Iterator[Figure]:
    yield from _sending(material, "none")
    yield from _sending(material, "minilm")
    yield from _searching(material)


def _sending(material: Material, embedder: str) -> Iterator[Figure]:
    """Send single messages, one after the other, while another client keeps the worker busy."""
    name, lines = material.chat(2_760)
    with (
        _server(material.folder / f"serve-{embedder}", ASOF_EMBEDDER=embedder) as address,
        _busy(address, lines, material.count(_WAITING, _TOGETHER)) as done,
        closing(HTTPConnection(address)) as client,
    ):
        began, before = time.perf_counter(), done()
        single = islice(_bodies(lines, "single", 1), material.count(2_000, 50))
        times = [_timed(client, "/messages", body) for body in single]
        rate = (done() - before) / (time.perf_counter() - began)
    what = f"{name}, " + ("without vectors" if embedder == "none" else "embedded behind it")
    yield Figure(
        f"POST /messages beside a busy worker ({what})", "ms", percentiles(times, 1e3), targets=(Target("p99", 20),)
    )
    yield Figure(f"messages processed meanwhile ({what})", "messages/s", {"messages/s": rate})


def _searching(material: Material) -> Iterator[Figure]:
    facts = material.count(100_000, 200)
    directory, file = material.folder / "searched", material.folder / "searched.jsonl"
    with file.open("wb") as out:
        out.writelines(synthetic.fact_lines(facts))
    child("import", directory, file)
    give_vectors(DirectoryLayout(directory))
    people = synthetic.subjects(facts)
    queries = [
        f"Where does {synthetic.person(n * 7 % people)} live, and who are their friends?"
        for n in range(_WARMING + material.count(_ASKED, 10))
    ]
    bodies = [json.dumps({"query": query, "group_ids": ["bench"]}).encode() for query in queries]
    with _server(directory, ASOF_EMBEDDER="minilm") as address, closing(HTTPConnection(address)) as client:
        times = [_timed(client, "/search", body) for body in bodies]
    target = (Target("p50", 30),)
    note = "the facts' vectors are random: nothing is computed of them, and a search among any takes as long"
    yield Figure(
        f"POST /search among {facts:,} facts, its embedding included",
        "ms",
        percentiles(times[_WARMING:], 1e3),
        targets=target,
        note=note,
    )


@contextmanager
def _server(directory: Path, **settings: str) -> Iterator[str]:
    """Run a service; yield where it listens."""
    command = [sys.executable, "-c", "from asof.cli import main; main()", "serve", "--port", "0", "--json"]
    with Popen([*command, "--data", directory], stdout=PIPE, stderr=DEVNULL, env=os.environ | settings) as process:
        assert process.stdout is not None
        yield urlsplit(json.loads(process.stdout.readline())["url"]).netloc
        process.terminate()


@contextmanager
def _busy(address: str, lines: list[bytes], waiting: int) -> Iterator[Any]:
    """Let the worker have no pause, for so many messages wait; yields what says how many of them are processed."""
    stop, done = Event(), [0]

    def feed() -> None:
        sent: list[int] = []
        with closing(HTTPConnection(address)) as client:
            for body in _bodies(lines, "many", _TOGETHER):
                sent.append(_posted(client, body))
                if len(sent) * _TOGETHER > waiting:
                    position = sent.pop(0) + _TOGETHER - 1
                    client.request("GET", f"/v1/messages/{position}?min_position={position}")
                    assert client.getresponse().read()
                    done[0] = position
                if stop.is_set():
                    return

    feeder = Thread(target=feed)
    feeder.start()
    while not done[0]:
        time.sleep(0.01)
    try:
        yield lambda: done[0]
    finally:
        stop.set()
        feeder.join()


def _bodies(lines: list[bytes], prefix: str, together: int) -> Iterator[bytes]:
    """Yield requests of chat for ever, each round in groups of its own."""
    read = [json.loads(line) for line in lines]
    for number in count():
        start = number * together % len(read)
        some = [line for line in read[start : start + together] if line["group_id"] == read[start]["group_id"]]
        some += some[-1:] * (together - len(some))
        group = f"{prefix}-{number * together // len(read)}-{some[0]['group_id']}"
        yield json.dumps({"group_id": group, "messages": some}).encode()


def _posted(client: HTTPConnection, body: bytes) -> int:
    """Send messages; return the position of the first."""
    client.request("POST", "/messages", body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    said = answer.read()
    assert answer.status == 202, said
    return int(answer.headers["Asof-Position"])


def _timed(client: HTTPConnection, path: str, body: bytes) -> float:
    """Return how many seconds a request takes; after a short pause, as of somebody who reads the answer."""
    time.sleep(_PAUSE_SECONDS)
    began = time.perf_counter()
    client.request("POST", path, body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    said = answer.read()
    seconds = time.perf_counter() - began
    assert answer.status in (200, 202), said
    return seconds
