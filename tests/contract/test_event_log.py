"""What every log promises its readers and its one writer."""

import re
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import ClassVar

import pytest
from pydantic_core import PydanticSerializationError

from asof_streams import sqlite
from asof_streams.compression import compress
from asof_streams.episodic import GroupErased, MessageParked
from asof_streams.errors import DecodeError, InvalidInput, NotFound, PositionConflict, WriterBusy
from asof_streams.events import Draft, Event, Record
from asof_streams.log import EventLog, MessageLog
from asof_streams.messages import ErasureRequest, FactStatement, Message, RedactionRequest
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Head, Records
from asof_streams.tail import tail
from asof_streams.writer_lock import WriterLock
from patience import SECONDS

ZLIB = b"\x78[\x01\x5e\x9c\xda]"  # how what zlib compressed begins, by its level
MANY = 700  # records: more than a reader takes at once


def said(content: str, group: str = "ana") -> Message:
    return Message(group_id=group, content=content, role_type="user")


def parked(reason: str, cause: int = 0, place: int = 0, group: str = "ana") -> Draft:
    return Draft(group, 1_000 + cause, cause, place, 1, MessageParked(reason=reason))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "messages.sqlite"


class CompressedLog(SqliteLog):
    """A log whose records are closed into blocks as soon as there are three."""

    @contextmanager
    def _writing(self) -> Iterator[Head]:
        with super()._writing() as head:
            yield head
        compress(self.path, keep=0, size=3)


@pytest.fixture(params=[SqliteLog, CompressedLog])
def log(path: Path, request: pytest.FixtureRequest) -> Iterator[SqliteLog]:
    with request.param(path, writable=True) as opened:
        yield opened


def contents(log: MessageLog) -> list[str]:
    return [record.event.content for record in log.read() if isinstance(record.event, Message)]


def test_a_sqlite_log_is_an_event_log_and_a_message_log(log: SqliteLog) -> None:
    as_events: EventLog = log
    as_messages: MessageLog = log

    assert as_events.name == as_messages.name == "messages"


# Appending.


def test_an_empty_log_ends_at_zero_and_reads_as_nothing(log: SqliteLog) -> None:
    assert (log.end(), log.checkpoint(), list(log.read()), log.verify()) == (0, 0, [], 0)


def test_what_is_read_is_what_was_appended_with_position_and_term(log: SqliteLog) -> None:
    event = MessageParked(reason="no such episode")

    end = log.append([Draft("ana", 7, 3, 0, 2, event), Draft("bo", 8, 3, 1, 2, GroupErased())], checkpoint=4)

    assert end == log.end() == 2
    assert list(log.read()) == [
        Record(0, "ana", 7, 3, 0, 2, 1, event),
        Record(1, "bo", 8, 3, 1, 2, 1, GroupErased()),
    ]


def test_positions_start_at_zero_and_have_no_gaps(log: SqliteLog) -> None:
    for size in (1, 3, MANY, 0, 2):
        log.append([parked(str(place), place=place) for place in range(size)], checkpoint=0)

    assert [record.position for record in log.read()] == list(range(MANY + 6))


def test_an_append_without_drafts_moves_the_checkpoint_alone(log: SqliteLog) -> None:
    log.append([parked("a")], checkpoint=1)

    assert log.append([], checkpoint=9) == 1
    assert (log.end(), log.checkpoint()) == (1, 9)


def test_a_checkpoint_that_would_go_back_is_refused_and_changes_nothing(log: SqliteLog) -> None:
    log.append([parked("a")], checkpoint=5)

    with pytest.raises(PositionConflict, match="checkpoint 4 is before 5"):
        log.append([parked("b")], checkpoint=4)

    assert (log.end(), log.checkpoint(), log.verify()) == (1, 5, 1)


def test_what_another_process_made_is_appended_where_it_belongs_or_not_at_all(log: SqliteLog) -> None:
    log.append([parked("a")], checkpoint=1)

    assert log.append_encoded(1, [parked("b")], checkpoint=2) == 2
    for start in (1, 3):
        with pytest.raises(PositionConflict, match=f"a batch that begins at {start} cannot follow"):
            log.append_encoded(start, [parked("c")], checkpoint=3)

    assert [record.event for record in log.read()] == [parked("a").event, parked("b").event]
    assert (log.checkpoint(), log.verify()) == (2, 2)


