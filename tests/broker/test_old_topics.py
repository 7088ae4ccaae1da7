"""Topics as an earlier version wrote them: a directory is made from them again, and a worker goes on with them.

tests/history/directories has their records, and the directory and the answers of the worker that wrote them.
"""

import asyncio
import json
import lzma
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from asof_command import asof
from asof_ontologies import registry
from asof_process import launcher
from asof_projections.versions import RULE
from asof_streams.events import types
from asof_streams.messages import FactStatement
from changed_answers import SECOND, wanted
from kafka_topics import alter_topic, make_topics
from kafka_worker import reached
from old_directories import RAISED, TOPICS, ask, expected
from patience import wait_until

BEGUN_WITH = Path(registry.__file__).parent / "data" / "earlier" / "default-56d3132f249d.yaml"
SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "max.message.bytes": str(8 * 2**20),
    "message.timestamp.after.max.ms": str(2**62),  # a clock may be behind that of the machine that wrote them
}

Row = dict[str, Any]


def rows() -> list[Row]:
    """Return the records that were written down."""
    return [json.loads(line) for line in lzma.decompress(TOPICS.read_bytes()).splitlines()]


class Topics:
    """Topics that hold, each under its offset and its time, the records that were written down."""

    def __init__(self, bootstrap: str, prefix: str) -> None:
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.names = sorted({row["topic"] for row in rows()})

    async def fill(self, names: list[str]) -> None:
        """Make all topics, and fill some of them. Only while they are filled, a producer may say what time it is."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            given = {**SETTINGS, "message.timestamp.type": "CreateTime"}
            await make_topics(admin, [NewTopic(self.prefix + n, 1, 1, topic_configs=given) for n in self.names])
            await self._send([row for row in rows() if row["topic"] in names])
            given = {**SETTINGS, "message.timestamp.type": "LogAppendTime"}
            for name in self.names:
                await alter_topic(admin, self.prefix + name, given)
        finally:
            await admin.close()

    async def _send(self, given: list[Row]) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap, enable_idempotence=True) as producer:
            sent = [
                await producer.send(
                    self.prefix + row["topic"],
                    _bytes(row["value"]),
                    _bytes(row["key"]),
                    partition=0,
                    timestamp_ms=row["timestamp"],
                    headers=[(name, _bytes(value)) for name, value in row["headers"]],
                )
                for row in given
            ]
            found = await asyncio.gather(*sent)
        assert [one.offset for one in found] == [row["offset"] for row in given]

    async def read(self) -> list[Row]:
        """Return all records, as they are written down."""
        found: list[Row] = []
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap, auto_offset_reset="earliest") as consumer:
            for name in self.names:
                at = TopicPartition(self.prefix + name, 0)
                consumer.assign([at])
                end = (await consumer.end_offsets([at]))[at]
                while await consumer.position(at) < end:
                    for record in (await consumer.getmany(at, timeout_ms=1_000)).get(at, ()):
                        headers = [[header, _text(value)] for header, value in record.headers]
                        key, value = _text(record.key), _text(record.value)
                        found.append({"topic": name, "key": key, "value": value, "headers": headers})
        return found

    def ends(self) -> dict[str, int]:
        """Return how many records each topic has."""
        lag = json.loads(asof("topics", "lag", "--json", "--data", "nowhere").out)
        return {row["topic"].removeprefix(self.prefix): row["end"] for row in lag}


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(given: bytes | None) -> str | None:
    return None if given is None else given.decode()


def raised(found: list[Row]) -> list[Row]:
    """Return records with the events that have later versions in the present one; what was sent is as it was."""
    today = {name: str(types()[name].version) for name in (*SECOND, *RAISED)}
    return [row if row["topic"] in (".messages", ".dead-letters") else _raised(row, today) for row in found]


def _raised(row: Row, today: dict[str, str]) -> Row:
    version = next((today[value] for name, value in row["headers"] if name == "ce_type" and value in today), None)
    headers = [[name, (version or was) if name == "ce_eventversion" else was] for name, was in row["headers"]]
    return {**row, "headers": headers}


def read_anew(found: list[Row]) -> list[Row]:
    """Return records of a generation that today's rules read for, which says so where it begins."""
    return [{**row, "value": row["value"] and _read_anew(row["value"])} for row in found]


def _read_anew(value: str) -> str:
    more = {'"source":"mentions"': f'"rule":{RULE}', '"source":"fact"': f'"statement_version":{FactStatement.version}'}
    for said, added in more.items():
        if said in value:
            value = f"{value[:-1]},{added}}}"
    return value.replace('"rules-1/', '"rules-3/')


def undated(found: list[Row]) -> list[Row]:
    """Return records with tastes without times: "I live in Lisbon since 2015 and I love chess" dated both, once."""
    return [
        {**row, "value": _undated(row["value"]) if '"likes"' in (row["value"] or "") else row["value"]} for row in found
    ]


def _undated(value: str) -> dict[str, Any]:
    times = ("valid_from", "grain", "time_words", "holds")
    return {name: part for name, part in json.loads(value).items() if name not in times}


def former(found: list[Row]) -> list[Row]:
    """Return records in which what is known by its end alone is one thing: an ending once, today a fact that ends."""
    return [_former(row) for row in found]


