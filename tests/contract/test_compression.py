"""A compressed log is smaller and says the same: to its readers, to whoever writes to it meanwhile, and to verify."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from asof_streams import chain, compression
from asof_streams.block import unpack
from asof_streams.compression import compress
from asof_streams.errors import DamagedLog
from asof_streams.events import Record
from asof_streams.messages import Message
from asof_streams.sqlite import owes_vacuum
from asof_streams.sqlite_log import EncodedEvent, SqliteLog
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
    assert path.stat().st_size < size * 0.7
    assert compress(path, keep=1_000) == 0

    with SqliteLog(path) as log:
        assert list(log.read()) == records
        assert [log.head(position) for position in (1, 64, 65, MANY)] == heads
        assert (log.end(), log.verify(), sorted(log.groups())) == (MANY, MANY, [f"group {n}" for n in range(7)])
        assert [log.caused_by(n) for n in (0, 63, 64, 1_983, 1_984, MANY)] == [0, 63, 64, 1_983, 1_984, MANY]


def test_the_newest_thousand_records_stay_as_they_are(path: Path) -> None:
    told(path, 1_024 + 63)
    assert compress(path) == 0

    with SqliteLog(path, writable=True) as log:
        log.accept([said("one more")], clock=2)
    assert compress(path) == 64


def test_where_nothing_is_closed_the_file_need_not_be_rewritten(path: Path) -> None:
    told(path, 10)
    with closing(sqlite3.connect(path)) as raw:
        assert (compress(path), owes_vacuum(raw)) == (0, False)


def test_a_block_may_have_one_record(path: Path) -> None:
    told(path, 1)

    assert compress(path, keep=0, size=1) == closed(path) == 1


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
    face = "\N{GRINNING FACE}"
    texts = [face * 500_000, "b", face * 150_000, face * 150_000, "e", "f"]
    with SqliteLog(path, writable=True) as log:
        log.accept([said(text) for text in texts], clock=1)
    compress(path, keep=0, size=3)

    with SqliteLog(path) as log:
        assert [r.event.content for r in log.read()] == texts  # type: ignore[attr-defined]
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT start, stop FROM blocks").fetchall() == [(0, 1), (1, 3), (3, 6)]


def test_content_that_is_not_to_be_kept_waits_outside_of_blocks_until_it_is_gone(path: Path) -> None:
    with SqliteLog(path, writable=True) as log:
        log.accept([said("a"), said("b"), said("CANARY", suppress=True), said("c")], clock=1)
        assert compress(path, keep=0, size=1) == 2

        assert log.suppress(0, 4)
        assert compress(path, keep=0, size=1) == 2
        assert [r.event.content for r in log.read()] == ["a", "b", "c"]  # type: ignore[attr-defined]
        assert log.verify() == 4


def test_so_does_content_that_an_older_version_kept_in_the_clear_until_it_was_read(path: Path) -> None:
    secret = said("CANARY", suppress=True)
    encoded = EncodedEvent(secret.type, secret.version, secret.encode())
    with SqliteLog(path, writable=True) as log:
        log.append_encoded(0, [("ana", 1, 0, 0, 1, encoded)], checkpoint=0)
        assert compress(path, keep=0, size=1) == 0

        assert log.suppress(0, 1)
        assert compress(path, keep=0, size=1) == 1


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


BLOCK = bytes.fromhex(  # in the stored form: directories have such blocks
    "00000030000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f789c8b8e56"
    "4acc4b54d2514a3abc4d295627dad0c0c04007481802d9a63a6640d240c70024ae6308279572538b8b13d35381ba602ca0a8918e118834d4c9"
    "2bcdc9898de5aa564acecf2b49cd2b51b252f23dbc3027313d51a91600ec4c219b"
)


def test_a_block_in_its_stored_form_is_read_as_it_was_closed() -> None:
    kept, erased = unpack(5, chain.genesis("messages"), BLOCK)

    assert (kept[:9], kept[10:]) == (
        (5, "ana", 1_000, 5, 0, 1, 1, "message", 2),
        (bytes(range(16)), None, '{"content":"Málaga"}'.encode()),
    )
    assert (erased[:9], erased[10:]) == ((6, "bö", 1_001, 6, 0, 1, 1, "message", 2), (None, bytes(range(32)), None))
    assert erased[9].hex() == "ee70a3dfdcb9dd628a9d9224e33b4acea69b4b5af70631a7734b8235f0c68cb5"


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


def rows_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as raw:
        count: int = raw.execute("SELECT count(*) FROM log").fetchone()[0]
        return count


def batch(count: int = 600) -> list[Message]:
    return [said(f"{n}: I live in town number {n}.", f"group {n % 7}") for n in range(count)]


def test_batches_that_are_compressed_at_once_say_what_others_do(path: Path) -> None:
    with SqliteLog(path, writable=True) as log:
        log.compresses_batches = True
        records = log.record(batch(), clock=1)
        assert (closed(path), rows_of(path)) == (600, 0)

        records += log.record(batch(10), clock=2)
        assert (closed(path), rows_of(path)) == (600, 10)

        records += log.record(batch(), clock=3)
        assert (closed(path), rows_of(path)) == (1_210, 0)

        log.compresses_batches = False
        records += log.record(batch(), clock=4)
        assert (closed(path), rows_of(path)) == (1_210, 600)

        assert list(log.read()) == records
        assert list(log.read(70, 1_500)) == records[70:1_500]
        assert list(log.read(1_250)) == records[1_250:]
        assert log.verify() == 1_810
    assert compress(path, keep=0) == 576
    assert told_again(path) == records


def told_again(path: Path) -> list[Record]:
    with SqliteLog(path) as log:
        return list(log.read())


def test_what_is_to_be_suppressed_is_not_compressed_at_once_nor_what_stands_behind_it(path: Path) -> None:
    with SqliteLog(path, writable=True) as log:
        log.compresses_batches = True
        log.accept([*batch(), said("for nobody", suppress=True)], clock=1)
        log.accept(batch(), clock=2)
        assert closed(path) == 600
        assert b"for nobody" not in path.with_name("messages.sqlite-wal").read_bytes()

        assert log.suppress(0, log.end())
        log.accept(batch(), clock=3)
        assert (closed(path), rows_of(path)) == (1_801, 0)
        assert len(list(log.read())) == 1_800
        assert log.verify() == 1_801


def test_a_batch_behind_very_many_records_that_are_not_compressed_is_not_either(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "_MOST_EARLIER", 100)
    with SqliteLog(path, writable=True) as log:
        log.accept(batch(100), clock=1)
        log.compresses_batches = True
        log.accept(batch(), clock=2)
        assert (closed(path), rows_of(path)) == (700, 0)

        log.accept(batch(101), clock=3)
        log.accept(batch(), clock=4)
        assert (closed(path), rows_of(path)) == (700, 701)
        assert log.verify() == 1_401


def test_a_batch_behind_a_damaged_record_is_appended_as_ever_and_the_damage_is_found(path: Path) -> None:
    with SqliteLog(path, writable=True) as log:
        records = log.record(batch(300), clock=1)
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("UPDATE log SET salt = zeroblob(16) WHERE position = 130")

        log.compresses_batches = True
        records += log.record(batch(), clock=2)
        assert (closed(path), rows_of(path)) == (128, 772)
        assert list(log.read()) == records
        with pytest.raises(DamagedLog, match=r"position 130\b"):
            log.verify()
