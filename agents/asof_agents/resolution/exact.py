"""Exact names: which entity a name means where it has to be the very same, as in every structured fact."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from asof_agents.ports import FactView
from asof_projections.model.rows import EntityRow
from asof_projections.names import key
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Event, event_of
from asof_streams.ids import derive
from asof_streams.semantic import EntityIntroduced


@dataclass(slots=True)
class ExactNames:
    """The names of one episode; remembers what it introduced, which the stores do not know yet."""

    known: FactView
    build: str
    group: str
    recorded_at: int
    episode: EpisodeRecorded
    events: list[Event] = field(default_factory=list)
    introduced: dict[str, EntityRow] = field(default_factory=dict)  # by id
    _by_name: dict[str, list[EntityRow]] = field(default_factory=dict)
    _by_key: dict[str, list[EntityRow]] = field(default_factory=dict)

    def entity(self, uuid: str) -> EntityRow:
        """Return an entity, also one just introduced."""
        found = self.introduced.get(uuid) or self.known.entity(uuid)
        assert found is not None, f"entity {uuid} is in no log"
        return found

    def exact(self, name: str, type_: str | None) -> EntityRow:
        """Return the entity with exactly this name, of this type where one is given; a new one where there is none."""
        return self.named(name, type_) or self.introduce(name, type_)

    def named(self, name: str, type_: str | None) -> EntityRow | None:
        """Return the first entity with exactly this name, those that this episode introduced before all others."""
        introduced = first_fitting(self._by_name.get(name, ()), type_)
        return introduced or first_fitting(self.known.entities_named(self.group, name), type_)

    def introduce(self, name: str, type_: str | None) -> EntityRow:
        """Return a new entity."""
        introduced = introduction(name, type_, self.build, self.episode.episode_id)
        self.events.append(introduced)
        entity = EntityRow(introduced.entity_id, self.group, name, type_, self.recorded_at)
        self.introduced[entity.uuid] = entity
        self._by_name.setdefault(name, []).append(entity)
        self._by_key.setdefault(key(name), []).append(entity)
        return entity

    def introduced_as(self, name: str) -> Sequence[EntityRow]:
        """Return what this episode introduced under a name that differs from this one in its spelling at most."""
        return self._by_key.get(key(name), ())


def introduction(name: str, type_: str | None, build: str, episode: str) -> EntityIntroduced:
    """Return the event by which an episode introduces an entity in a build."""
    uuid = derive("entity", build, episode, type_ or "", name)
    return event_of(EntityIntroduced, {"entity_id": uuid, "name": name, "entity_type": type_, "episode_id": episode})


def first_fitting(entities: Sequence[EntityRow], type_: str | None) -> EntityRow | None:
    """Return the first entity that may be meant by a type; None: none may."""
    if type_ is None:
        return entities[0] if entities else None
    for entity in entities:  # mostly one, for which a generator would cost more than the rest
        if fits(entity.type, type_):
            return entity
    return None


def fits(known: str | None, asked: str | None) -> bool:
    """Whether an entity of one type may be meant where another is asked for: none given fits any."""
    return known is None or asked is None or known == asked
