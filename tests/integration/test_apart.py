"""Long work uses two processes, and nobody can tell from what is stored."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

import asof
from asof.runtime import bulk_build_state, bulk_builder, child_process, generations, ingestion, open_generations
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.json_lines import as_fact, read_lines
from asof_streams import sqlite_log
from asof_streams.errors import StorageFailed
from asof_streams.messages import ErasureRequest
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Records
from patience import wait_until
from world import World

FACTS = [
    {"subject": f"Ana {n % 7}", "relation": ("lives_in", "likes")[n % 3 == 0], "object": f"Berlin {n % 11}"}
    | {"valid_at": f"20{10 + n % 9}-01-01T00:00:00Z", "ref": f"r{n}"}
    for n in range(90)
] + [
    {"op": "end", "ref": "r1", "invalid_at": "2020-01-01T00:00:00Z"},
    {"op": "retract", "ref": "r2"},
    {"op": "retract", "ref": "never"},
    {"op": "correct", "ref": "r4", "subject": "Ana 4", "relation": "lives_in", "object": "Oslo"},
]
LINES = [json.dumps({"group_id": "g"} | fact).encode() for fact in FACTS]
CHAT = [
    json.dumps({"group_id": "c", "role": who, "role_type": "user", "content": text}).encode()
    for text in ("I moved to Berlin in 2019.", "My sister Eva works at SAP.", "I love chess.", "I left Acme.")
    for who in ("Ana", "Ben", "Chloe")
]


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Part after 20 messages, not thousands, and compress what is appended from then on."""
    monkeypatch.setattr(sqlite_log, "_LEAST_COMPRESSED", 1)
    monkeypatch.setattr(bulk_build_state, "_MUCH", 20)
    monkeypatch.setattr(bulk_build_state, "FLUSH_EVERY", 20)


def told(path: Path) -> str:
    world = World(path)
    world.memory.produce(CHAT)
    world.memory.import_facts(LINES)
    assert all(check.ok for check in world.memory.verify())
    digest = world.digest()
    world.memory.close()
    return digest


@pytest.mark.usefixtures("_new_interpreters")
def test_what_two_processes_make_is_what_one_makes(tmp_path, monkeypatch):
    started = []

    def popen(*command, **given):
        started.append(1)
        return subprocess.Popen(*command, **given)

    monkeypatch.setattr(child_process, "Popen", popen)
    two = told(tmp_path / "two")
    assert started == [1]
    monkeypatch.undo()

    assert told(tmp_path / "one") == two
    assert list((tmp_path / "two").rglob("*.building*")) == []


def test_the_logs_of_a_long_import_are_compressed_and_single_records_behind_it_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(ingestion, "_CHUNK", 30)
    world = World(tmp_path / "data")

    def closed() -> dict[str, bool]:
        ends = {}
        for path in world.path.rglob("*.sqlite"):
            with SqliteLog(path) as log, closing(sqlite3.connect(path)) as raw:
                ends[path.stem] = Records(path, raw).blocks.end() == log.end()
        return ends

    world.memory.import_facts(LINES)
    assert closed() == {"messages": True, "episodic": True, "semantic.main": True}

    world.memory.import_facts(LINES[:1])
    assert closed() == {"messages": False, "episodic": False, "semantic.main": False}
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()


def test_what_people_say_ended_is_ended_by_two_processes_too(tmp_path, monkeypatch):
    def told_thrice(path: Path) -> tuple[str, int]:
        world = World(path)
        world.memory.produce(CHAT * 3)
        made = world.digest(), world.parked()
        world.memory.close()
        return made

    two = told_thrice(tmp_path / "two")
    monkeypatch.undo()

    assert told_thrice(tmp_path / "one") == two
    assert two[1] == 0


def test_the_second_process_follows_to_the_end(tmp_path, monkeypatch):
    left = []

    def follow(generation, episodic, *rest, **given):
        left.append(episodic.end() - generation.layer.checkpoint)
        generations.follow(generation, episodic, *rest, **given)

    monkeypatch.setattr(open_generations, "follow", follow)
    with asof.open(tmp_path, embedder="none") as memory:
        memory.import_facts(LINES)

    assert set(left) == {0}


