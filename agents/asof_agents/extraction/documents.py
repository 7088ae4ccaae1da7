"""The words of a JSON document: its string values, each a text of its own. Its names and its structure are no prose."""

import json
import re
from typing import Final

_STRING: Final = re.compile(r'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)
_SYNTAX: Final = re.compile(r"[^\n]")
_NAME: Final = re.compile(r"\s*:")
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


def words(content: str) -> str:
    """Return a JSON text with all but its string values replaced by blanks, so that all offsets stay as they are.

    A content that is no JSON is text, and stays as it is.
    """
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return content
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
