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
from statistics import median
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
_WARMING: Final = 50  # at full scale: searches that are not measured, before those that are
_ASKED: Final = 200  # so many at full scale
_PAUSE_SECONDS: Final = 0.01  # between two requests of those that are measured
_ROUNDS: Final = 7  # at full scale: services with vectors and without process the same messages in turns


def measure(material: Material) -> Iterator[Figure]:
    yield from _sending(material, "none")
    yield from _sending(material, "minilm")
    yield _beside(material)
    yield from _searching(material)


def _sending(material: Material, embedder: str) -> Iterator[Figure]:
    """Send single messages, one after the other, while another client keeps the worker busy."""
    name, lines = material.chat(2_760)
    with (
        server(material.folder / f"serve-{embedder}", ASOF_EMBEDDER=embedder) as address,
        _busy(address, lines, material.count(_WAITING, _TOGETHER)) as done,
        closing(HTTPConnection(address)) as client,
    ):
        began, before = time.perf_counter(), done()
        single = islice(requests(lines, "single", 1), material.count(2_000, 50))
        times = [_timed(client, "/messages", body) for body in single]
        rate = (done() - before) / (time.perf_counter() - began)
    what = f"{name}, " + ("without vectors" if embedder == "none" else "embedded behind it")
    yield Figure(
        f"POST /messages beside a busy worker ({what})", "ms", percentiles(times, 1e3), targets=(Target("p99", 20),)
    )
    yield Figure(f"messages processed meanwhile ({what})", "messages/s", {"messages/s": rate})


def _beside(material: Material) -> Figure:
    """Process the same messages with vectors made behind and without, in turns, by a new service each time."""
    name, lines = material.chat(2_760)
    share: dict[str, list[float]] = {"wall": [], "worker": []}
    rounds = material.count(_ROUNDS, 1)
    for number in range(rounds):
        took = {}
        for embedder in ("none", "minilm") if number % 2 else ("minilm", "none"):
            directory = material.folder / f"beside-{number}-{embedder}"
            took[embedder] = _ingested(directory, lines, material.count(1_000, 100), embedder)
        for what, without, behind in zip(share, took["none"], took["minilm"], strict=True):
            share[what].append(without / behind)
    values = {what: median(shares) for what, shares in share.items()}
    note = f"by the clock, and by processor time of the worker; medians of {rounds} pairs of services"
    target = (Target("wall", 0.85, at_least=True),)
    what = f"ingestion ({name}), vectors made behind it"
    return Figure(what, "times that without", values, note=note, targets=target)


def _ingested(directory: Path, lines: list[bytes], messages: int, embedder: str) -> tuple[float, float]:
    """Return how long a service takes for messages, by the clock and by processor time of its worker."""
    with server(directory, ASOF_EMBEDDER=embedder) as address, closing(HTTPConnection(address)) as client:
        bodies = requests(lines, "beside", _TOGETHER)
        _processed(client, [next(bodies)])
        _timed(client, "/search", json.dumps({"query": "What is new?"}).encode())  # which loads the model
        began, spent = time.perf_counter(), _processor_seconds(directory)
        _processed(client, list(islice(bodies, messages // _TOGETHER)))
        return time.perf_counter() - began, _processor_seconds(directory) - spent


def _processor_seconds(directory: Path) -> float:
    """Return the seconds of processor time that the worker of a directory has taken."""
    worker = (directory / "writer.lock").read_text().strip()  # which has its process id
    ticks = Path("/proc", worker, "stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _processed(client: HTTPConnection, bodies: list[bytes]) -> None:
    """Send messages, and wait until all are processed."""
    last = [posted(client, body) for body in bodies][-1] + _TOGETHER - 1
    client.request("GET", f"/v1/messages/{last}?min_position={last}")
    answer = client.getresponse()
    said = answer.read()
    assert answer.status == 200, said


def _searching(material: Material) -> Iterator[Figure]:
    facts = material.count(100_000, 200)
    directory, file = material.folder / "searched", material.folder / "searched.jsonl"
    with file.open("wb") as out:
        out.writelines(synthetic.fact_lines(facts))
    child("import", directory, file)
    give_vectors(DirectoryLayout(directory))
    people = synthetic.subjects(facts)
    warming = material.count(_WARMING, 2)
    queries = [
        f"Where does {synthetic.person(n * 7 % people)} live, and who are their friends?"
        for n in range(warming + material.count(_ASKED, 10))
    ]
    bodies = [json.dumps({"query": query, "group_ids": ["bench"]}).encode() for query in queries]
    with server(directory, ASOF_EMBEDDER="minilm") as address, closing(HTTPConnection(address)) as client:
        times = [_timed(client, "/search", body) for body in bodies]
    target = (Target("p50", 30),)
    note = "the facts' vectors are random: nothing is computed of them, and a search among any takes as long"
    yield Figure(
        f"POST /search among {facts:,} facts, its embedding included",
        "ms",
        percentiles(times[warming:], 1e3),
        targets=target,
        note=note,
    )


@contextmanager
def server(directory: Path, **settings: str) -> Iterator[str]:
    """Run a service; yield where it listens."""
    with process(directory, **settings) as (address, _):
        yield address


@contextmanager
def process(directory: Path, **settings: str) -> Iterator[tuple[str, int]]:
    """Run a service; yield where it listens, and its process id."""
    command = [sys.executable, "-c", "from asof.cli import script; script()", "serve", "--port", "0", "--json"]
    with Popen([*command, "--data", directory], stdout=PIPE, stderr=DEVNULL, env=os.environ | settings) as service:
        assert service.stdout is not None
        try:
            yield urlsplit(json.loads(service.stdout.readline())["url"]).netloc, service.pid
        finally:
            service.terminate()


@contextmanager
def _busy(address: str, lines: list[bytes], waiting: int) -> Iterator[Any]:
    """Let the worker have no pause, for so many messages wait; yields what says how many of them are processed."""
    stop, done = Event(), [0]

    def feed() -> None:
        sent: list[int] = []
        with closing(HTTPConnection(address)) as client:
            for body in requests(lines, "many", _TOGETHER):
                sent.append(posted(client, body))
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


def requests(lines: list[bytes], prefix: str, together: int) -> Iterator[bytes]:
    """Yield requests of chat for ever, each round in groups of its own."""
    read = [json.loads(line) for line in lines]
    for number in count():
        start = number * together % len(read)
        some = [line for line in read[start : start + together] if line["group_id"] == read[start]["group_id"]]
        some += some[-1:] * (together - len(some))
        group = f"{prefix}-{number * together // len(read)}-{some[0]['group_id']}"
        messages = [{name: value for name, value in line.items() if name != "group_id"} for line in some]
        yield json.dumps({"group_id": group, "messages": messages}).encode()


def posted(client: HTTPConnection, body: bytes) -> int:
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
