"""The handlers' read-only views of the beliefs so far. The graph stores implement them.

Answers include everything that was applied before, also in a transaction that is still open, so a handler sees the
effects of the message before its own.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from asof_projections.model.rows import (
    AttributeRow,
    ConsolidationRow,
    EntityRow,
    EpisodeRow,
    FactRow,
    LinkRow,
    MentionRow,
    Moment,
    ObjectiveRow,
    PostRow,
    Saying,
    Slot,
    Statement,
)
from asof_projections.versions import Interval
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed


class EpisodeView(Protocol):
    """A view of the episodic layer: episodes, mentions and recorded answers."""

    def episode(self, uuid: str) -> EpisodeRow | None:
        """Return an episode by id."""
        ...

    def withdrawn(self, episode: str) -> bool:
        """Whether an episode was withdrawn."""
        ...

    def post(self, group: str, external_id: str) -> PostRow | None:
        """Return the post of a group that has an external id, as it was recorded last: after an edit, the edited."""
        ...

    def timezone(self, group: str, before: int) -> str | None:
        """Return the time zone of a group that was last stated at a position below `before`; None: none was."""
        ...

    def recent(self, group: str, source: str, until: int, before: int, limit: int) -> list[EpisodeRow]:
        """Return the latest episodes of a group and source said by `until` (UTC microseconds), oldest first.

        They are of messages at positions below `before`, and were not withdrawn by then: a rebuild, which has later
        messages too, gets the same ones.
        """
        ...

    def episodes_since(self, group: str, since: int, until: int, limit: int) -> int:
        """Return the number of a group's episodes recorded after `since`, up to and at `until`: at most `limit`."""
        ...

    def mentions_of(self, episodes: Sequence[str]) -> list[MentionRow]:
        """Return the mentions of some episodes, in the order in which they were observed."""
        ...

    def mentions_called(self, group: str, name: str) -> list[str]:
        """Return the ids of a group's mentions with this text, in any case, in the order of the log."""
        ...

    def types_of_names(self, group: str, names: Sequence[str]) -> Mapping[str, str]:
        """Return the entity types of those names, in any case, that the group has mentioned, by the name as passed."""
        ...

    def answer(self, group: str, request: str) -> ExtractionAnswered | None:
        """Return the recorded answer to a request about a group's text, by the request's digest."""
        ...

    def failure(self, group: str, request: str, cause: int) -> ExtractionFailed | None:
        """Return the recorded failure of a request, by its digest, about the message at position `cause`."""
        ...

    def unsettled(self, position: int) -> set[str]:
        """Return whether the message at a position is "parked" or "failed", or both, and was not retried since."""
        ...

    def retried(self, position: int) -> list[int]:
        """Return when the retries of the message at a position were recorded, in their order."""
        ...


