"""Records by their plain values, from one process of ours to another: cheaper to make again than to read and decode.

Plain is what marshal takes as it is: texts, numbers, truth values, and tuples and dicts of these. An event that has
anything else goes as it is stored. Marshal refuses most of that, but takes the numbers and texts of numpy for bytes.
"""

import marshal
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import DecodeError
from asof_streams.events import Event, Record, decode, event_class, event_of
from asof_streams.messages import FactStatement

_FORMAT: Final = 2  # of marshal: later ones look for equal objects, of which there are few
_STATED: Final = tuple(FactStatement.model_fields)
_VALUES, _STATEMENT = itemgetter(3), itemgetter(4)  # of a record as it is packed
_PLAIN: Final = frozenset({str, int, float, bool, tuple, dict, type(None)})


def pack(records: Sequence[Record]) -> bytes:
    """Return records in a form that the same version of asof takes: `unpack` makes them again."""
    try:  # nearly always all are plain
        return _dumped([_values_of(record) for record in records])
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
    fields = event.__dict__
    values = tuple(fields.values())  # before the statement is read, which is kept among them
    if "qualifiers" in fields:
        _expect_plain(fields["qualifiers"])
    stated = _statement_in(event) if type(event) is EpisodeRecorded else None
    return (record[:7], event.type, event.version, values, stated)


def _expect_plain(qualifiers: dict[str, Any] | None) -> None:
    """Raise ValueError where a value is not plain."""
    if qualifiers and not _PLAIN.issuperset(map(type, qualifiers.values())):
        raise ValueError


def _plain_or_stored(record: Record) -> tuple[Any, ...]:
    try:
        values = _values_of(record)
        _dumped([values])
    except ValueError:
        return (record[:7], record.event.type, record.event.version, record.event.encode(), None)
    return values


def _dumped(records: list[tuple[Any, ...]]) -> bytes:
    """Return what marshal makes of records. ValueError: a value is not plain."""
    fields = chain.from_iterable(chain(map(_VALUES, records), filter(None, map(_STATEMENT, records))))
    if not _PLAIN.issuperset(map(type, fields)):
        raise ValueError
    return marshal.dumps(records, _FORMAT)


def _statement_in(event: EpisodeRecorded) -> tuple[Any, ...] | None:
    """Return the values of the structured fact that an event is the episode of, if it can be read."""
    if event.source != "fact":
        return None
    try:
        fields = event.statement.__dict__
        _expect_plain(fields["qualifiers"])
        return tuple(fields.values())
    except DecodeError:  # whoever derives from it meets that too
        return None


@cache
def _fields_of(type_: str, version: int) -> tuple[type[Event], tuple[str, ...]]:
    cls = event_class(type_, version)
    return cls, tuple(cls.model_fields)
