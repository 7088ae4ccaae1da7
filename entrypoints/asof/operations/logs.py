"""The questions about the logs: their events, and what became of a message."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from asof.operations.moments import known_of
from asof.operations.operation import operation
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import Opened, existing, open_log
from asof.service.session import Session
from asof_agents.layer import batch_of
from asof_projections.model.answers import Change, Episode, EventPage, GroupInfo, LogEvent, Page, instant_of
from asof_projections.model.queries import (
    EpisodeQuery,
    EpisodesQuery,
    EventsQuery,
    GroupsQuery,
    MessageQuery,
)
from asof_projections.model.rows import ChangeRow, Window
from asof_projections.model.write_answers import Done, Effect, EpisodeRecord, Erased, Outcome, Parked
from asof_projections.queries.effects import changes_at, effect_of, reasons_at
from asof_projections.queries.reports import report_of
from asof_streams import instants
from asof_streams.errors import InvalidInput, NotFound, UnavailableError
from asof_streams.events import Record
from asof_streams.ids import episode_id
from asof_streams.sqlite_log import SqliteLog
from asof_streams.tail import tail


class OpenedLog(NamedTuple):
    """A log to be replayed; `wait` lets it become longer."""

    places: DirectoryLayout
    log: SqliteLog
    generation: str | None
    wait: Callable[[float], None]


_EVENTS = 20  # read at once: one may have half a megabyte
_LONG = 4_000_000  # characters: a page that has more ends


@operation()
def events(session: Session, query: EventsQuery) -> EventPage:
    """Return a page of a log from a position on. There are fewer than asked for where their texts are long."""
    generation = generation_of(session, query)
    found: list[LogEvent] = []
    length, start = 0, query.start
    with open_log(session.places, query.log, generation) as log:
        stop = max(start, min(log.end() if query.stop is None else query.stop, log.end()))
        while start < stop and length < _LONG:
            after = min(start + _EVENTS, stop)
            some = [LogEvent.of(record, query.log, generation) for record in log.read(start, after)]
            length += sum(len(part) for event in some for part in event.data.values() if isinstance(part, str))
            found += some
            start = after
    return EventPage(tuple(found), start)


def generation_of(session: Session, query: EventsQuery) -> str | None:
    """Return the generation whose log is asked for. InvalidInput: another log has none."""
    if query.log == "semantic":
        return query.generation or session.catalog().active
    if query.generation is not None:
        raise InvalidInput("only the semantic log has generations", field="generation")
    return None


@operation()
def message(session: Session, query: MessageQuery) -> Outcome:
    """Return what became of a processed message: its changes, or why it was parked. NotFound: there is none."""
    group, record, at = message_at(session, query.position)
    source = session.of(group or None)
    opened = source.opened()
    reasons = reasons_at((opened.episodes, opened.beliefs), at)
    if "parked" in reasons:
        return Parked(query.position, "parked", group, reasons["parked"])
    uuid = getattr(record and record.event, "uuid", None) or episode_id(group, at)
    row = opened.episodes.episode(uuid)
    if record is None and row is None:  # else its content alone was suppressed
        return Erased(query.position, "erased")
    changes = changes_at(opened.beliefs, at)
    worded = row is not None and row.position == at and row.source != "fact"
    mentions = len(opened.episodes.mentions_of([uuid]))
    shown = tuple(map(Change.of, changes))
    with open_log(source.places, "semantic", opened.generation) as log:
        derived = batch_of(log, at)
    with open_log(source.places, "episodic") as log:
        report = report_of((r.event for r in batch_of(log, at)), (r.event for r in derived))
    effect = effect_of(opened.beliefs, derived, changes, worded=worded)
    failed = reasons.get("failed")
    return Done(query.position, "done", group, row and row.uuid, mentions, shown, failed, effect, report)


def message_at(session: Session, position: int, group: str | None = None) -> tuple[str, Record | None, int]:
    """Return the group of a message; the message, None where it was erased; and its position in the log here.

    It is looked for where `group` is. NotFound: there is none. InvalidInput: there are partitions, and no group.
    """
    places = session.of(group).places
    copied = is_copy(places.root)
    if not places.messages.exists():
        existing(places)
    with SqliteLog(places.messages) as log:
        at = log.caused_by(position) if copied else position
        if not 0 <= at < log.end() or (copied and log.cause_of(at) != position):
            raise NotFound(f"there is no message {position}")
        return log.group_of(at), next(log.read(at, at + 1), None), at


def _effect(places: DirectoryLayout, opened: Opened, at: int, changes: Sequence[ChangeRow], *, worded: bool) -> Effect:
    with open_log(places, "semantic", opened.generation) as log:
        return effect_of(opened.beliefs, batch_of(log, at), changes, worded=worded)


@operation()
def episode(session: Session, query: EpisodeQuery) -> EpisodeRecord:
    """Return one episode, with what its message did: also what it invalidated, and its duplicate links.

    NotFound: no episode has this id, or it was withdrawn.
    """
    for source in session.sources.every():
        opened = source.opened()
        row = opened.episodes.episode(query.id)
        if row is not None and not opened.episodes.withdrawn(query.id):
            changes, worded = changes_at(opened.beliefs, row.position), row.source != "fact"
            return EpisodeRecord.of(row, _effect(source.places, opened, row.position, changes, worded=worded))
    raise NotFound(f"no episode has the id {query.id}")


@operation(items="groups")
def groups(session: Session, query: GroupsQuery) -> Page[GroupInfo]:
    """Return the groups, in the order of their ids, with how many episodes each holds."""
    after = "" if query.page is None else query.page.after[0]
    limit = None if query.limit is None else query.limit + 1
    found: list[tuple[str, int, int]] = []
    for source in session.sources.every():
        found += source.opened().episodes.group_counts(query.prefix, after, limit)
    infos = [GroupInfo(group, count, instant_of(last)) for group, count, last in sorted(found)]
    if query.limit is None or len(infos) <= query.limit:
        return Page(infos)
    kept = infos[: query.limit]
    return Page.until(kept, query.cursor_after(kept[-1].group_id))


@operation(items="episodes")
def episodes(session: Session, query: EpisodesQuery) -> Page[Episode]:
    """Return the episodes that were said in a period, in the order in which they were recorded."""
    known, limit = known_of(session, query, "episodic"), query.limit
    window = Window(query.first, query.last, instants.NEG, known)
    after = query.page and query.page.after[0]
    store = session.of(query.group).opened().episodes
    rows = store.episodes_between(query.group, window, after=after, limit=None if limit is None else limit + 1)
    if limit is None or len(rows) <= limit:
        return Page(map(Episode.of, rows))
    kept = rows[:limit]
    return Page.until(map(Episode.of, kept), query.cursor_after(kept[-1].uuid, known=known))


@contextmanager
def opened_log(session: Session, query: EventsQuery, partition: int | None) -> Iterator[OpenedLog]:
    """Open a log to be replayed."""
    with session.lock:
        source = session.sources.partition(partition)
        source.process_backlog()
        generation = generation_of(session, query)

    def wait(seconds: float) -> None:
        with suppress(UnavailableError), session.lock:  # it may come back; until then nothing comes
            session.sources.every()
        time.sleep(seconds)

    with open_log(source.places, query.log, generation) as log:
        yield OpenedLog(source.places, log, generation, wait)


def replay(
    session: Session, query: EventsQuery, *, follow: bool = False, partition: int | None = None
) -> Iterator[LogEvent]:
    """Yield the events of a log from a position on; `follow`: then wait for more, without end."""
    with opened_log(session, query, partition) as (_, log, generation, wait):
        if follow and query.stop is None:
            records = tail(log, query.start, wait=wait)
        else:
            records = log.read(query.start, query.stop)
        for record in records:
            yield LogEvent.of(record, query.log, generation)


def group_names(session: Session) -> list[str]:
    """Return every group that a message was ever given for."""
    with SqliteLog(session.places.messages) as log:
        return [group for group in log.groups() if group]
