"""The episodic layer in ArangoDB row by row, and the whole store: its counts, and the digest that SQLite has too."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import LATEST
from asof_projections.graph.arango.name_numbers import ArangoNames
from asof_projections.graph.arango.schema import COLLECTIONS, columns
from asof_projections.graph.arango.wire import Document
from asof_projections.graph.sqlite_store.scans import COUNTS, HASHED, IDENTIFIED, LATER, ORDER, identified
from asof_projections.model.rows import (
    ContradictionRow,
    EpisodeRow,
    MentionRow,
    ObjectiveRow,
    ParkedRow,
    RelationshipRow,
)
from asof_projections.versions import Assertion, Ending
from asof_streams.instants import INF


class ArangoScans(ArangoNames):
    """Reads of everything but entities and facts."""

    # The episodic layer.

    def episode(self, uuid: str) -> EpisodeRow | None:
        document = self._document("episodes", uuid)
        return None if document is None else _episode(document)

    def mention(self, uuid: str) -> MentionRow | None:
        document = self._document("mentions", uuid)
        return None if document is None else _mention(document)

    def relationship(self, uuid: str) -> RelationshipRow | None:
        document = self._document("relationships", uuid)
        return None if document is None else _relationship(document)

    def episodes(self, group: str | None) -> Iterator[EpisodeRow]:
        return map(_episode, self._pages("episodes", group))

    def mentions(self, group: str | None) -> Iterator[MentionRow]:
        return map(_mention, self._pages("mentions", group))

    def relationships(self, group: str | None) -> Iterator[RelationshipRow]:
        return map(_relationship, self._pages("relationships", group))

    def parked(self, group: str | None, *, after: int = -1, limit: int) -> list[ParkedRow]:
        rows = sorted((row.position, place, row) for place, row in enumerate(self._unsettled(group)))
        return [row for position, _, row in rows if position > after][:limit]

    def _unsettled(self, group: str | None) -> Iterator[ParkedRow]:
        """Yield what was parked or failed and not retried since: each is an exception, of which a memory has few."""
        retried = {row["cause"]: row["n"] for row in self._pages("retries", group)}
        for row in self._pages("parked", group):
            if row["n"] > retried.get(row["cause"], -1):
                yield ParkedRow(row["cause"], row["grp"], row["created_at"], row["reason"], row["state"])

    def parked_count(self, state: str = "parked") -> int:
        return self.counts()[state]

    def contradictions(
        self, group: str | None, known: int | None, *, settled: bool = False, limit: int | None = None
    ) -> list[ContradictionRow]:
        until = LATEST if known is None else known
        rows = self._pages("contradictions", group, known=until)
        contradictions = (_contradiction(row, until) for row in rows if settled or row["settled_at"] > until)
        return list(islice(contradictions, limit))

    def objectives(self, group: str | None, known: int | None, *, limit: int | None = None) -> list[ObjectiveRow]:
        at = LATEST if known is None else known
        goals = defaultdict[str, list[tuple[str, int]]](list)
        for row in self._pages("objective_goals", group):
            if row["created_at"] <= at < row["withdrawn_at"]:
                goals[row["objective"]].append((row["goal"], row["created_at"]))
        believed = [row for row in self._pages("objectives", group) if row["kf"] <= at < row["kt"]]
        first = sorted(believed, key=lambda row: (-row["saliency"], row["n"]))[:limit]
        return [_objective(row, goals[row["uuid"]]) for row in first]

    # The whole store.

    def fact_count(self) -> int:
        return self.counts()["facts"]

    def counts(self) -> dict[str, int]:
        counts: dict[str, int] = self._query(aql.COUNTS, open=INF)[0]
        return {name: counts[name] for name in COUNTS}

    def digest(self) -> str:
        digest = sha256()
        uuids = {
            table: {row["n"]: row["uuid"] for row in self._pages(COLLECTIONS[table], None)}
            for table in set(IDENTIFIED.values())
        }

        def digested(table: str, column: str, value: Any, declared: str) -> Any:
            """Return a value as SQLite's digest has it."""
            if value is None or (of := identified(table, column)) is None:
                return _as_declared(value, declared)
            return f"v:{value}" if isinstance(value, str) else f"n:{uuids[of][value]}"

        for table, order in ORDER.items():
            kept = columns(table)
            rows = [
                tuple(digested(table, name, row[name], kept[name]) for name in kept if name != "n")
                for row in self._in_order(table, order)
            ]
            if table in LATER and not rows:
                continue
            digest.update(f"{table} {list(kept)}\n".encode())
            for start in range(0, len(rows), HASHED):
                digest.update(repr(rows[start : start + HASHED]).encode())
        return digest.hexdigest()

    def _in_order(self, table: str, order: str) -> list[Document]:
        by = order.split(", ")
        return sorted(self._pages(COLLECTIONS[table], None), key=lambda row: [row[name] for name in by])


def _as_declared(value: Any, declared: str) -> Any:
    """Return a value as SQLite gives it: JSON does not tell 1.0 from 1."""
    return float(value) if declared.startswith("REAL") and value is not None else value


def _episode(row: Document) -> EpisodeRow:
    turn = (row["name"], row["source"], row["source_description"], row["role"], row["role_type"], row["body"])
    times = (row["content_length"], row["valid_at"], row["created_at"])
    return EpisodeRow(row["uuid"], row["grp"], row["cause"], *turn, *times)


def _contradiction(row: Document, known: int) -> ContradictionRow:
    flagged = (row["uuid"], row["grp"], row["earlier"], row["later"], row["created_at"])
    is_open = row["settled_at"] > known
    return ContradictionRow(
        *flagged, *((INF, None, None) if is_open else (row["settled_at"], row["kept"], row["dropped"]))
    )


def _objective(row: Document, goals: Sequence[tuple[str, int]]) -> ObjectiveRow:
    said = (row["uuid"], row["grp"], row["description"], float(row["saliency"]), row["status"], row["said_at"])
    ids, recorded = tuple(goal for goal, _ in goals), tuple(at for _, at in goals)
    return ObjectiveRow(*said, row["kf"], row["kt"], ids, recorded)


def _mention(row: Document) -> MentionRow:
    observation = (
        row["uuid"],
        row["episode"],
        row["type"],
        row["text"],
        row["start"],
        bool(row["speaker"]),
        row["repeats"],
    )
    return MentionRow(*observation, row["turn_at"], row["created_at"])


def _relationship(row: Document) -> RelationshipRow:
    claim = (row["uuid"], row["episode"], row["relation"], row["source"], row["target"], row["stance"])
    time = (row["valid_from"], row["valid_to"], row["grain"], row["time_words"])
    evidence = (float(row["confidence"]), row["start"], row["stop"])
    return RelationshipRow(*claim, *time, *evidence, row["turn_at"], row["created_at"])


def _assertion(row: Document) -> Assertion:
    order = (row["cause"], row["place"])
    return Assertion(row["uuid"], row["thing"], row["stated_from"], row["stated_to"], order, row["attested"])


def _ending(row: Document) -> Ending:
    return Ending(row["uuid"], row["thing"], row["at"], row["fact"])
