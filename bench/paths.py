"""Count the files that one message or one question passes: python -m bench.paths [--files] [--kafka].

A file counts if a function of it runs, in any process of ours, after the same was done once before; what runs only to
import a module does not. `--files` lists them; `--kafka` counts the way of a Kafka record too, on a broker of its own.
"""

import argparse
import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from inspect import CO_OPTIMIZED
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final
from urllib.parse import urlsplit

import asof
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics, create

ROOT: Final = Path(__file__).resolve().parents[1]
FLOORS: Final = ("entrypoints", "agents", "projections", "streams", "ontologies")
PARSER: Final = "agents/asof_agents/extraction/english/"
SAID: Final = (  # when, what, and the object that is then believed; the last one is counted
    ("2024-01-10T00:00:00Z", "I live in Madrid.", "Madrid"),
    ("2024-03-01T00:00:00Z", "I moved to Lisbon in February", "Lisbon"),
    ("2024-04-02T00:00:00Z", "I moved to Berlin in March", "Berlin"),
)
QUESTION: Final = "where does Ana live"
_FOLDER: Final = "BENCH_PATHS"  # environment: where processes write the files that they pass
_POLL_SECONDS: Final = 0.02
_QUIET_SECONDS: Final = 1.0  # in which every process has seen a mark, and what a message leaves behind is done

_files: set[str] = set()


def _note(frame: FrameType, event: str, _: Any) -> None:
    code = frame.f_code  # neither a module nor the body of a class, which run when a process first imports them
    if event == "call" and code.co_flags & CO_OPTIMIZED and code.co_filename not in _files and not _imports(frame):
        _files.add(code.co_filename)


def _imports(frame: FrameType | None) -> bool:
    """Whether a frame belongs to an import: a decorator, say, or a validator that is being made."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def watch(folder: Path) -> None:
    """Note the files that this process passes; write them out whenever the mark in the folder changes."""
    threading.setprofile(_note)
    sys.setprofile(_note)
    threading.Thread(target=_write, args=(folder,), daemon=True).start()


def _write(folder: Path) -> None:
    sys.setprofile(None)
    mark = _mark(folder)
    while True:
        if (new := _mark(folder)) != mark:
            (folder / f"{mark}-{os.getpid()}").write_text("\n".join(_files))
            _files.clear()
            mark = new
        time.sleep(_POLL_SECONDS)


def _mark(folder: Path) -> str:
    try:
        return (folder / "mark").read_text()
    except FileNotFoundError:
        return ""


@contextmanager
def _watched(
    *command: str, **environment: str
) -> Iterator[tuple[Popen[str], Callable[[Callable[[], None]], set[str]]]]:
    """Start a command whose processes are watched; yield it, and what counts the files of some work by them."""
    with TemporaryDirectory(prefix="asof-paths-") as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(
            f"import os, sys\nfrom pathlib import Path\nsys.path.append({str(ROOT)!r})\n"
            f"from bench.paths import watch\nwatch(Path({name!r}))\n"
            f"os.register_at_fork(after_in_child=lambda: watch(Path({name!r})))\n"
        )
        variables = os.environ | environment | {"PYTHONPATH": name}

        def files_of(work: Callable[[], None]) -> set[str]:
            for mark, step in (("begun", work), ("done", lambda: None)):
                (folder / "new").write_text(mark)
                (folder / "new").replace(folder / "mark")
                time.sleep(_QUIET_SECONDS)
                step()
                time.sleep(_QUIET_SECONDS)
            return {line for file in folder.glob("begun-*") for line in file.read_text().splitlines()}

        asof_command = [sys.executable, "-c", "from asof.cli import script; script()", *command]
        process = Popen(asof_command, env=variables, stdout=PIPE, stderr=DEVNULL, text=True)
        try:
            yield process, files_of
        finally:
            process.terminate()
            process.wait()


def of_ours(files: set[str]) -> list[str]:
    """Return the files of this repository's floors, sorted."""
    inside = (Path(file).relative_to(ROOT).as_posix() for file in files if file.startswith(f"{ROOT}/"))
    return sorted(file for file in inside if file.split("/")[0] in FLOORS)


