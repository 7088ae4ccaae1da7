"""The questions that a memory answers, each as of one moment on both clocks, which the caller fixes.

A question about a name is about every entity that has it (exactly, else by its normalised key), and about all their
duplicates at that moment. A name that no entity has gives an empty answer.
"""

from collections.abc import Sequence
from itertools import islice

from asof_projections.entity_ids import entity_with_id
from asof_projections.graph.ports import EntityDetails, GraphStore, Provenance
from asof_projections.model.answers import (
    Attribute,
    BeliefPeriod,
    Cause,
    Change,
    Changes,
    Community,
    Difference,
    Entity,
    EntityProfile,
    Explanation,
    Fact,
    FactVersion,
    Hop,
    Link,
    NodeName,
    Page,
    Segment,
    facts_of,
    instant_of,
    time_of,
)
from asof_projections.model.queries import (
    DEFAULT_GROUP,
    ChangesQuery,
    CommunitiesQuery,
    DiffQuery,
    EntitiesQuery,
    EntityQuery,
    FactsFilter,
    FactsQuery,
    HistoryQuery,
    KnownHistoryQuery,
    NeighbourhoodQuery,
    OverlappingQuery,
    ThroughoutQuery,
    TimelineQuery,
    WhyQuery,
)
from asof_projections.model.rows import CommunityRow, FactRow, Moment, SegmentRow, Window
from asof_projections.ports import BeliefStore
from asof_projections.queries import diffs, timelines
from asof_projections.queries.consistent_read import consistent_read
from asof_projections.queries.evidence import Witness
from asof_projections.queries.summaries import SUMMARISED, community_summary, summary, surest
from asof_streams.errors import NotFound
from asof_streams.ids import shown_id
from asof_streams.instants import INF