class FactView(Protocol):
    """The questions that structured facts and belief ask of a store."""

    def entity(self, uuid: str) -> EntityRow | None:
        """Return an entity by id."""
        ...

    def entities_named(self, group: str, name: str) -> list[EntityRow]:
        """Return the entities with exactly this name or alias, first introduced first."""
        ...

    def single(self, group: str, relation: str) -> bool:
        """Whether the relation was declared single-valued: in this group, or else in every one."""
        ...

    def slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        """Return the live statements of a slot; with `value`, of that value (and endings of every value) alone."""
        ...

    def statement(self, uuid: str) -> Statement | None:
        """Return the statements that a retraction may aim at, live or dead."""
        ...

    def retractions_of(self, uuid: str) -> list[Statement]:
        """Return the retractions that aim at a statement."""
        ...

    def fact_with_ref(self, group: str, ref: str) -> Statement | None:
        """Return the latest assertion made under a producer's ref, live or dead."""
        ...

    def link(self, uuid: str) -> LinkRow | None:
        """Return a duplicate_of link by id, believed or taken back; the latest, where it was made again."""
        ...

    def open_contradictions(self, facts: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return (contradiction_id, earlier, later) of the unsettled ones that name one of these facts."""
        ...


class BeliefView(FactView, Protocol):
    """One generation of the semantic layer as far as it goes."""

    def entities_keyed(self, group: str, key: str) -> list[EntityRow]:
        """Return the entities one of whose names has this normalised key (see asof_projections.names.key)."""
        ...

    def entities_with_word(self, group: str, word: str) -> list[EntityRow]:
        """Return the entities that have this normalised word in one of their names: at most 50, oldest first."""
        ...

    def entities(self, group: str, known: int | None, *, prefix: str, limit: int) -> list[EntityRow]:
        """Return the entities with a name that begins so, oldest first."""
        ...

    def aliases(self, uuid: str, known: int | None) -> list[str]:
        """Return the names of an entity, its own first."""
        ...

    def names_given(self, group: str, names: Sequence[str], episode: str) -> list[tuple[str, str]]:
        """Return (entity, name) of those of some names that an episode gave an entity beside its own, each once."""
        ...

    def namings(self, entity: EntityRow, name: str) -> list[str]:
        """Return the episodes that gave an entity a name beside its own, as far as they count: ids, in log order."""
        ...

    def meaning(self, entity: str, mentions: Sequence[str], without: str) -> str | None:
        """Return the first episode but one that has one of these mentions for an entity, and was not withdrawn."""
        ...

    def parted(self, uuid: str) -> set[str]:
        """Return the entities that were joined to this one and taken apart from it, other than by a withdrawal."""
        ...

    def links(self, uuids: Sequence[str], known: int | None) -> list[LinkRow]:
        """Return the duplicate_of links made until a moment (None: ever) that touch one of these entities."""
        ...

    def merged(self, group: str, recorded_at: Sequence[int]) -> list[str]:
        """Return the ids of the links of a group that are believed and were made by the messages recorded then."""
        ...

    def merged_names(self, group: str, episode: str) -> list[str]:
        """Return the ids of the believed links that a consolidation made of an entity that an episode introduced."""
        ...

    def identity(self, uuids: Sequence[str], known: int | None) -> set[str]:
        """Return these entities and all that are taken to be the same as one of them (known: None)."""
        ...

    def facts_around(self, uuids: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        """Return the versions that hold at a moment with these entities as subject, then those with them as object.

        Each part comes by valid_at, then as said; at most `limit` of each.
        """
        ...

    def resolved(self, mention: str) -> str | None:
        """Return the entity that a mention was taken to mean."""
        ...

    def resting_on(self, episode: str, recorded_at: Sequence[int]) -> list[str]:
        """Return the statements that rest on no episode but this one, and withdrawn ones; latest first.

        recorded_at: when the episode's message and its retries were recorded, and so all that it said.
        Dead ones too: what made them so may be taken back.
        """
        ...

    def attested_without(self, episode: str, recorded_at: Sequence[int]) -> list[tuple[str, int]]:
        """Return the facts that this episode said last, but not alone, with when others last did.

        What withdrawn episodes said does not count. recorded_at: as of `resting_on`.
        """
        ...

    def put_back(self, facts: Sequence[str]) -> list[str]:
        """Return the live facts that say of one of these that it began at an unknown earlier time, in log order."""
        ...

    def granules_without(self, episode: str, recorded_at: Sequence[int]) -> list[tuple[str, tuple[Interval, ...]]]:
        """Return the occurrences that this episode told, but not alone, with the granules of the others.

        What withdrawn episodes said does not count. recorded_at: as of `resting_on`.
        """
        ...

    def attribute(self, entity: str, name: str, value: str | None = None) -> AttributeRow | None:
        """Return the value of an attribute that is believed; with `value`, that value as it was last said, if ever.

        What only episodes said that were withdrawn was never said.
        """
        ...

    def sayings(self, entity: str, name: str) -> list[Saying]:
        """Return the statements of an attribute, in log order, but for episodes that were withdrawn."""
        ...

    def spoken_of(self, episode: str) -> list[tuple[str, str]]:
        """Return the entities of which an episode said something, each with the name of the attribute."""
        ...

    def objective(self, uuid: str) -> ObjectiveRow | None:
        """Return an objective, as it is believed; None: it is not."""
        ...

    def goals_of(self, objective: str) -> list[tuple[str, float]]:
        """Return the goals for which an objective is believed, with the saliency of each, in the order of the log."""
        ...

    def objective_of(self, goal: str) -> str | None:
        """Return the objective for which a goal counts, or counted."""
        ...

    def communities_of(self, entities: Sequence[str]) -> Mapping[str, str]:
        """Return the community that each of these entities is of, for those that are of one."""
        ...

    def neighbours(self, entity: str, valid: int, limit: int) -> list[tuple[str, str]]:
        """Return (fact, other entity) of facts from or to an entity that are believed and hold at `valid`.

        Of each direction the first `limit` facts that are believed, by relation and start, are looked at, not all.
        """
        ...


class ConsolidationView(BeliefView, Protocol):
    """What a pass of consolidation looks at: what changed since the one before, and the communities around it."""

    def last_pass(self, group: str) -> tuple[int, int] | None:
        """Return the moment before which the last pass over a group looked at everything, and when it was recorded.

        Where that one was undone, the moment of the pass before it (NEG: none), and when it was undone.
        """
        ...

    def standing_pass(self, group: str) -> ConsolidationRow | None:
        """Return the last pass over a group that was not undone; None: there is none."""
        ...

    def consolidated_at(self, group: str, recorded_at: int) -> list[str]:
        """Return the ids of the believed links that the pass recorded then made."""
        ...

    def moved_at(self, group: str, recorded_at: int) -> list[tuple[str, str | None]]:
        """Return the entities that are of the community to which they moved then, each with that before (None: none).

        One that left its community then, and is of none now, is among them.
        """
        ...

    def introduced_before(self, group: str, instant: int) -> int:
        """Return the number of a group's entities that were introduced before an instant."""
        ...

    def change_beyond(self, group: str, since: int, until: int, budget: int) -> int | None:
        """Return when a version was opened in [since, until), behind so many others of the group; None: none was."""
        ...

    def changed_entities(self, group: str, since: int, until: int) -> list[str]:
        """Return the ends of the facts of a group that came to be believed or ceased to be in [since, until).

        They come in the order of their introduction.
        """
        ...

    def community_sizes(self, communities: Sequence[str]) -> Mapping[str, int]:
        """Return how many members each of these communities has."""
        ...

    def community_members(self, communities: Sequence[str]) -> list[str]:
        """Return the members of some communities, in the order of their introduction."""
        ...
