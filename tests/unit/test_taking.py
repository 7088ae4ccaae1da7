"""Lines are put where they go some at once, and whoever gives them hears how many are there for good."""

from collections.abc import Iterator, Sequence

import pytest

from asof.runtime.inbound_message import InboundMessage
from asof.runtime.ingestion import ingest
from asof.runtime.json_lines import as_message, read_lines
from asof_streams.errors import BrokerUnavailable

LINE = b'{"group_id": "g", "role_type": "user", "content": "Hello."}\n'


class Topic:
    """Keeps what is put there, until its broker goes away."""

    def __init__(self, lasts: int) -> None:
        self.kept: list[InboundMessage] = []
        self._lasts = lasts

    def put(self, messages: Sequence[InboundMessage], *, flush: bool = True) -> int:
        del flush
        if len(self.kept) + len(messages) > self._lasts:
            raise BrokerUnavailable("no broker at kafka:9092")
        self.kept += messages
        return len(self.kept) - len(messages)

    def flush(self) -> None:
        pass

    def parked(self) -> int | None:
        return None


def test_whoever_gives_lines_hears_how_many_are_acknowledged_when_the_broker_goes_away() -> None:
    topic, heard = Topic(1_600), []
    found = read_lines([LINE, b"no\n"] * 2_000, as_message)

    with pytest.raises(BrokerUnavailable) as raised:
        ingest(found, lambda: topic, strict=False, acknowledged=lambda accepted, _: heard.append(accepted))

    assert str(raised.value) == "no broker at kafka:9092; the first 1500 good lines, at least, are on the topic"
    assert heard[-1] == len(topic.kept) == 1_500


def test_no_line_is_told_as_done_before_it_is_acknowledged_or_refused() -> None:
    topic, told, kept = Topic(3_000), [], []

    def acknowledged(accepted: int, seen: int) -> None:
        told.append((accepted, seen))
        kept.append((len(topic.kept), 2 * len(topic.kept)))

    found = read_lines([LINE, b"no\n"] * 2_000, as_message)
    ingest(found, lambda: topic, strict=False, acknowledged=acknowledged)

    assert told == kept
    assert len(told) > 1
    assert told[-1] == (2_000, 4_000)


def test_nothing_is_opened_for_lines_of_which_none_may_be_taken() -> None:
    def opened() -> Topic:
        raise AssertionError

    done = ingest(read_lines([LINE, b"no\n"], as_message), opened, strict=True, acknowledged=None)

    assert (done.accepted, [refused.line for refused in done.refused]) == (0, [2])


def test_what_has_come_is_put_when_no_more_is_there_just_now() -> None:
    topic, sizes = Topic(10), []

    def coming() -> Iterator[bytes]:
        yield from (LINE, LINE, b"")
        sizes.append(len(topic.kept))
        yield LINE

    done = ingest(read_lines(coming(), as_message), lambda: topic, strict=False, acknowledged=None)

    assert sizes == [2]
    assert (done.accepted, done.first_position, done.parked) == (3, 0, None)
