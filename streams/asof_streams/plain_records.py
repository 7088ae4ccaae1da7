"""Records by their plain values, from one process of ours to another: cheaper to make again than to read and decode.

An event that has anything but texts, numbers and truth values goes as it is stored.
"""

import marshal
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import DecodeError
from asof_streams.events import Event, Record, decode, event_class, event_of
from asof_streams.messages import FactStatement

_FORMAT: Final = 2  # of marshal: later ones look for equal objects, of which there are few
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_STATED: Final = tuple(FactStatement.model_fields)


def pack(records: Sequence[Record]) -> bytes:
    """Return records in a form that the same version of asof takes: `unpack` makes them again."""
    return marshal.dumps([_values_of(record) for record in records], _FORMAT)


def unpack(packed: bytes) -> Iterator[Record]:
    """Yield the records that were packed, in their order."""
    make = tuple.__new__
    for envelope, type_, version, values, stated in marshal.loads(packed):  # noqa: S302 - from a process of ours
        if isinstance(values, bytes):
            event = decode(type_, version, values)
        else:
            cls, names = _fields_of(type_, version)
            event = event_of(cls, dict(zip(names, values)))  # noqa: B905 - as many as there are; a third of the cost
        if stated is not None:
            event.__dict__["statement"] = event_of(FactStatement, dict(zip(_STATED, stated)))  # noqa: B905
        yield make(Record, (*envelope, event))


def _values_of(record: Record) -> tuple[Any, ...]:
    event = record.event
    values = tuple(event.__dict__.values())
    if not _PLAIN.issuperset(map(type, values)):
        return (record[:7], event.type, event.version, event.encode(), None)
    return (record[:7], event.type, event.version, values, _statement_in(event))


def _statement_in(event: Event) -> tuple[Any, ...] | None:
    """Return the values of the structured fact that an event is the episode of, if they are plain and can be read."""
    if not isinstance(event, EpisodeRecorded) or event.source != "fact":
        return None
    try:
        values = tuple(event.statement.__dict__.values())
    except DecodeError:  # whoever derives from it meets that too
        return None
    return values if _PLAIN.issuperset(map(type, values)) else None


@cache
def _fields_of(type_: str, version: int) -> tuple[type[Event], tuple[str, ...]]:
    cls = event_class(type_, version)
    return cls, tuple(cls.model_fields)
