"""The conversation of one directory: the process that takes a message answers it, too.

After a crash in any step, a message that has an answer is not answered again, and one without is answered by `resume`.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

from asof.runtime import clock
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof.service.answerer import FRESH, LEARNING_SECONDS, Answerer, lock_of
from asof.service.conversation import Forgotten, Incoming, Outgoing, bot_turn, message_of, outgoing_of
from asof.service.recollection import KnownNow
from asof.service.service import Service
from asof.settings import Settings
from asof_agents.conversation.material import ShownFact, ShownObjective
from asof_projections.conversation.model import ConversationMessage
from asof_streams.conversation import CheckinSent, ReplyGiven, ReplySent
from asof_streams.errors import UnavailableError
from asof_streams.messages import Message, RedactionRequest


class LocalConversation(Answerer[ConversationLog]):
    """The conversations of all groups of a service, for the tasks of one event loop. Use it as a context manager.

    The first one of a directory makes its conversation log. name: what the bot is called. patience: seconds for which
    an answer by template waits until what was said before is learned from, since it tells nothing else.
    """

    def __init__(
        self,
        service: Service,
        settings: Settings,
        *,
        name: str = "assistant",
        now: Callable[[], int] = clock.system,
        patience: float = LEARNING_SECONDS,
    ) -> None:
        self._service = service
        self._name = name
        self._patience = patience
        self._orders: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        super().__init__(service, settings, partial(ConversationLog, DirectoryLayout(settings.data)), now)

    async def take(self, incoming: Incoming) -> list[Outgoing]:
        """Put what a platform tells on the messages log, durably; then answer it, at most once, and return the answer.

        Turns of one group are answered one after the other; each is on its log at once. Empty: there is nothing to
        answer, or it was answered before. What changes a message that the group does not have is passed over, and is on
        no log: on a platform people also change what they do not tell a bot. InvalidInput: a field is wrong.
        """
        message, turn = message_of(incoming), self._turn(incoming.group)
        with ExitStack() as undisturbed:  # by learning from this message
            if not turn.locked():
                undisturbed.enter_context(self._service.undisturbed())
            async with self._order(incoming.group):
                position = await self._put(message)
                given = [] if position is None else await self.acknowledge(position, message)
            if position is not None and not given and message.kind == "message":
                async with turn:
                    await self._await_learning(incoming.group, position)
                    undisturbed.enter_context(self._service.undisturbed())
                    given = await self.answer(position, message, undisturbed.close)
        return [outgoing_of(event, incoming.group) for event in given]

    async def resume(self, group: str | None = None) -> list[Outgoing]:
        """Answer the messages that a crash left without an answer; those of more than a quarter of an hour ago are not.

        A platform asks for it once it is connected. group: the only one that it is connected to.
        """
        answers: list[Outgoing] = []
        unanswered = await self._ask(ConversationLog.unanswered)
        for message in unanswered:
            if message.said_at >= self._now() - FRESH and group in (None, message.group):
                async with self._turn(message.group):
                    given = await self.answer(message.position)
                    answers += [outgoing_of(event, message.group) for event in given]
        if unanswered and group is None:
            await self._ask(lambda log: log.pass_over(unanswered[-1].position + 1))
        return answers

    async def due(self, now: int, group: str | None = None) -> list[Outgoing]:
        """Return the check-ins that are to be sent at a moment, each once, by when they were due. In quiet hours none.

        A model words each, if one is set, of what is known by then; else, or where it fails, it is a greeting. A
        platform asks again and again. now: UTC microseconds. group: the only one that it is connected to.
        """
        given = await self.check_in(now, group)
        return [Outgoing("checkin", each.checkin_id, event.content, None, each.group) for each, event in given]

    async def sent(self, outgoing: Outgoing, external_id: str, at: int) -> bool:
        """Know that a platform took an answer; return whether it is a turn of the bot from then on.

        An acknowledgement is none, and what was sent before adds nothing. at: UTC microseconds.
        """
        async with self._order(outgoing.group):
            turn = await self._ask(lambda log: _turn_of(log, self._name, outgoing, external_id, at))
            if turn is not None:
                await self._service.take([turn])
            await self._ask(lambda log: _note_sent(log, outgoing, external_id, self._now()))
        return turn is not None

    async def forget(self, group: str, author: str | None = None) -> Forgotten:
        """Erase a group, or what one author said in it with what the bot said since; return once it is done.

        The conversation log forgets it too. It is a message on the log as any erasure.
        """
        async with self._order(group):
            if author is None:
                erased = await self._service.erase([group])
                count = None
            else:
                positions = await self._ask(lambda log: log.said_by(author, group))
                count = len(positions)
                if positions:
                    await self._service.take_and_see([RedactionRequest(group_id=group, positions=tuple(positions))])
                erased = await self._service.erased()
            await self._ask(ConversationLog.follow)
        return Forgotten(group, count, erased)

    async def expire(self, prefix: str, before: int) -> int:
        """Erase what was said before a moment in the groups whose ids begin so; return how many messages it was.

        Edits of it that were made later are erased with it. before: UTC microseconds.
        """
        count = 0
        for group in await self._ask(lambda log: log.groups(prefix)):
            async with self._order(group):
                positions = await self._ask(partial(ConversationLog.said_before, moment=before, group=group))
                if positions:
                    await self._service.take_and_see([RedactionRequest(group_id=group, positions=tuple(positions))])
                    await self._ask(ConversationLog.follow)
                count += len(positions)
        return count

    async def known(self, group: str) -> tuple[ShownFact | ShownObjective, ...]:
        """Return the facts and the objectives of a group, as the bot tells what it knows."""
        return await self._service.ask(KnownNow(group))

    async def _put(self, message: Message) -> int | None:
        """Put a message on its log, unless it is there; return its position. None: it is passed over.

        What is deleted is so with what the bot answered to it, which may repeat it.
        """
        known = await self._ask(lambda log: _known(log, message))
        if known is not None and message.kind == "message":
            return known.position
        if known is None and message.kind != "message":
            return None
        replies = await self._ask(lambda log: _replies_to(log, known)) if known and message.kind == "deletion" else []
        gone = [message.model_copy(update={"external_id": reply}) for reply in replies]
        return (await self._service.take([message, *gone])).start

    async def _await_learning(self, group: str, position: int) -> None:
        """Wait a moment until what was said last in a group before a message is learned from, if no model answers."""
        if not self.has_model:
            last = await self._ask(lambda log: log.store.last_told(group, position))
            if last is not None:
                with suppress(UnavailableError):
                    await self._service.done(last, self._patience)

    def _order(self, group: str) -> asyncio.Lock:
        """Return the lock under which what is told of a group gets on its log, in its order; no model is awaited."""
        return lock_of(group, self._orders)


def _known(log: ConversationLog, message: Message) -> ConversationMessage | None:
    """Return a message that was taken before: under the same external id, or the one that a reaction is put on."""
    log.follow()
    target = message.reply_to if message.kind == "reaction" else message.external_id
    return None if target is None else log.store.message(message.group_id, target)


def _replies_to(log: ConversationLog, message: ConversationMessage) -> list[str]:
    """Return the external ids of the bot's turns that answer a message."""
    found = [reply.external_id for reply in log.store.answers_to(message.position) if reply.external_id is not None]
    return [external_id for external_id in found if log.store.message(message.group, external_id) is not None]


