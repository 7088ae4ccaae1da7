"""The encoding of values in documents: keys from ids, open ends as integers that all of ArangoDB sorts rightly.

Microseconds of the years 1 to 9999 stay below 2.6e17. ArangoDB's integers have 64 bits, yet its indexes once compared
them as doubles: an open end is ±1e18, which a double holds exactly and which lies beyond every instant.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from asof_streams.instants import INF, NEG

OPEN: Final = 10**18
GROUP: Final = "grp"  # the field of a document that has its group
_LATEST: Final = OPEN // 2  # after every instant, before an open end: it stands for now
_BACK: Final = {OPEN: INF, -OPEN: NEG}

Document = dict[str, Any]
T = TypeVar("T")


def key(identity: str) -> str:
    """Return the document key for an id, in letters and digits alone."""
    return sha256(identity.encode()).hexdigest()[:40]


def ascii_text(text: str) -> str:
    """Return a group id or a word in ASCII: the server compares other text by its locale, where two may be one."""
    return quote(text, safe="")


def stored_groups(groups: str | list[str] | None) -> str | list[str] | None:
    """Return a group, several or none (None) as they are stored."""
    if groups is None:
        return None
    return ascii_text(groups) if isinstance(groups, str) else list(map(ascii_text, groups))


def declaration(group: str, relation: str) -> str:
    """Return the id of a relation's declaration in a group; the group "" is every group."""
    return f"{ascii_text(group)} {relation}"


def encode(value: Any) -> Any:
    """Return a value as it is stored: sentinels as open ends, bools as numbers."""
    if isinstance(value, int):
        return {INF: OPEN, NEG: -OPEN}.get(value) or max(-_LATEST, min(int(value), _LATEST))
    if isinstance(value, dict):
        return {name: _of_field(name, part, ascii_text, encode) for name, part in value.items()}
    return [encode(part) for part in value] if isinstance(value, list | tuple) else value


def decode(value: Any) -> Any:
    """Return a stored value with sentinels for its open ends."""
    if type(value) is int:
        return _BACK.get(value, value)
    if isinstance(value, dict):
        return {name: _of_field(name, part, unquote, decode) for name, part in value.items()}
    return [decode(part) for part in value] if isinstance(value, list) else value


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of a size, the last of which may be shorter."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def dumps(value: Any) -> str:
    """Return JSON for the driver. ValueError: NaN and infinity are not JSON."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _of_field(name: str, value: Any, group: Callable[[str], str], other: Callable[[Any], Any]) -> Any:
    """Return the value of a field, changed in one way where it is a group, and in another where it is not."""
    return group(value) if name == GROUP and isinstance(value, str) else other(value)
