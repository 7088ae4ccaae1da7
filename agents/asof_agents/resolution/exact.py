"""Exact names: which entity a name means where it has to be the very same, as in every structured fact."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from asof_agents.ports import FactView
from asof_projections.model.rows import EntityRow
from asof_projections.names import key
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Event
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
        for entity in self._by_name.get(name, ()):
            if fits(entity.type, type_):
                return entity
        for entity in self.known.entities_named(self.group, name):
            if fits(entity.type, type_):
                return entity
        return None

    def introduce(self, name: str, type_: str | None) -> EntityRow:
        """Return a new entity."""
        uuid = derive("entity", self.build, self.episode.episode_id, type_ or "", name)
        self.events.append(
            EntityIntroduced(entity_id=uuid, name=name, entity_type=type_, episode_id=self.episode.episode_id)
        )
        entity = EntityRow(uuid, self.group, name, type_, self.recorded_at)
        self.introduced[uuid] = entity
        self._by_name.setdefault(name, []).append(entity)
        self._by_key.setdefault(key(name), []).append(entity)
        return entity

    def introduced_as(self, name: str) -> Sequence[EntityRow]:
        """Return what this episode introduced under a name that differs from this one in its spelling at most."""
        return self._by_key.get(key(name), ())


def fits(known: str | None, asked: str | None) -> bool:
    """Whether an entity of one type may be meant where another is asked for: none given fits any."""
    return known is None or asked is None or known == asked
