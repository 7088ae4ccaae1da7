"""Export: the episodic graph as JSON, and the semantic graph as of a moment in one of several forms.

Every piece is yielded as it is read, so that memory does not grow with history.
"""

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Any, Final

from asof_projections.graph.ports import GraphStore
from asof_projections.model.answers import Community, Entity, Fact
from asof_projections.model.queries import TextForm
from asof_projections.model.rows import EpisodeRow, FactRow, MentionRow, Moment, RelationshipRow
from asof_projections.ports import BeliefStore
from asof_projections.queries import fact_table, graphml, json_ld, mermaid, parquet
from asof_projections.queries.conflicts import conflicts
from asof_projections.queries.export_turns import is_by, links_of, sentences_of
from asof_projections.queries.summaries import community_summary
from asof_streams.ids import qualified_id, shown_id
from asof_streams.instants import INF, render

# An episode's source, and the type of its node in the exported graph.
_TYPES: Final = {"message": "message", "text": "text", "json": "JSON", "fact": "JSON"}
_COMMUNITY: Final = "Community"  # the type of its node
_BATCH: Final = 1_000


def episodic(episodes: GraphStore, group: str | None, at: Moment, *, details: bool = False) -> Iterator[str]:
    """Yield the episodic graph as the pieces of one JSON document: {nodes, edges, episodes}.

    details: also {sentences, links}: the sentences of each turn, and the nodes that each of them mentions.

    It has the turns that were said by the valid moment and recorded by the known one; None lifts a clock. A mention
    and its repeats in later turns are one node. The turns of each group are numbered from 0, as they were recorded.
    """
    turns = _Turns(episodes, group)
    mentions = (m for m in episodes.mentions(group) if m.repeats is None and is_by(at, m))
    stated = (r for r in episodes.relationships(group) if is_by(at, r) and _has_ends(episodes, r, at))
    parts: dict[str, Iterable[dict[str, Any]]] = {
        "nodes": (_node(m, turns.named(m.episode_id)) for m in mentions),
        "edges": (_edge(r, turns.named(r.episode_id)) for r in stated),
        "episodes": (_episode(e, turns.of(e)) for e in episodes.episodes(group) if is_by(at, e)),
    }
    if details:
        said = (e for e in episodes.episodes(group) if e.source != "fact" and is_by(at, e))
        parts["sentences"] = (sentence for episode in said for sentence in sentences_of(episode))
        parts["links"] = links_of(episodes, group, at)
    yield from _document(parts)


def semantic(
    beliefs: BeliefStore, group: str | None, at: Moment, form: TextForm = "json", *, details: bool = False
) -> Iterator[str]:
    """Yield the semantic graph as of a moment as the pieces of one document; JSON is {nodes, edges}.

    Beside what holds at the moment it has what happened before, and what is planned for later. With `at.ever` it has
    every version of the facts that was believed until the known moment, each with its period of known time.
    details: also conflicts and supersessions, each an edge between the objects of its two facts. CSV has facts alone.
    """
    if form == "csv":
        yield from fact_table.write_csv(_fact_edges(beliefs, group, at))
        return
    nodes, edges = _with_details(beliefs, group, at) if details else _plain(beliefs, group, at)
    match form:
        case "json":
            yield from _document({"nodes": nodes, "edges": edges})
        case "graphml":
            yield from graphml.write(nodes, edges, versions=at.ever)
        case "jsonld":
            yield from json_ld.write(nodes, edges)
        case "mermaid":
            yield from mermaid.write(nodes, edges)


def facts_file(beliefs: BeliefStore, group: str | None, at: Moment) -> Iterator[bytes]:
    """Yield the facts of the semantic graph as of a moment as a Parquet file, with the rows of CSV."""
    yield from parquet.write_parquet(_fact_edges(beliefs, group, at))


def _document(parts: dict[str, Iterable[dict[str, Any]]]) -> Iterator[str]:
    opening = "{"
    for name, items in parts.items():
        yield f'{opening}\n"{name}": ['
        between = "\n"
        for item in items:
            yield between + json.dumps(item, ensure_ascii=False)
            between = ",\n"
        yield "\n]"
        opening = ","
    yield "\n}\n"


# The episodic layer.


