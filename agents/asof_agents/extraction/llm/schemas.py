"""The shape that a model is asked to answer in, and what of an answer has it.

A schema is strict, in one piece as servers take it, and as short as can be.
"""

import json
import re
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from asof_agents.extraction.ports import RejectedPart

_FENCE: Final = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_Piece = TypeVar("_Piece", bound=BaseModel)


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


def object_of(answer: str) -> dict[str, Any] | None:
    """Return the JSON object that an answer is, also within a fence; None where it is none."""
    fenced = _FENCE.fullmatch(answer)
    try:
        found = json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def pieces(part: str, given: Any, shape: type[_Piece], refused: list[RejectedPart]) -> list[_Piece]:
    """Return the pieces of a list that have the right shape; the others are added to what was refused."""
    if not isinstance(given, list):
        refused.append(RejectedPart(part, "schema"))
        return []
    found = []
    for piece in given:
        try:
            found.append(shape.model_validate(piece))
        except ValidationError:
            refused.append(RejectedPart(part, "schema"))
    return found
