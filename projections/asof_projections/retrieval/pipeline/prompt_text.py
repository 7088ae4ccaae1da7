"""Context assembly: ranked memories and known entities as text for a prompt. Pure."""

import json
from collections.abc import Iterable

from asof_projections.model.answers import Entity


def assemble_context(memories: Iterable[tuple[float, str]], entities: Iterable[Entity]) -> str:
    """Return memories, as (score, text), and entities in markdown; "" where there is neither.

    A text stands as a JSON string and a name on one line, so that nothing said can look like another section.
    """
    parts = [
        _section("Relevant Memories", (f"[{n}] (score: {s:.2f}) {_quoted(t)}" for n, (s, t) in enumerate(memories, 1))),
        _section("Known Entities", (f"- {_line(e.name)} (type: {_line(e.type or 'Entity')})" for e in entities)),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n{body}" if body else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())
