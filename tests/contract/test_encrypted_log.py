"""A log whose content is encrypted: what an erasure takes stays gone in older copies, and nothing else is."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from asof_streams.compression import compress
from asof_streams.errors import DamagedLog, KeysUnavailable
from asof_streams.ids import derive
from asof_streams.key_store import key_place, make_keys
from asof_streams.messages import ErasureRequest, Message
from asof_streams.record_sealer import RecordSealer, context
from asof_streams.sqlite_log import EncodedEvent, SqliteLog


def said(content: str, group: str = "ana") -> Message:
    return Message(group_id=group, content=content, role_type="user")


def contents(log: SqliteLog) -> list[str]:
    return [record.event.content for record in log.read() if isinstance(record.event, Message)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    make_keys(tmp_path / "data" / "keys.json", tmp_path / "keys")
    return tmp_path / "data" / "messages.sqlite"


@pytest.fixture(params=[False, True], ids=["rows", "blocks"])
def log(path: Path, request: pytest.FixtureRequest) -> Iterator[SqliteLog]:
    """Three messages of a group and one of another, in rows or in closed blocks."""
    with SqliteLog(path, writable=True) as opened:
        opened.accept([said("a"), said("b"), said("c"), said("d", "bo")], clock=1)
        if request.param:
            compress(path, keep=0, size=2)
        yield opened


def backup(log: SqliteLog, folder: Path) -> Path:
    """Copy a log as it is now to a directory of its own with the same keys."""
    folder.mkdir()
    shutil.copy(log.path.with_name("keys.json"), folder)
    with SqliteLog(log.path, writable=True, term=log.term) as other:
        assert other.suppress(0, 0)  # which empties the write-ahead log
    return Path(shutil.copy(log.path, folder))


def test_it_is_read_as_it_was_written_and_names_the_keys_of_each_group(log: SqliteLog) -> None:
    assert b'"content"' not in log.path.read_bytes()
    assert contents(log) == ["a", "b", "c", "d"]
    assert (log.trees(), log.trees("ana"), log.trees("nobody")) == ({"ana": 1, "bo": 1}, {"ana": 1}, {})
    assert (log.has_holes(), log.is_older_than_an_erasure()) == (False, False)


def test_a_message_that_is_redacted_is_gone_from_older_copies_and_the_next_one_is_there(
    log: SqliteLog, tmp_path: Path
) -> None:
    older = backup(log, tmp_path / "older")

    assert log.redact("ana", [0]) == 1

    assert contents(log) == ["b", "c", "d"]
    assert (log.has_holes(), log.is_older_than_an_erasure()) == (False, False)
    with SqliteLog(older) as copy:
        assert contents(copy) == ["b", "c", "d"]
        assert (copy.has_holes(), copy.is_older_than_an_erasure()) == (True, True)


def test_a_group_that_is_erased_is_gone_from_older_copies_and_the_others_are_there(
    log: SqliteLog, tmp_path: Path
) -> None:
    older = backup(log, tmp_path / "older")
    [request] = log.accept([ErasureRequest(group_id="ana")], clock=2)

    assert log.erase("ana", before=request) == 3

    assert contents(log) == ["d"]
    assert (log.has_holes(), log.is_older_than_an_erasure()) == (False, False)
    with SqliteLog(older) as copy:
        assert contents(copy) == ["d"]
        assert (copy.has_holes(), copy.is_older_than_an_erasure()) == (False, True)


def test_a_copy_that_goes_on_where_keys_are_destroyed_gets_new_ones_and_names_both(
    log: SqliteLog, tmp_path: Path
) -> None:
    older = backup(log, tmp_path / "older")
    log.accept([said("e")], clock=2)
    assert log.erase("ana") == 4

    with SqliteLog(older, writable=True) as copy:
        copy.accept([said("f")], clock=3)
        compress(older, keep=1, size=1)
        assert contents(copy) == ["d", "f"]
        assert (copy.trees(), copy.trees("ana")) == ({"ana": 2, "bo": 1}, {"ana": 2})


def test_a_group_that_was_erased_before_it_had_a_message_can_be_written_to(log: SqliteLog) -> None:
    log.accept([ErasureRequest(group_id="zoe")], clock=2)
    log.accept([said("e", "zoe")], clock=3)

    assert contents(log)[-1] == "e"


def test_a_group_whose_keys_are_lost_is_not_written_to_with_new_ones_and_a_new_group_is(
    log: SqliteLog, tmp_path: Path
) -> None:
    for file in (tmp_path / "keys").rglob("*"):
        if file.is_file():
            file.unlink()

    with SqliteLog(log.path, writable=True) as again:
        with pytest.raises(KeysUnavailable):
            again.accept([said("e")], clock=2)
        with pytest.raises(KeysUnavailable):  # it could not be done, and all later messages would wait for it
            again.accept([ErasureRequest(group_id="ana")], clock=2)
        again.accept([said("f", "zoe")], clock=2)
        assert again.end() == 5


@pytest.mark.parametrize("name", ["messages", "episodic"])
def test_a_record_that_was_encrypted_on_a_topic_is_read_as_what_it_is_and_where_it_is(path: Path, name: str) -> None:
    place = key_place(path.with_name("keys.json"))
    assert place is not None
    event, cause = said("a"), 7
    id_ = "1" if name == "messages" else derive("event", "episodic", cause, 0, event.type)
    sealer = RecordSealer(place.open())
    value = sealer.seal("ana", 0, context(f"/asof/{name}", event.type, event.version, id_), event.encode())
    sealed = ("ana", 1, cause, 0, 1, EncodedEvent(event.type, event.version, value))
    with SqliteLog(path.with_name(f"{name}.sqlite"), writable=True) as log:
        log.append_encoded(0, [("ana", 1, cause, 0, 1, said("before")), sealed], checkpoint=0)

        assert contents(log) == ["before", "a"]


def test_without_its_keys_a_log_says_so_but_where_it_was_damaged(log: SqliteLog, tmp_path: Path) -> None:
    make_keys(tmp_path / "keys.json", tmp_path / "keys")  # of another memory
    with SqliteLog(tmp_path / "messages.sqlite", writable=True) as other:
        other.accept([said("x"), said("y", "bo")], clock=1)
    file = log.path.with_name("keys.json")
    shutil.copy(tmp_path / "keys.json", file)
    with SqliteLog(log.path) as reader, pytest.raises(KeysUnavailable, match="another key"):
        list(reader.read())

    file.unlink()
    with SqliteLog(log.path) as reader, pytest.raises(KeysUnavailable, match=r"keys\.json is missing"):
        list(reader.read())
    if log._records.blocks.end() == 0:
        with closing(sqlite3.connect(log.path)) as raw, raw:
            raw.execute("UPDATE log SET payload = CAST(payload || x'00' AS BLOB) WHERE position = 0")
        with SqliteLog(log.path) as reader, pytest.raises(DamagedLog, match=r"position 0\b"):
            list(reader.read())
