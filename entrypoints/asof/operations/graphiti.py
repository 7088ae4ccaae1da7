"""The questions of Graphiti's routes that ours do not have: a group's last turns, and facts whenever they hold."""

from typing import Any

from asof.operations.facts import search
from asof.runtime.wiring import Opened
from asof.service.session import Session
from asof_projections.entity_ids import entity_with_id
from asof_projections.model.answers import Entity, Episode, Hit
from asof_projections.model.rows import EpisodeRow
from asof_streams.instants import INF

_SOURCES = ("message", "text", "json", "fact")


def last_episodes(session: Session, group: str, count: int) -> list[tuple[Episode, str, tuple[str, ...]]]:
    """Return the last episodes of a group that were said by now, in the order in which they were said.

    Each comes with its body, and the ids of the facts that its message changed and that rest on it.
    """
    if count <= 0:
        return []
    opened = session.of(group).opened()
    now = session.now()
    rows = [row for source in _SOURCES for row in opened.episodes.recent(group, source, now, INF, count)]
    rows.sort(key=lambda row: (row.valid_at, row.position))
    return [(Episode.of(row), row.body, _facts(opened, row)) for row in rows[-count:]]


def _facts(opened: Opened, episode: EpisodeRow) -> tuple[str, ...]:
    changes = opened.beliefs.changes(episode.position - 1, 1)
    ids = (c.fact.uuid for c in changes if c.position == episode.position and episode.uuid in c.fact.episodes)
    return tuple(dict.fromkeys(ids))


def search_groups(
    session: Session, query: str, groups: list[str] | None, limit: int, center: str | None = None
) -> list[Hit]:
    """Return the facts that fit a query best and are believed now, whenever they hold; None: of all groups.

    However improbable they are: clients take as many as they ask for. InvalidInput: the query is not valid Unicode, or
    too long.
    """
    scope: dict[str, Any] = {"all_groups": True} if groups is None else {"group_ids": groups}
    return search.ask(
        session, query=query, any_time=True, over="facts", limit=limit, center=center, min_probability=0, **scope
    )


def node(session: Session, group: str, uuid: str) -> Entity | None:
    """Return the entity of a group that has an id."""
    row = entity_with_id(session.of(group).opened().beliefs, group, uuid)
    return None if row is None else Entity.of(row)
