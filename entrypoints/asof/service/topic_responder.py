"""The responder of one partition on Kafka: it answers messages on the replies topic, from the memory in its directory.

It follows the messages in the copy of their topic that its directory has, and answers each once it is there. Without
a model an answer has only what is believed, so it waits up to half a second for earlier messages of its group; a model
is shown the turns before.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from asof.kafka.encryption import find_keys, keep_keys, keys_of
from asof.kafka.replica_keeper import ReplicaKeeper
from asof.kafka.replies_log import RepliesLog
from asof.kafka.topic_logs import TopicPartitions
from asof.runtime import clock
from asof.runtime.conversation_log import ConversationFiles
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import PATIENCE
from asof.runtime.visible_offset import visible_offset
from asof.service.answerer import FRESH, LEARNING_SECONDS, Answerer
from asof.service.reader import Reader
from asof.service.visibility import Visibility
from asof.settings import Settings
from asof_projections.conversation.model import ConversationMessage
from asof_streams.errors import NotFound, StorageFailed
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.topics import Topics
from asof_streams.polling import looks
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import REPLIES, RESPONDER, WriterLock

_WAIT_SECONDS: Final = 1.0  # for messages that are on their topic already; then the caller asks again
_LOOK_SECONDS: Final = 0.05  # between two looks for messages while others are being answered
_STEP_SECONDS: Final = 2.0  # after which the caller is told how far it is, whatever is still being answered
_CHECK_INS: Final = -1  # in place of the position of a message

R = TypeVar("R")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ResponderOpening:
    """The arguments of a ResponderPartition."""

    places: DirectoryLayout
    settings: Settings
    connection: Connection
    topics: Topics
    partition: int

    def open(self) -> "ResponderPartition":
        return ResponderPartition(self.places, self.settings, self.connection, self.topics, self.partition)

    def needed(self, records: list[Raw]) -> list[Raw]:
        """Return the last one, without what is in it: the messages are read from their log."""
        return [raw._replace(key=None, value=None, headers=()) for raw in records[-1:]]


class ResponderPartition:
    """A partition whose messages are answered here. Used by the thread that opened it.

    Opening it deposes whoever answered before. WriterBusy: another process answers in this directory. now: returns UTC
    microseconds. patience: seconds for which an answer by template waits until what was said before is learned from.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        settings: Settings,
        connection: Connection,
        topics: Topics,
        partition: int,
        now: Callable[[], int] = clock.system,
        patience: float = LEARNING_SECONDS,
    ) -> None:
        self._places = places
        self._settings = settings
        self._now = now
        self._patience = patience
        self._visibility = Visibility(self._look)
        self._answerer: Answerer[RepliesLog] | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}  # by the position of the message that is answered
        self._unanswerable: set[int] = set()  # positions of messages that nothing is said to
        self._offset = 0
        with ExitStack() as opened:
            for name in (RESPONDER, REPLIES):
                opened.callback(WriterLock(places.root, patience=PATIENCE, name=name).release)
            keys = keys_of(settings)
            self._client = opened.enter_context(Client(connection))
            keep_keys([places], find_keys(self._client, topics, keys))
            whole = DirectoryLayout(settings.data)
            self._keeper = opened.enter_context(ReplicaKeeper(whole, places, connection, topics, partition, keys))
            self._at = TopicPartitions(places, self._client, topics, partition)
            self._memory = opened.enter_context(closing(_Memory(places, settings, now)))
            self._loop = asyncio.new_event_loop()
            opened.callback(self._close_loop)
            opened.callback(self._close_answerer)
            self._opened = opened.pop_all()

    @property
    def offset(self) -> int:
        """The offset of the next record of the messages topic to follow."""
        return self._offset

    @property
    def is_answering(self) -> bool:
        """Whether it has not begun yet, or answers are still being made, which later calls of `ingest` give."""
        return self._answerer is None or bool(self._tasks)

    @property
    def parked(self) -> int:
        """Return 0: the recorder says what is no message."""
        return 0

    def ingest(self, records: list[Raw]) -> None:
        """Answer the messages up to the last of some records, or to the end of their topic, and give what is due.

        The records say only that they are there. Answers that take long are given by later calls.
        """
        if self._keeper.failure is not None:
            raise self._keeper.failure
        wanted = records[-1].offset + 1 if records else self._client.end(*self._at.messages)
        if wanted <= self._offset and not self._tasks and records:
            return
        if not self._await_messages(wanted, _WAIT_SECONDS):
            return
        if self._answerer is None:
            self._answerer = Answerer(self._memory, self._settings, self._open_log, self._now)
        self._loop.run_until_complete(self._answer(self._answerer, idle=not records))

    def close(self) -> None:
        """Release the partition. Messages that are being answered are left to whoever opens it next."""
        self._opened.close()

    def _open_log(self) -> RepliesLog:
        at = self._at
        client = Client(at.client.connection)  # of the thread that uses the log
        own = TopicPartitions(at.places, client, at.topics, at.partition)
        return RepliesLog(own, lambda offset: self._await_messages(offset, PATIENCE))

    def _await_messages(self, offset: int, patience: float) -> bool:
        """Wait until the messages are here up to an offset; return whether they are."""
        for pause in looks(patience):
            with suppress(NotFound), SqliteLog(self._places.messages) as messages:
                if messages.checkpoint() >= offset:
                    return True
            self._keeper.wake()
            time.sleep(pause)
        return False

    async def _answer(self, answerer: Answerer[RepliesLog], *, idle: bool) -> None:
        """Answer what waits, and return once all is answered, or after a while; the rest goes on at the next call."""
        end = self._loop.time() + _STEP_SECONDS
        if idle and _CHECK_INS not in self._tasks:
            self._tasks[_CHECK_INS] = asyncio.create_task(self._check_in(answerer))
        while True:
            self._offset = await self._begin(answerer)
            if not self._tasks or self._loop.time() > end:
                break
            await asyncio.wait(self._tasks.values(), timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            for position in [position for position, task in self._tasks.items() if task.done()]:
                self._tasks.pop(position).result()
        if idle:
            with suppress(StorageFailed):  # somebody reads it: later, then
                ConversationFiles(self._places).vacuum()

    async def _begin(self, answerer: Answerer[RepliesLog]) -> int:
        """Begin to answer what waits; return the offset up to which the messages are followed."""
        unanswerable = frozenset(self._unanswerable)
        waiting, offset = await answerer.follow(
            lambda log: (log.waiting(self._now() - FRESH, unanswerable), log.offset)
        )
        for message in waiting:
            if message.position not in self._tasks:
                self._tasks[message.position] = asyncio.create_task(self._give(answerer, message))
        return offset

    async def _give(self, answerer: Answerer[RepliesLog], message: ConversationMessage) -> None:
        end = self._loop.time() + self._patience
        if not await answerer.answer_in_turn(message, lambda: self._await_learning(answerer, message, end)):
            self._unanswerable.add(message.position)

    async def _await_learning(self, answerer: Answerer[RepliesLog], message: ConversationMessage, end: float) -> None:
        """Wait until what was said last in a group before a message is learned from, if a template is to answer it.

        end: when the wait is over in any case, by the time of the event loop.
        """
        if message.sort == "turn" and not answerer.has_model:
            last = await answerer.follow(lambda log: log.last_told(message))
            if last is not None:
                await self._visibility.reach(last, end - self._loop.time())

    def _look(self, since: int) -> int:
        """Return the offset before which all messages are believed here; called in any thread."""
        self._keeper.wake()
        return visible_offset(self._places, self._settings.model_copy(update={"kafka": None}), since)

    async def _check_in(self, answerer: Answerer[RepliesLog]) -> None:
        await answerer.check_in(self._now())

    def _close_loop(self) -> None:
        self._loop.run_until_complete(self._loop.shutdown_default_executor())  # a look may be under way
        self._loop.close()

    def _close_answerer(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            self._loop.run_until_complete(asyncio.wait(self._tasks.values()))
        if self._answerer is not None:
            self._answerer.close()


class _Memory:
    """The memory in a directory, for one thread."""

    def __init__(self, places: DirectoryLayout, settings: Settings, now: Callable[[], int]) -> None:
        self._reader = Reader(places, settings.model_copy(update={"kafka": None}), now)

    async def ask(self, question: Callable[[Reader], R]) -> R:
        return question(self._reader)

    async def search(self, question: Callable[[Reader], R]) -> R:
        return question(self._reader)

    def close(self) -> None:
        self._reader.close()
