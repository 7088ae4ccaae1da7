"""Chooses what is erased of a group: by person, by words and by the time when it was said.

What is chosen are messages, by their positions, which the request on the log names: so a replay erases the same.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import open_log
from asof_projections.graph.ports import GraphStore
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.queries import ErasureQuery
from asof_streams.events import Event, Record
from asof_streams.ids import episode_id
from asof_streams.messages import (
    EntityStatement,
    FactStatement,
    IdentityStatement,
    Message,
    RetryRequest,
    WithdrawalRequest,
)


class ChosenMessage(NamedTuple):
    """A message that is to be erased."""

    position: int
    kind: str  # the type of the message
    episode: str | None
    role: str
    content: str
    said_at: int


def chosen(places: DirectoryLayout, generation: str, episodes: GraphStore, query: ErasureQuery) -> list[ChosenMessage]:
    """Return the messages of a group that fit all that is asked for, in their order.

    Requests about them, to withdraw or to retry one, follow them. So do, in a chat, all that came with the external id
    of one: every text that it ever had, its deletion and reactions to it.
    """
    with SqliteGraph(places.graph(generation), f"semantic.{generation}") as beliefs:
        fits = _filters(query, episodes, beliefs)
        found = {said.position: said for said in _said(places, episodes, query.group_id) if all(f(said) for f in fits)}
    own = {said.episode for said in found.values() if said.episode is not None}
    with open_log(places, "messages") as log:
        posts = {
            record.event.external_id
            for record in log.of_group(query.group_id)
            if isinstance(record.event, Message) and record.position in found
        }
        for record in log.of_group(query.group_id):
            if record.position not in found and _is_about(record.event, found, own, posts - {None}):
                found[record.position] = ChosenMessage(
                    record.position, record.event.type, None, "", "", record.recorded_at
                )
    return [found[position] for position in sorted(found)]


def _is_about(
    event: Event, positions: Collection[int], episodes: Collection[str], posts: Collection[str | None]
) -> bool:
    match event:
        case RetryRequest(position=position):
            return position in positions
        case WithdrawalRequest(episode_id=uuid):
            return uuid in episodes
        case Message(uuid=uuid, kind=kind, external_id=own, reply_to=target):
            return uuid in episodes or (target if kind == "reaction" else own) in posts
    return False


def _said(places: DirectoryLayout, episodes: GraphStore, group: str) -> Iterator[ChosenMessage]:
    """Yield all that was said or stated in a group, also what was parked, or whose content was not kept."""
    seen: set[str | None] = set()
    with open_log(places, "messages") as log:
        for record in log.of_group(group):
            if (said := _read(record)) is not None:
                seen.add(said.episode)
                yield said
    for row in episodes.episodes(group):
        if row.uuid not in seen:
            yield ChosenMessage(row.position, Message.type, row.uuid, row.role, row.content, row.valid_at)


def _read(record: Record) -> ChosenMessage | None:
    position, at, kind = record.position, record.recorded_at, record.event.type
    match record.event:
        case Message(uuid=None) as said:
            words = "\n".join(filter(None, (said.name, said.source_description, said.content)))
            said_at = at if said.timestamp is None else said.timestamp
            return ChosenMessage(position, kind, episode_id(record.group, position), said.role, words, said_at)
        case FactStatement() as stated:
            told = (
                stated.subject,
                _text(stated.object),
                stated.fact,
                _text(stated.qualifiers),
                stated.source_description,
            )
            words = "\n".join(filter(None, told))
            said_at = at if stated.said_at is None else stated.said_at
            return ChosenMessage(position, kind, episode_id(record.group, position), "", words, said_at)
        case EntityStatement() as stated_entity:
            return ChosenMessage(position, kind, None, "", f"{stated_entity.name}\n{stated_entity.summary}", at)
        case IdentityStatement(entity=entity, into=into, name=name):
            return ChosenMessage(position, kind, None, "", "\n".join(filter(None, (entity, into, name))), at)
    return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


Filter = Callable[[ChosenMessage], bool]


def _filters(query: ErasureQuery, episodes: GraphStore, beliefs: SqliteGraph) -> list[Filter]:
    filters: list[Filter] = [lambda said: query.first <= said.said_at <= query.last]
    if query.phrase is not None:
        words = _words(query.phrase)
        filters.append(lambda said: words.search(said.content) is not None)
    if query.person is not None:
        filters.append(_Person.of(query, episodes, beliefs).fits)
    return filters


def _words(phrase: str) -> re.Pattern[str]:
    """Return what finds a phrase as whole words, whatever their case and the space between them."""
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Person:
    """Whom a query names: their names, folded, and the episodes that they said, or whose words mean them.

    Of a message that was parked nobody knows whom it means: there the names themselves count.
    """

    names: Collection[str]
    episodes: Collection[str]
    known: Collection[str]  # all episodes that were recorded
    words: Sequence[re.Pattern[str]]
    only_said: bool

    @classmethod
    def of(cls, query: ErasureQuery, episodes: GraphStore, beliefs: SqliteGraph) -> "_Person":
        assert query.person is not None
        group, person, only = query.group_id, query.person, query.only_said
        same = beliefs.identity([entity.uuid for entity in beliefs.called(group, person, None)], None)
        names = {person, *(name for uuid in same for name in beliefs.aliases(uuid, None))}
        meant = {
            mention.episode_id
            for store in (episodes, beliefs)
            for mention in store.mentions(group)
            if same and (mention.speaker or not only) and beliefs.resolved(mention.uuid) in same
        }
        known = {row.uuid for row in episodes.episodes(group)}
        return cls({name.casefold() for name in names}, meant, known, [_words(name) for name in names], only)

    def fits(self, said: ChosenMessage) -> bool:
        if said.role.casefold() in self.names or said.episode in self.episodes:
            return True
        if self.only_said:
            return False
        if said.kind == Message.type:
            return said.episode not in self.known and any(words.search(said.content) for words in self.words)
        return any(line.casefold() in self.names for line in said.content.split("\n"))
