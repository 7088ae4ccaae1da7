"""The episodic layer in ArangoDB, the statements of slots, and the whole: counted, and hashed as SQLite's is."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import LATEST
from asof_projections.graph.arango.name_numbers import Names
from asof_projections.graph.arango.schema import COLLECTIONS, columns
from asof_projections.graph.arango.wire import Document, declaration
from asof_projections.graph.sqlite_store.scans import COUNTS, HASHED, ORDER
from asof_projections.model.rows import (
    ContradictionRow,
    EpisodeRow,
    MentionRow,
    ParkedRow,
    RelationshipRow,
    Slot,
    Statement,
)
from asof_projections.versions import Assertion, Ending
from asof_streams.instants import INF

_UNNUMBERED: Final = "versions"  # the one table whose own key a rebuild may change


class Listings(Names):
    """What is there, without regard to a moment."""

    # The episodic layer.

    def episode(self, uuid: str) -> EpisodeRow | None:
        found = self._document("episodes", uuid)
        return None if found is None else _episode(found)

    def mention(self, uuid: str) -> MentionRow | None:
        found = self._document("mentions", uuid)
        return None if found is None else _mention(found)

    def relationship(self, uuid: str) -> RelationshipRow | None:
        found = self._document("relationships", uuid)
        return None if found is None else _relationship(found)

    def episodes(self, group: str | None) -> Iterator[EpisodeRow]:
        return map(_episode, self._pages("episodes", group))

    def mentions(self, group: str | None) -> Iterator[MentionRow]:
        return map(_mention, self._pages("mentions", group))

    def relationships(self, group: str | None) -> Iterator[RelationshipRow]:
        return map(_relationship, self._pages("relationships", group))

    def parked(self, group: str | None, *, after: int = -1, limit: int) -> list[ParkedRow]:
        rows = (row for row in self._pages("parked", group) if row["cause"] > after)
        return [ParkedRow(row["cause"], row["grp"], row["created_at"], row["reason"]) for row in islice(rows, limit)]

    def parked_count(self) -> int:
        return self.counts()["parked"]

    def contradictions(
        self, group: str | None, known: int | None, *, settled: bool = False, limit: int | None = None
    ) -> list[ContradictionRow]:
        until = LATEST if known is None else known
        rows = self._pages("contradictions", group, known=until)
        found = (_contradiction(row, until) for row in rows if settled or row["settled_at"] > until)
        return list(islice(found, limit))

    # Statements.

    def single(self, group: str, relation: str) -> bool:
        found = (self._document("cardinalities", declaration(of, relation)) for of in (group, ""))
        return next((bool(declared["single"]) for declared in found if declared is not None), False)

    def slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        found = self._ask(aql.SLOT, group=group, subject=subject, relation=relation, ref=None, open=INF)[0]
        live = [a for a in found["asserted"] if not a["row"]["dead"] and value in (None, a["row"]["thing"])]
        ended = [e for e in found["ended"] if not e["dead"] and (value is None or e["thing"] in (None, value))]
        held = {a["row"]["uuid"]: tuple((vf, vt) for vf, vt in a["held"]) for a in live}
        return Slot(tuple(_assertion(a["row"]) for a in live), tuple(map(_ending, ended)), held)

    def statement(self, uuid: str) -> Statement | None:
        if (row := self._document("assertions", uuid)) is not None:
            return _statement(row)
        if (row := self._document("endings", uuid)) is not None:
            where = (row["grp"], row["subject_uuid"], row["relation"], bool(row["dead"]))
            return Statement(uuid, *where, ending=_ending(row))
        row = self._document("retractions", uuid)
        return None if row is None else Statement(uuid, row["grp"], "", "", bool(row["dead"]), target=row["target"])

    def fact_with_ref(self, group: str, ref: str) -> Statement | None:
        found = self._ask(aql.SLOT, group=group, subject=None, relation=None, ref=ref, open=INF)[0]["asserted"]
        return _statement(found[-1]["row"]) if found else None

    # The whole.

    def fact_count(self) -> int:
        return self.counts()["facts"]

    def counts(self) -> dict[str, int]:
        found: dict[str, int] = self._ask(aql.COUNTS, open=INF)[0]
        return {name: found[name] for name in COUNTS}

    def digest(self) -> str:
        digest = sha256()
        for table, order in ORDER.items():
            kept = columns(table)
            digest.update(f"{table} {list(kept)}\n".encode())
            names = [name for name in kept if (table, name) != (_UNNUMBERED, "n")]
            rows = [
                tuple(_as_declared(row[name], kept[name]) for name in names) for row in self._in_order(table, order)
            ]
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
    said = (row["name"], row["source"], row["source_description"], row["role"], row["role_type"], row["body"])
    times = (row["content_length"], row["valid_at"], row["created_at"])
    return EpisodeRow(row["uuid"], row["grp"], row["cause"], *said, *times)


def _contradiction(row: Document, known: int) -> ContradictionRow:
    flagged = (row["uuid"], row["grp"], row["earlier"], row["later"], row["created_at"])
    is_open = row["settled_at"] > known
    return ContradictionRow(
        *flagged, *((INF, None, None) if is_open else (row["settled_at"], row["kept"], row["dropped"]))
    )


def _mention(row: Document) -> MentionRow:
    said = (row["uuid"], row["episode"], row["type"], row["text"], row["start"], bool(row["speaker"]), row["repeats"])
    return MentionRow(*said, row["turn_at"], row["created_at"])


def _relationship(row: Document) -> RelationshipRow:
    said = (row["uuid"], row["episode"], row["relation"], row["source"], row["target"], row["stance"])
    where = (float(row["confidence"]), row["start"], row["stop"])
    return RelationshipRow(*said, *where, row["turn_at"], row["created_at"])


def _assertion(row: Document) -> Assertion:
    order = (row["cause"], row["place"])
    return Assertion(row["uuid"], row["thing"], row["stated_from"], row["stated_to"], order, row["attested"])


def _ending(row: Document) -> Ending:
    return Ending(row["uuid"], row["thing"], row["at"], row["fact"])


def _statement(row: Document) -> Statement:
    where = (row["grp"], row["subject_uuid"], row["relation"], bool(row["dead"]))
    sure = {"confidence": float(row["confidence"]), "ref": row["ref"]}
    return Statement(row["uuid"], *where, assertion=_assertion(row), **sure)
