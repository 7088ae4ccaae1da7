"""Projects events into rows: one method for each type of event, without any rule of belief.

A version is opened and closed, never edited; one that would have been known for no time is dropped. An event may name
only what an earlier event of the same log made.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Hashable
from operator import itemgetter
from typing import Any, Final

from asof_projections import names
from asof_projections.graph.sqlite_store import schema
from asof_projections.graph.sqlite_store.columns import PARKED
from asof_projections.graph.sqlite_store.generational_cache import GenerationalCache
from asof_projections.graph.sqlite_store.post_projector import PostProjector
from asof_projections.graph.sqlite_store.recent_turns import RecentTurns
from asof_projections.graph.sqlite_store.row_ids import Claim, RowIds
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.graph.sqlite_store.statement_codec import pack_statement
from asof_projections.graph.sqlite_store.views import ANY_ENDING, ANY_TIMEZONE
from asof_projections.graph.sqlite_store.write_buffer import WriteBuffer
from asof_projections.model.rows import EntityRow
from asof_projections.slot_cache import OF_SLOTS, SlotCache
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    ExtractionAnswered,
    ExtractionFailed,
    GroupErased,
    MentionObserved,
    MessageParked,
    MessageRetried,
    RelationshipStated,
    TimezoneRecorded,
)
from asof_streams.events import Record
from asof_streams.instants import INF, NEG
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
    MemoryConsolidated,
    MemoryUnconsolidated,
    MentionResolved,
    Period,
    RelationDeclared,
)
from asof_streams.sqlite import owe_vacuum

_log = logging.getLogger(__name__)
_Handler = Callable[[Record, Any], None]


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"


_EPISODE: Final = _insert("episodes", 13)
_MENTION: Final = _insert("mentions", 11)
_RELATIONSHIP: Final = _insert("relationships", 16)
_ANSWER: Final = _insert("answers", 4)
_WITHDRAWAL: Final = _insert("withdrawals", 5)
_TIMEZONE: Final = _insert("timezones", 4)
_FAILURE: Final = _insert("failures", 5)
_PARKING: Final = _insert("parked", 6)
_RETRY: Final = _insert("retries", 4)
_ENTITY: Final = _insert("entities", 7)
_NAME: Final = _insert("names", 7)
# What rows have of an event, in their order: all at once, for pydantic looks twice for methods at each attribute.
_SAID: Final = itemgetter("episode_id", "name", "source", "source_description", "role", "role_type")
_MENTIONED: Final = itemgetter("mention_id", "episode_id", "entity_type", "text", "start", "speaker", "repeats")
_RELATED: Final = itemgetter(
    "relationship_id", "episode_id", "relation", "source", "target", "stance", "valid_from", "valid_to", "grain",
    "time_words", "confidence", "start", "end",
)  # fmt: skip
_MEANT: Final = itemgetter("mention_id", "episode_id", "entity_id", "reason", "score")
_STATED: Final = itemgetter("sentence", "confidence", "valid_from")
_EVIDENCE: Final = itemgetter("grain", "time_words", "episode_id", "relationship_id", "ref", "corrects")
_WORD: Final = "INSERT OR IGNORE INTO words VALUES (?, ?, ?, ?)"
_RESOLUTION: Final = _insert("resolutions", 8)
_LINK: Final = _insert("links", 9)
_PART: Final = f"UPDATE links SET kt = ?, closed = ? WHERE uuid = ? AND kt = {INF}"
_ATTRIBUTE: Final = _insert("attributes", 14)
_COMMUNITY: Final = _insert("communities", 6)
_LEAVE_UNSEEN: Final = f"DELETE FROM memberships WHERE entity = ? AND kt = {INF} AND kf = ?"
_LEAVE: Final = f"UPDATE memberships SET kt = ? WHERE entity = ? AND kt = {INF}"
_JOIN: Final = _insert("memberships", 5)
_CONSOLIDATION: Final = _insert("consolidations", 12)
_FACT: Final = _insert("facts", 24)
_VERSION: Final = "INSERT INTO versions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
_WORDS: Final = {
    "sentence_words": """INSERT INTO sentence_words (rowid, sentence, grp)
        SELECT n, sentence, grp FROM sentences WHERE n >= ?""",
    "turn_words": """INSERT INTO turn_words (rowid, content, speaker, grp)
        SELECT n, content, speaker, grp FROM turns WHERE n >= ?""",
}
_FORGET_WORDS: Final = (
    """INSERT INTO sentence_words (sentence_words, rowid, sentence, grp)
        SELECT 'delete', n, sentence, grp FROM sentences WHERE grp = 'g' || ?""",
    """INSERT INTO turn_words (turn_words, rowid, content, speaker, grp)
        SELECT 'delete', n, content, speaker, grp FROM turns WHERE grp = 'g' || ?""",
)
_REINFORCEMENT: Final = _insert("reinforcements", 7)
_DEED: Final = _insert("deeds", 9)
_LITERAL: Final = _insert("literals", 7)
_ENDING: Final = _insert("endings", 13)
_RETRACTION: Final = _insert("retractions", 8)
_CONTRADICTION: Final = _insert("contradictions", 9)
_CLOSING: Final = _insert("closings", 7)
_DECLARE: Final = "INSERT OR REPLACE INTO cardinalities VALUES (?, ?, ?)"
_ATTEST: Final = "UPDATE facts SET attested = max(attested, ?), echoes = echoes + 1 WHERE n = ?"
_EXPIRE: Final = f"UPDATE facts SET expired_at = ? WHERE n = ? AND expired_at = {INF}"
_FORGET_UNSEEN: Final = f"DELETE FROM versions WHERE fact = ? AND kt = {INF} AND kf = ?"
_CLOSE: Final = f"UPDATE versions SET kt = ?, closed = ? WHERE fact = ? AND kt = {INF}"
_SET_DEAD: Final = (
    f"UPDATE facts SET dead = ?1 WHERE {has_id('uuid', '?2')}",
    "UPDATE endings SET dead = ? WHERE uuid = ?",
    "UPDATE retractions SET dead = ? WHERE uuid = ?",
)


def _touches(fact: str, claim: Claim) -> tuple[Hashable, ...]:
    """Return the dependences that the rows of a fact touch: the fact, its slot, and its value in the slot."""
    _, subject, relation, value = claim
    return fact, ("slot", subject, relation), ("slot", subject, relation, value)


class SqliteEventProjector:
    """Writes the rows of events. The caller holds the transaction of the connection."""

    def __init__(self, db: sqlite3.Connection, index_for: Callable[[str], None], *, empty: bool) -> None:
        self._db = db
        self.write_buffer = WriteBuffer(db, empty=empty)
        self.cache: GenerationalCache[Any] = GenerationalCache()  # of reads, which share it
        self.slots = SlotCache()  # of reads, too
        self.turns = RecentTurns()
        self._single: set[str] = set()  # relations that were declared single-valued, in whichever group
        self.indexing_words = True  # a bulk load makes the word indexes at its end
        self._unindexed: dict[str, int] = {}  # the first fact or turn that is not in its word index, by the index
        self.row_ids = RowIds(db, index_for, self.write_buffer)
        self._index_for = index_for
        self._posts = PostProjector(db, self.write_buffer, self.row_ids, index_for)
        self._handlers: dict[type, _Handler] = {
            EpisodeRecorded: self._episode,
            MentionObserved: self._mention,
            RelationshipStated: self._relationship,
            ExtractionAnswered: self._answered,
            ExtractionFailed: self._failed,
            EpisodeWithdrawn: self._withdrawn,
            TimezoneRecorded: self._timezone,
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
            MemoryConsolidated: self._consolidated,
            MemoryUnconsolidated: self._unconsolidated,
            FactAsserted: self._asserted,
            FactReinforced: self._reinforced,
            FactAttested: self._attested,
            FactEnded: self._ended,
            FactRetracted: self._retracted,
            ContradictionFlagged: self._flagged,
            ContradictionSettled: self._settled,
            FactInvalidated: self._invalidated,
            FactRestored: self._restored,
            GroupErased: self._erased,
            **self._posts.handlers,
        }

    def forget(self) -> None:
        """Drop buffer and caches: after a rollback or an erasure their rows may be gone."""
        self.write_buffer.forget()
        self.cache.clear()
        self.slots.clear()
        self.turns.clear()
        self.row_ids.forget()
        self._unindexed.clear()

    def apply(self, record: Record) -> None:
        """Write the rows of one record. Types of events that the graph does not store are skipped."""
        event = record.event
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(record, event)
            if type(event) in OF_SLOTS:
                self.slots.apply(record)
            if self.write_buffer.is_full:
                self.write_buffer.flush()

    def index_words(self) -> None:
        """Add what came since the last call to the word indexes: together it costs less than one by one."""
        self.write_buffer.flush()
        for index, first in self._unindexed.items():
            self._db.execute(_WORDS[index], (first,))
        self._unindexed.clear()

    def _index_later(self, index: str, n: int) -> None:
        if self.indexing_words:
            self._unindexed.setdefault(index, n)

    # The episodic layer.

    def _episode(self, r: Record, e: EpisodeRecorded) -> None:
        uuid, *said = _SAID(e.__dict__)
        text = (pack_statement(e.body) if e.source == "fact" else e.body, e.content_length, e.valid_at)
        self.write_buffer.add(_EPISODE, (r.position, uuid, self.row_ids.group(r), r.cause, *said, *text, r.recorded_at))
        self._posts.turn(r, e)
        self.turns.record(r, e)
        if e.source != "fact" and e.content_length:
            self._index_later("turn_words", r.position)

    def _mention(self, r: Record, e: MentionObserved) -> None:
        group, (uuid, episode, kind, text, *where) = self.row_ids.group(r), _MENTIONED(e.__dict__)
        folded = text.casefold()
        row = (r.position, uuid, group, episode, kind, text, folded, *where, r.recorded_at)
        called = ("called", group, folded)
        self.write_buffer.add(_MENTION, row, called)
        self.cache[called] = kind  # the next messages ask for the type that a name had last
        self.turns.observe(r, e)

    def _relationship(self, r: Record, e: RelationshipStated) -> None:
        uuid, *claim = _RELATED(e.__dict__)
        self.write_buffer.add(_RELATIONSHIP, (r.position, uuid, self.row_ids.group(r), *claim, r.recorded_at))

    def _answered(self, r: Record, e: ExtractionAnswered) -> None:
        self.write_buffer.add(_ANSWER, (r.position, self.row_ids.group(r), e.request, e.encode().decode()))

    def _withdrawn(
        self, r: Record, e: EpisodeWithdrawn | EntityUndescribed
    ) -> None:  # at once: whom any name calls depends on it
        self.turns.clear()
        self._db.execute(_WITHDRAWAL, (r.position, self.row_ids.group(r), e.episode_id, r.cause, r.recorded_at))

    def _timezone(self, r: Record, e: TimezoneRecorded) -> None:  # at once: the next message asks
        self.cache.drop((ANY_TIMEZONE,))
        self._db.execute(_TIMEZONE, (r.position, self.row_ids.group(r), r.cause, e.timezone))

    def _failed(self, r: Record, e: ExtractionFailed) -> None:
        failure = (r.position, self.row_ids.group(r), r.cause, e.request, e.encode().decode())
        self.write_buffer.add(_FAILURE, failure)
        self._park(r, e, "failed")

    def _parked(self, r: Record, e: MessageParked) -> None:
        self._park(r, e, "parked")

    def _park(self, r: Record, e: MessageParked | ExtractionFailed, state: str) -> None:
        message = r.cause if e.position is None else e.position
        row = (r.position, self.row_ids.group(r), message, e.reason, r.recorded_at, state)
        self.write_buffer.add(_PARKING, row)
        self._forget_parked()

    def _retried(self, r: Record, e: MessageRetried) -> None:
        self.write_buffer.add(_RETRY, (r.position, self.row_ids.group(r), e.position, r.recorded_at))
        self._forget_parked()

    def _forget_parked(self) -> None:
        for count in PARKED.values():
            self.cache.drop((count,))

    # Entities.

    def _declared(self, r: Record, e: RelationDeclared) -> None:
        if e.cardinality == "one":
            self._single.add(e.relation)
        self._db.execute(_DECLARE, (e.relation, e.cardinality == "one", self.row_ids.group(r)))

    def _introduced(self, r: Record, e: EntityIntroduced) -> None:
        group, uuid = self.row_ids.group(r), self.row_ids.introduce(r, e.entity_id)
        if uuid != e.entity_id:
            _log.warning("position %d introduces an entity under an id that is taken", r.position)
        if uuid is None:
            return
        entity_row = (r.position, uuid, group, e.name, e.entity_type, e.episode_id, r.recorded_at)
        self.write_buffer.add(_ENTITY, entity_row, uuid)
        self._named(r, group, r.position, e.name, e.episode_id)
        called = ("name", r.group, e.name)
        namesakes = self.cache[called]
        if namesakes is not None:  # the earlier entities of this name, and now this one: no need to read them again
            entity = EntityRow(uuid, r.group, e.name, e.entity_type, r.recorded_at)
            self.cache[called] = [*namesakes, entity]

    def _described(self, r: Record, e: EntityDescribed) -> None:
        self._named(r, self.row_ids.group(r), self.row_ids.entity(r, e.entity_id), e.alias, e.episode_id)
        self.cache.drop(("name", r.group, e.alias))

    def _named(self, r: Record, group: int, entity: int, name: str, episode: str) -> None:
        key = names.key(name)
        source = "" if entity == r.position else episode
        words = names.words_of_key(key)
        touched = ("name", group, key), *[("word", group, word) for word in words]
        self.write_buffer.add(_NAME, (r.position, group, entity, name, key, episode, r.recorded_at), *touched)
        self.write_buffer.add_all(_WORD, [(group, word, entity, source) for word in words])

    def _resolved(self, r: Record, e: MentionResolved) -> None:
        mention, episode, entity, *why = _MEANT(e.__dict__)
        resolution = (mention, episode, self.row_ids.entity(r, entity), *why)
        row = (r.position, self.row_ids.group(r), *resolution, r.recorded_at)
        self.write_buffer.add(_RESOLUTION, row, ("meant", mention))

    def _merged(self, r: Record, e: EntityMerged) -> None:
        pair = (self.row_ids.entity(r, e.duplicate), self.row_ids.entity(r, e.into))
        self._db.execute(
            _LINK, (r.position, e.merge_id, self.row_ids.group(r), *pair, e.reason, r.recorded_at, INF, None)
        )

    def _unmerged(self, r: Record, e: EntityUnmerged) -> None:
        self._db.execute("DELETE FROM links WHERE uuid = ? AND kf = ?", (e.merge_id, r.recorded_at))
        self._db.execute(_PART, (r.recorded_at, r.cause, e.merge_id))

    def _attributed(self, r: Record, e: EntityAttributed) -> None:
        entity = self.row_ids.entity(r, e.entity_id)
        statement = (e.name, e.value, names.folded(e.value), e.confidence, e.support, e.attested, e.holds, e.said_at)
        row = (r.position, self.row_ids.group(r), entity, *statement, e.episode_id, e.attribute_id, r.recorded_at)
        self.write_buffer.add(_ATTRIBUTE, row, ("attribute", entity))

    def _formed(self, r: Record, e: CommunityFormed) -> None:
        row = (r.position, e.community_id, self.row_ids.group(r), e.name, e.episode_id, r.recorded_at)
        self._db.execute(_COMMUNITY, row)
        for member in e.members:
            self._member(r, r.position, member)

    def _joined(self, r: Record, e: CommunityJoined) -> None:
        self._member(r, self.row_ids.community(r, e.community_id), e.entity_id)

    def _member(self, r: Record, community: int, member: str) -> None:
        entity = self._leave(r, member)
        self._db.execute(_JOIN, (entity, self.row_ids.group(r), community, r.recorded_at, INF))

    def _left(self, r: Record, e: CommunityLeft) -> None:
        self._leave(r, e.entity_id)

    def _leave(self, r: Record, member: str) -> int:
        """End the membership of an entity, if it has one; return its row id."""
        entity = self.row_ids.entity(r, member)
        self._db.execute(_LEAVE_UNSEEN, (entity, r.recorded_at))
        self._db.execute(_LEAVE, (r.recorded_at, entity))
        return entity

    def _consolidated(self, r: Record, e: MemoryConsolidated) -> None:
        counts = (e.communities_detected, e.communities_changed_nodes, e.entity_duplicates_found)
        more = (e.entity_merges_performed, e.nodes_decayed, " ".join(e.failed), r.recorded_at)
        row = (r.position, e.consolidation_id, self.row_ids.group(r), e.until, e.complete, *counts, *more)
        self._db.execute(_CONSOLIDATION, row)

    def _unconsolidated(self, r: Record, e: MemoryUnconsolidated) -> None:
        until = NEG if e.until is None else e.until
        row = (r.position, e.consolidation_id, self.row_ids.group(r), until, True, 0, 0, 0, 0, 0, "", r.recorded_at)
        self._db.execute(_CONSOLIDATION, row)

    # Statements about facts.

    def _asserted(self, r: Record, e: FactAsserted) -> None:
        n, group = r.position, self.row_ids.group(r)
        subject, relation = self.row_ids.entity(r, e.subject), self.row_ids.relation(r, group, e.relation)
        obj = self.row_ids.object(r, e.object, e.value)
        end = INF if e.valid_to is None else e.valid_to
        self.write_buffer.add(
            _FACT,
            (
                *(n, e.fact_id, group, subject, relation, obj, *_STATED(e.__dict__), end),
                *(e.said_at, e.said_at, 0, r.cause, r.place, r.recorded_at, INF, *_EVIDENCE(e.__dict__), 0),
            ),
            *_touches(e.fact_id, (group, subject, relation, obj)),
        )
        if e.occurrence or e.planned:
            told = (e.valid_from, end, e.occurrence, e.planned)
            self.write_buffer.add(_DEED, (n, n, group, *told, e.episode_id, r.recorded_at))
        if e.number or e.qualifiers:
            self._literals(r, n, group, e)
        claim = (group, subject, relation, obj)
        self._open(r, n, claim, e.holds)
        self._index_later("sentence_words", n)
        if e.relation in self._single or self.slots.keeps(r.group, e.subject, e.relation):  # it may be changed next
            self.row_ids.remember_fact(e.fact_id, n, claim)

    def _reinforced(self, r: Record, e: FactReinforced) -> None:
        self.write_buffer.flush_for(e.fact_id)
        n, claim = self.row_ids.fact(r, e.fact_id)
        group = claim[0]
        self._db.execute(_ATTEST, (e.said_at, n))
        if e.granule is not None or e.planned:
            told = (*(e.granule or (NEG, INF)), e.granule is not None, e.planned)
            row = (r.position, n, group, *told, e.episode_id, r.recorded_at)
            self.write_buffer.add(_DEED, row, *_touches(e.fact_id, claim))
        if e.number or e.qualifiers:
            self._literals(r, n, group, e)
        self.write_buffer.add(
            _REINFORCEMENT, (r.position, n, group, e.said_at, e.episode_id, e.relationship_id, r.recorded_at)
        )

    def _literals(self, r: Record, fact: int, group: int, e: FactAsserted | FactReinforced) -> None:
        said = (e.number, json.dumps(e.qualifiers, ensure_ascii=False))
        self.write_buffer.add(_LITERAL, (r.position, fact, group, *said, e.episode_id, r.recorded_at))

    def _attested(self, r: Record, e: FactAttested) -> None:
        self.write_buffer.flush_for(e.fact_id)
        n, _ = self.row_ids.fact(r, e.fact_id)
        self._db.execute("UPDATE facts SET attested = ? WHERE n = ?", (e.attested, n))

    def _ended(self, r: Record, e: FactEnded) -> None:
        group = self.row_ids.group(r)
        slot = (self.row_ids.entity(r, e.subject), self.row_ids.relation(r, group, e.relation))
        statement = (
            self.row_ids.object(r, e.object, e.value),
            e.fact_id,
            e.at,
            e.said_at,
            e.episode_id,
            e.relationship_id,
        )
        self.cache.drop((ANY_ENDING,))
        row = (r.position, e.ending_id, group, *slot, *statement, r.recorded_at, 0)
        self.write_buffer.add(_ENDING, row, ("ending", *slot))

    def _retracted(self, r: Record, e: FactRetracted) -> None:
        statement = (e.target, e.episode_id, e.reason, r.recorded_at)
        self.write_buffer.flush()
        self._index_for("fact_uuid")
        self._db.execute(_RETRACTION, (r.position, e.retraction_id, self.row_ids.group(r), *statement, 0))
        for dead, statements in ((1, e.dead), (0, e.live)):
            for uuid in statements:
                for update in _SET_DEAD:
                    self._db.execute(update, (dead, uuid))

    def _flagged(self, r: Record, e: ContradictionFlagged) -> None:
        contradiction = (e.contradiction_id, self.row_ids.group(r), e.earlier, e.later, r.recorded_at, INF, None, None)
        self._db.execute(_CONTRADICTION, (r.position, *contradiction))

    def _settled(self, r: Record, e: ContradictionSettled) -> None:
        sql = "UPDATE contradictions SET settled_at = ?, kept = ?, dropped = ? WHERE uuid = ?"
        self._db.execute(sql, (r.recorded_at, e.kept, e.dropped, e.contradiction_id))

    # Revisions of facts.

    def _invalidated(self, r: Record, e: FactInvalidated) -> None:
        self._revise(r, e.fact_id, e.kind, e.cause, e.holds)

    def _restored(self, r: Record, e: FactRestored) -> None:
        self._revise(r, e.fact_id, "restored", e.cause, e.holds)

    def _revise(self, r: Record, fact: str, kind: str, statement: str, holds: tuple[Period, ...]) -> None:
        self.write_buffer.flush_for(fact)
        n, claim = self.row_ids.fact(r, fact)
        now = r.recorded_at
        self.write_buffer.change(_EXPIRE, (now, n), *_touches(fact, claim))
        self.write_buffer.change(_FORGET_UNSEEN, (n, now))
        self.write_buffer.change(_CLOSE, (now, r.cause, n))
        self.write_buffer.add(_CLOSING, (r.position, n, claim[0], kind, statement, r.cause, now))
        self._open(r, n, claim, holds)

    def _open(self, r: Record, n: int, claim: Claim, holds: tuple[Period, ...]) -> None:
        """Open a version for each period. The caller has named the dependences that these rows touch."""
        for vf, vt in holds:
            period = (vf, INF if vt is None else vt, r.recorded_at, INF, r.cause)
            self.write_buffer.add(_VERSION, (n, *claim, *period))

    # Erasure.

    def _erased(self, r: Record, _: GroupErased) -> None:
        group = self._db.execute("SELECT n FROM groups WHERE name = ?", (r.group,)).fetchone()
        self.index_words()
        self.forget()
        if group is None:
            return
        if self.indexing_words:
            for statement in _FORGET_WORDS:
                self._db.execute(statement, group)
        for table in schema.GROUPED:
            self._db.execute(f"DELETE FROM {table} WHERE grp = ?", group)
        self._db.execute("DELETE FROM groups WHERE n = ?", group)
        self._db.execute("UPDATE meta SET value = value + 1 WHERE key = 'erased'")
        owe_vacuum(self._db)
