"""The rewrite of topics: copies of them, offset by offset, in which an empty record stands for each that was erased.

The copies have another prefix. A record keeps its offset, so that all that names one stays right: causes, checkpoints,
retries and dead letters. Where the topic has no record, as at the mark of a transaction, the copy has one that says so.
What the broker's clock said of a message goes with it in a header; the control log of the copies has the offsets below
which such headers are believed.

Nothing may change meanwhile: all has to be answered, no worker may run, and the control log says where the topics ended
when it was begun. A rewrite that was interrupted goes on where its copies end.
"""

import asyncio
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

from asof.runtime import clock
from asof_projections.control import ControlState
from asof_streams.control import RewriteAnnounced, RewriteBegun, RewriteFinished
from asof_streams.conversation import CheckinSent, ReplyErased, ReplyGiven
from asof_streams.episodic import GroupErased
from asof_streams.errors import InvalidInput, TopicUnfit, UnavailableError
from asof_streams.events import Event
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.control_topic import ControlTopic
from asof_streams.kafka.envelope import Outgoing, Raw
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.inbox import ReceivedMessage, parse_message
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.rewritten_records import copied, emptied, filler, restored
from asof_streams.kafka.topics import Topics, await_no_workers, create
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.sealer import NOT_SEALED

_ERASING: Final = (GroupErased.type.encode(), ReplyErased.type.encode())
_ANSWERS: Final = (ReplyGiven.type, CheckinSent.type)


@dataclass(frozen=True, slots=True)
class TopicRewritten:
    """What a rewrite did: the records of the copies, and how many of them are empty, by the topic that they are of."""

    topic: str
    records: int
    emptied: int


@dataclass(slots=True)
class _Messages:
    """What one partition of the messages topic has: which record is which message, and what was to be erased."""

    offsets: "array[int]" = field(default_factory=lambda: array("q"))  # of the messages, by position
    erased: dict[str, int] = field(default_factory=dict)  # the offset of the last request to erase a group
    redacted: dict[int, str] = field(default_factory=dict)  # the groups of single messages, by offset
    repeats: dict[int, int] = field(default_factory=dict)  # offsets of the first, by those of records sent again
    lettered: dict[int, tuple[str, bool]] = field(default_factory=dict)  # group, whether of this partition, by offset

    def is_erased(self, offset: int, group: str) -> bool:
        """Whether a record of the partition was erased: it, or the one that it repeats."""
        offset = self.repeats.get(offset, offset)
        return offset < self.erased.get(group, 0) or self.redacted.get(offset) == group


@dataclass(frozen=True, slots=True)
class _Events:
    """What one partition of a derived topic has."""

    end: int  # the position of the next event
    checkpoint: int
    erased: Mapping[str, int]  # the offset of the last `group.erased`, by group
    redacted: Sequence["_Redacted"] = ()

    def is_erased(self, raw: Raw) -> bool:
        """Whether the value of a record is to be empty: its group, or the answer that it has, was erased after it."""
        headers = dict(raw.headers)
        group = (raw.key or b"").decode(errors="replace")
        type_, cause = headers.get("ce_type", b""), headers.get("ce_cause", b"")
        if not group or type_ in _ERASING:
            return False
        own = (one for one in self.redacted if one.group == group and raw.offset < one.offset)
        return raw.offset < self.erased.get(group, 0) or any((type_, cause) in one.answers for one in own)


class _Redacted(NamedTuple):
    """Answers that were erased by an event: its offset, and of each its type and the message that it answers.

    Also what a deposed writer said to the same message is one of these.
    """

    group: str
    offset: int
    answers: frozenset[tuple[bytes, bytes]]


class _Copy(NamedTuple):
    """A topic, the one that it is copied to, and of each partition what makes the copy of a record."""

    topic: str
    target: str
    keep: Sequence[Callable[[Raw], Outgoing]]


def source_of(connection: Connection, topics: Topics) -> str | None:
    """Return the prefix of the topics that these are being made of; None: they are whole."""
    with closing(Client(connection)) as client:
        control = ControlTopic(client, topics)
        control.catch_up()
    state = ControlState().after(control.events)
    return state.begun.prefix if state.begun is not None and state.is_incomplete else None


