"""The rule by which records of a derived topic stand, against a naive reading of the whole topic at once."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_streams.errors import DamagedLog
from asof_streams.events import Draft
from asof_streams.kafka.envelope import Checkpoint, Claim, Outgoing, Raw, Sent, checkpoint_reached, claim, event, read
from asof_streams.kafka.fence import LEAP, Fence
from asof_streams.messages import Message

LOG = "episodic"


def raws(records: Sequence[Outgoing]) -> list[Raw]:
    return [Raw(offset, 1_000, *record) for offset, record in enumerate(records)]


def naive(topic: Sequence[Raw]) -> list[Sent]:
    """What stands: of each reign, whole batches, each record in its place."""
    stands: list[Sent] = []
    for own in reigns(topic):
        batch: list[Sent] = []
        for sent in own:
            if isinstance(sent, Sent) and sent.position == len(stands) + len(batch):
                batch.append(sent)
                if len(batch) == sent.size:
                    stands, batch = stands + batch, []
    return stands


def told(topic: Sequence[Raw]) -> int:
    """The checkpoint of the last writer that had one to tell while it reigned."""
    return max([0, *(one.checkpoint for own in reigns(topic) for one in own if isinstance(one, Checkpoint))])


def claims(topic: Sequence[Raw]) -> list[tuple[int, Claim]]:
    """The claims that hold, each with its offset: the first of the highest term, if a worker may have claimed that."""
    found = [(-1, Claim(0, "", named=False))]
    for offset, one in enumerate(map(read, topic)):
        _, latest = found[-1]
        most = latest.term + LEAP if latest.named else 2**62
        if isinstance(one, Claim) and latest.term < one.term <= max(most, latest.term + 1):
            found.append((offset, one))
    return found


def reigns(topic: Sequence[Raw]) -> Iterator[list[Sent | Checkpoint]]:
    """What each writer sent from its claim to the next one that holds."""
    held = claims(topic)
    found = [read(raw) for raw in topic]
    for (start, held_by), (stop, _) in zip(held, [*held[1:], (len(found), None)], strict=True):
        own = [
            one for one in found[start + 1 : stop] if isinstance(one, Sent | Checkpoint) and one.term == held_by.term
        ]
        yield [one for one in own if not held_by.named or one.writer == held_by.writer]


def claim_of(term: int, name: str, *, named: bool) -> Outgoing:
    """A claim as this version sends it, or as the version before that put no names on records."""
    sent = claim(LOG, term, name, 1)
    if named:
        return sent
    return sent._replace(headers=[(n, b"1" if n == "ce_eventversion" else value) for n, value in sent.headers])


class Writer:
    """A writer as asof's is: it claims, reads what stands, and appends batches after it until it learns of another."""

    def __init__(self, topic: list[Outgoing], name: str, *, named: bool = True) -> None:
        _, before = claims(raws(topic))[-1]
        self.term, self.named, self.name = before.term + 1, named, name if named else ""
        topic.append(claim_of(self.term, name, named=named))
        self.position = len(naive(raws(topic)))
        self.cause = max([told(raws(topic)), *(sent.cause + 1 for sent in naive(raws(topic)))])

    def batch(self, size: int) -> list[Outgoing]:
        records = [self.sent(self.position + place, place, size) for place in range(size)]
        self.position += size
        self.cause += 1
        return records

    def sent(self, position: int, place: int, size: int) -> Outgoing:
        said = Message(group_id="g", content=f"{place}", role_type="user")
        return event(LOG, position, Draft("g", 5, self.cause, place, size, said), self.term, None, self.name)

    def silence(self) -> Outgoing:
        """What it sends when it has read a message from which no event follows."""
        self.cause += 1
        return checkpoint_reached(LOG, self.position, self.term, self.cause, self.name)


SAID = Message(group_id="g", content="x", role_type="user")
FOREIGN = [
    Outgoing(None, b"{}", []),
    Outgoing(b"g", b"x", [("ce_type", b"message.sent"), ("ce_term", b"1")]),
    Outgoing(b"g", None, [("ce_type", None), ("ce_term", b"1")]),  # type: ignore[list-item]
    claim(LOG, 0, "of no term", 1),
    event(LOG, 0, Draft("g", 5, 0, 0, 1, SAID), 99, None),  # unclaimed
    claim(LOG, 2**62 + 1, "forged", 1),
    claim(LOG, 2**63 - 1, "forged", 1),
    claim(LOG, 10**30, "forged", 1),
]


def forged(draw: st.DrawFn, topic: Sequence[Outgoing], holder: Writer) -> Outgoing:
    """What no worker sends: a copy of a record, or one of a name or a term that nobody has."""
    if not holder.named or draw(st.booleans()):
        return draw(st.sampled_from(topic))
    position, size = draw(st.integers(0, holder.position + 3)), draw(st.integers(1, 3))
    draft, name = Draft("g", 5, 0, 0, size, SAID), draw(st.sampled_from(["", "forged"]))
    return draw(
        st.sampled_from(
            [
                event(LOG, position, draft, holder.term, 10**6, name),
                checkpoint_reached(LOG, position, holder.term, 10**6, name),
                claim(LOG, holder.term + LEAP + size, "forged", 1),
            ]
        )
    )


OPERATIONS = ["claim", "batch", "batch", "torn", "deposed", "foreign", "forged", "late claim", "silence"]


