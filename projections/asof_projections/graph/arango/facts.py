"""Facts in ArangoDB: as of a moment, over known time, by number, and by full-text search."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asof_projections.fts_words import words_of
from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import NO_LIMIT, ArangoReader
from asof_projections.graph.arango.wire import Document, ascii_text, key
from asof_projections.graph.ports import CounterStatement, Provenance, Repetition, Revision, StatementSource, retracted
from asof_projections.model.queries import FactSearchQuery, FactsFilter, numbers_of
from asof_projections.model.rows import ChangeRow, FactRow, Moment, Window, literals_of
from asof_streams.instants import INF, parse

_ANY = {
    "subjects": None,
    "objects": None,
    "numbers": None,
    "relation": None,
    "group": None,
    "after": None,
    "object_type": None,
    "near": None,
    "relations": None,
    "types": None,
    "groups": None,
}
_WHOLE = {"limit": NO_LIMIT, "brief": False}
_EVER = Window.at(Moment(None, None))


class ArangoFacts(ArangoReader):
    """Facts by subject, relation, object or number, as of a moment or over a period."""

    def facts(
        self,
        query: FactsFilter,
        window: Window,
        *,
        subjects: Sequence[str] | None = None,
        objects: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[FactRow]:
        parameters: dict[str, Any] = {"group": query.group, "relation": query.relation}
        if subjects is not None:
            parameters["subjects"] = self._ids(subjects)
        if query.object is not None:
            parameters["objects"] = [*(f"e:{uuid}" for uuid in objects or ()), f"v:{query.object}"]
        if query.object_type is not None:
            parameters["object_type"] = query.object_type
        if query.page is not None:
            parameters["after"] = list(numbers_of(query.page, 3))
        if limit is not None:
            parameters["limit"] = limit
        return self._meeting(window, **parameters)

    def facts_numbered(self, numbers: Sequence[int], at: Moment) -> dict[int, list[FactRow]]:
        window = Window.at(at)
        versions: dict[int, list[FactRow]] = {int(n): [] for n in numbers}
        for row in self._rows_meeting(window, numbers=list(versions)):
            versions[row["row"]["fact"]] += [fact for fact in self.read([row], window.kmax) if fact.is_asked(at)]
        return {n: facts for n, facts in versions.items() if facts}

    def latest(self, entities: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        window, things = Window.at(at), [f"e:{uuid}" for uuid in entities]
        rows = self._rows_meeting(window, subjects=self._ids(entities)) + self._rows_meeting(window, objects=things)
        versions = {version["row"]["n"]: version for version in rows}
        facts = self.read(sorted(versions.values(), key=_attested, reverse=True)[:limit], window.kmax)
        return [fact for fact in facts if fact.is_asked(at)]

    def versions(self, uuid: str, known: int = INF) -> list[FactRow]:
        assertion = self._document("assertions", uuid)
        facts = self._meeting(_EVER._replace(kmax=known), numbers=[assertion["n"]]) if assertion else []
        return sorted(facts, key=lambda fact: (fact.known_from, fact.valid_at))

    def live(self, group: str | None, at: Moment) -> NDArray[np.int64]:
        return np.unique(np.array(self._rows_meeting(Window.at(at), group=group, brief=True), np.int64))

    def live_of(self, numbers: Sequence[int], group: str | None, at: Moment) -> NDArray[np.int64]:
        """Return those of some facts that are of a group (None: of any) and hold at a moment, ascending."""
        rows = self._rows_meeting(Window.at(at), numbers=[int(n) for n in numbers], group=group, brief=True)
        return np.unique(np.array(rows, np.int64))

    def numbers(self, query: FactSearchQuery, at: Moment, near: Sequence[str] | None) -> NDArray[np.int64]:
        limits = {
            "near": None if near is None else self._ids(near),
            "relations": query.relations or None,
            "types": query.entity_types or None,
            "groups": query.groups,
        }
        return np.unique(np.array(self._rows_meeting(Window.at(at), brief=True, **limits), np.int64))

    def text(
        self, query: str, group: str | None, at: Moment, limit: int, among: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        numbers = None if among is None else among.tolist()
        [words] = words_of([query])
        parameters = {"words": list(map(ascii_text, words)), "group": group, "numbers": numbers, "limit": limit}
        rows = self._query(aql.TEXT, **parameters, **Window.at(at)._asdict())
        return [(number, float(score)) for number, score in rows]

    def sentences(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        return ((a["n"], a["grp"], a["sentence"]) for a in self._pages("assertions", None, after))

    # Over known time.

    def changes(self, since: int, limit: int) -> list[ChangeRow]:
        rows = self._query(aql.CHANGES, since=since, limit=limit, end=INF)
        return [
            ChangeRow(
                row["at"], row["known"], bool(row["opened"]), self._version(row["row"], _sayings(row), row["known"])
            )
            for row in rows
        ]

    def fact(self, uuid: str, known: int = INF) -> FactRow | None:
        explanation = self._why(uuid)
        if explanation is None:
            return None
        assertion = explanation["row"]
        sayings = [assertion, *(again for again in explanation["again"] if again["created_at"] <= known)]
        believed = assertion["created_at"], INF if assertion["expired_at"] > known else assertion["expired_at"]
        times = (assertion["stated_from"], assertion["stated_to"], *believed)
        return self._fact(assertion, sayings, times, believed)

    def correcting(self, uuids: Sequence[str]) -> dict[str, str]:
        found = ((uuid, self.provenance(uuid)) for uuid in uuids)
        return {uuid: of.corrects for uuid, of in found if of and of.corrects}

    def provenance(self, uuid: str, known: int = INF) -> Provenance | None:
        explanation = self._why(uuid, known)
        if explanation is None:
            return None
        assertion = explanation["row"]
        found = Provenance(
            uuid,
            (_source(assertion), *map(_source, explanation["again"])),
            assertion["time_words"],
            assertion["grain"],
            assertion["ref"],
            assertion["corrects"],
            tuple(explanation["corrected_by"]),
            tuple(Repetition(p["uuid"], p["stated_from"], _source(p)) for p in explanation["repetitions"]),
            tuple(CounterStatement(e["uuid"], e["at"], bool(e["dead"]), _source(e)) for e in explanation["endings"]),
            tuple(
                CounterStatement(r["uuid"], r["created_at"], bool(r["dead"]), _source(r))
                for r in explanation["retractions"]
            ),
            tuple(_revision(revision) for revision in explanation["closings"]),
        )
        return found if known == INF else found.counting(self._retracted(found.statements(), known))

    def _why(self, uuid: str, known: int = INF) -> Document | None:
        explanations = self._query(aql.WHY, key=key(uuid), retracted=known != INF)
        return explanations[0] if explanations else None

    def _retracted(self, statements: Iterable[str], known: int) -> set[str]:
        """Return those of some statements that were retracted at a known moment."""
        pairs: dict[str, str] = {}
        targets = list(statements)
        while targets:  # a request for each level: a retraction is seldom retracted
            found = self._query(aql.RETRACTED_BY, targets=targets, known=known)
            targets = [by for by, _ in found if by not in pairs]
            pairs.update(found)
        return retracted(pairs.items())

    # Rows.

    def _meeting(self, window: Window, **about: Any) -> list[FactRow]:
        return self.read(self._rows_meeting(window, **about), window.kmax)

    def _rows_meeting(self, window: Window, **about: Any) -> list[Any]:
        return self._query(aql.FACTS, **(_ANY | _WHOLE | about), **window._asdict())

    def read(self, rows: Iterable[Document], known: int) -> list[FactRow]:
        """Return rows {row, again, withdrawn} as facts, as they were known; a row may lack `withdrawn`."""
        return [self._version(version["row"], _sayings(version), known) for version in rows]

    def _version(self, row: Document, sayings: Sequence[Document], known: int) -> FactRow:
        created, expired = parse(row["created_at"]), INF if row["expired_at"] is None else parse(row["expired_at"])
        times = (row["vf"], row["vt"], created, INF if expired > known else expired)
        return self._fact(row, sayings, times, (row["kf"], INF if row["kt"] > known else row["kt"]))

    def _fact(
        self, row: Document, sayings: Sequence[Document], times: tuple[int, int, int, int], known: tuple[int, int]
    ) -> FactRow:
        ends = (row["subject_uuid"], row["object_uuid"])
        claim = (row["uuid"], row["grp"], row["subject_name"], row["relation"], row["object_name"], *ends)
        episodes = tuple(dict.fromkeys(source["episode"] for source in sayings))
        shown = (row["sentence"], *times, float(row["confidence"]), episodes, self.generation)
        planned = all(saying["planned"] for saying in sayings)
        stated = literals_of(row["object_name"], ((s["number"], json.loads(s["qualifiers"])) for s in sayings))
        told = (row.get("fact", row["n"]), bool(row["occurrence"]), planned, *stated)
        columns: Iterable[Any] = (*claim, *shown, *known, *told)
        return FactRow(*columns)


def _sayings(version: Document) -> list[Document]:
    """Return the statements of a fact that are not withdrawn; if all are, its assertion."""
    row, withdrawn = version["row"], version.get("withdrawn", ())
    return [saying for saying in (row, *version["again"]) if saying["episode"] not in withdrawn] or [row]


def _attested(version: Document) -> tuple[int, int, int]:
    """Return the key that sorts facts by their last attestation, then by their assertion."""
    row = version["row"]
    return max(saying["said_at"] for saying in _sayings(version)), row["fact"], row["vf"]


def _source(row: Document) -> StatementSource:
    said_at: int = (
        row["said_at"] if "said_at" in row else row["created_at"]
    )  # a retraction concerns no time but its own
    said = (row["episode"], row.get("relationship"), said_at, row["created_at"])
    return StatementSource(*said, row.get("qualifiers", "{}"))


def _revision(revision: Document) -> Revision:
    row, source = revision["row"], revision["source"]
    return Revision(
        row["kind"], row["statement"], row["cause"], row["created_at"], None if source is None else _source(source)
    )
