"""The memories that mem0 exports: each as a message of its user, and the relations of its graph as facts."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from asof.runtime.foreign_items import (
    Fields,
    ForeignItem,
    Told,
    accept_fields,
    first_of,
    group_of,
    objects_of,
    relation_name,
    time_of,
)
from asof_streams.errors import InvalidInput
from asof_streams.messages import AnyMessage, FactStatement, Message

RELATIONS: Final = ("relations",)
LISTS: Final = ("results", "memories", *RELATIONS)


class ForeignMemories:
    """The memories of mem0, each as a message of its user, and its graph's relations as facts."""

    def __init__(self, group: str) -> None:
        self._group = group

    def messages(self, item: ForeignItem) -> Told:
        fields = item.fields
        if item.kind in RELATIONS or {"source", "target"} <= fields.keys():
            yield self._fact(fields, fields, {})
            return
        known = time_of(fields, "created_at")
        said = time_of(fields, "updated_at")
        group, id_ = group_of(fields, self._group), fields.get("id")
        if not isinstance(id_, str):
            raise InvalidInput("it is missing", field="id")
        text = {
            "group_id": group,
            "content": first_of(fields, "memory", "data"),
            "role_type": "user",
            "role": fields.get("user_id") or fields.get("agent_id") or group,
            "name": f"mem0:{id_}",
            "source_description": "mem0",
            "timestamp": known if said is None else said,
        }
        yield accept_fields(Message, text), known
        names = {one.get("id"): one.get("name") for one in objects_of(fields, "entities")}
        for relation in objects_of(fields, "relations"):
            message, at = self._fact(relation, fields, names)
            yield message, known if at is None else at

    def _fact(self, fields: Fields, owner: Fields, names: Mapping[Any, Any]) -> tuple[AnyMessage, int | None]:
        subject, object_ = (
            names.get(fields.get(one), fields.get(one)) if isinstance(fields.get(one), str) else None
            for one in ("source", "target")
        )
        relation = relation_name(first_of(fields, "relationship", "relation"))
        claim = json.dumps([subject, relation, object_])
        stated = {
            "group_id": group_of(owner, self._group),
            "ref": f"mem0:{sha256(claim.encode()).hexdigest()[:32]}",
            "subject": subject,
            "relation": relation,
            "object": object_,
        }
        return accept_fields(FactStatement, stated), time_of(fields, "created_at")