class _Turns:
    """The numbers of the episodes within their groups. It holds eight bytes for each episode."""

    def __init__(self, episodes: GraphStore, group: str | None) -> None:
        self._episodes = episodes
        self._positions: dict[str, array[int]] = {}
        for episode in episodes.episodes(group):
            self._positions.setdefault(episode.group_id, array("q")).append(episode.position)
        for name, positions in self._positions.items():
            self._positions[name] = array("q", sorted(positions))
        self._last: tuple[str, int] = "", 0

    def of(self, episode: EpisodeRow) -> int:
        """Return the number of an episode."""
        return bisect_left(self._positions[episode.group_id], episode.position)

    def named(self, episode_id: str) -> int:
        """Return the number of an episode by its id; the rows of one episode mostly follow each other."""
        if self._last[0] != episode_id:
            episode = self._episodes.episode(episode_id)
            assert episode is not None, f"episode {episode_id} is in no log"
            self._last = episode_id, self.of(episode)
        return self._last[1]


def _has_ends(episodes: GraphStore, stated: RelationshipRow, at: Moment) -> bool:
    """Whether both nodes of an edge are exported: a turn may be read with context that was said after it."""
    if at.valid is None:
        return True
    ends = (episodes.mention(uuid) for uuid in (stated.source, stated.target))
    return all(end is not None and is_by(at, end) for end in ends)


def _node(mention: MentionRow, turn: int) -> dict[str, Any]:
    return {
        "id": mention.uuid,
        "type": mention.type,
        "mention": mention.text,
        "episode_id": mention.episode_id,
        "content": {"mention": mention.text, "turn": turn},
        "metadata": {"turn": str(turn), "timestamp": render(mention.valid_at)},
        "validAt": render(mention.valid_at),
        "createdAt": render(mention.created_at),
    }


def _edge(stated: RelationshipRow, turn: int) -> dict[str, Any]:
    content = {"type": stated.relation, "stance": stated.stance, "turn": turn}
    if (stated.valid_from, stated.valid_to) != (None, None):
        content["interpreted"] = _interpreted(stated)
    return {
        "id": stated.uuid,
        "source": stated.source,
        "target": stated.target,
        "type": stated.relation,
        "episode_id": stated.episode_id,
        "content": content,
        "metadata": {"episode_id": stated.episode_id, "turn": str(turn), "confidence": stated.confidence},
        "validAt": render(stated.valid_at),
        "createdAt": render(stated.created_at),
    }


def _interpreted(stated: RelationshipRow) -> dict[str, Any]:
    """Return when the words of an edge say that it held, as they were understood: the edge is dated by its turn."""
    return {
        "time_words": stated.time_words,
        "valid_from": render(stated.valid_from) if stated.valid_from is not None else None,
        "valid_to": render(stated.valid_to) if stated.valid_to is not None else None,
        "grain": stated.grain,
    }


def _episode(episode: EpisodeRow, turn: int) -> dict[str, Any]:
    return {
        "id": episode.uuid,
        "type": _TYPES[episode.source],
        "actor": episode.role_type,
        "content": episode.content,
        "metadata": {"session_id": episode.group_id, "turn_id": episode.name or f"turn_{turn}"},
        "validAt": render(episode.valid_at),
        "createdAt": render(episode.created_at),
    }


# The semantic layer.


_Graph = tuple[Iterator[dict[str, Any]], Iterator[dict[str, Any]]]


def _plain(beliefs: BeliefStore, group: str | None, at: Moment) -> _Graph:
    """Return the nodes and the edges."""
    return _nodes(beliefs, group, at), _edges(beliefs, group, at)


def _with_details(beliefs: BeliefStore, group: str | None, at: Moment) -> _Graph:
    """Return the nodes and the edges, with conflicts and supersessions, and the values that those lead to."""
    nodes, edges = _plain(beliefs, group, at)
    return chain(nodes, _values(beliefs, group, at)), chain(edges, _conflicts(beliefs, group, at))


def _conflicts(beliefs: BeliefStore, group: str | None, at: Moment) -> Iterator[dict[str, Any]]:
    for uuid, relation, later, earlier, recorded_at in conflicts(beliefs, group, _known(at)):
        ends = {"id": uuid, "source": _target(later, group), "target": _target(earlier, group)}
        facts = {"later": later.uuid, "earlier": earlier.uuid}
        yield {**ends, "relation": relation, **facts, "created_at": render(recorded_at)}


