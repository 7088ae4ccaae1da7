"""Writes what is in directories/: run once, at commit adcc0b5, by the code whose directories are to be opened for ever.

    .venv/bin/python tests/history/write_directories.py [NAME ...]

The clock stands where this says, salts are counted and no call takes time: written again by the same code, a directory
has the same records. Only `worker` and the topics have the times of a broker; they need Java and Maven.

A later version writes directories of its own under other names; those that are here are never written again.
"""

import asyncio
import hashlib
import itertools
import json
import lzma
import os
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

_SALTS = itertools.count()
_NOW = "WRITE_DIRECTORIES_NOW"  # nanoseconds since 1970

secrets.token_bytes = lambda size=32: hashlib.shake_128(b"%d" % next(_SALTS)).digest(size)
time.time_ns = lambda: int(os.environ[_NOW])
time.perf_counter = lambda: 0.0

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "docker" / "kafka")]

from old_directories import FOLDER, TOPICS, Ask, ask, forget_derived, unpack  # noqa: E402 - asof takes the clock from above

DEMO = ROOT / "entrypoints" / "asof" / "demo" / "conversation.jsonl"
DAY = 86_400
MODEL_PORT = 28_089  # it is part of what a model is called
KAFKA_PREFIX = "history"
CHAT_LINES = 30  # all of it would be half of what is kept here

Line = dict[str, Any]
Question = list[str] | tuple[list[str], list[Line]]  # arguments; and lines of a file that stands in them as @


def now(moment: str) -> None:
    """Let it be a moment, such as 2024-05-01T09:30:00Z."""
    os.environ[_NOW] = str(int(datetime.fromisoformat(moment).timestamp()) * 10**9)


class Directory:
    """A directory that is being written."""

    def __init__(self, folder: Path, name: str, **settings: str) -> None:
        self.name = name
        self.data = folder / name
        self.settings = {"ASOF_EMBEDDER": "none", **settings}
        self._lines = folder / f"{name}.jsonl"
        os.environ.update(self.settings)

    def __call__(self, *arguments: str, code: int = 0) -> Any:
        """Run a command; return what it answers."""
        done = ask(self.data, {"ask": [*arguments, "--json"]})
        if done["code"] != code:
            raise RuntimeError(f"{self.name}: {arguments} ended with {done['code']}: {done['answer']}")
        return done["answer"]

    def tell(self, command: str, lines: Iterable[Line], *options: str, code: int = 0) -> None:
        """Give lines to a command that writes."""
        self._lines.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self(command, str(self._lines), *options, code=code)


