"""A JSON document: its words, which are its string values, each a text of its own; and its structure, with offsets."""

import json
import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

_STRING: Final = re.compile(r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
_SYNTAX: Final = re.compile(r"[^\n]")
_NAME: Final = re.compile(r"\s*:")
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]|[^\s{}\[\],:"]++', re.DOTALL)


class JsonNode(NamedTuple):
    """A value of a document, at [start, end) of its content; a string without its quotes.

    items: the values of a list; the names and values of an object by turns.
    """

    kind: Literal["object", "list", "string", "number", "other"]
    start: int
    end: int
    items: tuple["JsonNode", ...] = ()


def words(content: str) -> str:
    """Return a JSON text with all but its string values replaced by blanks, so that all offsets stay as they are.

    Where it is none as a whole, but each of its lines is (JSON Lines), those lines are read so. Other content is text,
    and stays as it is.
    """
    parts: list[str] = []
    end = 0
    for start, document in _documents(content):
        parts += content[end:start], _values(document)
        end = start + len(document)
    return "".join((*parts, content[end:]))


def nodes(content: str) -> list[JsonNode]:
    """Return the value of a JSON text, or those of its lines (JSON Lines); nothing, if it is neither."""
    return [_node(document, start) for start, document in _documents(content)]


def unescaped(content: str) -> str:
    """Return a JSON text with its escapes replaced by blanks: what stands at the offsets of its nodes."""
    return _ESCAPE.sub(_blanks, content)


def _documents(content: str) -> Iterator[tuple[int, str]]:
    """Yield the JSON documents of a content, with their offsets."""
    if _is_json(content):
        yield 0, content
        return
    lines = content.split("\n")
    documents = [line for line in lines if line.strip()]
    if len(documents) > 1 and all(line.lstrip()[0] in "{[" and _is_json(line) for line in documents):
        start = 0
        for line in lines:
            if line.strip():
                yield start, line
            start += len(line) + 1


def _is_json(content: str) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def _node(document: str, offset: int) -> JsonNode:
    """Return the value of a valid document, whose depth is bounded by what `json` takes."""
    open_: list[tuple[int, list[JsonNode]]] = [(0, [])]
    for token in _TOKEN.finditer(document):
        text, start, end = token[0], offset + token.start(), offset + token.end()
        if text in {"{", "["}:
            open_.append((start, []))
        elif text in {"}", "]"}:
            begin, items = open_.pop()
            open_[-1][1].append(JsonNode("object" if text == "}" else "list", begin, end, tuple(items)))
        elif text[0] == '"':
            open_[-1][1].append(JsonNode("string", start + 1, end - 1))
        else:
            open_[-1][1].append(JsonNode("number" if text[0] in "-0123456789" else "other", start, end))
    return open_[0][1][0]


def _values(content: str) -> str:
    parts, end = [], 0
    for string in _STRING.finditer(content):
        parts.append(_blank(content[end : string.start()]))
        end = string.end()
        if _NAME.match(content, end):
            parts.append(_blank(string[0]))
        else:
            parts.append(f"\n{_ESCAPE.sub(_blanks, string[0][1:-1])}\n")  # the quotes: it begins and ends as a text
    return "".join((*parts, _blank(content[end:])))


def _blank(syntax: str) -> str:
    return _SYNTAX.sub(" ", syntax)


def _blanks(escape: re.Match[str]) -> str:
    return " " * len(escape[0])
