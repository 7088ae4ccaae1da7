"""The memory of `asof serve`: when it is ready, while facts get vectors, and after a hundred searches. Linux alone.

Counted is the proportional set of the service and of all processes below it: of a page that several share, each has a
part.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from time import sleep
from typing import Final

import asof
from bench import synthetic
from bench.figures import Figure, Target
from bench.material import Material, child
from bench.serving import process

_FACTS: Final = 20_000
_SEARCHES: Final = 100  # at full scale
_PAUSE_SECONDS: Final = 0.5  # between two looks


def searched_megabytes(directory: Path, questions: Sequence[str], embedder: str) -> float:
    """Return what the service of a directory takes once all facts have vectors and some questions were searched."""
    with asof.open(directory, embedder="none") as memory:
        facts = memory.stats()["generations"]["main"]["facts"]
    running = process(directory, ASOF_EMBEDDER=embedder)
    with running as (address, service), closing(HTTPConnection(address)) as client:
        while _ask(client, "GET", "/readyz")[0] != HTTPStatus.OK:
            sleep(_PAUSE_SECONDS)
        while _vectors(client) < facts:
            sleep(_PAUSE_SECONDS)
        for question in questions:
            _ask(client, "POST", "/search", json.dumps({"query": question, "group_ids": ["bench"]}).encode())
        return _megabytes(service)


def measure(material: Material) -> Iterator[Figure]:
    directory, file = material.folder / "service-memory", material.folder / "service-memory.jsonl"
    with file.open("wb") as out:
        out.writelines(synthetic.fact_lines(material.count(_FACTS, 200)))
    child("import", directory, file)
    with asof.open(directory, embedder="none") as memory:
        facts = memory.stats()["generations"]["main"]["facts"]
    running = process(directory, ASOF_EMBEDDER="minilm")
    with running as (address, service), closing(HTTPConnection(address)) as client:
        while _ask(client, "GET", "/readyz")[0] != HTTPStatus.OK:
            sleep(_PAUSE_SECONDS)
        values = {"ready": _megabytes(service), "embedding": 0.0}
        while _vectors(client) < facts:
            values["embedding"] = max(values["embedding"], _megabytes(service))
            sleep(_PAUSE_SECONDS)
        searches = material.count(_SEARCHES)
        for number in range(searches):
            query = f"Where does {synthetic.person(number)} live?"
            _ask(client, "POST", "/search", json.dumps({"query": query, "group_ids": ["bench"]}).encode())
        values[f"after {searches} searches"] = _megabytes(service)
    target = Target("embedding", 250)
    yield Figure(f"memory of a service, {facts:,} facts", "MB", values, targets=(target,))


def _ask(client: HTTPConnection, method: str, path: str, body: bytes | None = None) -> tuple[int, str]:
    client.request(method, path, body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    return answer.status, answer.read().decode()


def _vectors(client: HTTPConnection) -> float:
    """Return how many facts have a vector."""
    lines = _ask(client, "GET", "/metrics")[1].splitlines()
    return max(float(line.split()[1]) for line in lines if line.startswith("asof_vectors "))


def _megabytes(pid: int) -> float:
    """Return the proportional memory of a process and of those that it started."""
    total = 0.0
    for line in Path("/proc", str(pid), "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            total += int(line.split()[1]) / 1e3
    for children in Path("/proc", str(pid), "task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread that ended meanwhile
            total += sum(map(_megabytes, map(int, children.read_text().split())))
    return total
