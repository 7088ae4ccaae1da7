"""What entities are like: which value of an attribute is believed, of all that were said. Pure.

A value is as sure as all that said it together: two who are each wrong one time in three are both wrong one time in
nine. One message says a value once, as surely as it says it at most. The surest is believed; of equally sure ones that
which was said last. So a value that was said surely, or often, is not given up for one that was said once and in
passing, and what is believed in the end does not depend on the order in which messages arrive.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from asof_agents.ports import BeliefView
from asof_agents.resolution.entities import Resolver
from asof_projections.model.rows import AttributeRow, Saying
from asof_projections.names import folded
from asof_streams.episodic import AttributeStated
from asof_streams.events import Event
from asof_streams.semantic import EntityAttributed


def attribute(events: Sequence[Event], names: Resolver, known: BeliefView) -> list[Event]:
    """Return what the attributes stated in one episode lead to; `names` has resolved the mentions of it."""
    stated = [event for event in events if isinstance(event, AttributeStated)]
    return Attributes(names, known).weigh(stated) if stated else []


def withdraw(episode: str, known: BeliefView) -> list[Event]:
    """Return what follows for attributes where an episode counts no longer, as if it had said nothing of them."""
    return [event for entity, name in known.spoken_of(episode) for event in _without(episode, entity, name, known)]


def _without(episode: str, entity: str, name: str, known: BeliefView) -> Iterator[Event]:
    said = known.sayings(entity, name)
    left: dict[str, list[Saying]] = {}  # by value, that which was said last at the end: what other episodes said
    for saying in said:
        if saying.episode_id != episode:
            value = folded(saying.value)
            left[value] = left.pop(value, [])
            left[value].append(saying)
    stands = {value: _standing(None, sayings) for value, sayings in left.items()}
    held = known.attribute(entity, name)
    best = max(reversed(stands), key=lambda value: stands[value].sureness, default=held and folded(held.value))
    gone = {folded(saying.value): saying for saying in said if saying.episode_id == episode}
    for value, saying in gone.items():
        if value in left:
            yield _event(stands[value], left[value][-1], holds=value == best)
        else:
            yield _event(_standing(None, [saying])._replace(support=0.0), saying, holds=value == best)
    if best is not None and best not in gone and (held is None or folded(held.value) != best):
        yield _event(stands[best], left[best][-1], holds=True)


def _standing(before: AttributeRow | None, sayings: Sequence[Saying]) -> AttributeRow:
    """Return how a value stands after sayings of it by episodes that had not said it; `before`: how it stood."""
    surest: dict[str, float] = {}
    for saying in sayings:
        surest[saying.episode_id] = max(saying.confidence, surest.get(saying.episode_id, 0.0))
    support = before.support if before else 0.0
    for confidence in surest.values():
        support += (1 - support) * confidence
    attested = max(saying.said_at for saying in sayings)
    last = sayings[-1]
    return AttributeRow(
        last.entity_uuid,
        last.name,
        last.value,
        support,
        max(before.attested, attested) if before else attested,
        last.episode_id,
    )


def _event(now: AttributeRow, saying: Saying, *, holds: bool) -> Event:
    return EntityAttributed(
        entity_id=now.entity_uuid,
        name=now.name,
        value=now.value,
        confidence=saying.confidence,
        support=now.support,
        attested=now.attested,
        holds=holds,
        said_at=saying.said_at,
        episode_id=saying.episode_id,
        attribute_id=saying.attribute_id,
    )


class Attributes:
    """Weighs the statements of one episode, one after the other."""

    def __init__(self, names: Resolver, known: BeliefView) -> None:
        self._names = names
        self._known = known
        self._held: dict[tuple[str, str], AttributeRow] = {}  # by this episode
        self._said: defaultdict[tuple[str, str, str], list[Saying]] = defaultdict(list)

    def weigh(self, stated: Sequence[AttributeStated]) -> list[Event]:
        """Return an event for each statement: what it was said of, and whether its value is believed from there on."""
        entities = [self._names.meant(s.mention_id) for s in stated]
        return [self._weigh(entity, s) for entity, s in zip(entities, stated, strict=True) if entity is not None]

    def _weigh(self, entity: str, stated: AttributeStated) -> Event:
        slot, value = (entity, stated.name), folded(stated.value)
        said_at = self._names.episode.valid_at
        saying = Saying(*slot, stated.value, stated.confidence, said_at, stated.episode_id, stated.attribute_id)
        self._said[*slot, value].append(saying)
        now = _standing(self._known.attribute(*slot, stated.value), self._said[*slot, value])
        held = self._held.get(slot) or self._known.attribute(*slot)
        holds = held is None or folded(held.value) == value or now.sureness >= held.sureness
        if holds:
            self._held[slot] = now
        return _event(now, saying, holds=holds)
