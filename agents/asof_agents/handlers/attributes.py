"""Attributes of entities: derives the value that is believed, of all values that were stated. Pure.

The support of a value combines the confidences of all messages that state it, as independent sources: two that are each
wrong one time in three are both wrong one time in nine. A message counts once for a value, with its highest confidence.
The value with the most support is believed; of equal ones the latest. So a single remark does not displace a value that
was stated often or surely, and the order in which messages arrive does not change the outcome.
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


def weigh_attributes(events: Sequence[Event], names: Resolver, known: BeliefView) -> list[Event]:
    """Return an event for each attribute that an episode states; `names` has resolved its mentions."""
    stated = [event for event in events if type(event) is AttributeStated]
    return AttributeWeigher(names, known).weigh(stated) if stated else []


def withdraw(episode: str, known: BeliefView) -> list[Event]:
    """Return the changes of attributes when an episode is withdrawn, as if it had stated none."""
    return [event for entity, name in known.spoken_of(episode) for event in _without(episode, entity, name, known)]


def _without(episode: str, entity: str, name: str, known: BeliefView) -> Iterator[Event]:
    sayings = known.sayings(entity, name)
    left: dict[str, list[Saying]] = {}  # of other episodes, by value; the value that was said last is last
    for saying in sayings:
        if saying.episode_id != episode:
            value = folded(saying.value)
            left[value] = left.pop(value, [])
            left[value].append(saying)
    stands = {value: _standing(None, others) for value, others in left.items()}
    held = known.attribute(entity, name)
    best = max(reversed(stands), key=lambda value: stands[value].sureness, default=held and folded(held.value))
    gone = {folded(saying.value): saying for saying in sayings if saying.episode_id == episode}
    for value, saying in gone.items():
        if value in left:
            yield _event(stands[value], left[value][-1], holds=value == best)
        else:
            yield _event(_standing(None, [saying])._replace(support=0.0), saying, holds=value == best)
    if best is not None and best not in gone and (held is None or folded(held.value) != best):
        yield _event(stands[best], left[best][-1], holds=True)


def _standing(before: AttributeRow | None, sayings: Sequence[Saying]) -> AttributeRow:
    """Return a value with its support after more episodes have stated it; `before`: the same before them."""
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


class AttributeWeigher:
    """Weighs the attributes of one episode, one after the other."""

    def __init__(self, names: Resolver, known: BeliefView) -> None:
        self._names = names
        self._known = known
        self._held: dict[tuple[str, str], AttributeRow] = {}  # by this episode
        self._said: defaultdict[tuple[str, str, str], list[Saying]] = defaultdict(list)

    def weigh(self, stated: Sequence[AttributeStated]) -> list[Event]:
        """Return an event for each statement, in order: its entity, and whether its value is believed from then on."""
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
