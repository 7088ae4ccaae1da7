"""The schema that a model is asked to answer by: strict, in one piece as servers take it, and as short as can be."""

import json
from typing import Any

from pydantic import BaseModel


def schema_of(shape: type[BaseModel]) -> str:
    """Return the JSON schema of an answer, without what tells a model nothing: it is read with every message."""
    whole = shape.model_json_schema()
    return json.dumps(_short(whole, whole.get("$defs", {})))


def _short(part: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in part:
        part = named[part["$ref"].rpartition("/")[2]]
    if "anyOf" in part:  # of one type, or null
        return {"type": [choice["type"] for choice in part["anyOf"]]}
    short: dict[str, Any] = {name: part[name] for name in ("type", "enum") if name in part}
    if "items" in part:
        short["items"] = _short(part["items"], named)
    if "properties" in part:
        short["properties"] = {name: _short(of, named) for name, of in part["properties"].items()}
        short |= {"required": list(part["properties"]), "additionalProperties": False}
    return short