def block(document: str, file: str) -> list[Line]:
    """Return the lines of a file that a document shows."""
    text = (ROOT / "docs" / "how-to" / f"{document}.md").read_text("utf-8")
    [found] = re.findall(rf"^```\w+ {re.escape(file)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [json.loads(line) for line in found.splitlines()]


def on(day: int) -> str:
    """Return a day, counted from 2020-01-01."""
    return time.strftime("%Y-%m-%dT00:00:00Z", time.gmtime(1_577_836_800 + day * DAY))


def stated(group: str, *, sure: Sequence[float] = (1.0,)) -> Iterator[Line]:
    """Yield the structured facts of tests/replay.py, surer and less sure by turns."""
    from replay import FACTS

    for number, fields in enumerate(FACTS):
        times = {name: on(fields[name]) for name in fields if name.endswith("_at")}
        more = {} if fields.get("op") else {"confidence": sure[number % len(sure)]}
        yield {"group_id": group, "subject": "Ana", **fields, **times, **more}


def talk(group: str, count: int = 8) -> Iterator[Line]:
    """Yield the conversation of tests/replay.py, a month between two messages."""
    from replay import CHAT

    for number, (role, content) in enumerate(CHAT[:count]):
        said = {"group_id": group, "role": role, "role_type": "user", "content": content}
        yield {**said, "timestamp": on(number * 30), "update_communities": number % 4 > 0}


# The directories.


def chat(folder: Path) -> Directory:
    """Words read by rules, over some months: the first half of the demo's conversation; its vectors are kept too."""
    told = Directory(folder, "chat", ASOF_EMBEDDER="hash")
    for line in map(json.loads, DEMO.read_text("utf-8").splitlines()[:CHAT_LINES]):
        now(line.pop("recorded_at"))
        told.tell("produce", [line])
    told("search", "Where does Ana live?")
    told("entities", "--like", "Lisbon")
    return told


def agent(folder: Path) -> Directory:
    """A coding agent's memory, with the ontology agent_memory_v1."""
    told = Directory(folder, "agent", ASOF_ONTOLOGY="agent_memory_v1")
    said = [
        "I prefer ruff over black.",
        "Team Payments owns the billing service.",
        "The billing service depends on Redis.",
        "Tenant means one customer account.",
        '<graphiti_episode kind="task">The release is blocked by the migration.</graphiti_episode>',
        "Maria owns the scheduler. The migration is assigned to Tom.",
        "<graphiti_episode kind='task'>The migration is assigned to Eva.</graphiti_episode>",
        "We decided to use Postgres on 2021-03-04.",
        "I no longer use black.",
    ]
    for number, content in enumerate(said):
        now(f"2024-03-{number + 1:02}T09:00:00Z")
        told("add", content, "--role", "octocat", "--group", "user-octocat")
    return told


def facts(folder: Path) -> Directory:
    """Structured facts: ends, corrections, retractions, two names of one; a history moved in; a group erased."""
    told = Directory(folder, "facts")
    now("2024-02-01T00:00:00Z")
    told.tell("import", block("import-facts", "moves.jsonl"), "--recorded")
    told.tell("import", block("import-facts", "jobs.jsonl"))
    for number, line in enumerate(stated("one")):
        now(f"2024-03-{number + 1:02}T10:00:00Z")
        told.tell("import", [line], code=int(line.get("ref") == "nobody"))
    now("2024-04-01T00:00:00Z")
    told.tell("import", block("import-facts", "later.jsonl"))
    told.tell("import", stated("gone"), code=1)
    told.tell("produce", talk("gone"))
    now("2024-04-02T00:00:00Z")
    told("erase", "gone", "--yes")
    told.tell("produce", talk("gone", 2))
    return told


def graded(folder: Path) -> Directory:
    """Contradictions decided by how sure each is, flagged where that decides nothing, and settled by a retraction."""
    told = Directory(folder, "graded", ASOF_POLICY="graded")
    for number, line in enumerate(stated("one", sure=(0.9, 0.8, 0.3, 0.65))):
        now(f"2024-03-{number + 1:02}T10:00:00Z")
        told.tell("import", [line], code=int(line.get("ref") == "nobody"))
    lives = {"group_id": "two", "relation": "lives_in"}
    pairs = [("Ana", 0.9, 0.7), ("Ben", 0.5, 0.9), ("Eva", 0.9, 0.5), ("Tom", 1.0, 1.0)]
    for number, (name, before, after) in enumerate(pairs):
        now(f"2024-05-{number + 1:02}T10:00:00Z")
        first = {**lives, "subject": name, "object": "Berlin", "valid_at": on(0), "confidence": before}
        later = {**lives, "subject": name, "object": "Munich", "valid_at": on(150), "confidence": after}
        told.tell("import", [first, {**later, "ref": f"later-{name}"}])
    now("2024-06-01T10:00:00Z")
    told.tell("import", [{"group_id": "two", "op": "retract", "ref": "later-Tom"}])
    return told


def generations(folder: Path) -> Directory:
    """Two generations: the first, and one of another ontology and policy that answers."""
    told = Directory(folder, "generations")
    now("2024-03-01T00:00:00Z")
    told.tell("produce", talk("one"))
    told.tell("import", stated("one"), code=1)
    told("rebuild", "--name", "other", "--from", "episodes", "--ontology", "agent_memory_v1", "--policy", "graded")
    told("generations", "switch", "other")
    now("2024-04-01T00:00:00Z")
    told.tell("produce", [*talk("two", 3), {**next(talk("two")), "content": "Maria owns the scheduler."}])
    return told


def options(folder: Path) -> Directory:
    """Messages that say how they are to be read, some of whose content is not kept; communities; parked ones."""
    from replay import READ_OTHERWISE

    told = Directory(folder, "options")
    now("2024-05-02T00:00:00Z")
    told.tell("produce", block("say-how-to-read", "team.jsonl"))
    told.tell("produce", talk("two"))
    said = {"group_id": "two", "role": "Ana", "role_type": "user"}
    for number, line in enumerate(READ_OTHERWISE):
        now(f"2024-06-{number + 1:02}T10:00:00Z")
        parked = "unheard" in line.values() or ["nobody"] in line.values()
        told.tell("produce", [{**said, "timestamp": on(500 + number), **line}], code=int(parked))
    now("2024-07-01T10:00:00Z")
    more = [
        {"content": "The parser is supplied by Initech.", "entity_types": {"Vendor": "A company that we buy from."}},
        {"content": "I moved to Bonn.", "excluded_entity_types": ["Starship"]},
        {"content": "Again.", "uuid": "nobody"},
        {"content": "I live in Oslo. My sister Eva works at SAP.", "suppress_content": True},
        {"content": "Eva lives in Rome.", "update_communities": True},
        {"content": '{"city": "Berlin"}', "source": "json", "role": "", "role_type": None},
    ]
    told.tell("produce", [{**said, **line} for line in more], code=1)
    return told


def served(folder: Path) -> Directory:
    """Written over HTTP: an entity stated twice, episodes withdrawn, a fact retracted, a group erased."""
    told = Directory(folder, "served")
    ana = {"uuid": "ana-1", "group_id": "one", "name": "Ana", "summary": "A cook."}
    for number in range(8):
        with serving(told, f"2024-03-{number * 3 + 1:02}T09:00:00Z") as http:
            if number == 0:
                http("POST", "/entity-node", ana)
            http("POST", "/messages", {"group_id": "one", "messages": [_message(talk("one"), number)]})
            http("POST", "/messages", {"group_id": "two", "messages": [_message(talk("two"), number)]})
            http.settle()
    with serving(told, "2024-04-01T09:00:00Z") as http:
        http("POST", "/entity-node", {**ana, "name": "Annie", "summary": "A baker."})
        episodes = http("GET", "/episodes/one?last_n=100")
        [withdrawn] = (episode for episode in episodes if "I moved to Berlin" in episode["content"])
        http("DELETE", f"/episode/{withdrawn['uuid']}")
        again = {"content": "I love chess.", "role_type": "user", "role": "Ben"}
        http("POST", "/messages", {"group_id": "two", "messages": [again]})
        http.settle()
        episodes = http("GET", "/episodes/two?last_n=100")
        [repeated] = (episode for episode in episodes if "since 2015" in episode["content"])
        http("DELETE", f"/episode/{repeated['uuid']}")
        [wrong, *_] = http("POST", "/search", {"query": "Ben lives in Lisbon", "group_ids": ["one"]})["facts"]
        http("DELETE", f"/entity-edge/{wrong['uuid']}")
        http("POST", "/messages", {"group_id": "gone", "messages": [_message(talk("gone"), 1)]})
        http("DELETE", "/group/gone")
        http.settle()
    with serving(told, "2024-05-01T09:00:00Z") as http:
        again = {"content": "I live in Paris now.", "role_type": "user", "role": "Annie"}
        http("POST", "/messages", {"group_id": "one", "messages": [again]})
        http.settle()
    return told


def _message(said: Iterator[Line], number: int) -> Line:
    line = list(said)[number]
    return {name: line[name] for name in line if name != "group_id"}


def model(folder: Path) -> Directory:
    """Read by rules and a language model together, one of whose answers is malformed, and one refused in part."""
    from model_server import ModelServer
    from openai_server import started

    said = [
        "I moved to Berlin in March 2024.",
        "I work at Siemens.",
        "My sister Eva lives in Rome.",
        "ok",
        "She loves pizza.",
        "I have a dog named Rex.",
        "I used to live in Madrid until 2023.",
        "My colleague Tom works at Acme Works.",
        "Acme is a customer of ours.",
        "My colleague Ben works at Acme.",
    ]
    told = Directory(
        folder,
        "model",
        ASOF_EXTRACTOR="both",
        ASOF_MODEL_NAME="fake",
        ASOF_MODEL_URL=f"http://127.0.0.1:{MODEL_PORT}/v1",
        ASOF_MODEL_CALLS="1",
    )
    with started(ModelServer(MODEL_PORT)) as server:
        line = {"group_id": "g", "role": "Ana", "role_type": "user"}
        for number, content in enumerate(said):
            now(f"2024-06-{number + 1:02}T10:00:00Z")
            told.tell("produce", [{**line, "content": content}])
        server.says = _describes
        for number, content in enumerate(["My sister Eva is keen on chess.", "My sister Eva is fond of chess."]):
            now(f"2024-07-{number + 1:02}T10:00:00Z")
            told.tell("produce", [{**line, "content": content, "update_communities": True}])
        now("2024-07-03T10:00:00Z")
        server.faults = ["no", "no"]
        told.tell("produce", [{**line, "content": "My brother Leo lives in Oslo."}])
        told.tell("import", stated("g"), code=1)
    return told


def _describes(text: str) -> str:
    """Return what the model says of Eva, and something that is not in the text."""
    value, confidence = ("keen on", 0.9) if "keen" in text else ("fond of", 0.5)
    given = {"entity": 1, "name": "temper", "value": value, "confidence": confidence}
    people = [{"id": 1, "text": "Eva", "type": "Person"}, {"id": 2, "text": "Nobody", "type": "Person"}]
    return json.dumps({"entities": people, "facts": [], "attributes": [given]})


# A server, whose clock stands as well.


class Http:
    """Requests to a server that runs."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._last = -1

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        import httpx2

        answer = httpx2.request(method, self.url + path, json=body, timeout=60)
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        self._last = int(answer.headers.get("asof-position", self._last))
        return answer.json()

    def settle(self) -> None:
        """Wait until what was sent is processed."""
        self("GET", f"/v1/messages/{self._last}?min_position={self._last}")


@contextmanager
def serving(told: Directory, moment: str) -> Iterator[Http]:
    now(moment)
    command = [sys.executable, __file__, "asof", "serve", "--port", "0", "--json", "--data", str(told.data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        try:
            yield Http(json.loads(server.stdout.readline())["url"])
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


# The questions.


def questions(told: Directory) -> Iterator[Question]:
    """Yield what a directory is asked: of what it holds, at moments at which something changed."""
    told_at = sorted({record["recorded_at"] for record in told("events", "--log", "messages")})
    knowns = [told_at[len(told_at) // 3], told_at[2 * len(told_at) // 3]]
    ever: dict[str, Line] = {}
    for more in ([], *(["--known-at", known] for known in (*told_at[:: max(1, len(told_at) // 12)], *knowns))):
        ever |= {fact["uuid"]: fact for fact in told("facts", "--any-time", *more)}
    starts = sorted({fact["valid_at"] for fact in ever.values() if fact["valid_at"]})
    valids = [starts[len(starts) // 4], starts[len(starts) // 2], starts[-1]]
    groups = sorted({fact["group_id"] for fact in ever.values()})
    subjects = _spread({(fact["group_id"], fact["subject"]) for fact in ever.values()}, 3)
    relations = _spread({fact["relation"] for fact in ever.values()}, 4)
    objects = _spread({fact["object"] for fact in ever.values() if fact["object"]}, 4)
    valid, known = valids[1], knowns[1]

    moments = [{"valid_at": v, "known_at": k} for v in valids for k in knowns] + [{"valid_at": v} for v in valids]
    ways: list[Line] = [{}, *({"group_id": group} for group in groups)]
    ways += [{"group_id": group, "subject": subject} for group, subject in subjects]
    ways += [*({"relation": relation} for relation in relations), *({"object": object_} for object_ in objects)]
    lines = [{**way, **moment} for way in ways for moment in [*moments, {"any_time": True}]]
    yield ["facts", "--batch", "@"], [*lines, {"any_time": True, "known_at": known, "limit": 3}]
    yield ["facts", "--any-time"]
    yield ["facts", "--about", subjects[0][1], "--valid-at", valid, "--known-at", known]

    for text in _spread({fact["fact"] for fact in ever.values()}, 3):
        yield ["search", text, "--valid-at", valid]
        yield ["search", text, "--any-time", "--known-at", known, "--limit", "3"]
    yield ["search", f"Where does {subjects[0][1]} live?", "--any-time", "--group", subjects[0][0]]
    if told.settings["ASOF_EMBEDDER"] != "none":
        yield ["entities", "--like", "Lisbon"]
    yield ["entities"]
    yield ["entities", "--known-at", knowns[0], "--limit", "5"]
    yield ["communities"]
    yield ["communities", "--known-at", known]
    for group, subject in subjects:
        yield ["entity", subject, "--group", group, "--valid-at", valid, "--known-at", known]
        yield ["entity", subject, "--group", group, "--valid-at", valids[2], "--limit", "2"]
        yield ["timeline", subject, "--group", group]
        yield ["timeline", subject, "--group", group, "--known-at", known, "--relation", relations[0]]
        yield ["history", subject, "--group", group]
    for uuid in _spread(set(ever), 5):
        yield ["history", uuid]
        yield ["why", uuid]
    yield ["diff", "--from", valids[0], "--to", valids[2]]
    yield ["diff", "--from", f"{valid},{knowns[0]}", "--to", f"{valid},{knowns[1]}", "--group", groups[0]]
    yield ["changes"]
    yield ["changes", "--since", str(len(told_at) // 2), "--limit", "3", "--group", groups[0]]
    yield from everything(told)
    yield ["export", "--valid-at", valid]
    yield ["export", "--valid-at", valids[2], "--known-at", known, "--group", groups[0]]
    yield ["export", "--valid-at", valid, "--format", "graphml"]
    yield ["export", "--episodic"]
    yield ["generations"]
    yield ["stats"]
    yield ["verify"]


def everything(told: Directory) -> Iterator[list[str]]:
    """Yield the questions whose answers are all that the logs hold."""
    yield ["events", "--log", "messages"]
    yield ["events", "--log", "episodic"]
    for generation in told("generations")["generations"]:
        yield ["events", "--generation", generation["name"]]


def _spread(found: set[Any], count: int) -> list[Any]:
    """Return some of what was found, from its whole breadth."""
    ordered = sorted(found)
    return ordered[:: max(1, len(ordered) // count)][:count]


def answered(told: Directory, asked: Iterable[Question], *, whole: bool = True) -> list[Ask]:
    """Return questions with their answers; not `whole`: with the digests of these."""
    done = []
    for one in asked:
        arguments, lines = one if isinstance(one, tuple) else (one, None)
        question: Ask = {"ask": [*arguments, *([] if arguments[0] in ("events", "export") else ["--json"])]}
        question |= {} if lines is None else {"lines": lines}
        question |= {} if whole else {"digest": True}
        done.append(ask(told.data, question))
        if done[-1]["code"] > (question["ask"][0] == "entity"):  # there may be none, as of then
            raise RuntimeError(f"{told.name}: {done[-1]}")
    return done


REQUESTS: list[tuple[str, str, object]] = [
    ("GET", "/episodes/one?last_n=4", None),
    ("GET", "/episodes/two?last_n=100", None),
    ("GET", "/episodes/gone?last_n=100", None),
    ("POST", "/search", {"query": "Where does Ana live?", "group_ids": ["one", "two"], "max_facts": 5}),
    ("POST", "/search", {"query": "chess"}),
    (
        "POST",
        "/get-memory",
        {
            "group_id": "two",
            "center_node_uuid": None,
            "messages": [{"content": "Where does Ben live?", "role_type": "user", "role": "Eva"}],
        },
    ),
    ("POST", "/groups/resolve", {"scope": "user", "key": "github_login:octocat"}),
    ("GET", "/v1/facts?group_id=one&valid_at=2020-06-01T00:00:00Z&known_at=2024-03-20T00:00:00Z", None),
    ("GET", "/v1/facts?group_id=two&any_time=true&limit=3", None),
    ("GET", "/v1/entity?group_id=one&name=ana-1&valid_at=2024-04-15T00:00:00Z", None),
    ("GET", "/v1/messages/0", None),
    ("GET", "/v1/messages/3", None),
]


def requested(told: Directory) -> list[Ask]:
    """Return requests with what a server answers to them."""
    import httpx2

    with serving(told, "2024-06-01T09:00:00Z") as http:
        facts = http("GET", "/v1/facts?group_id=one&any_time=true")["facts"]
        done = []
        for method, path, body in [*REQUESTS, ("GET", f"/entity-edge/{facts[0]['uuid']}", None)]:
            found = httpx2.request(method, http.url + path, json=body, timeout=60)
            if found.status_code != 200:
                raise RuntimeError(f"{method} {path}: {found.status_code} {found.text}")
            done.append({"method": method, "path": path, "body": body, "answer": found.json()})
    return done


# Topics, and the directory of the worker that wrote them.


def worker(folder: Path) -> Directory:
    """What a worker made of topics, after all kinds of records; and a copy of each record."""
    from kafka_broker import Broker

    told = Directory(folder, "worker", ASOF_KAFKA_PREFIX=KAFKA_PREFIX)
    os.environ[_NOW] = str(int(time.time()) * 10**9)  # as the broker has it
    with Broker(folder / "kafka") as broker:
        os.environ["ASOF_KAFKA"] = broker.bootstrap
        told("topics", "create")
        told.tell("produce", [*talk("one"), *block("say-how-to-read", "team.jsonl")])
        told.tell(
            "import", [*stated("one"), *block("import-facts", "jobs.jsonl"), *block("import-facts", "later.jsonl")]
        )
        told.tell("produce", talk("gone", 3))
        asyncio.run(_send(broker.bootstrap))
        told("erase", "gone", "--yes", "--kafka", broker.bootstrap)
        told.tell("produce", talk("gone", 1))
        with subprocess.Popen([sys.executable, __file__, "asof", "worker", "--data", str(told.data)]) as process:
            while any(row["behind"] != 0 for row in told("topics", "lag") if "dead-letters" not in row["topic"]):
                time.sleep(0.2)
            time.sleep(2)
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        TOPICS.write_bytes(_packed("".join(json.dumps(row) + "\n" for row in asyncio.run(_records(broker.bootstrap)))))
    del os.environ["ASOF_KAFKA"]
    return told


async def _send(bootstrap: str) -> None:
    """Send what only other clients of Kafka do: a withdrawal, an entity, and what cannot be taken."""
    from aiokafka import AIOKafkaProducer

    from asof_agents.episodes import episode_id

    entity = {"entity_id": "ana-1", "name": "Ana", "summary": "A cook."}
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for kind, value in [
            ("entity.stated", json.dumps({"group_id": "one", **entity}).encode()),
            ("withdrawal.requested", json.dumps({"group_id": "one", "episode_id": episode_id("one", 1)}).encode()),
            (None, b"no JSON"),
            (None, b'{"group_id": "one"}'),
        ]:
            headers = [("ce_type", kind.encode())] if kind else []
            await producer.send_and_wait(f"{KAFKA_PREFIX}.messages", value, headers=headers)


async def _records(bootstrap: str) -> list[Line]:
    """Return every record of every topic, in the order of its topic."""
    from aiokafka import AIOKafkaConsumer, TopicPartition

    rows: list[Line] = []
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        topics = sorted(name for name in await consumer.topics() if name.startswith(f"{KAFKA_PREFIX}."))
        for topic in topics:
            at = TopicPartition(topic, 0)
            consumer.assign([at])
            await consumer.seek_to_beginning(at)
            end = (await consumer.end_offsets([at]))[at]
            while await consumer.position(at) < end:
                rows += [
                    {
                        "topic": topic.removeprefix(KAFKA_PREFIX),
                        "offset": record.offset,
                        "timestamp": record.timestamp,
                        "key": _text(record.key),
                        "value": _text(record.value),
                        "headers": [[name, _text(value)] for name, value in record.headers],
                    }
                    for record in (await consumer.getmany(at, timeout_ms=1_000)).get(at, ())
                ]
    return rows


def _text(given: bytes | None) -> str | None:
    return None if given is None else given.decode()


# Packing.


def write(make: Callable[[Path], Directory]) -> None:
    """Write a directory, what it answers, and what comes of building it anew."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as scratch:
        told = make(Path(scratch))
        _settle_files(told.data)
        _pack(told)
        now("2025-01-01T00:00:00Z")
        found: dict[str, Any] = {"settings": told.settings, "asked": answered(told, questions(told))}
        if told.name == "served":
            found["http"] = requested(told)
        if told.name != "worker":
            anew = [["events", "--generation", name] for name in ("from-mentions", "from-episodes")]
            found["rebuilt"] = [*answered(told, REBUILDS), *answered(told, anew, whole=False)]
        if told.name not in ("worker", "model"):
            told.data = unpack(told.name, Path(scratch) / "again")
            forget_derived(told.data)
            again = [["facts", "--any-time"], ["generations"], ["verify"], ["stats"]]
            found["replayed"] = [*answered(told, again), *answered(told, everything(told), whole=False)]
    (FOLDER / f"{told.name}.answers.json.xz").write_bytes(_packed(json.dumps(found)))
    os.environ.clear()
    os.environ.update(before)


REBUILDS = (
    ["rebuild", "--name", "from-mentions"],
    ["rebuild", "--name", "from-episodes", "--from", "episodes", "--switch"],
    ["facts", "--any-time"],
    ["generations"],
)


def _settle_files(data: Path) -> None:
    """Put what stands in write-ahead logs where it belongs, and leave what is there only while a file is open."""
    for file in [*data.rglob("*.sqlite"), *data.rglob("*.db")]:
        with closing(sqlite3.connect(file)) as opened:
            busy, _, _ = opened.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert not busy
    for name in ("*-wal", "*-shm", "writer.lock", "worker.json"):
        for left in data.rglob(name):
            left.unlink()


def _pack(told: Directory) -> None:
    with tarfile.open(FOLDER / f"{told.name}.tar.xz", "w:xz", preset=9 | lzma.PRESET_EXTREME) as archive:
        for file in sorted(told.data.rglob("*")):
            if file.is_file():
                member = tarfile.TarInfo(f"{told.name}/{file.relative_to(told.data)}")
                member.size, member.mode = file.stat().st_size, 0o644
                with file.open("rb") as content:
                    archive.addfile(member, content)


def _packed(text: str) -> bytes:
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


ALL = {make.__name__: make for make in (chat, agent, facts, graded, generations, options, served, model, worker)}


def main() -> None:
    if sys.argv[1:2] == ["asof"]:
        from asof.cli import main as asof

        sys.argv[:2] = ["asof"]
        asof()
        return
    os.environ.setdefault(_NOW, "0")
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or ALL:
        write(ALL[name])
        sizes = [(FOLDER / f"{name}{end}").stat().st_size for end in (".tar.xz", ".answers.json.xz")]
        sys.stdout.write(f"{name}: {sizes}\n")


if __name__ == "__main__":
    main()
