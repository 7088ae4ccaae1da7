"""Exports of other memories, read as the messages that state the same here: Graphiti, Zep and mem0.

An export is one JSON document, with lists of items under names such as `nodes` and `edges`, or JSON lines of items. It
is read whole, since an edge names nodes that may come later. Nothing of an item is in the reason why it was refused.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeVar

from asof.runtime.inbound_message import InboundMessage
from asof_projections.model.answers import Refused
from asof_streams.errors import InvalidInput
from asof_streams.instants import parse, render
from asof_streams.messages import (
    TIMES,
    AnyMessage,
    EntityStatement,
    FactStatement,
    Message,
    accept,
    check_group,
    in_scope,
)

Product = Literal["graphiti", "mem0", "zep"]
Fields = Mapping[str, Any]
M = TypeVar("M", FactStatement, Message)

_NODES: Final = ("nodes", "entities", "entity_nodes")
_EDGES: Final = ("edges", "facts", "entity_edges")
_EPISODES: Final = ("episodes", "episodic_nodes")
_MEMORIES: Final = ("results", "memories")
_RELATIONS: Final = ("relations",)
_IDS: Final = {"uuid", "uuid_", "id"}
_OWNERS: Final = ("group_id", "user_id", "agent_id", "run_id", "graph_id")  # whose an item is, the first that is there
_NANOSECONDS: Final = re.compile(r"(\.\d{6})\d+")
_ZONE_NAME: Final = re.compile(r"\[[^\]]*\]$")  # behind the offset, as Neo4j writes it
_WITH_OFFSET: Final = re.compile(r"(Z|[+-]\d\d:?\d\d)$", re.IGNORECASE)
_NOT_IN_RELATIONS: Final = re.compile(r"[^\w]+")


class ForeignItem(NamedTuple):
    """An item of an export: its number, from 1; where it stands; of which list it is."""

    number: int
    where: str
    kind: str
    fields: Fields


class ForeignExport(NamedTuple):
    """An export as messages in the order in which they are to be told, with what is left out of it and why."""

    messages: tuple[InboundMessage, ...]
    refused: tuple[Refused, ...]
    left_out: int  # items of which nothing is stated here, such as communities


def read_export(product: Product, data: bytes, group: str, *, recorded: bool) -> ForeignExport:
    """Read an export. `group` is that of items that name none; `recorded`: each message with the time it was known.

    InvalidInput: it is no export of the product.
    """
    check_group(group)
    items = list(_items(data, _MEMORIES + _RELATIONS if product == "mem0" else _NODES + _EDGES + _EPISODES))
    told = _Memories(group) if product == "mem0" else _Graph(group, items, recorded=recorded)
    messages: list[InboundMessage] = []
    refused: list[Refused] = []
    left_out = 0
    for item in items:
        try:
            stated = [
                InboundMessage(message, _known_at(at) if recorded else None) for message, at in told.messages(item)
            ]
        except InvalidInput as error:
            refused.append(Refused(item.number, f"{item.where}: {error}", error.field))
            continue
        messages += stated
        left_out += not stated
    messages.sort(key=lambda one: (one.recorded_at or 0, _order(one.event)))
    return ForeignExport(tuple(messages), tuple(refused), left_out)


def _known_at(time: int | None) -> int:
    if time is None:
        raise InvalidInput("--recorded needs it on every item", field="created_at")
    return time


def _order(message: AnyMessage) -> tuple[int, int]:
    """Entities first, so that facts are of them; then what was said first."""
    if isinstance(message, EntityStatement):
        return 0, 0
    said = message.said_at if isinstance(message, FactStatement) else getattr(message, "timestamp", None)
    return 1, said or 0


def _items(data: bytes, lists: tuple[str, ...]) -> Iterator[ForeignItem]:
    """Yield the items of a document, or else of JSON lines."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    if document is None:
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                yield from _of_line(number, line, lists)
        return
    yield from _numbered(_of_document(document, lists))


def _of_line(number: int, line: bytes, lists: tuple[str, ...]) -> Iterator[ForeignItem]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, dict) and _is_page(fields, lists):
        for where, kind, item in _of_document(fields, lists):  # a page
            yield ForeignItem(number, f"line {number}, {where}", kind, item)
    else:
        yield ForeignItem(number, f"line {number}", "", fields if isinstance(fields, dict) else {})


