"""The rule by which records of a derived topic stand, against a naive reading of the whole topic at once."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_streams.errors import DamagedLog
from asof_streams.events import Draft
from asof_streams.kafka.envelope import Checkpoint, Claim, Outgoing, Raw, Sent, checkpoint_reached, claim, event, read
from asof_streams.kafka.fence import Fence
from asof_streams.messages import Message

LOG = "episodic"


def raws(records: Sequence[Outgoing]) -> list[Raw]:
    return [Raw(offset, 1_000, *record) for offset, record in enumerate(records)]


def naive(topic: Sequence[Raw]) -> list[Sent]:
    """What stands: of each reign, whole batches."""
    stands: list[Sent] = []
    for own in reigns(topic):
        events = [one for one in own if isinstance(one, Sent)]
        while events and len(events) >= events[0].size:
            stands += events[: events[0].size]
            events = events[events[0].size :]
    return stands


def told(topic: Sequence[Raw]) -> int:
    """The checkpoint of the last writer that had one to tell while it reigned."""
    return max([0, *(one.checkpoint for own in reigns(topic) for one in own if isinstance(one, Checkpoint))])


def reigns(topic: Sequence[Raw]) -> Iterator[list[Sent | Checkpoint]]:
    """What each writer sent from its claim, which was the first of the highest term, to the next such claim."""
    highest, begun = 0, [(0, 0)]
    found = [read(raw) for raw in topic]
    for offset, one in enumerate(found):
        if isinstance(one, Claim) and one.term > highest:
            highest = one.term
            begun.append((offset, one.term))
    for (start, term), (stop, _) in zip(begun, [*begun[1:], (len(found), 0)], strict=True):
        yield [one for one in found[start:stop] if isinstance(one, Sent | Checkpoint) and one.term == term]


class Writer:
    """A writer as asof's is: it claims, reads what stands, and appends batches after it until it learns of another."""

    def __init__(self, topic: list[Outgoing], name: str) -> None:
        term = max([0, *(c.term for c in map(read, raws(topic)) if isinstance(c, Claim))]) + 1
        topic.append(claim(LOG, term, name))
        self.term = term
        self.position = len(naive(raws(topic)))
        self.cause = max([told(raws(topic)), *(sent.cause + 1 for sent in naive(raws(topic)))])

    def batch(self, size: int) -> list[Outgoing]:
        drafts = [
            Draft("g", 5, self.cause, place, size, Message(group_id="g", content=f"{place}", role_type="user"))
            for place in range(size)
        ]
        records = [event(LOG, self.position + place, draft, self.term, None) for place, draft in enumerate(drafts)]
        self.position += size
        self.cause += 1
        return records

    def silence(self) -> Outgoing:
        """What it sends when it has read a message from which no event follows."""
        self.cause += 1
        return checkpoint_reached(LOG, self.position, self.term, self.cause)


FOREIGN = [
    Outgoing(None, b"{}", []),
    Outgoing(b"g", b"x", [("ce_type", b"message.sent"), ("ce_term", b"1")]),
    Outgoing(b"g", None, [("ce_type", None), ("ce_term", b"1")]),  # type: ignore[list-item]
    claim(LOG, 0, "of no term"),
    event(LOG, 0, Draft("g", 5, 0, 0, 1, Message(group_id="g", content="x", role_type="user")), 99, None),  # unclaimed
]


