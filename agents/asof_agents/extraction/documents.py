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

    Where it is none as a whole, but each of its lines is (JSON Lines), those lines are read so. Other content is text,
    and stays as it is.
    """
    if _is_json(content):
        return _values(content)
    lines = content.split("\n")
    documents = [line for line in lines if line.strip()]
    if len(documents) > 1 and all(line.lstrip()[0] in "{[" and _is_json(line) for line in documents):
        return "\n".join(_values(line) if line.strip() else line for line in lines)
    return content


def _is_json(content: str) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


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
