"""The answerer: has the messages of conversations answered that stand on a messages log, each at most once.

An answer is on the conversation log before anybody sees it. So after a crash in any step, a message that has one is not
answered again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, Generic, Literal, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

from asof.runtime.conversation_log import ConversationLog
from asof.service.reader import Reader
from asof.service.recollection import ZoneOf
from asof.service.responder import Responder, SearchedMemory
from asof.settings import Settings
from asof_agents.conversation.checkins import QuietHours, due_checkins
from asof_agents.conversation.templates import NOTED, SALUTE, UNDO
from asof_projections.conversation.model import Checkin, ConversationMessage
from asof_streams.conversation import CheckinSent, ReplyGiven
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.instants import SECOND
from asof_streams.messages import Message
from asof_streams.resource_pool import ResourcePool

FRESH: Final = 900 * SECOND  # after which a message that a crash left without an answer gets none
LEARNING_SECONDS: Final = 0.5  # for which an answer without a model waits for earlier messages

R = TypeVar("R")
L = TypeVar("L", bound=ConversationLog)
Action = Literal["reply", "react", "unreact"]


class AskedMemory(SearchedMemory, Protocol):
    """The memory that answers are made from."""

    async def ask(self, question: Callable[[Reader], R]) -> R:
        """Answer a question."""
        ...


class Answerer(Generic[L]):
    """Answers in all groups of a memory, for the tasks of one event loop. Use it as a context manager.

    open_log: called by the one thread that uses the log. now: returns UTC microseconds.
    """

    def __init__(
        self,
        memory: AskedMemory,
        settings: Settings,
        open_log: Callable[[], AbstractContextManager[L]],
        now: Callable[[], int],
    ) -> None:
        self._memory = memory
        self._now = now
        self._keeps_words = not settings.suppress_content
        self._quiet = QuietHours.parse(settings.quiet_hours)
        self._responder = Responder(memory, settings, self._ask, now)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._log: ResourcePool[L] = ResourcePool("asof-conversation", open_log)
        try:
            self._log.submit(lambda log: log.begin(now())).result()
        except BaseException:
            self._log.close()
            raise

    @property
    def has_model(self) -> bool:
        """Whether a model words the answers; if not, a template tells what is known."""
        return self._responder.has_model

    async def answer(
        self, position: int, said: Message | None = None, gathered: Callable[[], None] = lambda: None
    ) -> list[ReplyGiven]:
        """Answer the message at a position, and return what was given; nothing, where it was answered before.

        said, gathered: as of `Responder.reply`. The caller has the turn of its group.
        """
        while (found := await self._ask(lambda log: _to_answer(log, position))) is not None:
            message, since = found
            events = await self._reply(message, said, gathered)
            if not events:
                break
            kept = [self._as_kept(event) for event in events]
            append = partial(ConversationLog.append, group=message.group, cause=position, events=kept, since=since)
            if await self._ask(partial(append, now=self._now())):
                return [event for event in events if isinstance(event, ReplyGiven)]
        return []

    async def acknowledge(self, position: int, said: Message) -> list[ReplyGiven]:
        """Answer the message at a position if it is no turn, such as feedback: whoever does that waits for no model.

        said: the message, which may be on its log no more.
        """
        found = await self._ask(lambda log: _known_to_answer(log, position, said))
        return [] if found is None or found[0].sort == "turn" else await self.answer(position)

    async def answer_in_turn(
        self, message: ConversationMessage, before: Callable[[], Awaitable[None]]
    ) -> list[ReplyGiven]:
        """Answer a message, as `answer` does, once those before it in its group are answered.

        before: awaited first, when it is its turn, so that whatever it waits for, nothing overtakes it in its group.
        """
        async with self._turn(message.group):
            await before()
            return await self.answer(message.position)

    async def follow(self, question: Callable[[L], R]) -> R:
        """Ask the log something, or have it do something, in the thread that owns it."""
        return await self._ask(question)

    async def check_in(self, now: int, group: str | None = None) -> list[tuple[Checkin, CheckinSent]]:
        """Give the check-ins (of a group; None: of all) that are due at a moment, each once; in quiet hours none."""
        scheduled = await self._ask(lambda log: log.scheduled(group, now))
        zones = {checkin.group: await self._memory.ask(ZoneOf(checkin.group)) for checkin in scheduled}
        given: list[tuple[Checkin, CheckinSent]] = []
        for checkin in due_checkins(scheduled, now, self._quiet, zones.__getitem__):
            since = await self._ask(ConversationLog.followed)
            event = await self._responder.check_in(checkin)  # whoever says something meanwhile does not wait for it
            kept = event if self._keeps_words else event.model_copy(update={"content": ""})
            async with self._turn(checkin.group):
                send = partial(ConversationLog.send_checkin, checkin=checkin, event=kept, now=self._now(), since=since)
                if await self._ask(send):
                    given.append((checkin, event))
        return given

    def close(self) -> None:
        """Close the conversation log; the memory stays open."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _as_kept(self, event: Event) -> Event:
        """Return an answer as its log keeps it: without its words, where no content is to be kept."""
        if self._keeps_words or not isinstance(event, ReplyGiven) or event.action != "reply":
            return event
        return event.model_copy(update={"content": ""})

    async def _reply(
        self, message: ConversationMessage, said: Message | None, gathered: Callable[[], None]
    ) -> Sequence[Event]:
        own, target = message.external_id or "", message.reply_to or ""
        match message.sort:
            case "goal":
                return [_given(message, 0, "reply", NOTED, own)]
            case "feedback":
                return [_given(message, 0, "react", SALUTE, own)]
            case "undo":
                return [_given(message, 0, "unreact", SALUTE, target), _given(message, 1, "unreact", UNDO, target)]
        return await self._responder.reply(message, said, gathered)

    async def _ask(self, question: Callable[[L], R]) -> R:
        return await asyncio.wrap_future(self._log.submit(question))

    def _turn(self, group: str) -> asyncio.Lock:
        """Return the lock of a group: its turns are answered one after the other."""
        return lock_of(group, self._turns)


def lock_of(group: str, locks: WeakValueDictionary[str, asyncio.Lock]) -> asyncio.Lock:
    """Return the lock of a group, which is there as long as somebody uses it."""
    lock = locks.get(group)
    if lock is None:
        lock = locks[group] = asyncio.Lock()
    return lock


def _known_to_answer(log: ConversationLog, position: int, said: Message) -> tuple[ConversationMessage, int] | None:
    """Return what `_to_answer` does, once the log knows a message by what was said."""
    log.know(position, said)
    return _to_answer(log, position)


def _to_answer(log: ConversationLog, position: int) -> tuple[ConversationMessage, int] | None:
    """Return a message that is to be answered, and how far the log is followed; None: it is not, or it was."""
    since = log.followed()
    message = log.store.message_at(position)
    if message is None or not message.awaits_reply or message.withdrawn_at is not None:
        return None
    return None if log.store.answers_to(position) else (message, since)


def _given(message: ConversationMessage, place: int, action: Action, content: str, to: str) -> ReplyGiven:
    reply_id = derive("reply", message.group, message.position, place)
    return ReplyGiven(reply_id=reply_id, answers=message.position, action=action, content=content, to=to)
