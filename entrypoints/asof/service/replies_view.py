"""The answers of a responder, as a copy of the topics has them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Self

from asof.runtime.layout import DirectoryLayout
from asof.service.conversation import Outgoing, outgoing_of
from asof_streams.conversation import CheckinSent, ReplyGiven
from asof_streams.errors import NotFound
from asof_streams.events import Record
from asof_streams.sqlite_log import SqliteLog

_STEP: Final = 256  # records that are read at once, from the end of the log back


class AnsweredMessage(NamedTuple):
    """What a message was answered, and whether that is all."""

    answers: list[Outgoing]
    is_final: bool


class RepliesView:
    """Reads the messages and the conversation log of a directory that other processes keep up. One thread uses it."""

    def __init__(self, places: DirectoryLayout) -> None:
        self._places = places

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open between two questions: the files may be made anew."""

    def answers_to(self, offset: int) -> AnsweredMessage:
        """Return the answers to the message at an offset of the messages topic."""
        try:
            with SqliteLog(self._places.messages) as messages, SqliteLog(self._places.conversation) as log:
                position = messages.caused_by(offset)
                if position == messages.end():
                    return AnsweredMessage([], is_final=False)
                is_final = log.checkpoint() > position  # asked first: what is appended is whole by then
                answers = [answer for answer in self._outgoing(log, log.told(position)) if answer.action != "checkin"]
                return AnsweredMessage(answers, is_final or bool(answers))
        except NotFound:
            return AnsweredMessage([], is_final=False)

    def given_since(self, moment: int, group: str | None) -> list[Outgoing]:
        """Return the answers and check-ins (of a group; None: of all) that were given since a moment, in order."""
        with self._log() as log:
            if log is None:
                return []
            recent = [record for record in _latest(log, moment) if group in (None, record.group)]
            return [answer for record in reversed(recent) if (answer := _outgoing(record)) is not None]

    def turn(self, group: str, id_: str) -> Outgoing | None:
        """Return an answer or a check-in by its id, if it is a turn of the bot: an acknowledgement is none."""
        with self._log() as log:
            for record in log.of_group(group) if log is not None else ():
                answer = _outgoing(record)
                if answer is not None and answer.id == id_:
                    is_turn = not isinstance(record.event, ReplyGiven) or record.event.archetype is not None
                    return answer if is_turn and answer.action in ("reply", "checkin") else None
        return None

    def groups(self, prefix: str) -> list[str]:
        """Return the groups whose ids begin so, in order."""
        try:
            with SqliteLog(self._places.messages) as messages:
                return sorted(group for group in messages.groups() if group.startswith(prefix))
        except NotFound:
            return []

    def positions(self, find: Callable[[SqliteLog], list[int]]) -> list[int]:
        """Return what a search through the messages finds."""
        try:
            with SqliteLog(self._places.messages) as messages:
                return find(messages)
        except NotFound:
            return []

    @contextmanager
    def _log(self) -> Iterator[SqliteLog | None]:
        try:
            log = SqliteLog(self._places.conversation)
        except NotFound:
            yield None
            return
        with log:
            yield log

    def _outgoing(self, log: SqliteLog, starts: Iterator[int]) -> Iterator[Outgoing]:
        for start in starts:
            for first in log.read(start, start + 1):
                for record in log.read(start, start + first.size):
                    if (answer := _outgoing(record)) is not None:
                        yield answer


def _latest(log: SqliteLog, moment: int) -> Iterator[Record]:
    """Yield the records since a moment, the last one first."""
    for stop in range(log.end(), 0, -_STEP):
        records = list(log.read(max(0, stop - _STEP), stop))
        recent = [record for record in records if record.recorded_at >= moment]
        yield from reversed(recent)
        if records and not recent:
            return


def _outgoing(record: Record) -> Outgoing | None:
    match record.event:
        case ReplyGiven() as given:
            return outgoing_of(given, record.group)
        case CheckinSent() as checkin:
            return Outgoing("checkin", checkin.checkin_id, checkin.content, None, record.group)
    return None
