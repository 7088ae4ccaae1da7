"""Projects events into documents: it applies a batch of records to the documents that the batch touches.

The event projector of the SQLite store does the same in SQL; neither has a rule of belief. An assertion lists its open
versions, so that a fact is revised without reading them.
"""

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, Final

from asof_projections import names
from asof_projections.fts_words import words_of
from asof_projections.graph.arango.documents import Documents, Load, References
from asof_projections.graph.arango.schema import prefix
from asof_projections.graph.arango.wire import Document, ascii_text, declaration, key
from asof_projections.graph.sqlite_store.base import value_of
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    ExtractionFailed,
    FeedbackReceived,
    FeedbackWithdrawn,
    GoalDeclared,
    GoalWithdrawn,
    GroupErased,
    MentionObserved,
    MessageParked,
    MessageRetried,
    RelationshipStated,
)
from asof_streams.events import Record
from asof_streams.ids import scoped_id
from asof_streams.instants import INF, NEG, render
from asof_streams.semantic import (
    CommunityFormed,
    CommunityJoined,
    CommunityLeft,
    ContradictionFlagged,
    ContradictionSettled,
    EntityAttributed,
    EntityDescribed,
    EntityIntroduced,
    EntityMerged,
    EntityUndescribed,
    EntityUnmerged,
    FactAsserted,
    FactAttested,
    FactEnded,
    FactInvalidated,
    FactReinforced,
    FactRestored,
    FactRetracted,
    MentionResolved,
    ObjectiveRaised,
    ObjectiveWithdrawn,
    Period,
    RelationDeclared,
)

_log = logging.getLogger(__name__)
_STATEMENTS: Final = ("assertions", "endings", "retractions")
_PLACES: Final = 1 << 20  # more than one event opens versions; with a position it stays an integer that a double holds
_NAMED: Final[References] = {
    EntityIntroduced: (("entities", "entity_id"),),
    EntityDescribed: (("entities", "entity_id"),),
    EntityMerged: (("entities", "duplicate"), ("entities", "into")),
    EntityUnmerged: (("duplicate_of", "merge_id"),),
    EntityAttributed: (("entities", "entity_id"),),
    CommunityFormed: (("entities", "members"), ("member_of", "members")),
    CommunityJoined: (("communities", "community_id"), ("entities", "entity_id"), ("member_of", "entity_id")),
    CommunityLeft: (("entities", "entity_id"), ("member_of", "entity_id")),
    MentionObserved: (("episodes", "episode_id"),),
    RelationshipStated: (("episodes", "episode_id"),),
    MentionResolved: (("entities", "entity_id"), ("mentions", "mention_id")),
    FactAsserted: (("entities", "subject"), ("entities", "object")),
    FactReinforced: (("assertions", "fact_id"),),
    FactAttested: (("assertions", "fact_id"),),
    FactEnded: (("entities", "subject"), ("entities", "object")),
    FactRetracted: tuple((kind, field) for kind in _STATEMENTS for field in ("dead", "live")),
    ContradictionSettled: (("contradictions", "contradiction_id"),),
    FactInvalidated: (("assertions", "fact_id"),),
    FactRestored: (("assertions", "fact_id"),),
    FeedbackWithdrawn: (("feedback", "feedback_id"),),
    GoalWithdrawn: (("goals", "goal_id"), ("objective_goals", "goal_id")),
    ObjectiveRaised: (("objectives", "objective_id"),),
    ObjectiveWithdrawn: (("objectives", "objective_id"),),
}


