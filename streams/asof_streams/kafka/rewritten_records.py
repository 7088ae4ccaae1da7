"""The records of topics that were rewritten: each at the offset that it had, and empty if it was erased. Pure.

What the copy of a message cannot have of its own, the time by the broker's clock, is a header of it. Such headers are
believed below the mark of the rewrite, which the control log has, and nowhere else: any client may send some.
"""

from asof_streams.errors import TopicUnfit
from asof_streams.kafka.envelope import Headers, Outgoing, Raw

OFFSET = "rewrite_offset"  # that the record had: the same as now
TIMESTAMP = "rewrite_timestamp"  # of the record, in milliseconds
FILLER = "rewrite_filler"  # no record was there, as at the mark of a transaction
_OURS = frozenset({OFFSET, TIMESTAMP, FILLER})
_KEPT = ("ce_source", "ce_type", "ce_eventversion", "ce_id")  # what makes a message known again when it is sent again


def copied(raw: Raw) -> Outgoing:
    """Return the copy of a message that was not erased."""
    return Outgoing(raw.key, raw.value, [*_without_ours(raw), *_place(raw)])


def emptied(raw: Raw, group: str) -> Outgoing:
    """Return what stands in the place of a message that was erased."""
    headers = [(name, value) for name, value in _without_ours(raw) if name in _KEPT]
    return Outgoing(group.encode(), b"", [*headers, *_place(raw)])


def filler(offset: int) -> Outgoing:
    """Return what stands where there was no record."""
    return Outgoing(None, b"", [(OFFSET, b"%d" % offset), (FILLER, b"1")])


def restored(raw: Raw, mark: int) -> Raw | None:
    """Return a message as it was before it was rewritten; None: it is a filler.

    mark: the offset below which all was rewritten. TopicUnfit: a record below it is not what the rewrite put there.
    """
    if raw.offset >= mark:
        return raw
    headers = dict(raw.headers)
    if headers.get(OFFSET) != b"%d" % raw.offset:
        raise TopicUnfit(f"offset {raw.offset} is not what a rewrite of the topics put there: restore the topic")
    if FILLER in headers:
        return None
    return raw._replace(timestamp=int(headers[TIMESTAMP]), headers=_without_ours(raw))


def _without_ours(raw: Raw) -> Headers:
    return [(name, value) for name, value in raw.headers if name not in _OURS]


def _place(raw: Raw) -> Headers:
    return [(OFFSET, b"%d" % raw.offset), (TIMESTAMP, b"%d" % raw.timestamp)]
