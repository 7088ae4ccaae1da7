"""The sinks of a replay that need no server: a projection of the user's own, and another directory."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from asof.runtime.layout import DirectoryLayout
from asof.runtime.replay import Projection
from asof.runtime.wiring import settings_of
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_projections.model.answers import LogEvent
from asof_streams.errors import InvalidInput
from asof_streams.events import Record
from asof_streams.messages import AnyMessage, RedactionRequest
from asof_streams.sqlite_log import SqliteLog


class ProjectionSink:
    """Feeds a projection with events in their envelopes. Its position is kept for it. closes: it at the end, too."""

    def __init__(self, projection: Projection, log: str, generation: str | None, *, closes: bool = False) -> None:
        self._projection = projection
        self._log = log
        self._generation = generation
        self._close = getattr(projection, "close", None) if closes else None

    def position(self) -> int | None:
        return None

    def apply(self, records: Sequence[Record]) -> None:
        self._projection.apply([LogEvent.of(record, self._log, self._generation) for record in records])

    def close(self) -> None:
        if self._close is not None:
            self._close()


def load_projection(path: str) -> Projection:
    """Return an object of the class that `MODULE:CLASS` names; the module may be in the working directory.

    InvalidInput: there is none, or it is no projection.
    """
    module, _, name = path.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        projection = getattr(import_module(module), name)()
    except (ModuleNotFoundError, AttributeError, TypeError):
        raise InvalidInput(f"{path} is no class that can be made without arguments", field="target") from None
    finally:
        sys.path.pop(0)
    return expect_projection(projection)


def expect_projection(projection: object) -> Projection:
    """Return an object as a projection. InvalidInput: it has no method `apply`."""
    if not callable(getattr(projection, "apply", None)):
        raise InvalidInput("a projection has a method apply(events)", field="target")
    return projection  # type: ignore[return-value]


class DirectorySink:
    """Puts messages on the log of another directory at their positions and recorded times, where they are read anew.

    It goes on where its log ends. A redaction of nothing stands in the place of each message that was erased, so that
    ids, which are made of positions, stay. InvalidInput: the log there is not the beginning of this one, or this one
    has messages whose content was not kept.
    """

    def __init__(self, log: SqliteLog, directory: Path, settings: Settings) -> None:
        if log.has_suppressed():
            raise InvalidInput("what was read of messages whose content is not kept is in this directory alone: "
                               "asof checkout copies it", field="target")  # fmt: skip
        self._log = log
        self._writer = open_writer(DirectoryLayout(directory), settings_of(directory, settings))
        try:
            self._expect_beginning()
        except BaseException:
            self.close()
            raise

    def _expect_beginning(self) -> None:
        own = self._writer.messages
        last = own.end() - 1
        if last >= self._log.end() or (
            last >= 0
            and (own.group_of(last), own.recorded_at(last)) != (self._log.group_of(last), self._log.recorded_at(last))
        ):
            raise InvalidInput("its messages are not the first of those that are replayed", field="target")

    def position(self) -> int | None:
        return self._writer.messages.end()

    def apply(self, records: Sequence[Record]) -> None:
        messages: list[AnyMessage] = []
        recorded: list[int] = []
        position = self._writer.messages.end()
        for record in records:
            for erased in range(position, record.position):
                messages.append(RedactionRequest(group_id=self._log.group_of(erased), positions=()))
                recorded.append(self._log.recorded_at(erased))
            messages.append(record.event)  # type: ignore[arg-type]  # of the messages log
            recorded.append(record.recorded_at)
            position = record.position + 1
        self._writer.messages.accept(messages, clock=recorded[-1], recorded=recorded)
        self._writer.process(flush=True)

    def close(self) -> None:
        self._writer.close()
