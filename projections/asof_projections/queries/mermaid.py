"""Mermaid: entities and facts as a flowchart, written piece by piece in constant memory."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

_ESCAPED: Final = re.compile(r"[^\w ,.:!?'()/-]")  # all else may mean something to Mermaid, or to HTML
_SPACE: Final = re.compile(r"\s+")
_DAY: Final = 10  # characters of a date


def write(nodes: Iterable[dict[str, Any]], edges: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a flowchart: a box for each node, an arrow with relation and period for each edge."""
    yield "flowchart LR\n"
    for node in nodes:
        yield f'    {_id(node["id"])}["{_label(str(node["name"]))}"]\n'
    for edge in edges:
        yield f'    {_id(edge["source"])} -- "{_label(_told(edge))}" --> {_id(edge["target"])}\n'


def _id(stored: str) -> str:
    """Return the id of a box: ids may be of any characters, and some words mean something to Mermaid."""
    return f"n{sha256(stored.encode()).hexdigest()[:16]}"


def _told(edge: dict[str, Any]) -> str:
    since, until = (edge.get(name) for name in ("valid_at", "invalid_at"))
    times = [f"{word} {time[:_DAY]}" for word, time in (("from", since), ("until", until)) if time]
    return " ".join([edge["relation"], *times, *(["(planned)"] if edge.get("planned") else [])])


def _label(text: str) -> str:
    """Return a text of one line, with the characters that mean something as Mermaid's entities."""
    return _ESCAPED.sub(lambda found: f"#{ord(found[0])};", _SPACE.sub(" ", text))
