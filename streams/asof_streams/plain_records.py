"""Records by their plain values, from one process of ours to another: cheaper to make again than to read and decode.

Plain is what marshal takes as it is: texts, numbers, truth values, and tuples and dicts of these. An event that has
anything else goes as it is stored.
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
_STATED: Final = tuple(FactStatement.model_fields)


def pack(records: Sequence[Record]) -> bytes:
    """Return records in a form that the same version of asof takes: `unpack` makes them again."""
    try:  # nearly always all are plain
        return marshal.dumps(list(map(_values_of, records)), _FORMAT)
    except ValueError:
        return marshal.dumps([_plain_or_stored(record) for record in records], _FORMAT)


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
    values = tuple(event.__dict__.values())  # before the statement is read, which is kept among them
    stated = _statement_in(event) if type(event) is EpisodeRecorded else None
    return (record[:7], event.type, event.version, values, stated)


def _plain_or_stored(record: Record) -> tuple[Any, ...]:
    values = _values_of(record)
    try:
        marshal.dumps(values, _FORMAT)
    except ValueError:
        return (*values[:3], record.event.encode(), None)
    return values


def _statement_in(event: EpisodeRecorded) -> tuple[Any, ...] | None:
    """Return the values of the structured fact that an event is the episode of, if it can be read."""
    if event.source != "fact":
        return None
    try:
        return tuple(event.statement.__dict__.values())
    except DecodeError:  # whoever derives from it meets that too
        return None


@cache
def _fields_of(type_: str, version: int) -> tuple[type[Event], tuple[str, ...]]:
    cls = event_class(type_, version)
    return cls, tuple(cls.model_fields)