@st.composite
def topics(draw: st.DrawFn) -> list[Raw]:
    """A topic on which writers took over from each other, died in the middle of batches, and sent on when deposed.

    The first of them are of a version that put no names on records. Strangers send there too.
    """
    topic: list[Outgoing] = []
    writers: list[Writer] = []
    unnamed = draw(st.integers(0, 3))
    for number in range(draw(st.integers(1, 12))):
        match draw(st.sampled_from(OPERATIONS)):
            case "claim":
                writers.append(Writer(topic, f"w{number}", named=len(writers) >= unnamed))
            case "batch" if writers:
                for record in writers[-1].batch(draw(st.integers(1, 4))):
                    topic.append(record)
                    topic += draw(st.lists(st.sampled_from(FOREIGN), max_size=1))
                    topic += [forged(draw, topic, writers[-1]) for _ in range(draw(st.integers(0, 1)))]
            case "torn" if writers:
                size = draw(st.integers(2, 4))
                topic += writers[-1].batch(size)[: draw(st.integers(1, size - 1))]
                writers.append(Writer(topic, f"w{number}", named=len(writers) >= unnamed))
            case "deposed" if len(writers) > 1:
                deposed = draw(st.sampled_from(writers[:-1]))
                topic += [*deposed.batch(draw(st.integers(1, 3))), deposed.silence()]
            case "silence" if writers:
                topic.append(writers[-1].silence())
            case "forged" if writers:
                topic.append(forged(draw, topic, writers[-1]))
            case "foreign":
                topic.append(draw(st.sampled_from(FOREIGN)))
            case "late claim" if writers:
                topic.append(claim(LOG, draw(st.integers(1, writers[-1].term)), f"late {number}", 1))
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
        fence = Fence(
            "t", fence.offset, fence.position, fence.term, fence.writer, fence.named
        )  # all that is kept of it
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

    assert (fence.term, fence.writer, fence.named) == claims(topic)[-1][1][:3]


def test_what_no_worker_wrote_is_refused_with_the_reason_and_the_writer_goes_on() -> None:
    topic: list[Outgoing] = []
    first = Writer(topic, "first")
    own = first.batch(2)
    topic += own
    second = Writer(topic, "second")
    topic += first.batch(1)  # it does not know yet that it was deposed
    strange = [
        claim(LOG, second.term + LEAP + 1, "forged", 1),
        claim(LOG, 2**63 - 1, "forged", 1),
        claim(LOG, 10**30, "forged", 1),
        event(LOG, 2, Draft("g", 5, 9, 0, 1, SAID), second.term, None, "forged"),
        checkpoint_reached(LOG, 2, second.term, 10**9),
        event(LOG, 2, Draft("g", 5, 9, 0, 1, SAID), second.term + 1, None, "second"),
        second.sent(1, 0, 1),
        second.sent(2, 1, 2),
        second.sent(2, 0, 0),
    ]
    at = len(topic)
    topic += [*strange, *second.batch(1)]
    fence = Fence("t")

    assert [sent.position for sent in standing(fence, raws(topic))] == [0, 1, 2]
    assert (fence.term, fence.writer, fence.checkpoint) == (second.term, "second", 0)
    assert fence.refused == [
        *((at + number, "it claims a term far from the latest") for number in range(3)),
        (at + 3, "it does not bear the name of the writer that holds the topic"),
        (at + 4, "it does not bear the name of the writer that holds the topic"),
        (at + 5, "its term was not claimed"),
        (at + 6, "another record has its position"),
        (at + 7, "it is of no batch"),
        (at + 8, "it is of no batch"),
    ]


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
    [*standing(fence, raws([*topic, event(LOG, 0, draft, writer.term, 7, writer.name)]))]

    assert fence.checkpoint == 7


def test_a_writer_may_claim_as_far_ahead_as_compaction_may_have_taken_and_no_further() -> None:
    claims = [claim(LOG, 1, "first", 1), claim(LOG, 1 + LEAP, "second", 1), claim(LOG, 2 + 2 * LEAP, "forged", 1)]
    fence = Fence("t")
    [*standing(fence, raws(claims))]

    assert (fence.term, fence.writer) == (1 + LEAP, "second")
    assert [refused.offset for refused in fence.refused] == [2]


def test_where_an_earlier_version_claimed_any_term_takeovers_count_on_from_the_latest() -> None:
    terms = [2**62, 2**62 + 2, 2**62 + 1, 2**62 + 3, 2**62 + 2]
    fence, held = Fence("t"), []
    for raw in raws([claim_of(term, f"w{term}", named=False) for term in terms]):
        fence.pass_through(raw)
        held.append(fence.term)

    assert held == [2**62, 2**62, 2**62 + 1, 2**62 + 1, 2**62 + 2]
    assert [refused.offset for refused in fence.refused] == [1, 3]


def test_the_offset_of_a_checkpoint_may_be_told_later_than_the_checkpoint() -> None:
    topic: list[Outgoing] = []
    writer = Writer(topic, "w")
    topic += [checkpoint_reached(LOG, 0, writer.term, 7, "w", offset) for offset in (-1, 97)]
    fence = Fence("t")
    [*standing(fence, raws(topic))]

    assert (fence.checkpoint, fence.checkpoint_offset) == (7, 97)


def test_the_latest_claim_that_says_it_tells_how_many_partitions_messages_have() -> None:
    fence = Fence("t")
    told = [fence.partitions]
    silent = claim_of(2, "of an earlier version", named=False)
    silent = silent._replace(headers=[header for header in silent.headers if header[0] != "ce_partitions"])
    for raw in raws([claim(LOG, 1, "first", 4), silent]):
        fence.pass_through(raw)
        told.append(fence.partitions)

    assert told == [0, 4, 4]


def test_where_nothing_is_under_way_it_goes_on_behind_the_last_record() -> None:
    topic: list[Outgoing] = []
    writer = Writer(topic, "w")
    topic += writer.batch(2)
    fence, offsets = Fence("t"), []
    for raw in raws(topic):
        fence.pass_through(raw)
        offsets.append(fence.offset)

    assert offsets == [1, 1, 3]