def test_what_a_second_process_left_undone_is_done_by_the_writer(tmp_path, monkeypatch):
    monkeypatch.setattr(bulk_builder.BulkBuilder, "follow", lambda self, _: os.kill(self._child.pid, signal.SIGKILL))
    killed = told(tmp_path / "killed")
    monkeypatch.undo()

    assert told(tmp_path / "one") == killed


def test_a_second_process_that_was_ended_is_no_error_until_all_is_made_good(tmp_path, monkeypatch):
    follow = bulk_builder.BulkBuilder.follow

    def ended(self, stop):
        self.kill()
        follow(self, stop)

    monkeypatch.setattr(bulk_builder.BulkBuilder, "follow", ended)
    alone = told(tmp_path / "ended")
    monkeypatch.undo()

    assert told(tmp_path / "one") == alone


def test_a_second_process_that_is_far_behind_is_not_waited_for(tmp_path, monkeypatch):
    follow = bulk_builder.BulkBuilder.follow

    def go_far_ahead(self, stop):
        os.kill(self._child.pid, signal.SIGSTOP)
        ahead = Thread(target=lambda: [follow(self, stop) for _ in range(500)], daemon=True)
        ahead.start()
        try:
            wait_until(lambda: not ahead.is_alive())
        finally:
            os.kill(self._child.pid, signal.SIGCONT)

    monkeypatch.setattr(bulk_builder.BulkBuilder, "follow", go_far_ahead)
    behind = told(tmp_path / "behind")
    monkeypatch.undo()

    assert told(tmp_path / "one") == behind


def test_what_cannot_be_appended_is_an_error_and_is_made_again(tmp_path, monkeypatch):
    def full(*_, **__):
        raise StorageFailed("the disk is full")

    world = World(tmp_path / "full")
    world.memory.produce(CHAT)
    monkeypatch.setattr(SqliteLog, "append_encoded", full)
    with pytest.raises(StorageFailed):
        world.memory.import_facts(LINES)
    monkeypatch.undo()

    world.memory.import_facts([])
    assert all(check.ok for check in world.memory.verify())
    assert world.digest() == told(tmp_path / "one")
    world.memory.close()


def test_an_import_behind_one_that_failed_beside_a_second_process_makes_all_good(tmp_path, monkeypatch):
    write = SqliteLog._write

    def full(log, *given, **more):
        if log.name == "episodic" and log.compresses_batches:
            raise StorageFailed("the disk is full")
        return write(log, *given, **more)

    world = World(tmp_path / "full")
    world.memory.produce(CHAT)
    monkeypatch.setattr(SqliteLog, "_write", full)
    with pytest.raises(StorageFailed):
        world.memory.import_facts(LINES)
    monkeypatch.undo()

    assert world.memory.import_facts([]).accepted == 0
    assert all(check.ok for check in world.memory.verify())
    assert world.digest() == told(tmp_path / "one")
    world.memory.close()


def test_where_no_second_process_can_be_started_one_does_it_all(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    alone = told(tmp_path / "alone")
    monkeypatch.undo()

    assert told(tmp_path / "one") == alone


def test_a_reader_sees_what_was_and_then_what_is(tmp_path, monkeypatch):
    monkeypatch.setattr(ingestion, "_CHUNK", 10)
    with asof.open(tmp_path, embedder="none") as writer:
        writer.import_facts(LINES[:5])
        with asof.open(tmp_path, embedder="none") as reader:
            seen = [len(reader.facts(any_time=True, all_groups=True))]
            writer.import_facts(
                LINES, acknowledged=lambda *_: seen.append(len(reader.facts(any_time=True, all_groups=True)))
            )
            seen.append(len(reader.facts(any_time=True, all_groups=True)))

    assert seen == sorted(seen)
    assert seen.count(20) > 3  # as when the work was parted
    assert seen[-1] > 50


def test_an_erasure_among_what_was_left_waits_for_the_second_process(tmp_path):
    world = World(tmp_path)
    writer = world.memory._session.writer()
    read = read_lines(LINES, as_fact(recorded=False, ontology=None))
    messages = [line.event for line in read if isinstance(line, InboundMessage)]
    writer.messages.accept(messages, clock=1)
    writer.messages.accept([ErasureRequest(group_id="g")], clock=1)
    writer.messages.accept(messages[:30], clock=1)
    writer.process(flush=True)

    assert len(world.memory.facts(group_id="g", any_time=True)) == 30
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()
