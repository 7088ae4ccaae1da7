"""The conversation by way of topics: what a platform tells is sent, and a responder's answers are taken from the copy.

The responder answers each message at most once, wherever it runs; the service keeps the copy of its answers up. What is
handed out to a platform is written down before, so that a restart hands nothing out twice.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, Self, TypeVar
from weakref import WeakValueDictionary

from asof.runtime import clock
from asof.runtime.conversation_log import said_before, said_by
from asof.runtime.layout import DirectoryLayout
from asof.service.answerer import FRESH
from asof.service.conversation import Forgotten, Incoming, Outgoing, bot_turn, message_of
from asof.service.deliveries import Deliveries
from asof.service.recollection import HasMessage, KnownNow
from asof.service.replies_view import RepliesView
from asof.service.service import Service
from asof.settings import Settings
from asof_agents.conversation.material import ShownFact, ShownObjective
from asof_streams.errors import InvalidInput
from asof_streams.files import make_folder
from asof_streams.messages import Message, RedactionRequest
from asof_streams.polling import looks
from asof_streams.resource_pool import ResourcePool
from asof_streams.sqlite_log import SqliteLog

_PATIENCE_SECONDS: Final = 60.0  # for an answer: a responder itself waits twenty for a model

R = TypeVar("R")
log = logging.getLogger(__name__)


class TopicConversation:
    """The conversations of all groups of a service on Kafka. Use it as a context manager. name: what the bot is called.

    InvalidInput: no content is to be kept, and so no words of an answer stand on a topic.
    """

    def __init__(
        self, service: Service, settings: Settings, *, name: str = "assistant", now: Callable[[], int] = clock.system
    ) -> None:
        if settings.suppress_content:
            raise InvalidInput("the words of answers stand on a topic: have content kept", "suppress_content")
        self._service = service
        self._name = name
        self._now = now
        self._groups: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        places = DirectoryLayout(settings.data)
        self._replies = ResourcePool("asof-replies", lambda: RepliesView(places))
        make_folder(places.root)
        self._deliveries = Deliveries(places.root / "deliveries", now())

    async def take(self, incoming: Incoming) -> list[Outgoing]:
        """Send what a platform tells, and return the answer of a responder; nothing, where none comes in time."""
        message = message_of(incoming)
        async with self._turn(incoming.group):
            if message.kind != "message" and not await self._has(message):
                return []
            offset = (await self._service.take([message])).start
            for pause in looks(_PATIENCE_SECONDS):
                answered = await self._view(lambda view: view.answers_to(offset))
                if answered.is_final:
                    return self._handed_out(answered.answers)
                await asyncio.sleep(pause)
        log.warning("no responder has answered a message within %.0f s", _PATIENCE_SECONDS)
        return []

    async def resume(self, group: str | None = None) -> list[Outgoing]:
        """Return answers of the last quarter of an hour that were not handed out, as after a crash."""
        since = max(self._now() - FRESH, self._deliveries.begun)
        answers = await self._view(lambda view: view.given_since(since, group))
        return self._handed_out([answer for answer in answers if answer.action != "checkin"])

    async def due(self, now: int, group: str | None = None) -> list[Outgoing]:
        """Return the check-ins that the responder gave in the last quarter of an hour, each once."""
        since = max(now - FRESH, self._deliveries.begun)
        answers = await self._view(lambda view: view.given_since(since, group))
        return self._handed_out([answer for answer in answers if answer.action == "checkin"])

    async def sent(self, outgoing: Outgoing, external_id: str, at: int) -> bool:
        """Send the turn of the bot that an answer is, unless it is none, or known as one."""
        async with self._turn(outgoing.group):
            sent = f"{outgoing.id}/sent"
            found = await self._view(lambda view: view.turn(outgoing.group, outgoing.id))
            if found is None or self._deliveries.has(sent):
                return False
            await self._service.take([bot_turn(self._name, found, found.text, external_id, at)])
            self._deliveries.note(sent, self._now())  # told again after a crash, it is a turn that is known by its id
        return True

    async def forget(self, group: str, author: str | None = None) -> Forgotten:
        """Erase a group, or what one author said in it with what the bot said since; return once it is done here."""
        async with self._turn(group):
            if author is None:
                return Forgotten(group, None, await self._service.erase([group]))
            await self._read_all()
            count = await self._redact(group, partial(said_by, author=author, group=group))
            return Forgotten(group, count, await self._service.erased())

    async def expire(self, prefix: str, before: int) -> int:
        """Erase what was said before a moment in the groups whose ids begin so; return how many messages it was."""
        await self._read_all()
        groups = await self._view(lambda view: view.groups(prefix))
        count = 0
        for group in groups:
            async with self._turn(group):
                count += await self._redact(group, partial(said_before, moment=before, group=group))
        return count

    async def known(self, group: str) -> tuple[ShownFact | ShownObjective, ...]:
        """Return the facts and the objectives of a group."""
        return await self._service.ask(KnownNow(group))

    def close(self) -> None:
        """Close the files."""
        self._replies.close()
        self._deliveries.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _has(self, message: Message) -> bool:
        """Whether a group has the message that is edited or deleted, or that a reaction is put on."""
        target = message.reply_to if message.kind == "reaction" else message.external_id
        if target is None:
            return False
        await self._read_all()
        return await self._service.ask(HasMessage(message.group_id, target))

    async def _read_all(self) -> None:
        """Wait until all that was sent can be read here."""
        await self._service.seen((await self._service.take([])).start - 1)

    async def _redact(self, group: str, find: Callable[[SqliteLog], list[int]]) -> int:
        positions = await self._view(lambda view: view.positions(find))
        if positions:
            await self._service.take_and_see([RedactionRequest(group_id=group, positions=tuple(positions))])
        return len(positions)

    def _handed_out(self, answers: list[Outgoing]) -> list[Outgoing]:
        """Return the answers that were not handed out before; a restart knows of them."""
        return [answer for answer in answers if self._deliveries.note(answer.id, self._now())]

    async def _view(self, question: Callable[[RepliesView], R]) -> R:
        return await asyncio.wrap_future(self._replies.submit(question))

    def _turn(self, group: str) -> asyncio.Lock:
        lock = self._groups.get(group)
        if lock is None:
            lock = self._groups[group] = asyncio.Lock()
        return lock
