"""Reads while a generation is built: `asof serve` of a directory, and on a broker beside a worker.

Twenty readers ask, each after a pause: alone, while a hundred messages a second arrive, and while a generation is built
of all messages under another ontology besides; in turns, so that all see the same machine. Then the two are compared,
the new one answers, the old one again, and the new one is dropped, while messages go on to arrive.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from itertools import count, islice
from statistics import median
from threading import Event, Thread
from typing import Any, Final

from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from bench.figures import Figure, Target, percentiles
from bench.kafka import ROOT, topics_of, worker
from bench.material import Material
from bench.serving import posted, requests, server

_READERS: Final = 20
_PAUSE_SECONDS: Final = 0.2  # of a reader, between an answer and the next question
_ROUNDS, _SECONDS = (
    5,
    10,
)  # and for how long readers are measured without a build; fewer below a twentieth of full scale
_MESSAGES: Final = 10_000  # at full scale
_TOGETHER: Final = 10  # messages in a request, ten times a second
_REQUEST_SECONDS: Final = 0.1
_LOOK_SECONDS: Final = 0.2  # between two looks at the builds
_MOST: Final = 3  # times the p95 of readers who are alone
_JSON: Final = {"Content-Type": "application/json"}


def measure(material: Material) -> Iterator[Figure]:
    """Measure `asof serve` of a directory."""
    with server(material.folder / "generations", ASOF_EMBEDDER="none") as address:
        yield from _measured(material, address, "one directory")


def measure_on_kafka(material: Material) -> Iterator[Figure]:
    """Measure `asof serve` on topics, whose messages a worker in another directory makes facts of."""
    sys.path.append(str(ROOT / "docker" / "kafka"))
    from kafka_broker import Broker

    folder = material.folder / "generations-kafka"
    with Broker(material.folder / "generations-broker") as broker, Client(Connection(broker.bootstrap)) as client:
        topics = topics_of(client, "generations")
        given = {"ASOF_KAFKA": broker.bootstrap, "ASOF_KAFKA_PREFIX": topics.prefix, "ASOF_EMBEDDER": "none"}
        with worker(client.connection, topics, folder / "worker"), server(folder / "served", **given) as address:
            yield from _measured(material, address, "on Kafka")


def _measured(material: Material, address: str, where: str) -> Iterator[Figure]:
    name, lines = material.chat(2_760)
    messages = material.count(_MESSAGES, 200)
    rounds, seconds = (min(full, material.count(20 * full, 1)) for full in (_ROUNDS, _SECONDS))
    sent = list(islice(requests(lines, "first", 100), messages // 100))
    with closing(HTTPConnection(address)) as client:
        last = [posted(client, body) for body in sent][-1] + 99
    _settle(address, last)
    groups = list(dict.fromkeys(json.loads(body)["group_id"] for body in sent))
    _reads(address, groups, _after(1))  # which opens files
    took = [_round(address, groups, lines, number, seconds) for number in range(rounds)]
    yield from _figures(took, f"{messages:,} messages, {name}, {where}")


def _figures(rounds: list[dict[str, Any]], what: str) -> Iterator[Figure]:
    """Return the medians of all rounds, each beside what the readers of that round had alone."""
    p95 = {during: [percentiles(turn[during], 1e3)["p95"] for turn in rounds] for during in ("alone", "sent", "built")}
    note = f"p95 alone {median(p95['alone']):.1f} ms, then {{:.1f}} ms; medians of {len(rounds)} rounds"
    for during, name in (("sent", "100 messages/s arrive"), ("built", "they do and a generation is built")):
        times = median(then / alone for then, alone in zip(p95[during], p95["alone"], strict=True))
        targets = (Target("times", _MOST),) if during == "built" else ()
        yield Figure(
            f"p95 of {_READERS} readers while {name} ({what})",
            "times that alone",
            {"times": times},
            targets=targets,
            note=note.format(median(p95[during])),
        )
    arrived = median(turn["rate"] for turn in rounds)
    for step in ("build", "compare", "switch", "drop"):
        note = f"while {arrived:.0f} messages/s arrived"
        yield Figure(f"{step} ({what})", "s", {"s": median(turn[step] for turn in rounds)}, note=note)


def _round(address: str, groups: list[str], lines: list[bytes], number: int, seconds: int) -> dict[str, Any]:
    """Measure the readers in each state once, and go through the life of one generation."""
    name = f"work-{number}"
    took: dict[str, Any] = {"alone": _reads(address, groups, _after(seconds))}
    with _arriving(address, lines, f"round-{number}") as arrived:
        took["sent"] = _reads(address, groups, _after(seconds))
        began = time.perf_counter()
        asked = {"name": name, "input": "episodes", "ontology": "agent_memory_v1"}
        assert _ask(address, "POST", "/v1/generations", asked)[0] == 202
        took["built"] = _reads(address, groups, lambda: not _ask(address, "GET", "/v1/generations/builds")[1]["builds"])
        took["build"] = time.perf_counter() - began
        query = f"base=main&other={name}&group_id={groups[0]}"
        took["compare"] = _until_done(address, "GET", f"/v1/generations/diff?{query}", None)
        took["switch"] = _until_done(address, "POST", "/v1/generations/switch", {"name": name})
        _until_done(address, "POST", "/v1/generations/switch", {"name": "main"})
        took["drop"] = _until_done(address, "POST", "/v1/generations/drop", {"name": name})
    took["rate"] = arrived["rate"]
    _settle(address, arrived["last"])
    return took


def _reads(address: str, groups: list[str], done: Callable[[], bool]) -> list[float]:
    """Let the readers ask until something is done; return how many seconds each answer took."""
    stop = Event()
    with ThreadPoolExecutor(_READERS) as pool:
        readers = [pool.submit(_read, address, groups, number, stop) for number in range(_READERS)]
        try:
            while not done():
                time.sleep(_LOOK_SECONDS)
        finally:
            stop.set()
    return [seconds for reader in readers for seconds in reader.result()]


def _read(address: str, groups: list[str], number: int, stop: Event) -> list[float]:
    """Ask for facts by time and by words in turns, of one group after another."""
    times: list[float] = []
    with closing(HTTPConnection(address)) as client:
        for turn in count(number):
            group = groups[turn % len(groups)]
            began = time.perf_counter()
            if turn % 2:
                status, _ = _call(client, "GET", f"/v1/facts?group_id={group}&limit=20")
            else:
                status, _ = _call(client, "POST", "/search", {"query": "Who likes books?", "group_ids": [group]})
            times.append(time.perf_counter() - began)
            assert status == 200, status
            if stop.wait(_PAUSE_SECONDS):
                return times
    raise AssertionError("count has no end")


@contextmanager
def _arriving(address: str, lines: list[bytes], prefix: str) -> Iterator[dict[str, Any]]:
    """Send a hundred messages a second meanwhile; at the end what is yielded has the rate and the last position."""
    stop, arrived = Event(), dict[str, Any]()

    def send() -> None:
        began = time.perf_counter()
        with closing(HTTPConnection(address)) as client:
            for number, body in enumerate(requests(lines, prefix, _TOGETHER), 1):
                arrived["last"] = posted(client, body) + _TOGETHER - 1
                elapsed = time.perf_counter() - began
                arrived["rate"] = number * _TOGETHER / elapsed
                if stop.wait(max(0.0, number * _REQUEST_SECONDS - elapsed)):
                    return

    sender = Thread(target=send)
    sender.start()
    try:
        yield arrived
    finally:
        stop.set()
        sender.join()


def _after(seconds: float) -> Callable[[], bool]:
    """Return what says whether so many seconds have passed since."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() >= until


def _settle(address: str, position: int) -> None:
    """Wait until a message is processed."""
    while _ask(address, "GET", f"/v1/messages/{position}?min_position={position}")[0] != 200:
        pass


def _until_done(address: str, method: str, path: str, body: Any) -> float:
    """Ask until it is done, as where the generation has yet to follow; return how many seconds the last call took."""
    while True:
        began = time.perf_counter()
        status, _ = _ask(address, method, path, body)
        if status == 200:
            return time.perf_counter() - began
        assert status in (422, 503), status
        time.sleep(_LOOK_SECONDS)


def _ask(address: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Call once, on a connection of its own: the service closes those that say nothing for seconds."""
    with closing(HTTPConnection(address)) as client:
        return _call(client, method, path, body)


def _call(client: HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Return the status and the JSON of an answer."""
    client.request(method, path, None if body is None else json.dumps(body), _JSON)
    answer = client.getresponse()
    return answer.status, json.loads(answer.read())
