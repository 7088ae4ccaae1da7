"""SQLite files: creates and opens them, runs transactions, and translates SQLite's errors into asof's."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Final

from asof_streams.errors import NOT_UNICODE, AsofError, DamagedData, InvalidInput, NotFound, StorageFailed, WriterBusy
from asof_streams.files import make_file, write_whole

BUSY_SECONDS: Final = 5.0
VACUUM_SECONDS: Final = 0.25  # for which a vacuum waits for readers: it is tried again, and writers wait meanwhile
_FILE_VERSIONS: Final = slice(18, 20)  # bytes of a file's header: https://sqlite.org/fileformat.html
_WRITE_AHEAD: Final = b"\2\2"  # in them: its journal is a write-ahead log, which a database in memory cannot have
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH})
_DAMAGED: Final = (  # messages of codes that mean other things, too; all that asof's statements name, its files have
    "unsupported file format",
    "no such table: ",
    "no such column: ",
    "no such index: ",
    "vtable constructor failed: ",
    "SQL logic error",  # of words, where the table that they are of is gone
)
_INDEX_BYTES: Final = 32_768  # the least that SQLite makes
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FAILURES: Final = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space, then try again",
    sqlite3.SQLITE_READONLY: "it is read-only: give this user the right to write to it and to its folder",
    sqlite3.SQLITE_PERM: "access is denied: give this user the right to read and write it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check that this user may write to its folder",
    sqlite3.SQLITE_IOERR: "reading or writing it failed: check the disk and its free space",
    sqlite3.SQLITE_PROTOCOL: "its locks do not work: keep it on a local disk",
    sqlite3.SQLITE_NOLFS: "it is too large for this file system",
}


class SqliteGuard:
    """A context manager that translates errors of SQLite and the file system into asof's, with the file and a remedy.

    A programmer's error (wrong SQL, wrong types) passes through unchanged.
    """

    __slots__ = ("_damage", "_path", "_remedy")

    def __init__(self, path: Path, remedy: str, damage: type[DamagedData]) -> None:
        self._path = path
        self._damage = damage
        self._remedy = remedy  # for stored bytes that are not what was written

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is not None and (translated := self._translate(error)) is not None:
            raise translated from error

    def _translate(self, error: BaseException) -> AsofError | None:
        if isinstance(error, UnicodeEncodeError):  # a name in a query
            return InvalidInput(NOT_UNICODE)
        if isinstance(error, OSError):
            return StorageFailed(f"{self._path}: {error.strerror}")
        if _is_damage(error) or (_is_read_only(error) and _is_of_no_known_format(self._path)):
            return self._damage(f"{self._path} is damaged: {self._remedy}")
        primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if primary in _BUSY:
            return WriterBusy(f"{self._path}: another process is writing to it; stop that one, or try again")
        if primary in _FAILURES:
            return StorageFailed(f"{self._path}: {_FAILURES[primary]}")
        return None


def _is_damage(error: BaseException) -> bool:
    if isinstance(error, UnicodeDecodeError):  # SQLite's own error message quotes garbage of the file
        return True
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by Python: a text in the file is not UTF-8, or the call was wrong
        return isinstance(error, sqlite3.OperationalError)
    words = str(error)  # SQLite has one code for these and for others
    return code & 0xFF in _DAMAGE or words.startswith(_DAMAGED)


def _is_read_only(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY


def _is_of_no_known_format(path: Path) -> bool:
    """Whether the header of a file has a format in which SQLite does not write: it takes the file for read-only."""
    with path.open("rb") as file:
        return file.read(_FILE_VERSIONS.stop)[_FILE_VERSIONS][:1] not in (b"\1", b"\2")


def create(path: Path, script: str) -> None:
    """Create a SQLite file with a script, whole or not at all: a crash leaves no unfinished file under its name."""
    write_whole(path, (_image(script),))


@lru_cache(maxsize=8)
def _image(script: str) -> bytes:
    """Return the bytes of the file that a script makes.

    They are kept, since SQLite takes some milliseconds to lay out a graph, and a process may create many files.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(script)
        image = bytearray(connection.serialize())
    image[_FILE_VERSIONS] = _WRITE_AHEAD
    return bytes(image)