def _of_document(document: Any, lists: tuple[str, ...]) -> Iterator[tuple[str, str, Fields]]:
    found = {"": document} if isinstance(document, list) else document
    if not isinstance(found, dict):
        raise InvalidInput("it is no JSON object, list or lines of objects")
    if not isinstance(document, list) and not _is_page(found, lists):
        found = {"": [document]}
    for name in ("", *lists):
        for at, item in enumerate(found[name] if isinstance(found.get(name), list) else []):
            yield f"{name}[{at}]", name, item if isinstance(item, dict) else {}


def _is_page(fields: Fields, lists: tuple[str, ...]) -> bool:
    """Whether an object holds lists of items; an item may have lists of the same names, and has an id."""
    return any(isinstance(fields.get(name), list) for name in lists) and not fields.keys() & _IDS


def _numbered(found: Iterator[tuple[str, str, Fields]]) -> Iterator[ForeignItem]:
    for number, (where, kind, fields) in enumerate(found, 1):
        yield ForeignItem(number, where, kind, fields)


Told = Iterator[tuple[AnyMessage, int | None]]
"""Messages, each with the time since when the other memory knew it."""


class _Graph:
    """The nodes and edges of Graphiti and Zep; with a history, an end is told when it became known."""

    def __init__(self, group: str, items: list[ForeignItem], *, recorded: bool) -> None:
        self._group = group
        self._recorded = recorded
        self._nodes: dict[str, Fields] = {}
        for item in items:
            fields = _unwrapped(item.fields)
            if _kind_of(item.kind, fields) == "node" and isinstance(id_ := _first(fields, "uuid", "uuid_"), str):
                self._nodes[id_] = fields

    def messages(self, item: ForeignItem) -> Told:
        fields = _unwrapped(item.fields)
        match _kind_of(item.kind, fields):
            case "node":
                yield self._entity(fields)
            case "edge":
                yield from self._fact(fields)
            case "other":
                return
            case _:
                raise InvalidInput("it is neither a node, an edge nor an episode")

    def _entity(self, fields: Fields) -> tuple[AnyMessage, int | None]:
        stated = {
            "group_id": _group_of(fields, self._group),
            "entity_id": _first(fields, "uuid", "uuid_"),
            "name": fields.get("name"),
            "summary": fields.get("summary") or "",
        }
        return in_scope(accept(EntityStatement, stated)), _time(fields, "created_at")

    def _fact(self, fields: Fields) -> Told:
        created, expired = (_time(fields, name) for name in ("created_at", "expired_at"))
        ended = _time(fields, "invalid_at")
        ended = expired if ended is None else ended
        group, ref = _group_of(fields, self._group), _first(fields, "uuid", "uuid_")
        said = _time(fields, "reference_time")
        later = self._recorded and expired is not None and ended is not None and created is not None
        stated = {
            "group_id": group,
            "ref": ref,
            **self._end(fields, "subject", "source"),
            "relation": _relation(_first(fields, "name", "relation")),
            **self._end(fields, "object", "target"),
            "fact": fields.get("fact") or None,
            "valid_at": _time(fields, "valid_at"),
            "invalid_at": None if later else ended,
            "said_at": created if said is None else said,
        }
        yield _accept(FactStatement, stated), created
        if later:
            end = {"group_id": group, "op": "end", "ref": ref, "invalid_at": ended, "said_at": expired}
            yield _accept(FactStatement, end), expired

    def _end(self, fields: Fields, name: str, side: str) -> dict[str, Any]:
        id_ = _first(fields, f"{side}_node_uuid", f"{side}_uuid")
        node = self._nodes.get(id_, {}) if isinstance(id_, str) else {}
        called = node.get("name") or fields.get(f"{side}_node_name")
        if called is None:
            raise InvalidInput("the export has no node with this id", field=f"{side}_node_uuid")
        labels = node.get("labels")
        types = [label for label in labels if label != "Entity"] if isinstance(labels, list) else []
        return {name: called, f"{name}_type": types[0] if types else None}


