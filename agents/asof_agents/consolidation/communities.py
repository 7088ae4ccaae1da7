"""The phase of communities: detects them anew where facts changed since the last pass. Pure.

The entities that may move are the ends of changed facts, and the members of their communities as far as these are
small; all others stay. So a pass costs what changed, not what there is. A community keeps its id where it can.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from asof_agents.consolidation.partitions import Partition, Region
from asof_agents.ports import ConsolidationView
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.semantic import CommunityFormed, CommunityJoined, CommunityLeft

_LOOKED_AT: Final = 100  # facts of an entity, in each direction
_BESIDE: Final = 2_000  # members of small communities that may move with those whose facts changed
_NAMES: Final = 3  # of members, in the name of a community
_LISTED: Final = 1_000  # members in the event that forms a community, which must fit a record; the others join it


class DetectedCommunities(NamedTuple):
    """What the phase came to."""

    events: Sequence[Event]
    detected: int  # communities of the entities that were looked at
    moved: int  # entities whose community is another


def detect_communities(
    changed: Sequence[str], known: ConsolidationView, partition: Partition, *, now: int, consolidation: str
) -> DetectedCommunities:
    """Return the changes of communities around entities whose facts changed, as facts hold `now`.

    ValueError: the partition is none of these entities.
    """
    frontier = Frontier(changed, known, now)
    region = frontier.region()
    labels = list(partition(region))
    limit = region.communities + len(region.labels)
    if len(labels) != len(region.labels) or not all(type(label) is int and 0 <= label < limit for label in labels):
        raise ValueError("a partition gives each entity the label of a community, or one of its own")
    return frontier.changes(labels, consolidation)


class Frontier:
    """The entities that may move, their communities, and the neighbours of each."""

    def __init__(self, changed: Sequence[str], known: ConsolidationView, now: int) -> None:
        self._known = known
        belongs = dict(known.communities_of(changed))
        beside = self._beside(belongs)
        self._entities = list(dict.fromkeys([*changed, *beside]))
        self._near = {entity: self._neighbours(entity, now) for entity in self._entities}
        outside = dict.fromkeys(other for near in self._near.values() for other in near if other not in self._near)
        self._before = dict(known.communities_of([*self._entities, *outside]))
        self._communities = sorted(set(self._before.values()))

    def region(self) -> Region:
        """Return it with numbers in the place of ids."""
        places = {entity: place for place, entity in enumerate(self._entities)}
        numbers = {community: number for number, community in enumerate(self._communities)}
        many = len(numbers)
        near = [sorted(places[other] for other in self._near[entity] if other in places) for entity in self._entities]
        around = [
            Counter(
                numbers[self._before[other]]
                for other in self._near[entity]
                if other not in places and other in self._before
            )
            for entity in self._entities
        ]
        labels = [
            numbers[self._before[entity]] if self._near[entity] and entity in self._before else many + place
            for place, entity in enumerate(self._entities)
        ]
        return Region(many, labels, _symmetric(near), around)

    def changes(self, labels: Sequence[int], consolidation: str) -> DetectedCommunities:
        """Return what makes the communities those of a partition."""
        sizes = self._known.community_sizes(self._communities)
        inside = Counter(self._before[entity] for entity in self._entities if entity in self._before)
        stay = {community for community in self._communities if sizes.get(community, 0) > inside[community]}
        clusters: defaultdict[int, list[str]] = defaultdict(list)
        for entity, label in zip(self._entities, labels, strict=True):
            clusters[label].append(entity)
        named = self._named(clusters, stay)
        events: list[Event] = []
        detected = moved = 0
        for label, members in clusters.items():
            community = named.get(label)
            if len(members) == 1 and community not in stay:
                left = [
                    CommunityLeft(entity_id=entity, episode_id=consolidation)
                    for entity in members
                    if entity in self._before
                ]
                events, moved = [*events, *left], moved + len(left)
                continue
            detected += 1
            joins = [entity for entity in members if community is None or self._before.get(entity) != community]
            moved += len(joins)
            events += self._joined(joins, community, consolidation)
        return DetectedCommunities(events, detected, moved)

    def _named(self, clusters: dict[int, list[str]], stay: set[str]) -> dict[int, str]:
        """Return the community that each cluster goes on, by its label: the one that it has, else that of most members.

        A community of members outside goes on without the clusters that left it.
        """
        named = {label: self._communities[label] for label in clusters if label < len(self._communities)}
        free = set(self._communities) - set(named.values()) - stay
        for label in sorted(clusters, key=lambda label: (-len(clusters[label]), label)):
            if label in named:
                continue
            counts = Counter(self._before[e] for e in clusters[label] if self._before.get(e) in free)
            if counts:
                named[label] = min(counts, key=lambda community: (-counts[community], community))
                free.remove(named[label])
        return named

    def _joined(self, members: Sequence[str], community: str | None, consolidation: str) -> list[Event]:
        if community is not None:
            return [CommunityJoined(community_id=community, entity_id=e, episode_id=consolidation) for e in members]
        made = derive("community", consolidation, members[0])
        name = ", ".join(self._name(member) for member in members[:_NAMES])
        first, others = tuple(members[:_LISTED]), members[_LISTED:]
        formed = CommunityFormed(community_id=made, name=name, members=first, episode_id=consolidation)
        return [formed, *self._joined(others, made, consolidation)]

    def _name(self, uuid: str) -> str:
        entity = self._known.entity(uuid)
        assert entity is not None, f"entity {uuid} is in no log"
        return entity.name

    def _beside(self, belongs: dict[str, str]) -> list[str]:
        """Return the members of the smallest communities, so many as may move beside those whose facts changed."""
        sizes = self._known.community_sizes(sorted(set(belongs.values())))
        chosen, room = [], _BESIDE
        for community in sorted(sizes, key=lambda community: (sizes[community], community)):
            room -= sizes[community]
            if room < 0:
                break
            chosen.append(community)
        return self._known.community_members(chosen) if chosen else []

    def _neighbours(self, entity: str, now: int) -> list[str]:
        pairs = self._known.neighbours(entity, now, _LOOKED_AT)
        return sorted({other for _, other in pairs} - {entity})


def _symmetric(near: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
    """Return neighbours both ways: of an entity with many facts only some are looked at, from the others all."""
    both: list[set[int]] = [set(others) for others in near]
    for node, others in enumerate(near):
        for other in others:
            both[other].add(node)
    return [sorted(others) for others in both]
