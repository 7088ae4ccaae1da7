"""JSON schemas for a model's answers, and the parsing of answers by them.

A schema is strict, has no references, which some servers do not resolve, and is as short as possible.
"""

import json
import re
from functools import cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from asof_agents.extraction.ports import RejectedPart

_FENCE: Final = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_Piece = TypeVar("_Piece", bound=BaseModel)


@cache
def schema_of(shape: type[BaseModel]) -> str:
    """Return the JSON schema of an answer, without titles and the like: the model reads it with every message."""
    schema = shape.model_json_schema()
    return json.dumps(_short(schema, schema.get("$defs", {})))


def _short(part: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in part:
        part = definitions[part["$ref"].rpartition("/")[2]]
    if "anyOf" in part:  # of one type, or null
        return {"type": [choice["type"] for choice in part["anyOf"]]}
    short: dict[str, Any] = {name: part[name] for name in ("type", "enum") if name in part}
    if "items" in part:
        short["items"] = _short(part["items"], definitions)
    if "properties" in part:
        short["properties"] = {name: _short(inner, definitions) for name, inner in part["properties"].items()}
        short |= {"required": list(part["properties"]), "additionalProperties": False}
    return short


def object_of(answer: str) -> dict[str, Any] | None:
    """Return the JSON object of an answer, also of one in a fenced code block; None: it is no JSON object."""
    fenced = _FENCE.fullmatch(answer)
    try:
        value = json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def pieces(part: str, values: Any, shape: type[_Piece], refused: list[RejectedPart]) -> list[_Piece]:
    """Return the elements of a list that fit a shape, in order; add a rejection to `refused` for each other one."""
    if not isinstance(values, list):
        refused.append(RejectedPart(part, "schema"))
        return []
    valid = []
    for value in values:
        try:
            valid.append(shape.model_validate(value))
        except ValidationError:
            refused.append(RejectedPart(part, "schema"))
    return valid
