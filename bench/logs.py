"""The log: durable appends, and reading with decoding, each beside raw sqlite3 on a file with the same pragmas."""

import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

from asof_streams.messages import FactStatement, accept
from asof_streams.sqlite_log import SqliteLog
from bench import synthetic
from bench.figures import Figure, Target, percentiles, side_by_side, timed
from bench.material import Material

_TABLE = (
    "CREATE TABLE log (position INTEGER PRIMARY KEY, grp TEXT, recorded_at INTEGER, cause INTEGER, place INTEGER, "
    "size INTEGER, term INTEGER, type TEXT, version INTEGER, hash BLOB, salt BLOB, seal BLOB, payload BLOB)"
)
_INSERT = f"INSERT INTO log VALUES ({', '.join('?' * 13)})"
_SYNCED = "synchronous=FULL: fsync at each commit"
_HALF = 0.5


def measure(material: Material) -> Iterator[Figure]:
    appends = {1: material.count(2_000), 100: material.count(300), 1_000: material.count(60, 3)}
    for size, calls in appends.items():
        yield _appending(material.folder / f"append-{size}", size, calls)
    yield _scanning(material.folder / "scan", material.count(200_000, 1_000))


def _appending(folder: Path, size: int, calls: int) -> Figure:
    folder.mkdir()
    messages = [_message(number) for number in range(size)]
    payloads = [message.encode() for message in messages]
    with SqliteLog(folder / "messages.sqlite", writable=True) as log, closing(_raw(folder / "raw.sqlite")) as raw:
        positions = count()
        ours, beside = side_by_side(
            lambda clock: log.accept(messages, clock=clock), lambda _: _insert(raw, positions, payloads), range(calls)
        )
    times = f"{size} a commit"
    rate, raw_rate = ({"events/s": size / found["p50"] * 1e3} for found in (ours, beside))
    return Figure(
        f"durable append, {times}",
        "events/s, then ms a commit",
        rate | ours,
        raw_rate | beside,
        beside="raw sqlite3, same rows",
        targets=(Target("ratio events/s", _HALF, at_least=True),),
        note=_SYNCED,
    )


def _scanning(folder: Path, events: int) -> Figure:
    folder.mkdir()
    with SqliteLog(folder / "messages.sqlite", writable=True) as log:
        for start in range(0, events, 1_000):
            log.accept([_message(number) for number in range(start, start + 1_000)], clock=start)
        raw = sqlite3.connect(folder / "messages.sqlite")
        read = log.end()
        with closing(raw):
            times = [(timed(_drain, log), timed(_drain_raw, raw)) for _ in range(5)]
    ours, beside = ({"events/s": read / percentiles(found)["p50"]} for found in zip(*times, strict=True))
    return Figure(
        f"scan of {read:,} with decoding",
        "events/s",
        ours,
        beside,
        beside="raw sqlite3 rows, json.loads",
        targets=(Target("ratio events/s", _HALF, at_least=True),),
    )


def _drain(log: SqliteLog) -> None:
    for _ in log.read():
        pass


def _drain_raw(raw: sqlite3.Connection) -> None:
    for row in raw.execute("SELECT * FROM log ORDER BY position"):
        json.loads(row[-1])


def _message(number: int) -> FactStatement:
    return accept(FactStatement, synthetic.fact(number, 1_000_000))


def _raw(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {statement}")
    connection.execute(_TABLE)
    return connection


def _insert(raw: sqlite3.Connection, positions: Iterator[int], payloads: Sequence[bytes]) -> None:
    salt, hash_ = secrets.token_bytes(16), bytes(32)
    raw.execute("BEGIN IMMEDIATE")
    raw.executemany(
        _INSERT,
        ((next(positions), "bench", 0, 0, 0, 1, 1, "fact.stated", 1, hash_, salt, None, text) for text in payloads),
    )
    raw.execute("COMMIT")
