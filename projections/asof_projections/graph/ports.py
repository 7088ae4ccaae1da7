"""The port of a graph store: rows that follow a log, and reads of them as of a moment on both clocks.

The reads of handlers are in asof_agents.ports; the SQLite adapter has them too. A known moment is an instant, None
lifts a clock. A read as of a known moment shows nothing that was recorded after it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from asof_projections.model.queries import FactSearchQuery, FactsFilter
from asof_projections.model.rows import (
    AttributeRow,
    ChangeRow,
    CommunityRow,
    ContradictionRow,
    EntityRow,
    EpisodeRow,
    FactRow,
    LinkRow,
    MentionRow,
    Moment,
    ObjectiveRow,
    ParkedRow,
    RelationshipRow,
    Window,
)
from asof_projections.speakers import name_words
from asof_streams.events import Record
from asof_streams.instants import INF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class StatementSource(NamedTuple):
    """The episode, and perhaps the relationship in it, that made a statement; and when."""

    episode_id: str
    relationship_id: str | None
    said_at: int
    recorded_at: int
    qualifiers: str = "{}"  # as JSON


class Revision(NamedTuple):
    """A change of belief in a fact: its kind, and the statement that caused it."""

    kind: str  # superseded | ended | retracted | corrected | contradicted | merged | restored
    statement: str
    position: int  # of the message, in the messages log
    recorded_at: int
    source: StatementSource | None  # of the statement


class CounterStatement(NamedTuple):
    """A statement against a fact: an ending that cuts it, or a retraction of it. A dead one was itself retracted."""

    uuid: str
    at: int  # of an ending: when the fact stops holding; of a retraction: when it was recorded
    dead: bool
    source: StatementSource


class Repetition(NamedTuple):
    """A later assertion of the same subject, relation and object, which was not retracted."""

    uuid: str
    start: int  # of what it claims
    source: StatementSource


class Provenance(NamedTuple):
    """The sources of a fact, the statements against it, and its revisions; each in the order of the log."""

    fact_id: str
    sources: tuple[StatementSource, ...]  # of the assertion, then of each reinforcement
    time_words: str | None
    grain: str | None
    ref: str | None
    corrects: str | None
    corrected_by: tuple[str, ...]
    repetitions: tuple[Repetition, ...]
    endings: tuple[CounterStatement, ...]
    retractions: tuple[CounterStatement, ...]
    revisions: tuple[Revision, ...]

    def statements(self) -> tuple[str, ...]:
        """Return the ids of the statements that may have been retracted: repetitions, endings and retractions."""
        against = (said.uuid for said in (*self.endings, *self.retractions))
        return (*(again.uuid for again in self.repetitions), *against)

    def counting(self, dead: Collection[str]) -> "Provenance":
        """Return it as it was when these of its statements were retracted, and no others."""
        return self._replace(
            repetitions=tuple(again for again in self.repetitions if again.uuid not in dead),
            endings=tuple(ending._replace(dead=ending.uuid in dead) for ending in self.endings),
            retractions=tuple(one._replace(dead=one.uuid in dead) for one in self.retractions),
        )


def retracted(retractions: Iterable[tuple[str, str]]) -> set[str]:
    """Return the statements that count no longer, given retractions, each with its target.

    A statement counts unless a retraction of it does. Nothing retracts itself, by whatever way: only what was said
    before can be retracted.
    """
    by: dict[str, list[str]] = {}
    for retraction, target in retractions:
        by.setdefault(target, []).append(retraction)
    counts: dict[str, bool] = {}
    asked = list(by)
    while asked:
        statement = asked[-1]
        unknown = [one for one in by.get(statement, ()) if one not in counts]
        if unknown:
            asked += unknown
        else:
            counts[asked.pop()] = not any(counts[one] for one in by.get(statement, ()))
    return {statement for statement in by if not counts[statement]}


class Neighbourhood(NamedTuple):
    """Entities with all their duplicates, and the facts from and to them: each by valid_at, then in log order."""

    entity_ids: frozenset[str]
    outward: list[FactRow]
    inward: list[FactRow]

    def facts(self) -> list[FactRow]:
        """Return each fact once; one with both ends among the entities stands in both lists."""
        within = {(f.uuid, f.valid_at, f.known_from) for f in self.outward}
        return self.outward + [f for f in self.inward if (f.uuid, f.valid_at, f.known_from) not in within]


class EntityDetails(NamedTuple):
    """What is known of an entity and its duplicates at a moment, beside their facts."""

    entity: EntityRow
    ids: list[str]  # its own and those of its duplicates, sorted
    names: list[str]  # its own first, each once
    links: list[LinkRow]  # those that touch them, oldest first
    mentions: int  # how many were resolved to one of them
    attributes: list[AttributeRow]
    communities: list[CommunityRow]


class Surroundings(NamedTuple):
    """The facts around entities: those from them, then those only to them; and the most recently attested of all."""

    facts: list[FactRow]
    latest: list[FactRow]


SESSION_GAP: Final = 30 * 60 * 1_000_000  # microseconds of silence after which another conversation begins


@dataclass(frozen=True)
class Turns:
    """Turns as columns, by group, then in the order of the log. A turn is an episode with words of its own.

    A turn's number is the position of its episode in the log, so it never changes.
    """

    n: "NDArray[np.int64]"
    grp: "NDArray[np.int64]"
    said: "NDArray[np.int64]"
    speaker: "NDArray[np.int32]"  # by place in `speakers`
    characters: "NDArray[np.int32]"
    words: "NDArray[np.int32]"
    asks: "NDArray[np.bool]"  # whether it ends with a question mark
    tells_time: "NDArray[np.bool]"  # whether it has words of time
    at: "NDArray[np.int64]"  # the place of each number; -1: it is not there
    speakers: Sequence[str]  # of these turns, each once

    def places(self, numbers: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """Return the places of those of some numbers that are there."""
        places = self.at[numbers[numbers < len(self.at)]]
        return places[places >= 0]

    @cached_property
    def mean_words(self) -> float:
        """The mean number of words."""
        return float(self.words.mean())

    @cached_property
    def names(self) -> dict[str, frozenset[str]]:
        """Those who speak in these turns, each with the words of the name."""
        return {speaker: name_words(speaker) for speaker in self.speakers}

    @cached_property
    def sessions(self) -> "NDArray[np.int64]":
        """The number of each turn's session: of those in a group with no long silence between them."""
        import numpy as np  # noqa: PLC0415 - a command starts without it

        begins = (np.diff(self.grp) != 0) | (np.abs(np.diff(self.said)) > SESSION_GAP)
        return np.concatenate([[0], np.cumsum(begins)]) if len(self.n) else np.zeros(0, np.int64)


