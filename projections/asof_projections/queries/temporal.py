"""The questions that a memory answers, each as of one moment on both clocks that its caller fixed.

A question about a name is about every entity that has it (exactly; else by its normalised key) and all that were taken
to be the same as one of them at the asked moment. A name that nobody has gives an empty answer. A group of None is
every group.
"""

from collections.abc import Sequence

from asof_projections.graph.ports import GraphStore, Reached
from asof_projections.ports import BeliefStore
from asof_projections.queries import diffs, timelines
from asof_projections.queries.answers import ChangesPage, Level, Portrait, Rectangle, Turn
from asof_projections.queries.consistent_read import at_once
from asof_projections.queries.evidence import Why, Witness
from asof_projections.queries.summaries import SUMMARISED, summary
from asof_projections.queries.timelines import Believed, Segment
from asof_projections.rows import Attribute, Community, Entity, Fact, Moment
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.instants import INF


class TemporalQueries:
    """Answers from one generation's store and the store of the episodic layer."""

    def __init__(self, beliefs: BeliefStore, episodes: GraphStore) -> None:
        self._beliefs = beliefs
        self._witness = Witness(beliefs, episodes)

    # At a moment.

    @at_once
    def facts(
        self,
        at: Moment,
        group: str | None = None,
        *,
        about: str | None = None,
        relation: str | None = None,
        object_: str | None = None,
        limit: int | None = None,
    ) -> list[Fact]:
        """Return what holds, by valid_at: of a subject, of a relation, with an object (a name, or a literal)."""
        subjects = objects = None
        if about is not None:
            subjects = self._meant(group, about, at.known)
            if not subjects:
                return []
        if object_ is not None:
            objects = self._meant(group, object_, at.known)
        return self._beliefs.facts(
            group, at, subjects=subjects, relation=relation, objects=objects, value=object_, limit=limit
        )

    def entities(
        self, known: int | None, group: str | None = None, *, prefix: str = "", limit: int | None = None
    ) -> list[Entity]:
        """Return the entities known at a moment, oldest first; with `prefix`, those with a name that begins so."""
        return self._beliefs.entities(group, known, prefix=prefix, limit=limit)

    def communities(self, known: int | None, group: str | None = None, *, limit: int | None = None) -> list[Community]:
        """Return the communities known at a moment with their members, those formed first first."""
        return self._beliefs.communities(group, known, limit=limit)

    @at_once
    def entity(self, name: str, at: Moment, group: str | None = None, *, limit: int | None = None) -> list[Portrait]:
        """Return what is known of everything that has this name, one portrait for all that are the same."""
        portraits: list[Portrait] = []
        seen: set[str] = set()
        for entity in self._called(group, name, at.known):
            if entity.uuid not in seen:
                same = sorted(self._beliefs.identity([entity.uuid], at.known))
                seen.update(same)
                portraits.append(self._portrait(entity, same, at, limit))
        return portraits

    @at_once
    def neighbourhood(
        self, name: str, hops: int, at: Moment, group: str | None = None, *, limit: int | None = None
    ) -> list[Level]:
        """Return the facts that lead away from a name, in either direction, by how many steps away they are.

        Everything holds at one moment. `limit` bounds the facts of a level in each direction.
        """
        reached: set[str] = set()
        known: set[str] = set()  # facts
        who: str | list[str] = name
        levels: list[Level] = []
        for hop in range(1, hops + 1):
            if not who:
                break
            found = self._beliefs.reach(group, who, at, limit)
            if not found.alike:
                break
            reached |= found.alike
            facts = [f for f in _once(found) if f.uuid not in known]
            known.update(f.uuid for f in facts)
            levels.append(Level(hop, tuple(facts)))
            ends = {end for f in facts for end in (f.subject_uuid, f.object_uuid) if end is not None}
            who = sorted(ends - reached)
        return levels

    # Over valid time.

    @at_once
    def overlapping(
        self,
        start: int,
        stop: int,
        known: int | None,
        group: str | None = None,
        *,
        about: str | None = None,
        relation: str | None = None,
        limit: int | None = None,
    ) -> list[Fact]:
        """Return what holds at some instant of [start, stop)."""
        if start >= stop:
            raise InvalidInput("a period ends after it starts: from must be before to")
        subjects = None if about is None else self._meant(group, about, known)
        if subjects == []:
            return []
        return self._beliefs.overlapping(group, start, stop, known, subjects=subjects, relation=relation, limit=limit)

    @at_once
    def throughout(
        self,
        start: int,
        stop: int,
        known: int | None,
        group: str | None = None,
        *,
        about: str | None = None,
        relation: str | None = None,
    ) -> list[Segment]:
        """Return what holds at every instant of [start, stop), said by one fact or by several that meet."""
        facts = self.overlapping(start, stop, known, group, about=about, relation=relation)
        return [segment for segment in self._segments(facts, known) if segment.covers((start, stop))]

    @at_once
    def timeline(
        self, name: str, known: int | None, group: str | None = None, *, relation: str | None = None
    ) -> list[Segment]:
        """Return what held of a name and when: slot by slot, with the gaps in which nothing is known to hold."""
        facts = self.facts(Moment(None, known), group, about=name, relation=relation)
        return timelines.with_gaps(self._segments(facts, known))

    # Over known time.

    @at_once
    def history(self, what: str, group: str | None = None) -> list[Rectangle]:
        """Return every version of a fact (by id) or of all facts with an entity (by name), with what made each.

        A period that belief kept while others of the same fact changed is one rectangle.
        """
        versions = [version for version in self._beliefs.versions(what) if group in (None, version.group_id)]
        if not versions and self._beliefs.fact(what) is None:
            ids = self._meant(group, what, None)
            versions = self._touching(group, ids, Moment(None, None), None) if ids else []
        turns = {uuid: self._turns(uuid) for uuid in {v.uuid for v in versions}}
        whole = timelines.rectangles(versions)
        return [Rectangle(v, turns[v.uuid][v.known_from], turns[v.uuid].get(v.known_to)) for v in whole]

    def known_history(self, fact: str, valid: int | None) -> list[Believed]:
        """Return when we believed that a fact holds at `valid` (None: at any time)."""
        self._fact(fact)
        return timelines.known_periods(self._beliefs.versions(fact), valid)

    @at_once
    def diff(
        self,
        first: Moment,
        second: Moment,
        group: str | None = None,
        *,
        about: str | None = None,
        relation: str | None = None,
    ) -> list[diffs.Change]:
        """Return what is different at the second moment, each change under one label."""
        between = Moment(first.valid, second.known)
        before, middle, after = (
            self.facts(at, group, about=about, relation=relation) for at in (first, between, second)
        )
        return diffs.changes(before, middle, after)

    def changes(self, since: int, limit: int, group: str | None = None) -> ChangesPage:
        """Return what messages after position `since` opened and closed, in order, and where to go on from."""
        found = self._beliefs.changes(since, limit)
        kept = [change for change in found if group in (None, change.fact.group_id)]
        return ChangesPage(tuple(kept), found[-1].position if found else since)

    @at_once
    def why(self, fact: str, known: int | None = None) -> Why:
        """Return the words, known by then, that a fact rests on, and those behind what became of it. NotFound."""
        found = self._fact(fact)
        if known is not None and known < found.created_at:
            raise NotFound(f"the fact {fact} was not known yet at that moment")
        return self._witness.why(found, known)

    # Parts of answers.

    def _meant(self, group: str | None, name: str, known: int | None) -> list[str]:
        """Return the ids that a name, or an id, stands for."""
        return self._beliefs.meant(group, name, known) or sorted(self._beliefs.identity([name], known))

    def _called(self, group: str | None, name: str, known: int | None) -> list[Entity]:
        found = self._beliefs.called(group, name, known)
        by_id = None if found else self._beliefs.entity(name)
        return found if by_id is None or group not in (None, by_id.group_id) else [by_id]

    def _fact(self, uuid: str) -> Fact:
        fact = self._beliefs.fact(uuid)
        if fact is None:
            raise NotFound(f"no fact has the id {uuid}")
        return fact

    def _touching(self, group: str | None, ids: Sequence[str], at: Moment, limit: int | None) -> list[Fact]:
        return _once(self._beliefs.reach(group, ids, at, limit))

    def _portrait(self, entity: Entity, same: list[str], at: Moment, limit: int | None) -> Portrait:
        names = dict.fromkeys(name for uuid in (entity.uuid, *same) for name in self._beliefs.aliases(uuid, at.known))
        links = self._beliefs.links(same, at.known)
        ends = {uuid: self._beliefs.entity(uuid) for link in links for uuid in (link.duplicate, link.into)}
        attributes = self._attributes(same, at.known)
        return Portrait(
            entity,
            tuple(names),
            tuple(links),
            {uuid: end.name for uuid, end in ends.items() if end is not None},
            self._beliefs.appearances(same, at.known),
            summary(attributes, self._beliefs.latest(same, at, SUMMARISED)),
            attributes,
            tuple(self._beliefs.communities(entity.group_id, at.known, of=same)),
            tuple(self._touching(entity.group_id, same, at, limit)),
        )

    def _attributes(self, same: Sequence[str], known: int | None) -> tuple[Attribute, ...]:
        """Return of each attribute the surest value, where several entities that are one have some."""
        found = self._beliefs.attributes(same, known)
        surest = {a.name: a for a in sorted(found, key=lambda a: a.sureness)}
        return tuple(a for a in found if surest[a.name] is a)

    def _segments(self, facts: Sequence[Fact], known: int | None) -> list[Segment]:
        ends = {end for f in facts for end in (f.subject_uuid, f.object_uuid) if end is not None}
        alike = self._beliefs.identity(sorted(ends), known)
        believed = (link for link in self._beliefs.links(sorted(alike), known) if link.known_to == INF)
        return timelines.segments(facts, timelines.same_as(believed))

    def _turns(self, fact: str) -> dict[int, Turn]:
        """Return what changed belief in a fact, by when it was recorded."""
        rests = self._beliefs.provenance(fact)
        assert rests is not None, f"fact {fact} has no provenance"
        asserted = {rests.sources[0].recorded_at: Turn("asserted", fact)}
        return asserted | {c.recorded_at: Turn(c.kind, c.statement) for c in rests.closings}


def _once(found: Reached) -> list[Fact]:
    """Return the facts of a step, each once though both its ends may be among those that it was taken from."""
    within = {(f.uuid, f.valid_at, f.known_from) for f in found.outward}
    return found.outward + [f for f in found.inward if (f.uuid, f.valid_at, f.known_from) not in within]