def _values(beliefs: BeliefStore, group: str | None, at: Moment) -> Iterator[dict[str, Any]]:
    """Yield the literals that conflicts and supersessions lead to, each once, but for those of the graph's facts."""
    held, shown = beliefs.live(group, at._replace(deeds=True)), set[str]()
    for conflict in conflicts(beliefs, group, _known(at)):
        for fact in (conflict.later, conflict.earlier):
            if fact.object_uuid is None and fact.uuid not in shown and fact.number not in held:
                shown.add(fact.uuid)
                yield _value(fact, group)


def _facts(beliefs: GraphStore, group: str | None, at: Moment) -> Iterator[FactRow]:
    """Yield the facts that hold, deeds and plans; with `at.ever` every version, those of a fact behind each other.

    Only their numbers are all in memory at once (8 bytes a fact).
    """
    at = at._replace(deeds=True)
    numbers = beliefs.live(group, at)
    for start in range(0, len(numbers), _BATCH):
        yield from chain(*beliefs.facts_numbered(numbers[start : start + _BATCH].tolist(), at).values())


def _nodes(beliefs: BeliefStore, group: str | None, at: Moment) -> Iterator[dict[str, Any]]:
    """Yield the entities, the communities, then a node for the literal of each fact that has one."""
    entities = beliefs.each_entity(group, _known(at))
    while some := list(islice(entities, _BATCH)):
        attributes: dict[str, dict[str, str]] = {entity.uuid: {} for entity in some}
        for attribute in beliefs.attributes(list(attributes), at.known):
            attributes[attribute.entity_uuid][attribute.name] = attribute.value
        for entity in some:
            yield {"id": _id(entity.uuid, group), **Entity.of(entity).to_json(), "attributes": attributes[entity.uuid]}
    for community in beliefs.communities(group, at.known):
        told = community_summary(beliefs, community, at)
        shown, members = (
            Community.of(community, told).to_json(),
            [_id(member.uuid, group) for member in community.members],
        )
        yield {"id": community.uuid, **shown, "type": _COMMUNITY, "members": members}
    for _, versions in groupby(_facts(beliefs, group, at), attrgetter("number")):
        if (fact := next(versions)).object_uuid is None:
            yield _value(fact, group)


def _edges(beliefs: BeliefStore, group: str | None, at: Moment) -> Iterator[dict[str, Any]]:
    """Yield the facts, then the duplicate_of links that are believed."""
    yield from _fact_edges(beliefs, group, at)
    for link in beliefs.each_link(group, _known(at)):
        ends = {"id": link.uuid, "source": _id(link.duplicate, group), "target": _id(link.into, group)}
        yield {**ends, "relation": "duplicate_of", "reason": link.reason, "created_at": render(link.known_from)}


def _fact_edges(beliefs: BeliefStore, group: str | None, at: Moment) -> Iterator[dict[str, Any]]:
    for fact in _facts(beliefs, group, at):
        edge = {"source": _id(fact.subject_uuid, group), "target": _target(fact, group), **Fact.of(fact).to_json()}
        if not at.ever:
            yield {"id": fact.uuid, **edge}
        else:
            known = {"known_from": render(fact.known_from), "known_to": _end(fact.known_to)}
            yield {"id": f"{fact.uuid}.{fact.known_from}.{fact.valid_at}", **edge, **known}


def _end(instant: int) -> str | None:
    return None if instant == INF else render(instant)


def _id(stored: str, group: str | None) -> str:
    """Return the id of an entity's node; in an export of all groups a producer's own comes with its group."""
    return shown_id(stored) if group is not None else qualified_id(stored)


def _target(fact: FactRow, group: str | None) -> str:
    return _id(fact.object_uuid, group) if fact.object_uuid else f"value:{fact.uuid}"


def _value(fact: FactRow, group: str | None) -> dict[str, Any]:
    """Return the node of a fact's literal."""
    return {"id": _target(fact, group), "name": fact.object, "type": None, "group_id": fact.group_id}


def _known(at: Moment) -> int:
    assert at.known is not None, "an export is as of a known moment"
    return at.known
