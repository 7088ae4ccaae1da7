"""The graphs that Graphiti and Zep export: nodes as entities, edges as facts."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Literal

from asof.runtime.foreign_items import (
    Fields,
    ForeignItem,
    Told,
    accept_fields,
    first_of,
    group_of,
    relation_name,
    time_of,
)
from asof_streams.errors import InvalidInput
from asof_streams.messages import AnyMessage, EntityStatement, FactStatement, accept, in_scope

NODES: Final = ("nodes", "entities", "entity_nodes")
EDGES: Final = ("edges", "facts", "entity_edges")
EPISODES: Final = ("episodes", "episodic_nodes")
LISTS: Final = NODES + EDGES + EPISODES


class ForeignGraph:
    """The nodes and edges of Graphiti and Zep; with a history, an end is told when it became known."""

    def __init__(self, group: str, items: Sequence[ForeignItem], *, recorded: bool) -> None:
        self._group = group
        self._recorded = recorded
        self._nodes: dict[tuple[str, str], Fields] = {}  # by group and id: each group has ids of its own
        for item in items:
            fields = _unwrapped(item.fields)
            if _kind_of(item.kind, fields) == "node" and isinstance(id_ := first_of(fields, "uuid", "uuid_"), str):
                with suppress(InvalidInput):  # its group is none: it is refused when its turn comes
                    self._nodes[group_of(fields, group), id_] = fields

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
            "group_id": group_of(fields, self._group),
            "entity_id": first_of(fields, "uuid", "uuid_"),
            "name": fields.get("name"),
            "summary": fields.get("summary") or "",
        }
        return in_scope(accept(EntityStatement, stated)), time_of(fields, "created_at")

    def _fact(self, fields: Fields) -> Told:
        created, expired = (time_of(fields, name) for name in ("created_at", "expired_at"))
        ended = time_of(fields, "invalid_at")
        ended = expired if ended is None else ended
        group, ref = group_of(fields, self._group), first_of(fields, "uuid", "uuid_")
        said = time_of(fields, "reference_time")
        later = self._recorded and expired is not None and ended is not None and created is not None
        stated = {
            "group_id": group,
            "ref": ref,
            **self._end(fields, group, "subject", "source"),
            "relation": relation_name(first_of(fields, "name", "relation")),
            **self._end(fields, group, "object", "target"),
            "fact": fields.get("fact") or None,
            "valid_at": time_of(fields, "valid_at"),
            "invalid_at": None if later else ended,
            "said_at": created if said is None else said,
        }
        yield accept_fields(FactStatement, stated), created
        if later:
            end = {"group_id": group, "op": "end", "ref": ref, "invalid_at": ended, "said_at": expired}
            yield accept_fields(FactStatement, end), expired

    def _end(self, fields: Fields, group: str, name: str, side: str) -> dict[str, Any]:
        id_ = first_of(fields, f"{side}_node_uuid", f"{side}_uuid")
        node = self._nodes.get((group, id_), {}) if isinstance(id_, str) else {}
        called = node.get("name") or fields.get(f"{side}_node_name")
        if called is None:
            raise InvalidInput("its group has no node with this id in the export", field=f"{side}_node_uuid")
        labels = node.get("labels")
        types = [label for label in labels if label != "Entity"] if isinstance(labels, list) else []
        return {name: called, f"{name}_type": types[0] if types else None}


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
    if listed in EPISODES or fields.get("label") not in (None, "RELATES_TO"):
        return "other"
    if listed in EDGES:
        return "edge"
    if fields.keys() & {"source_node_uuid", "source_uuid"}:
        return "edge" if fields.keys() & {"fact", "name", "relation"} else "other"
    if isinstance(labels, list) and {"Episodic", "Community", "Saga"} & {one for one in labels if isinstance(one, str)}:
        return "other"
    if listed in NODES or (isinstance(labels, list) and "content" not in fields):
        return "node"
    return "other" if "content" in fields else "node" if {"name", "summary"} <= fields.keys() else ""