class _Memories:
    """The memories of mem0, each as a message of its user, and its graph's relations as facts."""

    def __init__(self, group: str) -> None:
        self._group = group

    def messages(self, item: ForeignItem) -> Told:
        fields = item.fields
        if item.kind in _RELATIONS or {"source", "target"} <= fields.keys():
            yield self._fact(fields, fields, {})
            return
        known = _time(fields, "created_at")
        said = _time(fields, "updated_at")
        group, id_ = _group_of(fields, self._group), fields.get("id")
        if not isinstance(id_, str):
            raise InvalidInput("it is missing", field="id")
        text = {
            "group_id": group,
            "content": _first(fields, "memory", "data"),
            "role_type": "user",
            "role": fields.get("user_id") or fields.get("agent_id") or group,
            "name": f"mem0:{id_}",
            "source_description": "mem0",
            "timestamp": known if said is None else said,
        }
        yield _accept(Message, text), known
        names = {one.get("id"): one.get("name") for one in _objects(fields, "entities")}
        for relation in _objects(fields, "relations"):
            message, at = self._fact(relation, fields, names)
            yield message, known if at is None else at

    def _fact(self, fields: Fields, owner: Fields, names: Mapping[Any, Any]) -> tuple[AnyMessage, int | None]:
        subject, object_ = (
            names.get(fields.get(one), fields.get(one)) if isinstance(fields.get(one), str) else None
            for one in ("source", "target")
        )
        relation = _relation(_first(fields, "relationship", "relation"))
        claim = json.dumps([subject, relation, object_])
        stated = {
            "group_id": _group_of(owner, self._group),
            "ref": f"mem0:{sha256(claim.encode()).hexdigest()[:32]}",
            "subject": subject,
            "relation": relation,
            "object": object_,
        }
        return _accept(FactStatement, stated), _time(fields, "created_at")


def _accept(kind: type[M], fields: dict[str, Any]) -> M:
    """Return a message of the fields that a door takes, whose times are text."""
    times = {name: render(fields[name]) for name in TIMES if fields.get(name) is not None}
    return accept(kind, fields | times)


def _unwrapped(fields: Fields) -> Fields:
    """Return the properties of a node or an edge as a graph database dumps them: Neo4j's `apoc.export.json`."""
    properties = fields.get("properties")
    if not isinstance(properties, dict):
        return fields
    found = dict(properties)
    if fields.get("type") == "relationship":
        for side, end in (("source", "start"), ("target", "end")):
            node = fields.get(end)
            known = node.get("properties") if isinstance(node, dict) else None
            if isinstance(known, dict) and "uuid" in known:
                found.setdefault(f"{side}_node_uuid", known["uuid"])
        found["label"] = fields.get("label")
    else:
        found["labels"] = fields.get("labels")
    return found


def _kind_of(listed: str, fields: Fields) -> Literal["node", "edge", "other", ""]:
    labels = fields.get("labels")
    if listed in _EPISODES or fields.get("label") not in (None, "RELATES_TO"):
        return "other"
    if listed in _EDGES:
        return "edge"
    if fields.keys() & {"source_node_uuid", "source_uuid"}:
        return "edge" if fields.keys() & {"fact", "name", "relation"} else "other"
    if isinstance(labels, list) and {"Episodic", "Community", "Saga"} & {one for one in labels if isinstance(one, str)}:
        return "other"
    if listed in _NODES or (isinstance(labels, list) and "content" not in fields):
        return "node"
    return "other" if "content" in fields else "node" if {"name", "summary"} <= fields.keys() else ""


def _group_of(fields: Fields, group: str) -> str:
    named = next((value for name in _OWNERS if isinstance(value := fields.get(name), str) and value), group)
    return check_group(named)


def _first(fields: Fields, *names: str) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _objects(fields: Fields, name: str) -> list[Fields]:
    listed = fields.get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _relation(name: Any) -> Any:
    """Return the name of a relation as ontologies write it: WORKS_AT is works_at."""
    return _NOT_IN_RELATIONS.sub("_", name).strip("_").lower() if isinstance(name, str) else name


def _time(fields: Fields, name: str) -> int | None:
    """Return a time; one without an offset is in UTC. InvalidInput: it is none."""
    given = fields.get(name)
    if given in (None, ""):
        return None
    if not isinstance(given, str):
        raise InvalidInput("a time is a string such as 2024-05-01T09:30:00Z", field=name)
    text = _NANOSECONDS.sub(r"\1", _ZONE_NAME.sub("", given.strip()))
    text = text if _WITH_OFFSET.search(text) else f"{text}Z"
    try:
        return parse(text.replace(" ", "T", 1))
    except InvalidInput as error:
        raise error.within(name) from None
