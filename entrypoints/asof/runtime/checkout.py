"""Checkouts: the directory as it was at a known moment, made of the beginnings of the logs of one that went on."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from asof.runtime.backup import new_directory, small_files
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import existing, settings_of
from asof.settings import Settings
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.files import make_folder, replace_file
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Head
from asof_streams.stored_log import StoredLog, restore_rows, stored_log


@dataclass(frozen=True, slots=True)
class Checkout:
    """A directory as it was at a known moment. messages: how many its log has, the first ones of the other's."""

    directory: str
    messages: int


def check_out(places: DirectoryLayout, known: int, directory: Path, settings: Settings) -> Checkout:
    """Make a directory as another one was at a known moment, also while another process writes to that one.

    InvalidInput: there is something in it, the other one is a copy of topics, or a history was moved in such that no
    beginning of its log is of that moment. NotFound: nothing was recorded by then. Nothing is left of one that fails.
    """
    if is_copy(places.root):
        raise InvalidInput(f"{places.root} is a copy of topics: asof replay puts their messages into a directory")
    target = DirectoryLayout(directory)
    with new_directory(target, "directory") as beside:
        messages = _Checkout(places, beside).run(known)
    from asof.runtime.writer import open_writer  # with all that derives beliefs

    open_writer(target, settings_of(directory, settings)).close()
    return Checkout(str(directory), messages)


class _Checkout:
    """Copies the beginnings of the logs of one directory into another that nobody uses yet."""

    def __init__(self, places: DirectoryLayout, target: DirectoryLayout) -> None:
        self._places = places
        self._target = target

    def run(self, known: int) -> int:
        """Return how many messages were recorded by then. What was erased since is erased."""
        catalog = existing(self._places)
        for path in small_files(self._places, catalog):
            replace_file(self._at(path), [path.read_bytes()])
        beliefs = [self._places.semantic(info.name) for info in catalog.generations]
        with ExitStack() as opened:  # a log is never behind one that is opened before it
            semantic = {path: opened.enter_context(stored_log(path)) for path in beliefs}
            episodic = opened.enter_context(stored_log(self._places.episodic))
            messages = opened.enter_context(stored_log(self._places.messages))
            if not (count := messages.recorded_by(known)):
                raise NotFound("nothing was recorded by then")
            episodes = episodic.caused_by(count)
            for path, log in semantic.items():
                self._copy(path, log, log.caused_by(count), min(log.head.checkpoint, episodes))
            self._copy(self._places.episodic, episodic, episodes, min(episodic.head.checkpoint, count))
            self._copy(self._places.messages, messages, count, messages.head.checkpoint)
        if self._places.control.exists():  # the generations are those of today
            with stored_log(self._places.control) as control:
                self._copy(self._places.control, control, control.head.position, control.head.checkpoint)
        self._expect_unredacted(count)
        self._erase(count, [*beliefs, self._places.episodic, self._places.messages])
        return count

    def _at(self, path: Path) -> Path:
        copy = self._target.root / path.relative_to(self._places.root)
        make_folder(copy.parent)
        return copy

    def _copy(self, path: Path, log: StoredLog, stop: int, checkpoint: int) -> None:
        hash_ = log.hash_at(stop)
        assert hash_ is not None, "the log reaches that far"
        restore_rows(self._at(path), 0, log.rows(0, stop), Head(stop, hash_, checkpoint, log.head.term))

    def _expect_unredacted(self, start: int) -> None:
        """Refuse a moment before a part of a group was erased: what the logs had of the group then was told again."""
        with stored_log(self._places.messages) as log:
            redacted = next((row[0] for row in log.rows(start) if row[7] == RedactionRequest.type), None)
        if redacted is not None:
            raise InvalidInput(
                f"message {redacted} erased others since: asof replay DIR --log messages --to {start} puts those that "
                "are left into a directory, where they are read anew",
                field="known_at",
            )

    def _erase(self, start: int, paths: list[Path]) -> None:
        """Erase what later messages ask for: of the logs, some were copied before that, and some after it."""
        with stored_log(self._places.messages) as log:
            groups = {row[1] for row in log.rows(start) if row[7] == ErasureRequest.type}
        for path in paths if groups else []:
            with SqliteLog(self._at(path), writable=True) as copy:
                for group in groups:
                    copy.erase(group)
                copy.vacuum()
