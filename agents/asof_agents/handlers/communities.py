"""Communities: assigns the entities that a message mentions, if the message has `update_communities`. Pure.

An entity joins the community of most of its neighbours: entities that a believed fact connects to it at the time of the
message. Of equal communities its own one stays, else the smallest id wins. If no neighbour has a community, the entity
and its neighbours form one. This is label propagation, one step for each mentioned entity, so a message costs the same
however large its group is.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from asof_agents.ports import BeliefView
from asof_agents.resolution.entities import Resolver
from asof_agents.resolution.exact import ExactNames
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.instants import INF
from asof_streams.semantic import (
    CommunityFormed,
    CommunityJoined,
    CommunityLeft,
    FactAsserted,
    FactInvalidated,
    FactRestored,
    MentionResolved,
    Period,
)

_LOOKED_AT: Final = 100  # facts in each direction
_NAMES: Final = 3  # of members, in the name of a community


def assign_communities(events: Sequence[Event], names: Resolver, known: BeliefView) -> list[Event]:
    """Return the changes of communities; `events` are the semantic events of the message so far."""
    assigner = CommunityAssigner(events, names, known)
    mentioned = dict.fromkeys(event.entity_id for event in events if isinstance(event, MentionResolved))
    return [event for entity in mentioned for event in assigner.assign(entity)]


def leave_communities(events: Sequence[Event], names: ExactNames, known: BeliefView) -> list[Event]:
    """Return the departures of entities that no fact connects to another any longer; `events` end or restore facts."""
    assigner = CommunityAssigner(events, names, known)
    members = known.communities_of(assigner.touched)
    left = [entity for entity in dict.fromkeys(assigner.touched) if entity in members]
    episode = names.episode.episode_id
    return [CommunityLeft(entity_id=one, episode_id=episode) for one in left if not assigner.neighbours(one)]


class CommunityAssigner:
    """Assigns entities to communities, with the facts as one message leaves them."""

    def __init__(self, events: Iterable[Event], names: ExactNames, known: BeliefView) -> None:
        self._names = names
        self._known = known
        self._now = names.episode.valid_at
        self._communities: dict[str, str] = {}  # by entity, as this message assigned them
        self._changed: set[str] = set()  # facts that this message changed: the store has them as they were before
        self._links: dict[str, set[str]] = {}  # what those facts connect with an entity now
        self.touched: list[str] = []  # the ends of those facts
        for event in events:
            if isinstance(event, FactAsserted | FactInvalidated | FactRestored):
                self._changed.add(event.fact_id)
                for one, other in self._ends(event):
                    self.touched += (one, other)
                    if _hold(event.holds, self._now):
                        self._links.setdefault(one, set()).add(other)
                        self._links.setdefault(other, set()).add(one)

    def assign(self, entity: str) -> list[Event]:
        """Return the event that assigns an entity; nothing, if it has no neighbours or its community is right."""
        near = self.neighbours(entity)
        belongs = self._of([entity, *near])
        counts = Counter(belongs[other] for other in near if other in belongs)
        if counts:
            most = max(counts.values())
            best = [community for community, count in counts.items() if count == most]
            return [] if belongs.get(entity) in best else [self._join(entity, min(best))]
        return [self._form([entity, *near])] if near and entity not in belongs else []

    def _join(self, entity: str, community: str) -> Event:
        self._communities[entity] = community
        return CommunityJoined(community_id=community, entity_id=entity, episode_id=self._names.episode.episode_id)

    def _form(self, members: list[str]) -> Event:
        names, episode = self._names, self._names.episode.episode_id
        community = derive("community", names.build, episode, members[0])
        self._communities |= dict.fromkeys(members, community)
        name = ", ".join(names.entity(member).name for member in members[:_NAMES])
        return CommunityFormed(community_id=community, name=name, members=tuple(members), episode_id=episode)

    def _of(self, entities: list[str]) -> dict[str, str]:
        assigned = {entity: self._communities[entity] for entity in entities if entity in self._communities}
        return {**self._known.communities_of(entities), **assigned}

    def neighbours(self, entity: str) -> list[str]:
        """Return the entities that a fact connects to one, as the message leaves the facts."""
        pairs = self._known.neighbours(entity, self._now, _LOOKED_AT)
        near = {other for fact, other in pairs if fact not in self._changed}
        near |= self._links.get(entity, set())
        return sorted(near - {entity})

    def _ends(self, event: FactAsserted | FactInvalidated | FactRestored) -> list[tuple[str, str]]:
        """Return the two entities of a fact; nothing, if its object is a literal."""
        if isinstance(event, FactAsserted):
            return [] if event.object is None else [(event.subject, event.object)]
        statement = self._known.statement(event.fact_id)
        assertion = None if statement is None else statement.assertion
        if statement is None or assertion is None or not assertion.value.startswith("e:"):
            return []
        return [(statement.subject, assertion.value[2:])]


def _hold(holds: Iterable[Period], at: int) -> bool:
    return any(start <= at < (INF if end is None else end) for start, end in holds)
