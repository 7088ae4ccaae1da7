"""The documents that a batch touches: loaded once, changed in memory, then written or removed whole."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from asof_projections.graph.arango.schema import columns, prefix
from asof_projections.graph.arango.wire import Document, key
from asof_streams.errors import DamagedLog
from asof_streams.events import Record
from asof_streams.ids import possible_ids

_OF_ENTITIES: Final = ("entities", "member_of")  # whose ids producers give
Load = Callable[[str, Sequence[str]], Iterable[Document]]
"""Returns the documents of a kind with these keys, those that exist."""

References = Mapping[type, tuple[tuple[str, str], ...]]
"""For each type of event: the kinds of documents that it names, and the fields that name them."""


class Documents:
    """The documents of one log that a batch touches."""

    def __init__(self, log: str, load: Load) -> None:
        self._start = prefix(log)
        self._load = load
        self._documents: defaultdict[str, dict[str, Document | None]] = defaultdict(dict)  # None: there is none
        self._changed: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.erased: list[str] = []  # groups, to be removed before anything is written

    def written(self) -> Iterator[tuple[str, list[Document]]]:
        """Yield the documents to be written, by kind."""
        for kind, changed in self._changed.items():
            documents = self._documents[kind]
            if written := [document for identity in changed if (document := documents[identity]) is not None]:
                yield kind, written

    def removed(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the keys of the documents to be removed, by kind."""
        for kind, changed in self._changed.items():
            documents = self._documents[kind]
            if keys := [identity for identity in changed if documents[identity] is None]:
                yield kind, keys

    def forget(self) -> None:
        """Drop all documents."""
        self._documents.clear()
        self._changed.clear()
        self.erased.clear()

    def _fetch(self, records: Sequence[Record], names: References) -> None:
        """Load the documents that some records name and that are not loaded yet."""
        wanted: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for record in records:
            for kind, field in names.get(type(record.event), ()):
                named = getattr(record.event, field)
                for identity in (named,) if isinstance(named, str) else named or ():
                    for stored in possible_ids(record.group, identity) if kind in _OF_ENTITIES else (identity,):
                        wanted[kind][key(stored)] = None
        for kind, keys in wanted.items():
            there = self._documents[kind]
            missing = [found for found in keys if found not in there]
            there.update(dict.fromkeys(missing))
            if missing:
                found = self._load(kind, missing)
                there.update({d["_key"]: d for d in found if d["grp"] not in self.erased})

    def _get(self, kind: str, identity: str) -> Document | None:
        return self._documents[kind].get(key(identity))

    def _require(self, r: Record, kind: str, name: str, identity: str) -> Document:
        document = self._get(kind, identity)
        if document is None:
            raise _unknown(r, name, identity)
        return document

    def _entity(self, r: Record, identity: str) -> Document:
        """Return an entity of the record's group."""
        for stored in possible_ids(r.group, identity):
            document = self._get("entities", stored)
            if document is not None and document["grp"] == r.group:
                return document
        raise _unknown(r, "entity", identity)

    def _put(self, r: Record, kind: str, document: Document) -> None:
        document["seq"] = r.position
        self._documents[kind][document["_key"]] = document
        self._changed[kind][document["_key"]] = None

    def _remove(self, kind: str, identity: str) -> None:
        self._documents[kind][identity] = None
        self._changed[kind][identity] = None

    def _row(self, r: Record, kind: str, table: str, identity: str, /, *values: Any, **more: Any) -> Document:
        """Make the document of a row, whose values come in the order of its columns in SQLite."""
        row = dict(zip(columns(table), values, strict=True))
        document = {"_key": identity, "n": r.position, "recorded_at": r.recorded_at, **row, **more}
        self._put(r, kind, document)
        return document

    def _id(self, kind: str, identity: str) -> str:
        return f"{self._start}{kind}/{key(identity)}"

    def _erase(self, group: str) -> None:
        """Drop the documents of a group, and note that it is erased."""
        self.erased.append(group)
        for kind, documents in self._documents.items():
            for identity, document in documents.items():
                if document is not None and document["grp"] == group:
                    documents[identity] = None
                    self._changed[kind].pop(identity, None)


def _unknown(r: Record, name: str, identity: str) -> DamagedLog:
    return DamagedLog(f"the record at position {r.position} names {name} {identity}, which no record before it made")
