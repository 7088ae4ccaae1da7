"""Resolution within one message alone: no name means an entity of another message. Pure."""

from dataclasses import dataclass

from asof_agents.resolution.entities import PERSON, Resolver
from asof_agents.resolution.exact import fits
from asof_projections.model.rows import EntityRow
from asof_streams.episodic import MentionObserved


@dataclass(slots=True)
class EpisodeResolver(Resolver):
    """Resolves the names of one episode to entities that this episode introduces."""

    def named(self, name: str, type_: str | None) -> EntityRow | None:
        """Return the entity of this name that the episode introduced."""
        return next((entity for entity in self.introduced_as(name) if fits(entity.type, type_)), None)

    def _sure(self, mention: MentionObserved) -> tuple[EntityRow, str, float] | None:
        if mention.speaker:
            name = self.episode.role or self.episode.role_type
            return self.named(name, PERSON) or self.introduce(name, PERSON), "speaker", 1.0
        full = self._full.of(mention.text) if mention.entity_type == PERSON else None
        if full is not None and (uuid := self._meant.get(full.mention_id)):
            return self.entity(uuid), "first name", 0.9
        entity = self.named(mention.text, mention.entity_type)
        return None if entity is None else (entity, "name", 1.0)