class TopicRewrite:
    """A rewrite of the topics of one prefix to those of another.

    InvalidInput: the other topics are used already. UnavailableError: workers run, have not answered all that there is,
    or the topics changed meanwhile. TopicUnfit: others wrote to the copies.
    """

    def __init__(self, client: Client, topics: Topics, target: Topics) -> None:
        self._client = client
        self._topics = topics
        self._target = target
        self._control = ControlTopic(client, topics)
        self._control.catch_up()
        self._state = ControlState().after(self._control.events)
        names = client.topics()
        self._generations = [name for name in topics.generations_of(names) if name not in self._state.dropped]
        self._partitions = client.partitions(topics.messages)
        self._has_replies = topics.replies in names

    def run(self) -> list[TopicRewritten]:
        """Copy all topics, and say so in the control logs of both; return what was done."""
        if not self._partitions or self._state.is_incomplete:
            raise InvalidInput(f"there are no whole topics {self._topics.prefix}.*", "prefix")
        if self._target == self._topics:
            raise InvalidInput("it is the prefix of the topics themselves: name another", "to")
        self._expect_no_workers()
        ends = self._ends()
        target = self._begin(ends)
        done = [self._copy(copy, ends[copy.topic]) for copy in self._plan()]
        if self._ends() != ends:
            raise self._changed()
        self._say_replaced()
        marks = tuple(ends[self._topics.messages])
        _append(target, lambda state: None if state.marks is not None else RewriteFinished(marks=marks))
        return done

    def _expect_no_workers(self) -> None:
        answering = [self._topics.responders] if self._has_replies else []
        groups = [
            self._topics.recorders,
            *answering,
            *(self._topics.believers(g) for g in self._generations),
        ]
        asyncio.run(await_no_workers(self._client.connection, groups))

    def _begin(self, ends: Mapping[str, Sequence[int]]) -> ControlTopic:
        """Make the copies' topics, with the control log first; return that."""
        connection, target = self._client.connection, self._target
        asyncio.run(create(connection, target, [], partitions=self._partitions, control=True))
        control = ControlTopic(self._client, target)
        begun = RewriteBegun(prefix=self._topics.prefix, ends={name: tuple(of) for name, of in ends.items()})

        def decision(state: ControlState) -> Event | None:
            if state.begun is None:
                derived = [target.episodic, target.replies]
                derived += map(target.semantic, target.generations_of(self._client.topics()))
                there = [(name, n) for name in (target.messages, *derived) for n in range(self._partitions)]
                there = [at for at in there if self._client.partitions(at[0])]
                if state.position or any(self._client.ends(there).values()):
                    raise InvalidInput(f"{target.prefix}.* are used already: name another prefix", "to")
                return begun
            if state.marks is not None:
                raise InvalidInput(f"{target.prefix}.* are rewritten already", "to")
            if state.begun != begun:
                raise self._changed()
            return None

        _append(control, decision)
        of_here = RewriteBegun | RewriteFinished | RewriteAnnounced
        kept = [event for event in self._control.events if not isinstance(event, of_here)]
        for number, event in enumerate(kept, 1):
            _append(control, partial(_at, number, event))
        asyncio.run(
            create(connection, target, self._generations, partitions=self._partitions, replies=self._has_replies)
        )
        return control

    def _say_replaced(self) -> None:
        """Tell those who are left on the topics where work goes on. It is no change of what they have."""
        replaced = RewriteAnnounced(prefix=self._target.prefix)
        asyncio.run(create(self._client.connection, self._topics, [], partitions=self._partitions, control=True))
        _append(self._control, lambda state: None if state.replaced == replaced.prefix else replaced)

    def _changed(self) -> UnavailableError:
        return UnavailableError(
            f"{self._topics.prefix}.* are not as they were when the rewrite to {self._target.prefix}.* was begun: stop"
            " all that writes there, and rewrite them to topics of another prefix"
        )

    def _names(self) -> list[str]:
        topics = self._topics
        derived = [topics.episodic, *map(topics.semantic, self._generations)]
        derived += [topics.replies] if self._has_replies else []
        letters = [topics.dead_letters] if self._client.partitions(topics.dead_letters) else []
        return [topics.messages, *derived, *letters]

    def _ends(self) -> dict[str, list[int]]:
        """Return the offsets at which the partitions of each topic end, in their order."""
        names, numbers = self._names(), range(self._partitions)
        found = self._client.ends((name, number) for name in names for number in numbers)
        return {name: [found[name, number] for number in numbers] for name in names}

    # What is to be empty.

    def _plan(self) -> list[_Copy]:
        """Return what is to be copied, where to, and how; all of it is known before anything is copied."""
        topics, target, numbers = self._topics, self._target, range(self._partitions)
        letters = self._read_letters()
        messages = [self._read_messages(number, letters) for number in numbers]
        everywhere = {group for of in messages for group in of.erased}
        episodic = [self._read_events(topics.episodic, number) for number in numbers]
        for number in numbers:
            if episodic[number].checkpoint < len(messages[number].offsets):
                raise self._behind(topics.episodic, number)
        plan = [
            _Copy(
                topics.messages,
                target.messages,
                [partial(_message, messages[n], everywhere, partial(self._parsed, n)) for n in numbers],
            ),
            _Copy(topics.episodic, target.episodic, [partial(_event, events) for events in episodic]),
        ]
        if self._has_replies:
            replies = [self._read_events(topics.replies, number) for number in numbers]
            for number in numbers:
                if replies[number].checkpoint < len(messages[number].offsets):
                    raise self._behind(topics.replies, number)
            plan.append(_Copy(topics.replies, target.replies, [partial(_event, events) for events in replies]))
        for generation in self._generations:
            name = topics.semantic(generation)
            events = [self._read_events(name, number) for number in numbers]
            for number in numbers:
                if events[number].checkpoint < episodic[number].end:
                    raise self._behind(name, number)
            plan.append(_Copy(name, target.semantic(generation), [partial(_event, of) for of in events]))
        if topics.dead_letters in self._names():
            empty = {
                (number, offset)
                for number in numbers
                for offset, (group, is_own) in messages[number].lettered.items()
                if messages[number].is_erased(offset, group) or (not is_own and group in everywhere)
            }
            plan.append(_Copy(topics.dead_letters, target.dead_letters, [partial(_letter, empty)] * len(numbers)))
        return plan

    def _behind(self, topic: str, number: int) -> UnavailableError:
        return UnavailableError(
            f"{topic}[{number}] does not have what follows from all that was sent: let a worker take it, or drop the"
            " generation, and ask again"
        )

    def _parsed(self, number: int, raw: Raw) -> tuple[Raw, ReceivedMessage, bool] | None:
        """Return a message as it was sent, what it is, and whether its group is of the partition; None: it is a filler.

        What is encrypted stays so: its key is its group.
        """
        found = restored(raw, self._state.mark(number))
        if found is None:
            return None
        received = parse_message(found)
        group = received.message.group_id
        return found, received, not group or partition_of(group, self._partitions) == number

    def _read_letters(self) -> set[tuple[int, int]]:
        """Return the partitions and offsets of the messages that dead letters are of."""
        return {at for raw in self._every(self._topics.dead_letters) if (at := _original(raw)) is not None}

    def _every(self, topic: str) -> Iterator[Raw]:
        for number in range(self._client.partitions(topic)):
            yield from self._records(topic, number)

    def _records(self, topic: str, number: int, start: int = 0) -> Iterator[Raw]:
        with closing(self._client.read(topic, number, start, self._client.end(topic, number))) as read:
            yield from chain.from_iterable(read)

    def _read_messages(self, number: int, letters: Collection[tuple[int, int]]) -> _Messages:
        found = _Messages()
        first: dict[bytes, int] = {}
        for raw in self._records(self._topics.messages, number):
            parsed = self._parsed(number, raw)
            if parsed is None:
                continue
            _, received, is_own = parsed
            message, offset, group = received.message, received.offset, received.message.group_id
            if (number, offset) in letters:
                found.lettered[offset] = group, is_own
            if received.producer is not None and first.setdefault(received.producer, offset) != offset:
                found.repeats[offset] = first[received.producer]
                continue
            if is_own and isinstance(message, ErasureRequest):
                found.erased[group] = offset
            elif is_own and isinstance(message, RedactionRequest):
                known = [at for at in message.positions if at < len(found.offsets)]
                found.redacted |= {found.offsets[at]: group for at in known}
            found.offsets.append(offset)
        return found

    def _read_events(self, topic: str, number: int) -> _Events:
        fence, erased = Fence(f"{topic}[{number}]"), dict[str, int]()
        redacted: list[_Redacted] = []
        answers: dict[int, tuple[bytes, bytes]] = {}  # by position
        for raw in self._records(topic, number):
            for sent in fence.pass_through(raw):
                if sent.type == GroupErased.type:
                    erased[sent.group] = raw.offset
                elif sent.type in _ANSWERS:
                    answers[sent.position] = sent.type.encode(), b"%d" % sent.cause
                elif sent.type == ReplyErased.type:
                    positions = ReplyErased.model_validate_json(sent.payload).positions
                    redacted.append(_Redacted(sent.group, raw.offset, frozenset(map(answers.__getitem__, positions))))
        return _Events(fence.position, fence.checkpoint, erased, redacted)

    # Copying.

    def _copy(self, copy: _Copy, ends: Sequence[int]) -> TopicRewritten:
        emptied_here = 0
        for number, (keep, end) in enumerate(zip(copy.keep, ends, strict=True)):
            at = self._client.end(copy.target, number)
            if at > end:
                raise self._foreign(copy.target, number)
            with closing(self._client.read(copy.topic, number, at, end)) as read:
                for found in read:
                    outgoing: list[Outgoing] = []
                    for raw in found:
                        outgoing += map(filler, range(at + len(outgoing), raw.offset))
                        outgoing.append(keep(raw))
                        emptied_here += bool(raw.value) and not outgoing[-1].value
                    at = self._send(copy.target, number, at, outgoing)
            self._send(copy.target, number, at, [*map(filler, range(at, end))])
        return TopicRewritten(copy.target, sum(ends), emptied_here)

    def _send(self, topic: str, number: int, at: int, records: Sequence[Outgoing]) -> int:
        """Send records to the offsets from `at` on; return the next. TopicUnfit: somebody else has sent some there."""
        for run in self._client.send(topic, number, records) if records else ():
            if run.offset != at:
                raise self._foreign(topic, number)
            at += run.size
        return at

    def _foreign(self, topic: str, number: int) -> TopicUnfit:
        return TopicUnfit(
            f"{topic}[{number}] has records that the rewrite did not put there: delete the topics of this prefix, or"
            " rewrite to those of another"
        )


