"""The port of a graph store: rows that follow a log, and what they answer as of a moment on both clocks.

What handlers ask of a store is in asof_agents.ports; the SQLite adapter answers that too. Known moments are instants;
None lifts a clock. No answer as of a known moment shows anything recorded after it.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from asof_projections.model.queries import FactsFilter
from asof_projections.model.rows import (
    AttributeRow,
    ChangeRow,
    CommunityRow,
    ContradictionRow,
    EntityRow,
    EpisodeRow,
    FactRow,
    MentionRow,
    Moment,
    ParkedRow,
    RelationshipRow,
    Window,
)
from asof_streams.events import Record


class StatementSource(NamedTuple):
    """Where something was said."""

    episode_id: str
    relationship_id: str | None
    said_at: int
    recorded_at: int


class Revision(NamedTuple):
    """Why belief in a fact changed: the kind of the event, and the statement that caused it."""

    kind: str  # superseded | ended | retracted | corrected | contradicted | merged | restored
    statement: str
    position: int  # of the message, in the messages log
    recorded_at: int
    source: StatementSource | None  # where the statement was made


class CounterStatement(NamedTuple):
    """A statement about a fact: an ending that cuts it, or a retraction of it."""

    uuid: str
    at: int  # of an ending: from when on; of a retraction: when it was recorded
    dead: bool
    source: StatementSource


class Provenance(NamedTuple):
    """What a fact rests on, and what happened to it. Each part is in the order of the log."""

    fact_id: str
    sources: tuple[StatementSource, ...]  # the assertion, then what said it again
    time_words: str | None
    grain: str | None
    ref: str | None
    corrects: str | None
    corrected_by: tuple[str, ...]
    endings: tuple[CounterStatement, ...]
    retractions: tuple[CounterStatement, ...]
    revisions: tuple[Revision, ...]


class Neighbourhood(NamedTuple):
    """One step of a traversal: who somebody is, and the facts from and to them, each by valid_at, then as said."""

    entity_ids: frozenset[str]
    outward: list[FactRow]
    inward: list[FactRow]


class GraphStore(Protocol):
    """A projection that follows one log. Its rows and its position change together or not at all."""

    generation: str

    # Following a log.

    def position(self) -> int:
        """Return the position of the log up to which its records are committed here."""
        ...

    def head(self) -> bytes:
        """Return the chain's hash over all records before the position."""
        ...

    def begin(self) -> None:
        """Open a transaction, unless one is open. apply and commit do so themselves."""
        ...

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records in order of position, visible after commit.

        A store that handlers ask shows them to its own reads at once. Those at a position that was applied before are
        skipped. Positions may be missing: erased records are not read.
        """
        ...

    def commit(self, position: int, head: bytes) -> None:
        """Make what was applied visible, with the position it stands for and the chain's hash up to there.

        PositionConflict: something from that position on was applied.
        """
        ...

    def rollback(self) -> None:
        """Forget what was applied since the last commit."""
        ...

    def bulk(self) -> AbstractContextManager[None]:
        """Fill an empty store fast; only apply, commit and position may be called until the end."""
        ...

    def close(self) -> None:
        """Let go of the store. What was not committed is forgotten."""
        ...

    # Reading one state.

    def begin_read(self) -> bool:
        """Let reads see one state of the store until `end_read`; False where a transaction holds it already."""
        ...

    def end_read(self) -> None:
        """Let reads see what was committed since `begin_read`."""
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
        """Return the versions that meet a window on both clocks, by valid_at, then as said; after the query's cursor.

        subjects, objects: the ids of the entities that the query's names stand for, any of which will do. The query's
        object is a literal too, an alternative to the objects.
        """
        ...

    def latest(self, entities: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        """Return the versions from or to these entities that hold at a moment, most recently attested first.

        A fact is attested whenever an episode that counts at that moment says it; of equals the one asserted last comes
        first. At most `limit`.
        """
        ...

    def fact(self, uuid: str) -> FactRow | None:
        """Return a fact as it was first said, whatever became of it."""
        ...

    def versions(self, uuid: str) -> list[FactRow]:
        """Return every version of a fact that was ever believed, by known_from, then valid_at."""
        ...

    def provenance(self, uuid: str) -> Provenance | None:
        """Return what a fact rests on and what happened to it."""
        ...

    def changed_at(self) -> int:
        """Return when a version was last opened or closed; NEG where none ever was."""
        ...

    def changes(self, since: int, limit: int) -> list[ChangeRow]:
        """Return the versions opened and closed by messages after position `since`, in order, about `limit` of them.

        All changes of a message come together, closings first; go on from the position of the last.
        """
        ...

    def contradictions(
        self, group: str | None, known: int | None, *, settled: bool = False, limit: int | None = None
    ) -> list[ContradictionRow]:
        """Return the contradictions that were open at a known moment (None: now), flagged first first.

        settled: those too that were settled by then. One is settled by the retraction of either of its facts.
        """
        ...

    # Facts by number: a fact's number is the position of its assertion in the log, so it never changes.

    def text(self, query: str, group: str | None, at: Moment, limit: int) -> list[tuple[int, float]]:
        """Return (number, score) of the facts whose sentence has a word of the query, best first (BM25).

        Where very many have one, a store may score only those that have the rarest. Any text is a query. What is
        applied but not committed is not found.
        """
        ...

    def live(self, group: str | None, at: Moment) -> NDArray[np.int64]:
        """Return the numbers of the facts with a version that holds at a moment, ascending."""
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
        """Return the entities known at a moment, oldest first; with `prefix`, those with a name that begins so.

        after: only those introduced after the entity with this id.

        A name counts for as long as an episode does that gave it; that by which an entity was introduced always counts.
        """
        ...

    def aliases(self, uuid: str, known: int | None) -> list[str]:
        """Return the names of an entity that count at a moment (None: now), its own first."""
        ...

    def identity(self, uuids: Sequence[str], known: int | None) -> set[str]:
        """Return these entities and all that were taken to be the same as one of them at a moment (None: now)."""
        ...

    def attributes(self, uuids: Sequence[str], known: int | None) -> list[AttributeRow]:
        """Return the values believed at a known moment of the attributes of these entities, one for each and name.

        Of those statements of an attribute that were recorded until then and `hold`, the last one's; none, where its
        support is 0. The most recently attested value first; of equals the one recorded last.
        """
        ...

    def communities(
        self, group: str | None, known: int | None, *, of: Sequence[str] | None = None, limit: int | None = None
    ) -> list[CommunityRow]:
        """Return the communities that have members at a known moment, those formed first first.

        of: only those with one of these entities as a member; then `group` is passed over. Members come in the order in
        which they joined, those who did so in one message in the order in which they were introduced.
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

    # The whole.

    def counts(self) -> dict[str, int]:
        """Return how many of each kind there are."""
        ...

    def parked(self, group: str | None, *, after: int = -1, limit: int) -> list[ParkedRow]:
        """Return the messages of which nothing could be made, in the order of the log: at most `limit`.

        after: a position of the messages log; only those behind it. Go on from the position of the last.
        """
        ...

    def parked_count(self) -> int:
        """Return how many messages there are of which nothing could be made."""
        ...

    def digest(self) -> str:
        """Return the SHA-256 of all that is known here: equal for one log, however the store came to its state."""
        ...
