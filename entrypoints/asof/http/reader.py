"""What the HTTP service asks of a memory beyond the questions that every door has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from asof import clock
from asof.bootstrap import Opened
from asof.places import Places
from asof.readings import Readings
from asof.settings import Settings
from asof_projections.rows import Episode, Fact
from asof_projections.search import Hit
from asof_streams.instants import INF
from asof_streams.sqlite_log import SqliteLog

_SOURCES = ("message", "text", "json", "fact")


@dataclass(frozen=True, slots=True)
class Told:
    """An episode with the facts that its message changed and that rest on it."""

    episode: Episode
    facts: tuple[str, ...]  # ids


class Reader(Readings):
    """A memory opened for questions by one thread."""

    def __init__(self, places: Places, settings: Settings, now: Callable[[], int] = clock.system) -> None:
        super().__init__(places, settings, now)

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
