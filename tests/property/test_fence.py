"""The rule by which records of a derived topic stand, against a naive reading of the whole topic at once."""

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from asof_streams.events import Draft
from asof_streams.kafka.envelope import Claim, Outgoing, Raw, Sent, claim, event, read
from asof_streams.kafka.fence import Fence
from asof_streams.messages import Message

LOG = "episodic"


def raws(records: Sequence[Outgoing]) -> list[Raw]:
    return [Raw(offset, 1_000, *record) for offset, record in enumerate(records)]


def naive(topic: Sequence[Raw]) -> list[Sent]:
    """What stands: of each reign (from a claim that was the first of the highest term, to the next), whole batches."""
    highest, reigns = 0, [(0, 0)]
    found = [read(raw) for raw in topic]
    for offset, one in enumerate(found):
        if isinstance(one, Claim) and one.term > highest:
            highest = one.term
            reigns.append((offset, one.term))
    stands: list[Sent] = []
    for (start, term), (stop, _) in zip(reigns, [*reigns[1:], (len(found), 0)], strict=True):
        own = [one for one in found[start:stop] if isinstance(one, Sent) and one.term == term]
        while own and len(own) >= own[0].size:
            stands += own[: own[0].size]
            own = own[own[0].size :]
    return stands


class Writer:
    """A writer as asof's is: it claims, reads what stands, and appends batches after it until it learns of another."""

    def __init__(self, topic: list[Outgoing], name: str) -> None:
        term = max([0, *(c.term for c in map(read, raws(topic)) if isinstance(c, Claim))]) + 1
        topic.append(claim(LOG, term, name))
        self.term = term
        self.position = len(naive(raws(topic)))
        self.cause = max([-1, *(sent.cause for sent in naive(raws(topic)))]) + 1

    def batch(self, size: int) -> list[Outgoing]:
        drafts = [
            Draft("g", 5, self.cause, place, size, Message(group_id="g", content=f"{place}", role_type="user"))
            for place in range(size)
        ]
        records = [event(LOG, self.position + place, draft, self.term, None) for place, draft in enumerate(drafts)]
        self.position += size
        self.cause += 1
        return records


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
        match draw(st.sampled_from(["claim", "batch", "batch", "torn", "deposed", "foreign", "late claim"])):
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
                topic += draw(st.sampled_from(writers[:-1])).batch(draw(st.integers(1, 3)))
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