def _former(row: Row) -> Row:
    types_ = {value for name, value in row["headers"] if name == "ce_type"}
    if types_.isdisjoint({"relationship.stated", "fact.ended", "fact.asserted"}):
        return row
    value = row["value"] if isinstance(row["value"], dict) else json.loads(row["value"])
    if "relationship.stated" in types_:
        return {**row, "value": {name: part for name, part in value.items() if name != "former"}}
    if "fact.asserted" in types_ and value.get("grain") != "unknown":
        return row
    end = value.get("at", value.get("valid_to"))
    headers = [header for header in row["headers"] if header[0] not in ("ce_type", "ce_eventversion", "ce_id")]
    return {**row, "headers": headers, "value": [value["subject"], value["relation"], value.get("object"), end]}


def lasting(found: list[Row]) -> list[Row]:
    """Return records without what is another each time: who claims to write, and where and when a copy was taken."""
    return [{**{name: row[name] for name in ("topic", "key", "value")}, "headers": _lasting(row)} for row in found]


def _lasting(row: Row) -> list[list[str]]:
    passing = ["dlq_original_topic", "dlq_original_timestamp", "ce_writer", "ce_offset", "ce_partitions"]
    passing += ["ce_checkpointoffset"]
    if ["ce_type", "writer.claimed"] in row["headers"]:
        passing += ["ce_id", "ce_eventversion"]  # from the second version on its writer puts its name on its records
    return [header for header in row["headers"] if header[0] not in passing]


def of_agents(found: list[Row]) -> list[Row]:
    """Return records without what depends on how far one agent is beside the other: those of two in the order of keys.

    That is which beliefs of an erased group there are, which events were appended together, and so their positions.
    """
    erased = {row["key"]: _cause(row) for row in found if ["ce_type", "group.erased"] in row["headers"]}
    derived = [
        row
        for row in found
        if row["topic"] == ".semantic.main" and ["ce_type", "checkpoint.reached"] not in row["headers"]
    ]
    beliefs = [
        {**row, "headers": [header for header in row["headers"] if header[0] not in ("ce_sequence", "ce_checkpoint")]}
        for row in derived
        if _cause(row) >= erased.get(row["key"], -1)
    ]
    parked = [row for row in found if row["topic"] == ".dead-letters"]
    others = [row for row in found if row["topic"] in (".messages", ".episodic")]
    return [*others, *beliefs, *sorted(parked, key=str)]


def _cause(row: Row) -> int:
    return next((int(value) for name, value in row["headers"] if name == "ce_cause"), -1)


@pytest.fixture
def topics(bootstrap: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Topics:
    """Topics of the test's own, for `asof` too."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"KAFKA": bootstrap, "KAFKA_PREFIX": prefix, "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"ASOF_{name}", value)
    return Topics(bootstrap, prefix)


@contextmanager
def working(data: Path) -> Iterator[None]:
    """A worker that runs."""
    with subprocess.Popen(launcher("worker", "--data", str(data))) as worker:
        try:
            yield
        finally:
            worker.send_signal(signal.SIGTERM)
    assert worker.returncode == 0


def expect_same(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """See that a directory holds, without a look at Kafka, what that of the worker did."""
    monkeypatch.delenv("ASOF_KAFKA")
    asked = [old for old in expected("worker")["asked"] if old["ask"][0] in ("events", "stats", "verify", "facts")]
    assert len(asked) >= 6
    for old in asked:
        today = ask(data, old)
        if old["ask"] == ["events", "--log", "messages"]:  # the worker forgot them, a copy has what the topic has
            today["answer"] = [event for event in today["answer"] if not event["data"].get("suppress_content")]
        assert today == wanted(old), f"answered otherwise: asof {' '.join(old['ask'])}"


def test_an_empty_directory_becomes_that_of_the_worker(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(topics.fill(topics.names))

    assert asof("facts", "--data", str(tmp_path / "data")).code == 0

    expect_same(tmp_path / "data", monkeypatch)


def test_a_worker_goes_on_with_them_and_writes_nothing_but_that_it_does(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(topics.fill(topics.names))
    before = topics.ends()

    with working(tmp_path / "data"):
        wait_until(lambda: topics.ends()[".semantic.main"] > before[".semantic.main"])
    claimed = [row for row in asyncio.run(topics.read()) if ["ce_type", "writer.claimed"] in row["headers"]]

    grown = {name: end - before[name] for name, end in topics.ends().items()}
    assert grown == {".messages": 0, ".dead-letters": 0, ".episodic": 1, ".semantic.main": 1}
    assert len(claimed) == 4
    expect_same(tmp_path / "data", monkeypatch)


def test_a_worker_makes_of_the_messages_what_it_made_of_them(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_ONTOLOGY", str(BEGUN_WITH))
    asyncio.run(topics.fill([".messages"]))
    wanted = {name: sum(row["topic"] == name for row in rows()) for name in topics.names}

    del wanted[".semantic.main"]  # what of an erased group the believer had not come to is not on it

    with working(tmp_path / "data"):
        wait_until(lambda: topics.ends().items() >= wanted.items() and reached(tmp_path / "data")[1] > 0)

    today, before = (
        former(undated(lasting(found))) for found in (asyncio.run(topics.read()), read_anew(raised(rows())))
    )
    assert of_agents(today) == of_agents(before)