def embedded(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Count Memory.add and Memory.search."""
    with asof.open(folder / "embedded", embedder="hash") as memory:
        for said_at, text, _ in SAID[:-1]:
            memory.add(text, role="Ana", timestamp=said_at)
        said_at, text, _ = SAID[-1]
        yield "Memory.add", _here(lambda: memory.add(text, role="Ana", timestamp=said_at))
        memory.search(QUESTION)
        yield "Memory.search", _here(lambda: memory.search(QUESTION))


def _here(work: Callable[[], object]) -> set[str]:
    _files.clear()
    sys.setprofile(_note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return set(_files)


def over_http(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Count a POST until it is believed, and a search."""
    data = folder / "served"
    serve = _watched("serve", "--data", str(data), "--port", "0", "--json", ASOF_EMBEDDER="hash")
    with serve as (server, files_of):
        assert server.stdout is not None
        client = HTTPConnection(urlsplit(json.loads(server.stdout.readline())["url"]).netloc)
        for said_at, text, place in SAID[:-1]:
            _post(client, data, said_at, text, place)
        said_at, text, place = SAID[-1]
        yield "HTTP POST", files_of(lambda: _post(client, data, said_at, text, place))
        _search(client)
        yield "HTTP search", files_of(lambda: _search(client))


def _post(client: HTTPConnection, data: Path, said_at: str, text: str, place: str) -> None:
    message = {"content": text, "role": "Ana", "role_type": "user", "timestamp": said_at}
    body = json.dumps({"group_id": "default", "messages": [message]})
    client.request("POST", "/messages", body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    answer.read()
    assert answer.status == 202, answer.status
    _await_belief(data, place)


def _await_belief(data: Path, place: str) -> None:
    while True:
        with suppress(asof.NotFound), asof.open(data, embedder="none") as memory:  # the replica is being made
            if memory.facts(object=place, any_time=True):
                return
        time.sleep(_POLL_SECONDS)


def _search(client: HTTPConnection) -> None:
    client.request("GET", "/v1/search?query=where+does+Ana+live")
    answer = client.getresponse()
    answer.read()
    assert answer.status == 200, answer.status


def on_kafka(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """Count a record, from the messages topic until it is believed."""
    sys.path.append(str(ROOT / "docker" / "kafka"))
    from kafka_broker import Broker

    data, topics = folder / "replica", Topics("paths")
    with Broker(folder / "kafka") as broker:
        asyncio.run(create(Connection(broker.bootstrap), topics, ["main"], partitions=1))
        settings = {"kafka": broker.bootstrap, "kafka_prefix": topics.prefix, "embedder": "none"}
        variables = {f"ASOF_{name.upper()}": value for name, value in settings.items()}
        with (
            asof.open(folder / "producer", **settings) as producer,
            _watched("worker", "--data", str(data), **variables) as (_, files_of),
        ):

            def tell(said_at: str, text: str, place: str) -> None:
                producer.add(text, role="Ana", timestamp=said_at)
                _await_belief(data, place)

            for said in SAID[:-1]:
                tell(*said)
            yield "Kafka record", files_of(lambda: tell(*SAID[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.paths", description=__doc__)
    parser.add_argument("--files", action="store_true", help="list the files")
    parser.add_argument("--kafka", action="store_true", help="count the way of a Kafka record too: Java 17")
    chosen = parser.parse_args()
    ways = [embedded, over_http, *([on_kafka] if chosen.kafka else [])]
    with TemporaryDirectory(prefix="asof-bench-") as temporary:
        for way in ways:
            for name, files in way(Path(temporary)):
                ours = of_ours(files)
                parser_files = sum(file.startswith(PARSER) for file in ours)
                print(f"{name}: {len(ours)} files, {parser_files} of the English extractor", flush=True)
                if chosen.files:
                    print("".join(f"    {file}\n" for file in ours), end="", flush=True)


if __name__ == "__main__":
    main()
