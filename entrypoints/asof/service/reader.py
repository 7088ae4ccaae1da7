"""What the HTTP service asks of a memory beyond the questions that every door has."""

from dataclasses import dataclass
from typing import Any, Self

from asof.readings import LogName, MemoryQueries
from asof.runtime.replica_manifest import is_copy
from asof.runtime.results import event_json
from asof.runtime.wiring import Opened, open_log
from asof_agents.handlers.episodes import episode_id
from asof_projections.queries.answers import change_json
from asof_projections.retrieval.search import Hit
from asof_projections.rows import Entity, Episode, Fact
from asof_streams.errors import NotFound
from asof_streams.events import Record
from asof_streams.instants import INF
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest

_SOURCES = ("message", "text", "json", "fact")
_EVENTS = 20  # read at once: one may have half a megabyte
_LONG = 4_000_000  # characters: a page that has more ends


@dataclass(frozen=True, slots=True)
class Told:
    """An episode with the facts that its message changed and that rest on it."""

    episode: Episode
    facts: tuple[str, ...]  # ids


class Reader(MemoryQueries):
    """A memory opened for questions by one thread."""

    @property
    def _is_copy(self) -> bool:
        return is_copy(self._places.root)

    def fact(self, uuid: str) -> Fact | None:
        """Return a fact as it is believed now, whenever it holds; of several periods the last. None: it is not."""
        held = [r.fact for r in self.history(uuid) if r.fact.uuid == uuid and r.fact.known_to == INF]
        return held[-1] if held else None

    def latest(self, group: str, count: int) -> list[Told]:
        """Return the last episodes of a group that were said by now, in the order in which they were said."""
        if count <= 0:
            return []
        opened = self._sources.of(group).opened()
        now = self._now()
        found = [e for source in _SOURCES for e in opened.episodes.recent(group, source, now, INF, count)]
        found.sort(key=lambda episode: (episode.valid_at, episode.position))
        return [Told(episode, _facts(opened, episode)) for episode in found[-count:]]

    def found(self, query: str, groups: list[str] | None, limit: int) -> list[Fact]:
        """Return the facts that fit a query best and are believed now, whenever they hold; None: of all groups."""
        hits: list[Hit] = []
        for group in dict.fromkeys([None] if groups is None else groups):
            hits += self.search(query, group_id=group, any_time=True, limit=limit)
        hits.sort(key=lambda hit: -hit.score)
        return [hit.fact for hit in hits[:limit]]

    def outcome(self, position: int) -> dict[str, Any]:
        """Return what became of a message that was processed: the episode and what it changed, or why it was parked.

        NotFound: there is no such message.
        """
        group, message, at = self._message(position)
        opened = self._sources.of(group or None).opened()
        parked = [p for p in (*opened.episodes.parked(), *opened.beliefs.parked()) if p.position == at]
        if parked:
            return {"position": position, "state": "parked", "group_id": group, "reason": parked[0].reason}
        uuid = getattr(message and message.event, "uuid", None) or episode_id(group, at)
        if message is None and opened.episodes.episode(uuid) is None:  # else its content alone was suppressed
            return {"position": position, "state": "erased"}
        changes = [c for c in opened.beliefs.changes(at - 1, 1) if c.position == at]
        return {
            "position": position,
            "state": "done",
            "group_id": group,
            "episode_id": uuid if opened.episodes.episode(uuid) else None,
            "mentions": len(opened.episodes.mentions_of([uuid])),
            "changes": [change_json(change) for change in changes],
        }

    def group_at(self, position: int) -> str:
        """Return the group of a message, whether or not it was erased. NotFound: there is no such message."""
        return self._message(position)[0]

    def parked(self) -> int:
        """Return of how many messages nothing could be made."""
        opened = self._sources.of(None).opened()
        return len({parked.position for parked in (*opened.episodes.parked(), *opened.beliefs.parked())})

    def vectors(self) -> int:
        """Return how many vectors a search by this reader compares with; 0 before its first."""
        return self._sources.of(None).vectors

    def keep_up(self, seconds: float) -> bool:
        """Embed what is new for about so long; return whether there is more. No search of this one waits then."""
        return any(source.keep_up(seconds) for source in self._sources.every())

    def end(self) -> int:
        """Return the position that the next message will have, as far as is known here: on a topic its offset."""
        with SqliteLog(self._places.messages) as log:
            return log.checkpoint() if self._is_copy else log.end()

    def page(self, log: LogName, start: int, stop: int) -> tuple[str | None, list[dict[str, Any]], int]:
        """Return the generation that a log is of, its events from a position on, and the position to go on from.

        Erased events are left out. There are fewer than asked for where their texts are long.
        """
        named = self.active() if log == "semantic" else None
        found: list[dict[str, Any]] = []
        length = 0
        with open_log(self._places, log, named) as opened:
            stop = max(start, min(stop, opened.end()))
            while start < stop and length < _LONG:
                after = min(start + _EVENTS, stop)
                some = [event_json(record, log, named) for record in opened.read(start, after)]
                length += sum(len(part) for event in some for part in event["data"].values() if isinstance(part, str))
                found += some
                start = after
        return named, found, start

    def positions_of(self, request: KeyedRequest) -> range | None:
        """Return where the messages of a request are that was made before; None: it was not. InvalidInput: another."""
        with SqliteLog(self._places.messages) as log:
            return log.positions_of(request, clock=self._now())

    def episode(self, uuid: str) -> Episode | None:
        """Return an episode; None where there is none, or it was withdrawn."""
        for source in self._sources.every():
            episodes = source.opened().episodes
            if (found := episodes.episode(uuid)) is not None:
                return None if episodes.withdrawn(uuid) else found
        return None

    def node(self, group: str, uuid: str) -> Entity | None:
        """Return the entity that has an id, of this group or of another one beside it."""
        return self._sources.of(group).opened().beliefs.entity(uuid)

    def _message(self, position: int) -> tuple[str, Record | None, int]:
        """Return the group of a message; the message, None where it was erased; and where it is in the log here."""
        with SqliteLog(self._places.messages) as log:
            at = log.caused_by(position) if self._is_copy else position
            if not 0 <= at < log.end() or (self._is_copy and log.cause_of(at) != position):
                raise NotFound(f"there is no message {position}")
            return log.group_of(at), next(log.read(at, at + 1), None), at

    def groups(self) -> list[str]:
        """Return every group that a message was ever given for."""
        with SqliteLog(self._places.messages) as log:
            return [group for group in log.groups() if group]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_reader()


def _facts(opened: Opened, episode: Episode) -> tuple[str, ...]:
    changes = opened.beliefs.changes(episode.position - 1, 1)
    return tuple(
        dict.fromkeys(
            c.fact.uuid for c in changes if c.position == episode.position and episode.uuid in c.fact.episodes
        )
    )