def test_an_append_that_fails_halfway_leaves_nothing(log: SqliteLog) -> None:
    log.append([parked("a")], checkpoint=1)
    head = log.head(1)
    unwritable = MessageParked.model_construct(reason="half of a pair: \ud800")

    with pytest.raises(PydanticSerializationError):
        log.append([parked("b"), parked("c")._replace(event=unwritable)], checkpoint=2)

    assert (log.end(), log.checkpoint(), log.head(1), log.verify()) == (1, 1, head, 1)
    assert log.append([parked("d")], checkpoint=2) == 2


def test_a_log_goes_on_after_it_was_closed_in_a_new_term(path: Path) -> None:
    for term in range(1, 4):
        with SqliteLog(path, writable=True) as log:
            log.append([parked(str(term))], checkpoint=term)

    with SqliteLog(path) as log:
        assert [(record.position, record.term) for record in log.read()] == [(0, 1), (1, 2), (2, 3)]
        assert (log.checkpoint(), log.verify()) == (3, 3)


def test_a_log_in_a_folder_with_odd_letters_works(tmp_path: Path) -> None:
    folder = tmp_path / "été 100% #1?"
    folder.mkdir()
    with SqliteLog(folder / "messages.sqlite", writable=True) as log:
        log.accept([said("a")], clock=1)

    with SqliteLog(folder / "messages.sqlite") as log:
        assert log.end() == 1


def test_what_a_crash_left_while_a_log_was_made_is_in_nobodys_way(path: Path) -> None:
    path.with_name(f"{path.name}.new").write_bytes(b"half a log")

    with SqliteLog(path, writable=True) as log:
        assert log.accept([said("a")], clock=1) == range(1)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


# Reading.


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 0), (0, 1), (5, 5), (255, 257), (256, 600), (650, None), (690, 9_999), (800, None)]
)
def test_a_range_is_half_open_and_stops_at_the_end(log: SqliteLog, start: int, stop: int | None) -> None:
    log.append([parked(str(place), place=place) for place in range(MANY)], checkpoint=0)

    positions = [record.position for record in log.read(start, stop)]

    assert positions == list(range(MANY))[start:stop]


def test_a_reader_sees_what_was_there_when_it_began(log: SqliteLog) -> None:
    log.append([parked("a")], checkpoint=0)
    reading = log.read()
    first = next(reading)
    log.append([parked("b")], checkpoint=0)

    assert [first.position, *(record.position for record in reading)] == [0]


def test_a_log_that_does_not_exist_cannot_be_read_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"episodic\.sqlite does not exist"):
        SqliteLog(tmp_path / "episodic.sqlite")

    assert list(tmp_path.iterdir()) == []


def test_the_head_covers_all_records_before_a_position(log: SqliteLog) -> None:
    log.append([parked("a"), parked("b")], checkpoint=0)
    before = [log.head(position) for position in range(3)]
    log.append([parked("c")], checkpoint=0)

    assert [log.head(position) for position in range(3)] == before
    assert len({*before, log.head(3)}) == 4
    with pytest.raises(InvalidInput, match="has no position 3: it ends at 3"):
        log.head(4)


class Foreign(Event):
    """What another version of this code may write."""

    type: ClassVar[str] = "thing.unheard"
    reason: str = ""


class Newer(Event):
    type: ClassVar[str] = MessageParked.type
    version: ClassVar[int] = MessageParked.version + 1
    reason: str = ""


@pytest.mark.parametrize("event", [Foreign(reason="secret"), Newer(reason="secret")])
def test_what_a_newer_version_wrote_stops_the_reader_and_names_the_position(log: SqliteLog, event: Event) -> None:
    log.append([parked("a"), parked("b")._replace(event=event)], checkpoint=0)
    reading = log.read()
    next(reading)

    with pytest.raises(DecodeError, match=r"position 1: .*upgrade") as caught:
        next(reading)

    assert "secret" not in str(caught.value)
    assert log.verify() == 2  # the log itself is whole


def test_following_gives_what_is_there_and_then_what_comes(path: Path, log: SqliteLog) -> None:
    log.accept([said("a"), said("b")], clock=1)
    seen: list[int] = []

    def reader() -> None:
        with SqliteLog(path) as mine:
            for record in tail(mine, 1, poll_seconds=0.01):
                seen.append(record.position)
                if record.position == 3:
                    return

    thread = threading.Thread(target=reader)
    thread.start()
    while not seen and thread.is_alive():
        time.sleep(0.01)
    log.accept([said("c"), said("d")], clock=1)
    thread.join(SECONDS)

    assert seen == [1, 2, 3]