def _turn_of(log: ConversationLog, name: str, outgoing: Outgoing, external_id: str, at: int) -> Message | None:
    """Return the turn that an answer is, once a platform took it; None: it is none, or it is known as one."""
    log.follow()
    reply = log.store.reply(outgoing.id)
    if reply is None or reply.group != outgoing.group or reply.external_id is not None:
        return None
    if reply.action not in ("reply", "checkin"):
        return None
    answered, given = log.store.message_at(reply.answers), log.event(reply.position)
    is_acknowledged = answered is not None and answered.sort == "goal" and reply.action == "reply"
    is_gone = answered is None or (answered.withdrawn_at is not None and reply.action == "reply")
    is_known = log.store.message(reply.group, external_id) is not None
    if is_acknowledged or is_gone or is_known or not isinstance(given, ReplyGiven | CheckinSent):
        return None
    known = replace(outgoing, action=reply.action, to=reply.to)
    return bot_turn(name, known, given.content or outgoing.text, external_id, at)


def _note_sent(log: ConversationLog, outgoing: Outgoing, external_id: str, now: int) -> None:
    reply = log.store.reply(outgoing.id)
    if reply is not None and reply.group == outgoing.group and reply.external_id is None:
        log.append(reply.group, reply.answers, [ReplySent(reply_id=reply.reply_id, external_id=external_id)], now)
