"""Erasure of a group from files: its vectors, and the traces that erased rows leave in their files.

An erasure deletes rows at once. Copies of them stay in the free space of pages and in write-ahead logs until the files
are rewritten, which takes time in proportion to all that they hold. Each file keeps that it is owed (see
asof_streams.sqlite), so that it is done after a crash, too.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import existing, open_log
from asof_projections.model.write_answers import GroupRecords
from asof_streams.errors import NotFound, StorageFailed
from asof_streams.sqlite import connect, owes_vacuum
from asof_streams.sqlite_log import SqliteLog

if TYPE_CHECKING:
    from asof_projections.embedding.cache import CachedEmbedder

_PAUSE_SECONDS: Final = 1.0  # after a reader was in the way


class ErasedFrom(Protocol):
    """A file that rows may have been erased from: a log, a store or the cache of vectors."""

    def vacuum(self) -> bool:
        """Rewrite the file if that is owed; return whether nothing of the erased rows is left."""
        ...


class Vacuum:
    """Rewrites the files of a directory that owe it.

    It takes no more than half of the time, so that many small erasures one after another are rewritten together: once
    done, it is due again when as much time has passed as it took.
    """

    def __init__(self, places: DirectoryLayout, files: Callable[[], Iterable[ErasedFrom]]) -> None:
        self.owed = True  # as far as is known
        self._places = places
        self._files = files  # but for the cache of vectors
        self._due = 0.0  # by the monotonic clock

    def note(self) -> None:
        """Know that something was erased."""
        self.owed = True

    def run(self) -> None:
        """Rewrite the files that owe it, if it is due. A reader or a full disk postpones it."""
        start = time.monotonic()
        if self.owed and start >= self._due:
            self.finish()
            end = time.monotonic()
            self._due = end + max(end - start, _PAUSE_SECONDS if self.owed else 0.0)

    def finish(self) -> None:
        """Rewrite the files that owe it now."""
        if self.owed:
            done = [_vacuum(file) for file in self._files()]
            self.owed = not all([*done, _vacuum_vectors(self._places)])


def _vacuum(file: ErasedFrom) -> bool:
    with suppress(StorageFailed):
        return file.vacuum()
    return False


def _vacuum_vectors(places: DirectoryLayout) -> bool:
    if not _owes(places.vectors):
        return True
    with closing(_vectors(places)) as cache:
        if cache.forgets:  # a search may have saved an index before the graphs had forgotten the group
            with suppress(NotFound):
                for info in existing(places).generations:
                    _remove_indexes(places, info.name)
        return _vacuum(cache)


def records_of(places: DirectoryLayout, group: str) -> list[GroupRecords]:
    """Return what each log has of a group: messages, the episodic one, those of generations, and of a conversation."""
    names = ["messages", "episodic"] + [f"semantic.{info.name}" for info in existing(places).generations]
    found = []
    for name in names:
        kind, _, generation = name.partition(".")
        with open_log(places, kind, generation or None) as log:
            held, erased = log.tally(group)
            found.append(GroupRecords(name, held, erased, log.head(log.end()).hex()))
    if places.conversation.exists():
        with SqliteLog(places.conversation) as log:
            found.append(GroupRecords(log.name, *log.tally(group), log.head(log.end()).hex()))
    return found


def recorded_up_to(places: DirectoryLayout, offset: int) -> int | None:
    """Return where the episodic log of a copy of topics ends; None: it has no answer to the message at an offset yet.

    NotFound: the copy has no logs yet.
    """
    with open_log(places, "messages") as messages, open_log(places, "episodic") as episodic:
        at = messages.caused_by(offset)
        return episodic.end() if at < messages.end() and at < episodic.checkpoint() else None


def is_believed(places: DirectoryLayout, position: int) -> bool:
    """Return whether all generations of a directory have followed the episodic log up to a position."""
    for info in existing(places).generations:
        with open_log(places, "semantic", info.name) as log:
            if log.checkpoint() < position:
                return False
    return True


def owing(places: DirectoryLayout) -> list[Path]:
    """Return the files of a directory that erased rows may have left copies in."""
    return [path for path in _files(places) if _owes(path)]


def _files(places: DirectoryLayout) -> Iterator[Path]:
    yield from (places.messages, places.episodic, places.episodes, places.vectors)
    yield from (places.conversation, places.conversations)
    with suppress(NotFound):
        for info in existing(places).generations:
            yield from (places.semantic(info.name), places.graph(info.name))


def _owes(path: Path) -> bool:
    try:
        with closing(connect(path, writable=False, durable=False)) as connection:
            return owes_vacuum(connection)
    except (NotFound, sqlite3.Error):  # not there yet, or damaged: who opens it says so
        return False


def erase_vectors(places: DirectoryLayout, group: str, generation: str | None = None) -> None:
    """Forget a group's vectors, before the graphs forget the group; the next search makes the indexes anew.

    generation: the one whose facts and names are erased; None: only what was said is.
    """
    _remove_indexes(places, generation)
    if places.vectors.exists():
        with closing(_vectors(places)) as cache:
            cache.forget(group)


def _remove_indexes(places: DirectoryLayout, generation: str | None) -> None:
    indexes = [places.index(generation), places.names_index(generation)] if generation is not None else []
    for index in (*indexes, places.turns_index):
        index.unlink(missing_ok=True)


def _vectors(places: DirectoryLayout) -> "CachedEmbedder":
    """Open the cache of vectors; an erasure there concerns every model."""
    from asof_projections.embedding.cache import CachedEmbedder
    from asof_projections.embedding.hashing import HashingEmbedder

    return CachedEmbedder(HashingEmbedder(), places.vectors)