def connect(path: Path, *, writable: bool, durable: bool) -> sqlite3.Connection:
    """Open a SQLite file in autocommit mode, for one thread at a time: several take turns under a lock of theirs.

    durable: a commit returns when it is on the disk. Otherwise a power cut may lose the last commits; a crash of the
    process never does. Readers and the writer do not block each other. NotFound: there is no such file.
    """
    if not path.is_file():
        raise NotFound(f"{path} does not exist")
    uri = f"{path.resolve().as_uri()}?mode={'rw' if writable else 'ro'}"
    if not writable and _never_changes(path):
        uri += "&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # somebody else may have made the file
        if writable:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("PRAGMA secure_delete = ON")  # deleted bytes are overwritten
    except BaseException:
        connection.close()
        raise
    return connection


def reserve_index(path: Path) -> None:
    """Have the file beside a SQLite file in which its readers index its write-ahead log, so that a full disk has it.

    The connection that is closed last deletes it. One that is opened takes one that nobody uses for its own. To be
    called at once after a file was closed: what is closed next may need the room to grow.
    """
    index = path.with_name(f"{path.name}-shm")
    if path.exists() and not index.exists():
        fresh = path.with_name(f"{index.name}.new")
        with suppress(OSError):  # there is no room now, or another process was first
            fresh.unlink(missing_ok=True)
            make_file(fresh)
            fresh.write_bytes(bytes(_INDEX_BYTES))
            index.hardlink_to(fresh)  # whole, and in the place of no other
        with suppress(OSError):  # whatever is wrong, what else is to be closed and unlocked comes after this
            fresh.unlink()


def _never_changes(path: Path) -> bool:
    """Whether a file is whole and on a read-only disk, where SQLite cannot create the lock files that it needs."""
    wal = path.with_name(path.name + "-wal")
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY) and not (wal.exists() and wal.stat().st_size)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a write transaction: commit at the end, roll back after an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def owe_vacuum(connection: sqlite3.Connection) -> None:
    """Note in the open transaction, and for good with its commit, that rows were erased from the file.

    secure_delete overwrites the rows alone. Moving rows from page to page, as SQLite does to balance its trees, leaves
    copies of them in the free space of pages, where only a rewritten file has none.
    """
    connection.execute("PRAGMA user_version = 1")


def owes_vacuum(connection: sqlite3.Connection) -> bool:
    """Return whether rows were erased from the file that may still have copies in it or in its write-ahead log."""
    return bool(connection.execute("PRAGMA user_version").fetchone()[0])


def vacuum(connection: sqlite3.Connection) -> bool:
    """Rewrite a file that owes it; return whether it owes nothing now. False: a reader needs the old pages.

    Its write-ahead log is emptied before, so that none of it is written in vain while there is such a reader, and
    after, since only then the old pages are overwritten.
    """
    if not owes_vacuum(connection):
        return True
    [patience] = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(VACUUM_SECONDS * 1_000)}")
    try:
        if not truncate_wal(connection):
            return False
        connection.execute("VACUUM")
        if not truncate_wal(connection):
            return False
        connection.execute("PRAGMA user_version = 0")
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")
    return True


def truncate_wal(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the file, and empty it; return False if a reader prevents it."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def sync_commits(connection: sqlite3.Connection) -> None:
    """Have all that was committed on the disk.

    By a commit that waits for it, which changes nothing. Opening the file once more, to flush it, would do harm: the
    first descriptor of a file that a process closes ends all the locks of that process on it, SQLite's too. Another
    process could then take itself for the last one, and remove the write-ahead log that this one writes to.
    """
    [level] = connection.execute("PRAGMA synchronous").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA synchronous = {level}")


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read one state of the file. Keep it short: the write-ahead log cannot be truncated meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
