"""What entities are like: which value of an attribute is believed, of all that were said. Pure.

A value is as sure as all that said it together: two who are each wrong one time in three are both wrong one time in
nine. The surest is believed; of equally sure ones that which was said last. So a value that was said surely, or often,
is not given up for one that was said once and in passing, and what is believed in the end does not depend on the order
in which messages arrive.
"""

from collections.abc import Iterator, Sequence

from asof_agents.ports import BeliefKnown
from asof_agents.resolution.entities import Resolver
from asof_projections.names import folded
from asof_projections.rows import Attribute, Saying
from asof_streams.episodic import AttributeStated
from asof_streams.events import Event
from asof_streams.semantic import EntityAttributed


def attribute(events: Sequence[Event], names: Resolver, known: BeliefKnown) -> list[Event]:
    """Return what the attributes stated in one episode lead to; `names` has resolved the mentions of it."""
    return Attributes(names, known).weigh([event for event in events if isinstance(event, AttributeStated)])


def withdraw(episode: str, known: BeliefKnown) -> list[Event]:
    """Return what follows for attributes where an episode counts no longer, as if it had said nothing of them."""
    return [event for entity, name in known.spoken_of(episode) for event in _without(episode, entity, name, known)]


def _without(episode: str, entity: str, name: str, known: BeliefKnown) -> Iterator[Event]:
    said = known.sayings(entity, name)
    left: dict[str, tuple[Attribute, Saying]] = {}  # by value: how it stands without the episode, by which saying last
    for saying in said:
        if saying.episode_id != episode:
            before = left.pop(folded(saying.value), None)  # so that what was said last is the last
            left[folded(saying.value)] = (_after(before and before[0], saying), saying)
    held = known.attribute(entity, name)
    best = max(reversed(left), key=lambda value: left[value][0].sureness, default=held and folded(held.value))
    gone = {folded(saying.value): saying for saying in said if saying.episode_id == episode}
    for value, saying in gone.items():
        now, last = left.get(value) or (_after(None, saying)._replace(support=0.0), saying)
        yield _event(now, last, holds=value == best)
    if best is not None and best not in gone and (held is None or folded(held.value) != best):
        yield _event(*left[best], holds=True)


def _after(before: Attribute | None, saying: Saying) -> Attribute:
    """Return how a value stands after it was said once more."""
    return Attribute(
        saying.entity_uuid,
        saying.name,
        saying.value,
        saying.confidence if before is None else 1 - (1 - before.support) * (1 - saying.confidence),
        saying.said_at if before is None else max(before.attested, saying.said_at),
        saying.episode_id,
    )


def _event(now: Attribute, saying: Saying, *, holds: bool) -> Event:
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

    def __init__(self, names: Resolver, known: BeliefKnown) -> None:
        self._names = names
        self._known = known
        self._held: dict[tuple[str, str], Attribute] = {}  # by this episode
        self._said: dict[tuple[str, str, str], Attribute] = {}

    def weigh(self, stated: Sequence[AttributeStated]) -> list[Event]:
        """Return an event for each statement: what it was said of, and whether its value is believed from there on."""
        entities = [self._names.meant(s.mention_id) for s in stated]
        return [self._weigh(entity, s) for entity, s in zip(entities, stated, strict=True) if entity is not None]

    def _weigh(self, entity: str, stated: AttributeStated) -> Event:
        slot, value = (entity, stated.name), (entity, stated.name, folded(stated.value))
        said_at = self._names.episode.valid_at
        saying = Saying(*slot, stated.value, stated.confidence, said_at, stated.episode_id, stated.attribute_id)
        before = self._said.get(value) or self._known.attribute(entity, stated.name, stated.value)
        held = self._held.get(slot) or self._known.attribute(entity, stated.name)
        now = _after(before, saying)
        holds = held is None or folded(held.value) == value[2] or now.sureness >= held.sureness
        self._said[value] = now
        if holds:
            self._held[slot] = now
        return _event(now, saying, holds=holds)