@st.composite
def topics(draw: st.DrawFn) -> list[Raw]:
    """A topic on which writers took over from each other, died in the middle of batches, and sent on when deposed."""
    topic: list[Outgoing] = []
    writers: list[Writer] = []
    for number in range(draw(st.integers(1, 12))):
        match draw(st.sampled_from(["claim", "batch", "batch", "torn", "deposed", "foreign", "late claim", "silence"])):
            case "claim":
                writers.append(Writer(topic, f"w{number}"))
            case "batch" if writers:
                for record in writers[-1].batch(draw(st.integers(1, 4))):
                    topic.append(record)
                    topic += draw(st.lists(st.sampled_from(FOREIGN), max_size=1))
            case "torn" if writers:
                size = draw(st.integers(2, 4))
                topic += writers[-1].batch(size)[: draw(st.integers(1, size - 1))]
                writers.append(Writer(topic, f"w{number}"))
            case "deposed" if len(writers) > 1:
                deposed = draw(st.sampled_from(writers[:-1]))
                topic += [*deposed.batch(draw(st.integers(1, 3))), deposed.silence()]
            case "silence" if writers:
                topic.append(writers[-1].silence())
            case "foreign":
                topic.append(draw(st.sampled_from(FOREIGN)))
            case "late claim" if writers:
                topic.append(claim(LOG, draw(st.integers(1, writers[-1].term)), f"late {number}"))
    return raws(topic)


def standing(fence: Fence, topic: Sequence[Raw]) -> Iterator[Sent]:
    for raw in topic:
        yield from fence.pass_through(raw)


@given(topics())
def test_what_stands_is_what_a_reading_of_the_whole_topic_says(topic: list[Raw]) -> None:
    found = [*standing(Fence("t"), topic)]

    assert found == naive(topic)
    assert [sent.position for sent in found] == [*range(len(found))]
    assert [(sent.cause, sent.place) for sent in found] == sorted((sent.cause, sent.place) for sent in found)


@given(topics(), st.data())
def test_a_reader_that_goes_on_from_any_place_it_kept_sees_the_same(topic: list[Raw], data: st.DataObject) -> None:
    whole = naive(topic)
    kept: dict[int, Sent] = {}
    fence, read_up_to = Fence("t"), 0
    while read_up_to < len(topic):
        stop = data.draw(st.integers(read_up_to + 1, len(topic)))
        kept |= {sent.position: sent for sent in standing(fence, topic[fence.offset : stop])}
        read_up_to = stop
        fence = Fence("t", fence.offset, fence.position, fence.term, fence.writer)  # all that is kept of it
        assert fence.position == len(kept)

    assert [kept[position] for position in sorted(kept)] == whole


@given(topics(), st.data())
def test_what_stood_once_stands_for_ever(topic: list[Raw], data: st.DataObject) -> None:
    earlier = naive(topic[: data.draw(st.integers(0, len(topic)))])

    assert [*standing(Fence("t"), topic)][: len(earlier)] == earlier


@given(topics())
def test_the_first_claim_of_the_highest_term_has_the_topic(topic: list[Raw]) -> None:
    fence = Fence("t")
    [*standing(fence, topic)]

    claims = [found for found in map(read, topic) if isinstance(found, Claim) and found.term > 0]
    highest = max((found.term for found in claims), default=0)
    first = next((found for found in claims if found.term == highest), Claim(0, ""))
    assert (fence.term, fence.writer) == first


@given(topics())
def test_only_the_writer_that_has_the_topic_says_how_far_its_input_is_read(topic: list[Raw]) -> None:
    fence = Fence("t")
    [*standing(fence, topic)]

    assert fence.checkpoint == told(topic)


def test_a_checkpoint_after_events_that_are_gone_is_no_checkpoint() -> None:
    topic: list[Outgoing] = []
    writer = Writer(topic, "w")
    lost = writer.batch(2)
    for kept in ([], lost[:1]):
        with pytest.raises(DamagedLog, match=f"offset {1 + len(kept)}: event 2 stands where {len(kept)} should"):
            [*standing(Fence("t"), raws([*topic, *kept, writer.silence()]))]


def test_an_event_tells_the_checkpoint_that_it_carries() -> None:
    topic: list[Outgoing] = []
    writer = Writer(topic, "w")
    draft = Draft("g", 5, 0, 0, 1, Message(group_id="g", content="x", role_type="user"))
    fence = Fence("t")
    [*standing(fence, raws([*topic, event(LOG, 0, draft, writer.term, 7)]))]

    assert fence.checkpoint == 7