class GraphStore(Protocol):
    """A projection that follows one log. Its rows and its position change in one transaction."""

    generation: str

    # Following a log.

    def position(self) -> int:
        """Return the position of the log up to which its records are committed here."""
        ...

    def head(self) -> bytes:
        """Return the chain's hash over all records before the position."""
        ...

    def checkpoint(self) -> int:
        """Return the log's checkpoint as of the last commit that named one; INF: no commit has.

        What follows from every record before it, in the log that this one is made from, is committed here.
        """
        ...

    def begin(self) -> None:
        """Open a transaction, unless one is open. `apply` and `commit` call it themselves."""
        ...

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records in order of position; they are visible after `commit`.

        A store that handlers read shows them to its own reads at once. Records at positions that were applied before
        are skipped. Positions may be missing, since erased records are not read.
        """
        ...

    def commit(self, position: int, head: bytes, checkpoint: int | None = None) -> None:
        """Make the applied records visible, with the position behind them and the chain's hash up to there.

        checkpoint: that of the log there; None: it stays, since more of the same input follows.

        PositionConflict: a record at or after that position was applied.
        """
        ...

    def rollback(self) -> None:
        """Discard all records that were applied since the last commit."""
        ...

    def bulk(self) -> AbstractContextManager[None]:
        """Fill an empty store fast. Until the end only apply, commit and position may be called.

        PositionConflict: the store is not empty.
        """
        ...

    def close(self) -> None:
        """Close the store. Records that were not committed are discarded."""
        ...

    # Consistent reads.

    def begin_read(self) -> bool:
        """Begin a consistent read: until `end_read` all reads see one state. False: they do so already."""
        ...

    def end_read(self) -> None:
        """End a consistent read: later reads see what was committed since `begin_read`."""
        ...

    # Facts.

    def facts(
        self,
        query: FactsFilter,
        window: Window,
        *,
        subjects: Sequence[str] | None = None,
        objects: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[FactRow]:
        """Return the versions that overlap a window on both clocks, by valid_at, then in log order.

        The list begins after the query's cursor. subjects, objects: ids of the entities that the query's names stand
        for, of which a fact needs one; None: any. A fact whose object is the query's object as a literal fits too.
        limit: how many at most; None: all.
        """
        ...

    def latest(self, entities: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        """Return the versions from or to these entities that hold at a moment, most recently attested first.

        A fact is attested by each episode that says it and is not withdrawn at that moment; of two facts attested at
        once, the one asserted later comes first. At most `limit`.
        """
        ...

    def fact(self, uuid: str, known: int = INF) -> FactRow | None:
        """Return a fact as it was first asserted, whatever happened to it later. None: no fact has this id.

        known: up to when statements tell its episodes and qualifiers.
        """
        ...

    def versions(self, uuid: str, known: int = INF) -> list[FactRow]:
        """Return every version of a fact that was believed up to a known moment, as it was then.

        They are sorted by known_from, then valid_at.
        """
        ...

    def provenance(self, uuid: str, known: int = INF) -> Provenance | None:
        """Return the sources, the counter-statements and the revisions of a fact. None: no fact has this id.

        known: when a statement that was retracted counts or does not; what was said later is there all the same.
        """
        ...

    def correcting(self, uuids: Sequence[str]) -> dict[str, str]:
        """Return the id of the fact that each of some facts corrects, by its own id; most facts correct none."""
        ...

    def changes(self, since: int, limit: int) -> list[ChangeRow]:
        """Return the versions that messages after position `since` opened and closed, in log order.

        Each is told as it was known then. The changes of one message are never parted, closings come first; so there
        may be more than `limit`. Continue from the position of the last.
        """
        ...

    def contradictions(
        self, group: str | None, known: int | None, *, settled: bool = False, limit: int | None = None
    ) -> list[ContradictionRow]:
        """Return the contradictions that were open at a known moment (None: now), in the order of their flagging.

        settled: also those that were settled by then. Retracting either of its facts settles a contradiction.
        """
        ...

    def objectives(self, group: str | None, known: int | None, *, limit: int | None = None) -> list[ObjectiveRow]:
        """Return the objectives of a group, or of all, that were believed at a moment (None: now).

        The most salient come first, of equally salient ones the one that came to be believed so first.
        """
        ...

    # Facts by number: a fact's number is the position of its assertion in the log, so it never changes.

    def text(
        self, query: str, group: str | None, at: Moment, limit: int, among: "NDArray[np.int64] | None" = None
    ) -> list[tuple[int, float]]:
        """Return (number, BM25 score) of the facts whose sentence has a word of the query, best first.

        among: only facts with these numbers.

        Where very many facts have one, a store may score only those with the rarest words. Any text is a valid query.
        Facts that were not committed are not found.
        """
        ...

    def live(self, group: str | None, at: Moment) -> "NDArray[np.int64]":
        """Return the numbers of the facts with a version that holds at a moment, ascending."""
        ...

    def numbers(self, query: FactSearchQuery, at: Moment, near: Sequence[str] | None) -> "NDArray[np.int64]":
        """Return the numbers of the facts that pass the filters of a search and hold at a moment, ascending.

        near: ids of entities, of which a fact needs one as an end; None: any.
        """
        ...

    def facts_numbered(self, numbers: Sequence[int], at: Moment) -> dict[int, list[FactRow]]:
        """Return the versions of these facts that hold at a moment, by number, in the order of `numbers`."""
        ...

    def sentences(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        """Yield (number, group, sentence) of every fact with a greater number, ascending."""
        ...

    # Entities.

    def entity(self, uuid: str) -> EntityRow | None:
        """Return an entity by id."""
        ...

    def entities(
        self,
        group: str | None,
        known: int | None,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
    ) -> list[EntityRow]:
        """Return the entities known at a moment (None: now), oldest first, at most `limit`.

        prefix: only those with a name that begins so. after: only those introduced after the entity with this id.

        A name counts until the episode that gave it is withdrawn; the name by which an entity was introduced always
        counts.
        """
        ...

    def aliases(self, uuid: str, known: int | None) -> list[str]:
        """Return the names of an entity that count at a moment (None: now), its own first."""
        ...

    def identity(self, uuids: Sequence[str], known: int | None) -> set[str]:
        """Return the ids of these entities and of all their duplicates at a moment (None: now)."""
        ...

    def attributes(self, uuids: Sequence[str], known: int | None) -> list[AttributeRow]:
        """Return the believed values of these entities' attributes at a known moment, one for each entity and name.

        It is the value of the last statement recorded by then that `holds`; none, where its support is 0. The most
        recently attested value comes first; of two attested at once, the one recorded later.
        """
        ...

    def communities(
        self, group: str | None, known: int | None, *, of: Sequence[str] | None = None, limit: int | None = None
    ) -> list[CommunityRow]:
        """Return the communities that have members at a known moment, oldest first.

        of: only those with one of these entities as a member; then `group` is ignored. Members come in the order of
        joining, those of one message in the order of their introduction.
        """
        ...

    # The episodic layer.

    def episode(self, uuid: str) -> EpisodeRow | None:
        """Return an episode by id."""
        ...

    def mention(self, uuid: str) -> MentionRow | None:
        """Return a mention by id."""
        ...

    def relationship(self, uuid: str) -> RelationshipRow | None:
        """Return a relationship by id."""
        ...

    def episodes(self, group: str | None) -> Iterator[EpisodeRow]:
        """Yield the episodes in the order of the log."""
        ...

    def mentions(self, group: str | None) -> Iterator[MentionRow]:
        """Yield the mentions in the order of the log."""
        ...

    def relationships(self, group: str | None) -> Iterator[RelationshipRow]:
        """Yield the relationships in the order of the log."""
        ...

    # The whole store.

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each kind."""
        ...

    def parked(self, group: str | None, *, after: int = -1, limit: int) -> list[ParkedRow]:
        """Return the messages that were parked or failed and not retried since, in their order: at most `limit`.

        after: a position of the messages log; only messages behind it. Continue from the position of the last.
        """
        ...

    def parked_count(self, state: str = "parked") -> int:
        """Return the number of messages that are parked, or `failed`, and were not retried since."""
        ...

    def digest(self) -> str:
        """Return the SHA-256 of all rows: equal for equal logs, however the store came to its state."""
        ...
