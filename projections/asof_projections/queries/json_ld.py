"""JSON-LD: entities and facts in the terms of PROV, written piece by piece in constant memory.

A fact is a prov:Entity that was generated when it became known and derived from the episodes that say it; where it is
no longer believed, it was invalidated then. When it holds in the world are terms of asof.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final
from urllib.parse import quote

_TIME: Final = "xsd:dateTime"
_CONTEXT: Final = {
    "prov": "http://www.w3.org/ns/prov#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "asof": "urn:asof:term:",
    "label": "rdfs:label",
    "generatedAtTime": {"@id": "prov:generatedAtTime", "@type": _TIME},
    "invalidatedAtTime": {"@id": "prov:invalidatedAtTime", "@type": _TIME},
    "wasDerivedFrom": {"@id": "prov:wasDerivedFrom", "@type": "@id"},
    "specializationOf": {"@id": "prov:specializationOf", "@type": "@id"},
    "subject": {"@id": "asof:subject", "@type": "@id"},
    "object": {"@id": "asof:object", "@type": "@id"},
    "value": "prov:value",
    "validFrom": {"@id": "asof:validFrom", "@type": _TIME},
    "validUntil": {"@id": "asof:validUntil", "@type": _TIME},
    **{name: f"asof:{name}" for name in ("relation", "group", "type", "confidence", "planned", "occurrence")},
}


def write(nodes: Iterable[dict[str, Any]], edges: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the pieces of one JSON-LD document."""
    yield f'{{"@context": {json.dumps(_CONTEXT)},\n"@graph": ['
    between = "\n"
    for item in chain(map(_node, nodes), map(_edge, edges)):
        yield between + json.dumps({name: value for name, value in item.items() if _is_said(value)}, ensure_ascii=False)
        between = ",\n"
    yield "\n]}\n"


def _node(node: dict[str, Any]) -> dict[str, Any]:
    return {
        "@id": _urn("node", node["id"]),
        "@type": "prov:Entity",
        "label": node["name"],
        "type": node.get("type"),
        "group": node.get("group_id"),
        "generatedAtTime": node.get("created_at"),
    }


def _edge(edge: dict[str, Any]) -> dict[str, Any]:
    is_version = "known_from" in edge
    return {
        "@id": _urn("fact", edge["id"]),
        "@type": "prov:Entity",
        "label": edge.get("fact"),
        "subject": _urn("node", edge["source"]),
        "relation": edge["relation"],
        "object": _urn("node", edge["target"]),
        "value": edge.get("value"),
        "validFrom": edge.get("valid_at"),
        "validUntil": edge.get("invalid_at"),
        "generatedAtTime": edge["known_from" if is_version else "created_at"],
        "invalidatedAtTime": edge.get("known_to"),
        "specializationOf": _urn("fact", edge["uuid"]) if is_version else None,
        "wasDerivedFrom": [_urn("episode", episode) for episode in edge.get("episodes", ())],
        "group": edge.get("group_id"),
        "confidence": edge.get("confidence"),
        "planned": edge.get("planned"),
        "occurrence": edge.get("occurrence"),
    }


def _is_said(value: Any) -> bool:
    return value is not None and value is not False and value != []


def _urn(kind: str, id_: str) -> str:
    return f"urn:asof:{kind}:{quote(id_, safe='')}"