# Accepting messages.


def test_messages_get_positions_and_stand_for_themselves(log: SqliteLog) -> None:
    messages = [said("a"), ErasureRequest(group_id="bo"), FactStatement(group_id="ana", op="retract", ref="f1")]

    assert log.accept(messages[:1], clock=50) == range(1)
    assert log.accept(messages[1:], clock=60) == range(1, 3)
    assert log.accept([], clock=70) == range(3, 3)
    assert [record[:7] for record in log.read()] == [
        (0, "ana", 50, 0, 0, 1, 1),
        (1, "bo", 60, 1, 0, 1, 1),
        (2, "ana", 60, 2, 0, 1, 1),
    ]
    assert [record.event for record in log.read()] == messages


def test_recorded_time_rises_strictly_within_a_group_whatever_the_clock_does(path: Path) -> None:
    for clock in (100, 90, 100, -5, 200):
        with SqliteLog(path, writable=True) as log:
            log.accept([said("1"), said("2"), said("3", "bo")], clock=clock)

    with SqliteLog(path) as log:
        times = {
            group: [record.recorded_at for record in log.read() if record.group == group] for group in ("ana", "bo")
        }
    assert times == {"ana": [100, 101, 102, 103, 104, 105, 106, 107, 200, 201], "bo": [100, 101, 103, 105, 200]}


def test_a_history_keeps_its_recorded_times(log: SqliteLog) -> None:
    log.accept([said("1"), said("2"), said("3", "bo"), said("4")], clock=999, recorded=[10, 10, 5, 20])

    assert [record.recorded_at for record in log.read()] == [10, 11, 5, 20]
    log.accept([said("5")], clock=1)
    assert next(log.read(4)).recorded_at == 21


@pytest.mark.parametrize(
    "recorded", [[2_000_030, 2_000_029], [19, 40]], ids=["they decrease", "the group has something later"]
)
def test_recorded_times_that_do_not_fit_are_refused_and_nothing_is_kept(log: SqliteLog, recorded: list[int]) -> None:
    log.accept([said("1")], clock=1, recorded=[2_000_020])

    with pytest.raises(PositionConflict, match=r"group ana: message [12] "):
        log.accept([said("secret"), said("secret")], clock=999, recorded=recorded)

    assert (log.end(), log.verify()) == (1, 1)
    assert log.accept([said("2")], clock=1, recorded=[2_000_020]) == range(1, 2)


# Erasing.


def checkpoint(path: Path) -> None:
    """Move the write-ahead log into the file."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_an_erased_group_is_read_no_more_and_the_chain_still_holds(log: SqliteLog) -> None:
    log.accept([said(f"{i}", "ana" if i % 2 else "bo") for i in range(MANY)], clock=1)
    heads = [log.head(position) for position in (1, 99, MANY)]

    assert log.erase("ana") == MANY / 2

    assert [record.position for record in log.read()] == list(range(0, MANY, 2))
    assert {record.group for record in log.read()} == {"bo"}
    assert (log.verify(), log.end()) == (MANY, MANY)
    assert [log.head(position) for position in (1, 99, MANY)] == heads


def bytes_of(folder: Path) -> bytes:
    """Return the bytes of a log's files, and all that can be decompressed among them."""
    found = b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())
    return found + b"".join(inflated(found[at.start() :]) for at in re.finditer(ZLIB, found))


def inflated(stream: bytes) -> bytes:
    whole = zlib.decompressobj()
    with suppress(zlib.error):
        return whole.decompress(stream[:100_000])
    return b""


def test_no_byte_of_an_erased_payload_is_left_in_any_file_and_its_space_is_given_back(
    path: Path, log: SqliteLog
) -> None:
    groups = ("ana", "bo", "cy")
    for length in (10 ** (n % 5) for n in range(40)):
        log.accept([said(f"CANARY-{group}-" + token_hex(length), group) for group in groups], clock=1)
    checkpoint(path)
    assert b"CANARY-ana-" in bytes_of(path.parent)

    for erased, group in enumerate(groups[:2], 1):
        size = path.stat().st_size
        with SqliteLog(path) as reader:
            next(reader.read(2))  # a reader in the middle of its work
            log.erase(group)
            assert log.vacuum()

        left = bytes_of(path.parent)
        assert [f"CANARY-{name}-".encode() in left for name in groups] == [False, erased < 2, True]
        assert path.stat().st_size < size * 0.8


