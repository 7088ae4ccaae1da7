"""GraphML: entities and facts as a directed graph, written piece by piece in constant memory."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 cannot encode it
_NODE: Final = ("name", "type", "group_id", "created_at", "attributes", "members")
_EDGE: Final = (
    "relation", "fact", "group_id", "valid_at", "invalid_at", "created_at", "expired_at", "confidence", "episodes",
    "generation", "occurrence", "planned", "value", "qualifiers", "reason",
)  # fmt: skip
_VERSION: Final = (
    "uuid",
    "known_from",
    "known_to",
)  # of an edge that is one version of a fact: its id is not the fact's


def write(nodes: Iterable[dict[str, Any]], edges: Iterable[dict[str, Any]], *, versions: bool = False) -> Iterator[str]:
    """Yield the pieces of one GraphML document.

    Every node has an `id`, every edge `id`, `source` and `target`; of the other fields, those declared above are
    written. Null, false and empty fields are left out; a list is joined by spaces, a dict is JSON.
    versions: an edge is a version of a fact, and says of which, and when it was known.
    """
    edge_fields = _EDGE + _VERSION if versions else _EDGE
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for kind, fields in (("node", _NODE), ("edge", edge_fields)):
        for name in fields:
            type_ = "double" if name == "confidence" else "string"
            yield f'<key id="{kind}.{name}" for="{kind}" attr.name="{name}" attr.type="{type_}"/>\n'
    yield '<graph id="asof" edgedefault="directed">\n'
    for node in nodes:
        yield f"<node id={_attribute(node['id'])}>{_data('node', _NODE, node)}</node>\n"
    for edge in edges:
        ends = " ".join(f"{name}={_attribute(edge[name])}" for name in ("id", "source", "target"))
        yield f"<edge {ends}>{_data('edge', edge_fields, edge)}</edge>\n"
    yield "</graph>\n</graphml>\n"


def _data(kind: str, names: tuple[str, ...], fields: dict[str, Any]) -> str:
    return "".join(
        f'<data key="{kind}.{name}">{escape(_plain(fields[name]))}</data>'
        for name in names
        if fields.get(name) not in (None, [], {}) and fields[name] is not False
    )


def _attribute(value: str) -> str:
    return quoteattr(_plain(value))


def _plain(value: Any) -> str:
    match value:
        case list():
            text = " ".join(value)
        case dict() | bool():
            text = json.dumps(value, ensure_ascii=False)
        case _:
            text = str(value)
    return _NOT_XML.sub("\ufffd", text)