class TemporalQueries:
    """Answers questions from the store of one generation and that of the episodic layer."""

    def __init__(self, beliefs: BeliefStore, episodes: GraphStore) -> None:
        self._beliefs = beliefs
        self._witness = Witness(beliefs, episodes)

    # At a moment.

    @consistent_read
    def facts(self, query: FactsQuery, at: Moment) -> Page[Fact]:
        """Return the facts that hold, by valid_at: of a subject, of a relation, with an object."""
        return self._page(query, at, Window.at(at))

    @consistent_read
    def overlapping(self, query: OverlappingQuery, known: int) -> Page[Fact]:
        """Return the facts that hold at some instant of a period, by valid_at."""
        return self._page(query, Moment(None, known), Window.during(query.start, query.stop, known))

    def _page(self, query: FactsFilter, at: Moment, window: Window) -> Page[Fact]:
        limit = query.limit
        rows = self._rows(query, window, None if limit is None else limit + 1)
        if limit is None or len(rows) <= limit:
            return Page(map(Fact.of, rows))
        last = rows[limit - 1]
        key = (str(last.valid_at), str(last.number), str(last.known_from))
        more = query.cursor_after(*key, valid=at.valid, known=at.known)
        return Page.until(map(Fact.of, islice(rows, limit)), more)

    def _rows(self, query: FactsFilter, window: Window, limit: int | None = None) -> list[FactRow]:
        subjects = objects = None
        known = window.kmax
        if query.about is not None:
            subjects = self._meant(query.group, query.about, known)
            if not subjects:
                return []
        if query.object is not None:
            objects = self._meant(query.group, query.object, known)
        return self._beliefs.facts(query, window, subjects=subjects, objects=objects, limit=limit)

    def entities(self, query: EntitiesQuery, known: int) -> Page[Entity]:
        """Return the entities known at a moment, oldest first."""
        after = query.page and query.page.after[0]
        limit = None if query.limit is None else query.limit + 1
        rows = self._beliefs.entities(query.group, known, after=after, limit=limit)
        if query.limit is None or len(rows) <= query.limit:
            return Page(map(Entity.of, rows))
        rows = rows[: query.limit]
        return Page.until(map(Entity.of, rows), query.cursor_after(rows[-1].uuid, known=known))

    def communities(self, query: CommunitiesQuery, known: int) -> list[CommunityRow]:
        """Return the communities known at a moment with their members, oldest first."""
        return self._beliefs.communities(query.group, known)

    def community(self, row: CommunityRow, at: Moment) -> Community:
        """Return one of these communities as an answer, with the summary of a moment."""
        return Community.of(row, community_summary(self._beliefs, row, at))

    @consistent_read
    def entity(self, query: EntityQuery, at: Moment) -> list[EntityProfile]:
        """Return a profile of each entity with a name; an entity and its duplicates have one profile.

        Beside what holds at the moment there is what happened before, and what is planned for later.
        """
        at = at._replace(deeds=True)
        details = self._beliefs.details(query.group, query.name, at.known)
        return [self._profile(one, at, query.limit) for one in details]

    @consistent_read
    def neighbourhood(self, query: NeighbourhoodQuery, at: Moment) -> list[Hop]:
        """Return the facts around a name, from and to it, by their distance in steps.

        All of them hold at one moment. The query's limit bounds the facts of each step.
        """
        visited: set[str] = set()
        known: set[str] = set()  # facts
        starts: str | list[str] = query.name
        hops: list[Hop] = []
        for hop in range(1, query.hops + 1):
            if not starts:
                break
            limit = None if query.limit is None else query.limit + len(known)  # which may be among those of this step
            step = self._beliefs.reach(query.group, starts, at, limit)
            if not step.entity_ids:
                break
            visited |= step.entity_ids
            facts = [f for f in step.facts() if f.uuid not in known][: query.limit]
            known.update(f.uuid for f in facts)
            hops.append(Hop(hop, facts_of(facts)))
            ends = {end for f in facts for end in (f.subject_uuid, f.object_uuid) if end is not None}
            starts = sorted(ends - visited)
        return hops

    # Over valid time.

    @consistent_read
    def throughout(self, query: ThroughoutQuery, known: int) -> list[Segment]:
        """Return the segments that cover a period, whether one fact states it or several that meet."""
        facts = self._rows(_whole(query), Window.during(query.start, query.stop, known))
        period = (query.start, query.stop)
        return list(map(Segment.of, (s for s in self._segments(facts, known) if s.covers(period))))

    @consistent_read
    def timeline(self, query: TimelineQuery, known: int) -> list[Segment]:
        """Return the segments of a name, slot by slot, with the gaps between them."""
        slot = FactsFilter.model_construct(
            group_id=query.group_id, all_groups=query.all_groups, about=query.name, relation=query.relation
        )
        facts = self._rows(slot, Window.at(Moment(None, known)))
        return list(map(Segment.of, timelines.with_gaps(self._segments(facts, known))))

    # Over known time.

    @consistent_read
    def history(self, query: HistoryQuery, known: int) -> list[FactVersion]:
        """Return every version of a fact (by id) or of all facts of an entity (by name), with the causes of each.

        A period that stayed believed while other periods of its fact changed is one version. Nothing that was recorded
        after the known moment shows.
        """
        group = query.group
        anywhere = group in (None, DEFAULT_GROUP)  # an id names one fact, whatever its group
        versions = [v for v in self._beliefs.versions(query.id, known) if anywhere or group == v.group_id]
        if not versions:
            ids = self._meant(group, query.id, known)
            touching = self._beliefs.reach(group, ids, Moment(None, None), None).facts() if ids else []
            then = set(ids)  # without those that were merged later
            touched = {v.uuid for v in touching if not then.isdisjoint((v.subject_uuid, v.object_uuid))}
            versions = [v for uuid in sorted(touched) for v in self._beliefs.versions(uuid, known)]
        causes = {uuid: _causes(self._provenance(uuid)) for uuid in {v.uuid for v in versions}}
        return [
            FactVersion.of(
                v,
                instant_of(v.known_from),
                time_of(v.known_to),
                causes[v.uuid][v.known_from],
                causes[v.uuid].get(v.known_to),
            )
            for v in timelines.rectangles(versions)
        ]

    def known_history(self, query: KnownHistoryQuery) -> list[BeliefPeriod]:
        """Return the periods in which a fact was believed. NotFound: no fact has this id."""
        group = self._fact(query.id).group_id
        periods = timelines.known_periods(self._beliefs.versions(query.id), query.valid_at)
        return [BeliefPeriod(query.id, group, instant_of(start), time_of(end)) for start, end in periods]

    @consistent_read
    def diff(self, query: DiffQuery, known: int) -> list[Difference]:
        """Return the differences at the second point, by start. known: the default of a point without a known time."""
        first, second = (p._replace(known=known if p.known is None else p.known) for p in (query.start, query.stop))
        before, middle, after = (
            self._rows(_whole(query), Window.at(Moment(*at))) for at in (first, (first.valid, second.known), second)
        )
        return [
            Difference(d.label, d.before and Fact.of(d.before), d.after and Fact.of(d.after))
            for d in diffs.differences(before, middle, after)
        ]

    def changes(self, query: ChangesQuery) -> Changes:
        """Return the versions that messages after a position opened and closed, and the position to continue from."""
        rows = self._beliefs.changes(query.after, query.limit)
        kept = (row for row in rows if query.group in (None, row.fact.group_id))
        return Changes(tuple(map(Change.of, kept)), rows[-1].position if rows else query.after)

    @consistent_read
    def why(self, query: WhyQuery) -> Explanation:
        """Return the words behind a fact and its changes, as known then. NotFound: the fact was not known."""
        fact = self._fact(query.id, INF if query.known_at is None else query.known_at)
        if query.known_at is not None and query.known_at < fact.created_at:
            raise NotFound(f"the fact {query.id} was not known yet at that moment")
        return self._witness.why(fact, query.known_at)

    def fact(self, uuid: str) -> Fact | None:
        """Return a fact as it is believed now, whenever it holds, the last of its periods. None: it is not believed."""
        believed = [row for row in self._beliefs.versions(uuid) if row.known_to == INF]
        return Fact.of(believed[-1]) if believed else None

    # Parts of answers.

    def _meant(self, group: str | None, name: str, known: int | None) -> list[str]:
        """Return the ids of the entities with a name or an id, and of their duplicates."""
        if meant := self._beliefs.meant(group, name, known):
            return meant
        entity = entity_with_id(self._beliefs, group, name)
        return [] if entity is None else sorted(self._beliefs.identity([entity.uuid], known))

    def _fact(self, uuid: str, known: int = INF) -> FactRow:
        fact = self._beliefs.fact(uuid, known)
        if fact is None:
            raise NotFound(f"no fact has the id {uuid}")
        return fact

    def _profile(self, known: EntityDetails, at: Moment, limit: int | None) -> EntityProfile:
        entity, attributes = known.entity, surest(known.attributes)
        ends = {uuid: self._beliefs.entity(uuid) for link in known.links for uuid in (link.duplicate, link.into)}
        called = {uuid: end.name for uuid, end in ends.items() if end is not None}
        around = self._beliefs.surroundings(known.ids, at, limit, SUMMARISED)
        return EntityProfile(
            shown_id(entity.uuid),
            *entity[1:4],
            instant_of(entity.known_from),
            tuple(known.names),
            tuple(Link.of(link, called[link.duplicate], called[link.into]) for link in known.links),
            known.mentions,
            summary(attributes, around.latest),
            tuple(map(Attribute.of, attributes)),
            tuple(NodeName(community.uuid, community.name) for community in known.communities),
            facts_of(around.facts[:limit]),
        )

    def _segments(self, facts: Sequence[FactRow], known: int | None) -> list[SegmentRow]:
        ends = {end for f in facts for end in (f.subject_uuid, f.object_uuid) if end is not None}
        alike = self._beliefs.identity(sorted(ends), known)
        believed = (link for link in self._beliefs.links(sorted(alike), known) if link.known_to == INF)
        return timelines.segments(facts, timelines.same_as(believed))

    def _provenance(self, fact: str) -> Provenance:
        provenance = self._beliefs.provenance(fact)
        assert provenance is not None, f"fact {fact} has no provenance"
        return provenance


def _whole(query: FactsFilter) -> FactsFilter:
    """Return a query without its cursor, which is one of the answer that is made of these facts."""
    return query.model_copy(update={"cursor": None})


def _causes(provenance: Provenance) -> dict[int, Cause]:
    """Return the causes of changes in a fact, by when they were recorded."""
    asserted = {provenance.sources[0].recorded_at: Cause("asserted", provenance.fact_id)}
    return asserted | {c.recorded_at: Cause(c.kind, c.statement) for c in provenance.revisions}