def test_nothing_is_left_that_a_guess_at_an_erased_payload_could_be_tested_against(path: Path, log: SqliteLog) -> None:
    log.accept([said("yes"), said("no")], clock=1)
    log.erase("ana")

    with closing(sqlite3.connect(path)) as raw:
        rows = Records(path, raw).rows(0, 2)
    assert [(row[10], row[12]) for row in rows] == [(None, None)] * 2


def test_a_vacuum_that_a_reader_holds_up_says_so_and_a_later_writer_does_it(path: Path) -> None:
    with SqliteLog(path, writable=True) as log, closing(sqlite3.connect(path, isolation_level=None)) as foreign:
        log.accept([said("CANARY")], clock=1)
        foreign.execute("BEGIN")
        foreign.execute("SELECT * FROM log").fetchall()

        assert log.erase("ana") == 1
        assert not log.vacuum()
        foreign.execute("COMMIT")
    with SqliteLog(path, writable=True) as log:
        assert log.erase("ana") == 0
        assert log.vacuum()

    assert b"CANARY" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def wished(content: str) -> Message:
    return said(content).model_copy(update={"suppress_content": True})


def test_what_is_not_to_be_kept_leaves_no_byte_and_all_else_stays(path: Path, log: SqliteLog) -> None:
    quoted = said('{"suppress_content":true} KEPT')
    for length in (10 ** (n % 5) for n in range(20)):
        log.accept([wished("CANARY" + "x" * length), quoted], clock=1)
    heads = [log.head(position) for position in (1, 20, 40)]

    with SqliteLog(path) as reader:
        next(reader.read(2))  # a reader in the middle of its work
        assert log.suppress(0, 40)
        assert log.suppress(0, 40)

    assert b"CANARY" not in b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())
    assert [record.event for record in log.read()] == [quoted] * 20
    assert (log.group_of(0), log.verify(), [log.head(position) for position in (1, 20, 40)]) == ("ana", 40, heads)


def test_what_is_not_to_be_kept_is_kept_beyond_the_positions_that_are_named(log: SqliteLog) -> None:
    log.accept([wished("a"), wished("b"), wished("c")], clock=1)
    log.suppress(1, 2)

    assert [record.position for record in log.read()] == [0, 2]


def test_a_reader_in_the_way_of_suppression_is_told_of_and_it_can_be_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    with SqliteLog(path, writable=True) as log, closing(sqlite3.connect(path, isolation_level=None)) as foreign:
        log.accept([wished("CANARY")], clock=1)
        foreign.execute("BEGIN")
        foreign.execute("SELECT * FROM log").fetchall()

        assert not log.suppress(0, 1)
        foreign.execute("COMMIT")
        assert log.suppress(0, 1)
        assert b"CANARY" not in b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def test_erasing_stops_at_the_position_of_the_request_and_keeps_the_request(log: SqliteLog) -> None:
    request = ErasureRequest(group_id="ana")
    log.accept([said("before"), request, said("after")], clock=1)

    assert log.erase("ana", before=1) == 1
    assert log.erase("ana", before=1) == 0
    assert [record.position for record in log.read()] == [1, 2]
    assert log.erase("ana") == 1
    assert [record.event for record in log.read()] == [request]
    assert log.accept([said("new life")], clock=1) == range(3, 4)
    assert [record.recorded_at for record in log.read()] == [2, 4]
    assert log.verify() == 4


def test_what_says_that_a_group_was_erased_survives_the_next_erasure(log: SqliteLog) -> None:
    log.append([parked("secret"), Draft("ana", 5, 1, 0, 1, GroupErased())], checkpoint=2)
    log.erase("ana")

    assert [record.event for record in log.read()] == [GroupErased()]


# One writer.


def test_a_writer_that_was_deposed_appends_nothing_more(path: Path, log: SqliteLog) -> None:
    with SqliteLog(path, writable=True) as successor:
        with pytest.raises(WriterBusy, match="taken over"):
            log.accept([said("a")], clock=1)
        successor.accept([said("b")], clock=1)

        assert contents(successor) == ["b"]