class ArangoEventProjector(Documents):
    """Applies events to documents in memory. `written` and `removed` are what the store then commits."""

    def __init__(self, log: str, load: Load) -> None:
        super().__init__(log, load)
        self._words: dict[int, list[str]] = {}  # of sentences, by the position of the record
        self._handlers: dict[type, Callable[[Record, Any], None]] = {
            EpisodeRecorded: self._episode,
            EpisodeWithdrawn: self._withdrawn,
            MentionObserved: self._mention,
            RelationshipStated: self._relationship,
            ExtractionFailed: self._failed,
            MessageParked: self._parked,
            MessageRetried: self._retried,
            RelationDeclared: self._declared,
            EntityIntroduced: self._introduced,
            EntityDescribed: self._described,
            EntityUndescribed: self._withdrawn,
            MentionResolved: self._resolved,
            EntityMerged: self._merged,
            EntityUnmerged: self._unmerged,
            EntityAttributed: self._attributed,
            CommunityFormed: self._formed,
            CommunityJoined: self._joined,
            CommunityLeft: self._left,
            FactAsserted: self._asserted,
            FactReinforced: self._reinforced,
            FactAttested: self._attested,
            FactEnded: self._ended,
            FactRetracted: self._retracted,
            ContradictionFlagged: self._flagged,
            ContradictionSettled: self._settled,
            FactInvalidated: self._invalidated,
            FactRestored: self._restored,
            FeedbackReceived: self._feedback,
            FeedbackWithdrawn: self._feedback_withdrawn,
            GoalDeclared: self._goal,
            GoalWithdrawn: self._goal_withdrawn,
            ObjectiveRaised: self._raised,
            ObjectiveWithdrawn: self._objective_withdrawn,
            GroupErased: self._erased,
        }

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records in order of position. DamagedLog: a record names something that no earlier record made."""
        self._fetch(records, _NAMED)
        said = {r.position: r.event.sentence for r in records if isinstance(r.event, FactAsserted)}
        self._words = dict(zip(said, words_of(list(said.values())), strict=True))
        for record in records:
            handler = self._handlers.get(type(record.event))
            if handler is not None:
                handler(record, record.event)

    # The episodic layer.

    def _episode(self, r: Record, e: EpisodeRecorded) -> None:
        text = (e.name, e.source, e.source_description, e.role, e.role_type, e.body, e.content_length)
        row = (r.position, e.episode_id, r.group, r.cause, *text, e.valid_at, r.recorded_at)
        self._row(r, "episodes", "episodes", key(e.episode_id), *row)
        if e.external_id is not None or e.reply_to is not None or e.author_id is not None or e.is_proactive:
            self._post(r, e, e.episode_id, "turn", is_proactive=e.is_proactive)

    def _post(
        self,
        r: Record,
        e: EpisodeRecorded | FeedbackReceived | GoalDeclared,
        uuid: str,
        kind: str,
        *,
        is_proactive: bool = False,
    ) -> None:
        told = (kind, e.external_id, e.reply_to, e.author_id, is_proactive, e.suppressed, e.edited_at)
        self._row(r, "posts", "posts", str(r.position), r.position, uuid, r.group, r.cause, *told)

    def _feedback(self, r: Record, e: FeedbackReceived) -> None:
        said = (e.role, e.role_type, e.content, e.valid_at, r.recorded_at, INF)
        self._row(r, "feedback", "feedback", key(e.feedback_id), r.position, e.feedback_id, r.group, *said)
        self._post(r, e, e.feedback_id, "feedback")

    def _goal(self, r: Record, e: GoalDeclared) -> None:
        said = (e.role, e.role_type, e.content, e.description, e.saliency, e.valid_at, r.recorded_at, INF)
        self._row(r, "goals", "goals", key(e.goal_id), r.position, e.goal_id, r.group, *said)
        self._post(r, e, e.goal_id, "goal")

    def _feedback_withdrawn(self, r: Record, e: FeedbackWithdrawn) -> None:
        self._take_back(r, "feedback", e.feedback_id)

    def _goal_withdrawn(self, r: Record, e: GoalWithdrawn) -> None:
        self._take_back(r, "goals", e.goal_id)
        self._take_back(r, "objective_goals", e.goal_id)

    def _take_back(self, r: Record, kind: str, uuid: str) -> None:
        said = self._get(kind, uuid)
        if said is not None and said["withdrawn_at"] == INF:
            self._put(r, kind, said | {"withdrawn_at": r.recorded_at})

    def _withdrawn(self, r: Record, e: EpisodeWithdrawn | EntityUndescribed) -> None:
        row = (r.position, r.group, e.episode_id, r.cause, r.recorded_at)
        self._row(r, "withdrawals", "withdrawals", str(r.position), *row)

    def _turn(self, r: Record, episode: str) -> int:
        """Return when a turn was said; when it was recorded, in a generation that has no episodes."""
        turn = self._get("episodes", episode)
        return r.recorded_at if turn is None else int(turn["valid_at"])

    def _mention(self, r: Record, e: MentionObserved) -> None:
        words = (e.entity_type, e.text, e.text.casefold(), e.start, e.speaker, e.repeats)
        row = (r.position, e.mention_id, r.group, e.episode_id, *words, r.recorded_at)
        self._row(r, "mentions", "mentions", key(e.mention_id), *row, turn_at=self._turn(r, e.episode_id))

    def _relationship(self, r: Record, e: RelationshipStated) -> None:
        claim = (e.relation, e.source, e.target, e.stance, e.valid_from, e.valid_to, e.grain, e.time_words)
        evidence = (e.confidence, e.start, e.end, r.recorded_at)
        row = (r.position, e.relationship_id, r.group, e.episode_id, *claim, *evidence)
        ends = {"_from": self._id("mentions", e.source), "_to": self._id("mentions", e.target)}
        turn = self._turn(r, e.episode_id)
        self._row(r, "relationships", "relationships", key(e.relationship_id), *row, turn_at=turn, **ends)

    def _failed(self, r: Record, e: ExtractionFailed) -> None:
        self._park(r, e, "failed")

    def _parked(self, r: Record, e: MessageParked) -> None:
        self._park(r, e, "parked")

    def _park(self, r: Record, e: MessageParked | ExtractionFailed, state: str) -> None:
        row = (r.position, r.group, r.cause if e.position is None else e.position, e.reason, r.recorded_at, state)
        self._row(r, "parked", "parked", str(r.position), *row)

    def _retried(self, r: Record, e: MessageRetried) -> None:
        self._row(r, "retries", "retries", str(r.position), r.position, r.group, e.position, r.recorded_at)

    # Entities.

    def _declared(self, r: Record, e: RelationDeclared) -> None:
        row = (e.relation, e.cardinality == "one", r.group)
        self._row(r, "cardinalities", "cardinalities", key(declaration(r.group, e.relation)), *row)

    def _introduced(self, r: Record, e: EntityIntroduced) -> None:
        uuid, taken = e.entity_id, self._get("entities", e.entity_id)
        if taken is not None:
            _log.warning("position %d introduces an entity under an id that is taken", r.position)
            uuid = scoped_id(r.group, uuid)
            if taken["grp"] == r.group or self._get("entities", uuid) is not None:
                return
        row = (r.position, uuid, r.group, e.name, e.entity_type, e.episode_id, r.recorded_at)
        self._named(r, self._row(r, "entities", "entities", key(uuid), *row), e.name, e.episode_id)

    def _described(self, r: Record, e: EntityDescribed) -> None:
        self._named(r, self._entity(r, e.entity_id), e.alias, e.episode_id)

    def _named(self, r: Record, entity: Document, name: str, episode: str) -> None:
        row = (r.position, r.group, entity["n"], name, names.key(name), episode, r.recorded_at)
        whose = {name: entity[name] for name in ("uuid", "name", "type", "created_at")}
        more = {"entity_id": self._id("entities", entity["uuid"]), "whose": whose | {"n": entity["n"]}}
        self._row(r, "names", "names", str(r.position), *row, **more)

    def _resolved(self, r: Record, e: MentionResolved) -> None:
        entity = self._entity(r, e.entity_id)
        row = (r.position, r.group, e.mention_id, e.episode_id, entity["n"], e.reason, e.score, r.recorded_at)
        start = self._start if self._get("mentions", e.mention_id) else prefix("episodic")
        ends = {"_from": f"{start}mentions/{key(e.mention_id)}", "_to": self._id("entities", entity["uuid"])}
        self._row(r, "mention_links", "resolutions", str(r.position), *row, **ends)

    def _merged(self, r: Record, e: EntityMerged) -> None:
        duplicate, into = (self._entity(r, uuid) for uuid in (e.duplicate, e.into))
        row = (r.position, e.merge_id, r.group, duplicate["n"], into["n"], e.reason, r.recorded_at, INF, None)
        ends = {"_from": self._id("entities", duplicate["uuid"]), "_to": self._id("entities", into["uuid"])}
        uuids = {"duplicate_uuid": duplicate["uuid"], "into_uuid": into["uuid"]}
        self._row(r, "duplicate_of", "links", key(e.merge_id), *row, **ends, **uuids, **_known(r.recorded_at, INF))

    def _unmerged(self, r: Record, e: EntityUnmerged) -> None:
        """Close a link and store it under another key, since the same merge may be made again."""
        link = self._get("duplicate_of", e.merge_id)
        if link is None:
            return
        self._remove("duplicate_of", link["_key"])
        self._closed(r, "duplicate_of", link | {"closed": r.cause})

    def _closed(self, r: Record, kind: str, edge: Document) -> None:
        """Store a closed edge under a key of its own, unless it would have been known for no time."""
        if edge["kf"] != r.recorded_at:
            over = {"_key": f"{edge['_key']}-{edge['n']}", "kt": r.recorded_at, **_known(edge["kf"], r.recorded_at)}
            self._put(r, kind, edge | over)

    def _attributed(self, r: Record, e: EntityAttributed) -> None:
        entity = self._entity(r, e.entity_id)
        statement = (e.name, e.value, names.folded(e.value), e.confidence, e.support, e.attested, e.holds, e.said_at)
        row = (r.position, r.group, entity["n"], *statement, e.episode_id, e.attribute_id, r.recorded_at)
        more = {"entity_id": self._id("entities", entity["uuid"]), "entity_uuid": entity["uuid"]}
        self._row(r, "attributes", "attributes", str(r.position), *row, **more)

    def _formed(self, r: Record, e: CommunityFormed) -> None:
        row = (r.position, e.community_id, r.group, e.name, e.episode_id, r.recorded_at)
        community = self._row(r, "communities", "communities", key(e.community_id), *row)
        for place, member in enumerate(e.members):
            self._member(r, place, community, member)

    def _joined(self, r: Record, e: CommunityJoined) -> None:
        self._member(r, 0, self._require(r, "communities", "community", e.community_id), e.entity_id)

    def _member(self, r: Record, place: int, community: Document, member: str) -> None:
        """Move an entity to a community. The open membership has the key of the entity, which has one at most."""
        entity = self._entity(r, member)
        uuid, before = entity["uuid"], self._get("member_of", entity["uuid"])
        if before is not None:
            self._closed(r, "member_of", before)
        row = (entity["n"], r.group, community["n"], r.recorded_at, INF)
        ends = {"_from": self._id("entities", uuid), "_to": self._id("communities", community["uuid"])}
        more = {"n": r.position * _PLACES + place, **ends, **_known(r.recorded_at, INF)}
        self._row(r, "member_of", "memberships", key(uuid), *row, **more)

    def _left(self, r: Record, e: CommunityLeft) -> None:
        membership = self._get("member_of", self._entity(r, e.entity_id)["uuid"])
        if membership is not None:
            self._remove("member_of", membership["_key"])
            self._closed(r, "member_of", membership)

    # Statements about facts.

    def _asserted(self, r: Record, e: FactAsserted) -> None:
        subject, thing = self._entity(r, e.subject), self._object(r, e.object, e.value)
        end = INF if e.valid_to is None else e.valid_to
        claim = (subject["n"], e.relation, thing["object"], e.sentence, e.confidence, e.valid_from, end)
        evidence = (e.said_at, e.said_at, 0, r.cause, r.place, r.recorded_at, INF, e.grain, e.time_words)
        row = (r.position, e.fact_id, r.group, *claim, *evidence, e.episode_id, e.relationship_id, e.ref, e.corrects, 0)
        told = {"occurrence": e.occurrence, "planned": e.planned}
        more = {
            **thing,
            **told,
            **_literals(e),
            "subject_uuid": subject["uuid"],
            "subject_name": subject["name"],
            "words": list(map(ascii_text, self._words[r.position])),
            "open": [],
        }
        if e.occurrence or e.planned:
            self._deed(r, r.position, e.episode_id, (e.valid_from, end), told)
        self._literals(r, r.position, e)
        assertion = self._row(r, "assertions", "facts", key(e.fact_id), *row, **more)
        self._open(r, assertion, e.holds)

    def _object(self, r: Record, entity: str | None, literal: str | None) -> Document:
        """Return the fields that describe an object; None and None: any object."""
        thing = {"object": literal, "object_uuid": entity, "object_name": literal, "thing": value_of(entity, literal)}
        if entity is None:
            return thing
        document = self._entity(r, entity)
        own = {"object_uuid": document["uuid"], "thing": value_of(document["uuid"], None)}
        return thing | own | {"object": document["n"], "object_name": document["name"]}

    def _reinforced(self, r: Record, e: FactReinforced) -> None:
        fact = self._require(r, "assertions", "fact", e.fact_id)
        attestation = {"attested": max(fact["attested"], e.said_at), "echoes": fact["echoes"] + 1}
        self._put(r, "assertions", fact | attestation)
        row = (r.position, fact["n"], fact["grp"], e.said_at, e.episode_id, e.relationship_id, r.recorded_at)
        self._row(r, "reinforcements", "reinforcements", str(r.position), *row, planned=e.planned, **_literals(e))
        self._literals(r, fact["n"], e)
        if e.granule is not None or e.planned:
            told = {"occurrence": e.granule is not None, "planned": e.planned}
            self._deed(r, fact["n"], e.episode_id, e.granule or (NEG, INF), told)

    def _deed(self, r: Record, fact: int, episode: str, granule: tuple[int, int], told: Document) -> None:
        row = (r.position, fact, r.group, *granule, told["occurrence"], told["planned"], episode, r.recorded_at)
        self._row(r, "deeds", "deeds", str(r.position), *row)

    def _literals(self, r: Record, fact: int, e: FactAsserted | FactReinforced) -> None:
        if e.number or e.qualifiers:
            row = (r.position, fact, r.group, *_literals(e).values(), e.episode_id, r.recorded_at)
            self._row(r, "literals", "literals", str(r.position), *row)

    def _attested(self, r: Record, e: FactAttested) -> None:
        fact = self._require(r, "assertions", "fact", e.fact_id)
        self._put(r, "assertions", fact | {"attested": e.attested})

    def _ended(self, r: Record, e: FactEnded) -> None:
        subject, thing = self._entity(r, e.subject), self._object(r, e.object, e.value)
        statement = (thing["object"], e.fact_id, e.at, e.said_at, e.episode_id, e.relationship_id, r.recorded_at, 0)
        row = (r.position, e.ending_id, r.group, subject["n"], e.relation, *statement)
        self._row(r, "endings", "endings", key(e.ending_id), *row, **{**thing, "subject_uuid": subject["uuid"]})

    def _retracted(self, r: Record, e: FactRetracted) -> None:
        row = (r.position, e.retraction_id, r.group, e.target, e.episode_id, e.reason, r.recorded_at, 0)
        self._row(r, "retractions", "retractions", key(e.retraction_id), *row)
        for dead, statements in ((1, e.dead), (0, e.live)):
            for uuid in statements:
                for kind in _STATEMENTS:
                    if statement := self._get(kind, uuid):
                        self._put(r, kind, statement | {"dead": dead})

    def _flagged(self, r: Record, e: ContradictionFlagged) -> None:
        row = (r.position, e.contradiction_id, r.group, e.earlier, e.later, r.recorded_at, INF, None, None)
        self._row(r, "contradictions", "contradictions", key(e.contradiction_id), *row)

    def _settled(self, r: Record, e: ContradictionSettled) -> None:
        if contradiction := self._get("contradictions", e.contradiction_id):
            settled = {"settled_at": r.recorded_at, "kept": e.kept, "dropped": e.dropped}
            self._put(r, "contradictions", contradiction | settled)

    # Objectives: what is believed of one has the key of the objective, and what once was that of its position.

    def _raised(self, r: Record, e: ObjectiveRaised) -> None:
        self._close_objective(r, e.objective_id)
        said = (e.description, e.saliency, e.status, e.said_at, r.recorded_at, INF)
        self._row(r, "objectives", "objectives", key(e.objective_id), r.position, e.objective_id, r.group, *said)
        if e.stated is not None:
            goal = (r.position, e.objective_id, e.goal_id, r.group, e.stated, r.recorded_at, INF)
            self._row(r, "objective_goals", "objective_goals", key(e.goal_id), *goal)

    def _objective_withdrawn(self, r: Record, e: ObjectiveWithdrawn) -> None:
        self._close_objective(r, e.objective_id)
        self._remove("objectives", key(e.objective_id))

    def _close_objective(self, r: Record, objective: str) -> None:
        standing = self._get("objectives", objective)
        if standing is not None and standing["kf"] < r.recorded_at:
            closed = {**standing, "_key": str(standing["n"]), "kt": r.recorded_at}
            self._put(r, "objectives", closed)

    # Revisions of facts.

    def _invalidated(self, r: Record, e: FactInvalidated) -> None:
        self._revise(r, e.fact_id, e.kind, e.cause, e.holds)

    def _restored(self, r: Record, e: FactRestored) -> None:
        self._revise(r, e.fact_id, "restored", e.cause, e.holds)

    def _revise(self, r: Record, uuid: str, kind: str, statement: str, holds: tuple[Period, ...]) -> None:
        fact, now = self._require(r, "assertions", "fact", uuid), r.recorded_at
        expired = now if fact["expired_at"] == INF else fact["expired_at"]
        still, fact = fact["open"], fact | {"expired_at": expired, "open": []}
        for n, vf, vt, kf, opened in still:
            if kf == now:  # it would have been known for no time
                self._remove("facts", str(n))
            else:
                self._version(r, fact, n, (vf, vt, kf, now), opened, r.cause)
        row = (r.position, fact["n"], fact["grp"], kind, statement, r.cause, now)
        self._row(r, "closings", "closings", str(r.position), *row, statement_key=key(statement))
        self._open(r, fact, holds)

    def _open(self, r: Record, fact: Document, holds: tuple[Period, ...]) -> None:
        """Open a version for each period, and list them in the assertion."""
        for place, (vf, end) in enumerate(holds):
            n, vt = r.position * _PLACES + place, INF if end is None else end
            self._version(r, fact, n, (vf, vt, r.recorded_at, INF), r.cause, None)
            fact["open"].append([n, vf, vt, r.recorded_at, r.cause])
        self._put(r, "assertions", fact)

    def _version(
        self, r: Record, fact: Document, n: int, when: tuple[int, int, int, int], opened: int, closed: int | None
    ) -> None:
        claim = (fact["n"], fact["grp"], fact["s"], fact["relation"], fact["object"])
        entity = fact["object_uuid"]
        shown = ("uuid", "sentence", "confidence", "episode", "thing", "subject_uuid", "subject_name", "object_uuid",
                 "object_name", "said_at", "occurrence", "planned", "number", "qualifiers")  # fmt: skip
        times = (when[0], when[1], fact["created_at"], fact["expired_at"])
        more = {
            "_from": self._id("entities", fact["subject_uuid"]),
            "_to": self._id("entities", entity) if entity else self._id("assertions", fact["uuid"]),
            **{name: fact[name] for name in shown},
            **dict(zip(("valid_at", "invalid_at", "created_at", "expired_at"), map(render, times), strict=True)),
        }
        self._row(r, "facts", "versions", str(n), n, *claim, *when, opened, closed, **more)

    # Erasure.

    def _erased(self, r: Record, _: GroupErased) -> None:
        self._erase(r.group)


def _literals(e: FactAsserted | FactReinforced) -> Document:
    return {"number": e.number, "qualifiers": json.dumps(e.qualifiers, ensure_ascii=False)}


def _known(start: int, end: int) -> Document:
    return {"known_from": render(start), "known_to": render(end)}
