"""A compressed log is smaller and says the same: to its readers, to whoever writes to it meanwhile, and to verify."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from asof_streams.compression import compress
from asof_streams.errors import DamagedLog
from asof_streams.events import Record
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Records

MANY = 3_000


def said(content: str, group: str = "ana", *, suppress: bool = False) -> Message:
    return Message(group_id=group, content=content, role_type="user", suppress_content=suppress)


def told(path: Path, count: int = MANY) -> list[Record]:
    with SqliteLog(path, writable=True, durable=False) as log:
        log.accept([said(f"{n}: I live in town number {n}.", f"group {n % 7}") for n in range(count)], clock=1)
        return list(log.read())


def closed(path: Path) -> int:
    with closing(sqlite3.connect(path)) as raw:
        return Records(path, raw).blocks.end()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "messages.sqlite"


def test_a_compressed_log_has_the_same_records_hashes_and_checkpoint_in_less_space(path: Path) -> None:
    records = told(path)
    with SqliteLog(path) as log:
        heads = [log.head(position) for position in (1, 64, 65, MANY)]
    size = path.stat().st_size

    assert compress(path, keep=1_000) == closed(path) == 1_984  # blocks of 64, so up to 63 more than 1,000 stay
    assert compress(path, keep=1_000) == 0

    with SqliteLog(path) as log:
        assert list(log.read()) == records
        assert [log.head(position) for position in (1, 64, 65, MANY)] == heads
        assert (log.end(), log.verify(), sorted(log.groups())) == (MANY, MANY, [f"group {n}" for n in range(7)])
        assert [log.caused_by(n) for n in (0, 63, 64, 1_983, 1_984, MANY)] == [0, 63, 64, 1_983, 1_984, MANY]
    assert path.stat().st_size < size * 0.7


def test_the_newest_thousand_records_stay_as_they_are(path: Path) -> None:
    told(path, 1_024 + 63)
    assert compress(path) == 0

    with SqliteLog(path, writable=True) as log:
        log.accept([said("one more")], clock=2)
    assert compress(path) == 64


def test_a_reader_in_the_middle_of_a_log_reads_on_while_it_is_compressed(path: Path) -> None:
    records = told(path)
    with SqliteLog(path) as log:
        reading = log.read()
        begun = [next(reading) for _ in range(300)]
        compress(path)

        assert [*begun, *reading] == records


def test_a_writer_goes_on_while_its_log_is_compressed(path: Path) -> None:
    told(path)
    with SqliteLog(path, writable=True, durable=False) as log:
        thread = threading.Thread(target=compress, args=(path,), kwargs={"keep": 0})
        thread.start()
        added = 0
        while thread.is_alive():
            log.accept([said(f"added {added}", "ana")], clock=2)
            added += 1
        thread.join()

        assert log.verify() == MANY + added
        assert [r.event.content for r in log.read(MANY)] == [f"added {n}" for n in range(added)]  # type: ignore[attr-defined]


def test_a_message_of_many_megabytes_has_a_block_of_its_own(path: Path) -> None:
    texts = ["\N{GRINNING FACE}" * 500_000, "b", "c" * 500_000, "d"]
    with SqliteLog(path, writable=True) as log:
        log.accept([said(text) for text in texts], clock=1)
    compress(path, keep=0, size=2)

    with SqliteLog(path) as log:
        assert [r.event.content for r in log.read()] == texts  # type: ignore[attr-defined]
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT start, stop FROM blocks").fetchall() == [(0, 1), (1, 3), (3, 4)]


def test_content_that_is_not_to_be_kept_waits_outside_of_blocks_until_it_is_gone(path: Path) -> None:
    with SqliteLog(path, writable=True) as log:
        log.accept([said("a"), said("b"), said("CANARY", suppress=True), said("c")], clock=1)
        assert compress(path, keep=0, size=1) == 2

        assert log.suppress(0, 4)
        assert compress(path, keep=0, size=1) == 2
        assert [r.event.content for r in log.read()] == ["a", "b", "c"]  # type: ignore[attr-defined]
        assert log.verify() == 4


def test_what_was_erased_is_counted_in_blocks_as_elsewhere(path: Path) -> None:
    told(path, 700)
    with SqliteLog(path, writable=True) as log:
        log.erase("group 3", before=350)
        compress(path, keep=128)

        assert [log.tally(f"group {n}") for n in (2, 3)] == [(100, 0), (50, 50)]
        assert log.erase("group 3") == 50
        assert [log.tally(f"group {n}") for n in (2, 3)] == [(100, 0), (0, 100)]
        assert (log.verify(), len(list(log.read()))) == (700, 600)


DAMAGE: dict[str, tuple[str, int]] = {
    "a byte of its records": ("UPDATE blocks SET records = flipped(records) WHERE start = 64", 64),
    "the records of another block": (
        "UPDATE blocks SET records = (SELECT records FROM blocks WHERE start = 0) WHERE start = 64",
        64,
    ),
    "no records": ("UPDATE blocks SET records = x'' WHERE start = 64", 64),
    "another hash before it": ("UPDATE blocks SET previous = zeroblob(32) WHERE start = 64", 64),
    "another hash after it": ("UPDATE blocks SET hash = zeroblob(32) WHERE start = 64", 64),
    "a later end": ("UPDATE blocks SET stop = stop + 1 WHERE start = 64", 64),
    "it is gone": ("DELETE FROM blocks WHERE start = 64", 64),
    "it stands elsewhere": ("UPDATE blocks SET start = 65 WHERE start = 64", 65),
    "the last one is gone": ("DELETE FROM blocks WHERE start = 128", 128),
}


def flipped(records: bytes) -> bytes:
    middle = len(records) // 2
    return records[:middle] + bytes([records[middle] ^ 1]) + records[middle + 1 :]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_block_is_found_with_its_position(damage: str, path: Path) -> None:
    told(path, 200)
    compress(path, keep=0)
    script, position = DAMAGE[damage]
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.create_function("flipped", 1, flipped)
        raw.execute(script)

    with SqliteLog(path) as log:
        with pytest.raises(DamagedLog, match=rf"position {position}\b"):
            log.verify()
        assert len(list(log.read(0, 64))) == 64


def test_a_damaged_record_is_not_closed_and_all_before_it_is(path: Path) -> None:
    told(path, 300)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("UPDATE log SET recorded_at = recorded_at + 1 WHERE position = 130")

    with pytest.raises(DamagedLog, match=r"position 130\b"):
        compress(path, keep=0)
    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=r"position 130\b"):
        log.verify()