HOLD = """
import sys
from pathlib import Path
from asof_streams.writer_lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_directory_has_one_writer_until_it_dies_even_by_kill_9(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        with pytest.raises(WriterBusy, match=f"process {holder.pid} is writing here"):
            WriterLock(directory)

        holder.kill()
        holder.wait()
    WriterLock(directory).release()


def test_a_directory_has_one_writer_within_a_process_too(tmp_path: Path) -> None:
    with WriterLock(tmp_path), pytest.raises(WriterBusy, match="this process is writing here"):
        WriterLock(tmp_path)

    with WriterLock(tmp_path) as again:
        again.release()
        WriterLock(tmp_path).release()


WRITE = """
import sys
from pathlib import Path
from asof_streams.episodic import MessageParked
from asof_streams.events import Draft
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Head, Records
with SqliteLog(Path(sys.argv[1]), writable=True, durable=False) as log:
    print("ready", flush=True)
    for cause in range(400):
        if cause % 50 == 0:
            sys.stdin.readline()
        size = cause % 7 + 1
        drafts = [Draft("g", cause, cause, place, size, MessageParked(reason="r")) for place in range(size)]
        log.append(drafts, checkpoint=cause + 1)
"""


def test_a_reader_in_another_process_sees_whole_batches_only_and_never_waits(tmp_path: Path) -> None:
    path = tmp_path / "episodic.sqlite"
    ends: list[int] = []
    allowed = seen = 0
    with subprocess.Popen([sys.executable, "-c", WRITE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        with SqliteLog(path) as log:
            while writer.poll() is None:
                if allowed < 8 and (not ends or ends[-1] > seen):  # 50 more are appended while these are read
                    seen = ends[-1] if ends else 0
                    writer.stdin.write(b"\n")
                    writer.stdin.flush()
                    allowed += 1
                records = list(log.read(max(ends[-1] - 30, 0) if ends else 0))
                ends.append(log.end())
                if records:
                    assert records[-1].place == records[-1].size - 1, "half a batch"
                    assert [b.position - a.position for a, b in pairwise(records)] == [1] * (len(records) - 1)
            assert log.verify() == sum(cause % 7 + 1 for cause in range(400))

    assert writer.returncode == 0
    assert len(set(ends)) >= 8, "the reader never saw the log grow"
    assert ends == sorted(ends)


def test_a_slow_reader_keeps_no_snapshot(path: Path, log: SqliteLog) -> None:
    log.append([parked(str(place), place=place) for place in range(MANY)], checkpoint=0)
    with SqliteLog(path) as reader:
        reading = reader.read()
        next(reading)
        log.append([parked("x" * 100_000)], checkpoint=0)
        checkpoint(path)  # which cuts the write-ahead log back, if there is no snapshot

        assert Path(f"{path}-wal").stat().st_size == 0
        assert sum(1 for _ in reading) == MANY - 1


def test_what_a_cause_led_to_is_found_also_where_it_was_erased(log: SqliteLog) -> None:
    for cause in (3, 3, 7, 20):
        log.append([Draft("g", cause, cause, 0, 1, MessageParked(reason="why"))], checkpoint=cause)
    log.erase("g")

    assert [log.cause_of(position) for position in range(4)] == [3, 3, 7, 20]
    assert [log.caused_by(cause) for cause in (0, 3, 4, 7, 8, 20, 21)] == [0, 0, 2, 2, 3, 3, 4]


def test_what_a_cause_led_to_is_told_where_it_begins_and_of_no_other_cause(log: SqliteLog) -> None:
    for cause in (3, 3, 7, 20):
        log.append([Draft("g", cause, cause, 0, 1, MessageParked(reason="why"))], checkpoint=cause)

    assert [list(log.told(cause)) for cause in (3, 4, 7, 20, 21)] == [[0], [], [2], [3], []]


def test_what_is_recorded_is_returned_as_it_is_read(log: SqliteLog) -> None:
    log.accept([said("before")], clock=4)

    assert log.record([said("a"), said("b", "bo")], clock=5) == list(log.read(1))


def test_the_records_of_a_group_are_read_in_order_without_the_erased_ones_and_those_of_others(log: SqliteLog) -> None:
    log.accept([said(f"{n}", "ana" if n % 2 else "bo") for n in range(MANY)], clock=1)
    log.erase("ana", before=5)

    found = list(log.of_group("ana"))

    assert [record.position for record in found] == list(range(5, MANY, 2))
    assert found == [record for record in log.read() if record.group == "ana"]
    for start in (0, 5, 6, MANY - 2, MANY):
        assert log.positions_in("ana", start) == [record.position for record in found if record.position >= start]
    assert log.group_of(MANY - 1) == "ana"


def test_a_redaction_passes_over_records_of_other_groups_and_positions_that_are_none(log: SqliteLog) -> None:
    log.accept([said("a"), said("b", "bo"), said("c")], clock=1)

    assert log.redact("ana", [0, 1, 3, 9]) == 1

    assert contents(log) == ["b", "c"]


def test_a_preview_is_what_would_be_recorded_and_records_nothing(log: SqliteLog) -> None:
    log.accept([said("before")], clock=4)
    messages = [said("a"), said("b", "bo")]

    previewed = log.preview(messages, clock=5)

    assert (log.end(), {record.term for record in previewed}) == (1, {0})  # no writer has recorded them
    assert [record._replace(term=log.term) for record in previewed] == log.record(messages, clock=5)


def test_no_group_is_recorded_before_the_latest_record_of_another(log: SqliteLog) -> None:
    log.accept([said("a")], clock=500)
    log.accept([said("b", "bo"), said("c", "bo")], clock=100)

    assert (log.latest(), log.last_recorded("bo")) == (501, 501)
    assert [log.recorded_at(position) for position in range(3)] == [500, 500, 501]


def test_times_of_an_append_that_failed_are_forgotten(path: Path) -> None:
    with (
        SqliteLog(path, writable=True) as log,
        SqliteLog(path, writable=True, term=log.term) as beside,
        closing(sqlite3.connect(path)) as raw,
    ):
        log.accept([said("first")], clock=10)
        raw.execute("CREATE TRIGGER full BEFORE UPDATE ON head BEGIN SELECT RAISE(ABORT, 'full'); END")
        with pytest.raises(sqlite3.IntegrityError):
            log.accept([said("lost")], clock=20)
        raw.execute("DROP TRIGGER full")
        beside.accept([said("second")], clock=30)  # it ends where the one that failed would have

        log.accept([said("third"), said("first", "ben")], clock=15)

        assert [record.recorded_at for record in log.read()] == [10, 30, 31, 30]
        assert log.verify() == 4


def test_content_is_gone_without_an_erasure_where_it_was_suppressed(path: Path) -> None:
    secret = Message(group_id="ana", content="CANARY", role_type="user", suppress_content=True)
    with SqliteLog(path, writable=True) as log:
        log.accept([secret], clock=1)
        assert not log.has_suppressed()
        assert log.suppress(0, 1)
        assert log.has_suppressed()
        log.accept([said("b")], clock=2)
        [request] = log.accept([RedactionRequest(group_id="ana", positions=(1,))], clock=3)
        assert log.redact("ana", [1]) == 1
        assert log.has_suppressed()
        log.accept([said("c", "bo")], clock=4)
        [request] = log.accept([ErasureRequest(group_id="ana")], clock=5)
        log.erase("ana", before=request)
        assert not log.has_suppressed()  # all that is gone of the group was erased


def test_content_that_was_redacted_is_not_said_to_have_been_suppressed(log: SqliteLog) -> None:
    log.accept([said(f"{n}") for n in range(MANY)], clock=1)
    log.accept([RedactionRequest(group_id="ana", positions=(3, MANY - 1))], clock=3)
    assert log.redact("ana", [3, MANY - 1]) == 2

    assert not log.has_suppressed()


def test_what_is_to_be_suppressed_is_on_no_disk_in_the_clear_and_its_key_goes_with_it(path: Path) -> None:
    with SqliteLog(path, writable=True) as log, SqliteLog(path) as reader:
        log.accept([Message(group_id="ana", content="CANARY", role_type="user", suppress_content=True)], clock=1)
        assert (log.term, reader.term, reader.has_content_keys) == (1, 0, True)
        assert b"CANARY" not in bytes_of(path.parent)
        assert log.suppress(0, 1)
        assert not reader.has_content_keys


def test_a_sync_commits_something_that_waits_for_the_disk_and_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    with SqliteLog(tmp_path / "log.sqlite", writable=True, durable=False) as log:
        level = log._db.execute("PRAGMA synchronous").fetchone()
        said: list[str] = []
        log._db.set_trace_callback(said.append)
        log.sync()
        log._db.set_trace_callback(None)

        written = next(at for at, sql in enumerate(said) if sql.startswith("PRAGMA user_version ="))
        assert "PRAGMA synchronous = FULL" in said[:written]
        assert log._db.execute("PRAGMA synchronous").fetchone() == level


def test_what_another_process_made_takes_no_checkpoint_back(log: SqliteLog) -> None:
    log.append([parked("a")], checkpoint=5)

    with pytest.raises(PositionConflict, match="checkpoint 4 is before 5"):
        log.append_encoded(1, [parked("b")], checkpoint=4)

    assert (log.end(), log.checkpoint(), log.verify()) == (1, 5, 1)