def _message(of: _Messages, everywhere: Collection[str], parse: Callable[[Raw], Any], raw: Raw) -> Outgoing:
    parsed = parse(raw)
    if parsed is None:
        return filler(raw.offset)
    found, received, is_own = parsed
    group = received.message.group_id
    is_empty = of.is_erased(found.offset, group) if is_own else group in everywhere
    if is_empty and received.message.type not in NOT_SEALED:
        return emptied(found, group)
    return copied(found)


def _event(of: _Events, raw: Raw) -> Outgoing:
    """Return the copy of a record of a derived topic: its value is empty where it was erased."""
    return Outgoing(raw.key, b"" if of.is_erased(raw) else raw.value, [*raw.headers])


def _letter(empty: Collection[tuple[int, int]], raw: Raw) -> Outgoing:
    if _original(raw) not in empty:
        return Outgoing(raw.key, raw.value, [*raw.headers])
    return Outgoing(None, b"", [(name, value) for name, value in raw.headers if name.startswith("dlq_original")])


def _original(raw: Raw) -> tuple[int, int] | None:
    """Return the partition and the offset of the message that a dead letter is of; None: it does not say."""
    headers = dict(raw.headers)
    try:
        return int(headers["dlq_original_partition"]), int(headers["dlq_original_offset"])
    except (KeyError, ValueError, TypeError):
        return None


def _at(position: int, event: Event, state: ControlState) -> Event | None:
    return event if state.position == position else None


def _append(control: ControlTopic, decide: Callable[[ControlState], Event | None]) -> None:
    control.append(lambda: decide(ControlState().after(control.events)), clock.system())
