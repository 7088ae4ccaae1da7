"""A conversation: what any chat platform tells a bot with a memory, and what the bot answers. It knows no platform.

A message is on the messages log before it is answered, and its answer is on the conversation log before anybody sees
it. What is said is learned from behind the answer; no answer waits for its own message to be learned from.
LocalConversation answers in a directory, TopicConversation by way of topics.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from asof_agents.conversation.material import ShownFact, ShownObjective
from asof_streams.conversation import ReplyGiven
from asof_streams.messages import Message, validate


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a platform tells: a message, or a reaction, an edit or a deletion of one.

    author: the platform's id of who said or did it; empty where it does not say, as of a deletion. external_id: the
    platform's id of the message; of an edit or a deletion, of the message that it is of; of a reaction
    it is not looked at. reply_to: the id of the message that is replied to, or that a reaction is put on. text: of a
    reaction the emoji. at: UTC microseconds.
    """

    kind: Literal["message", "reaction", "edit", "deletion"]
    group: str
    external_id: str
    author: str
    name: str
    text: str
    at: int
    reply_to: str | None = None
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a platform is to do: to send a text, or to put a reaction on a message or take it off.

    to: the external id of the message that is answered, or that the reaction is put on; None: it answers none.
    """

    action: Literal["reply", "react", "unreact", "checkin"]
    id: str
    text: str  # of a reaction the emoji
    to: str | None
    group: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The receipt of an erasure: the group, how many messages it was (None: all), and whether no file has any left."""

    group: str
    messages: int | None
    erased: bool


class Conversation(Protocol):
    """The conversations of all groups of a memory, for the tasks of one event loop."""

    async def take(self, incoming: Incoming) -> list[Outgoing]:
        """Put what a platform tells on the messages log, durably; then return the answer to it, at most once.

        Messages of one group are answered one after the other. Empty: there is nothing to answer, or it was answered
        before. What changes a message that the group does not have is passed over, and is on no log: on a platform
        people also change what they do not tell a bot. InvalidInput: a field is wrong.
        """
        ...

    async def resume(self, group: str | None = None) -> list[Outgoing]:
        """Return the answers to messages that a crash left without one, but for those of a quarter of an hour ago.

        A platform asks for it once it is connected. group: the only one that it is connected to.
        """
        ...

    async def due(self, now: int, group: str | None = None) -> list[Outgoing]:
        """Return the check-ins that are to be sent at a moment, each once, by when they were due. In quiet hours none.

        A model words each, if one is set, of what is known by then; else, or where it fails, it is a greeting. A
        platform asks again and again. now: UTC microseconds. group: the only one that it is connected to.
        """
        ...

    async def sent(self, outgoing: Outgoing, external_id: str, at: int) -> bool:
        """Know that a platform took an answer; return whether it is a turn of the bot from then on.

        An acknowledgement is none, and what was sent before adds nothing. at: UTC microseconds.
        """
        ...

    async def forget(self, group: str, author: str | None = None) -> Forgotten:
        """Erase a group, or what one author said in it with what the bot said since; return once it is done.

        The conversation log forgets it too. It is a message on the log as any erasure.
        """
        ...

    async def expire(self, prefix: str, before: int) -> int:
        """Erase what was said before a moment in the groups whose ids begin so; return how many messages it was.

        Edits of it that were made later are erased with it. before: UTC microseconds.
        """
        ...

    async def known(self, group: str) -> tuple[ShownFact | ShownObjective, ...]:
        """Return the facts and the objectives of a group, as the bot tells what it knows."""
        ...

    def close(self) -> None:
        """Close what is open for it; the memory stays open."""
        ...


def message_of(incoming: Incoming) -> Message:
    """Return what a platform tells as a message. InvalidInput: a field is wrong."""
    fields = {
        "group_id": incoming.group,
        "content": incoming.text,
        "role_type": "assistant" if incoming.is_bot else "user",
        "role": incoming.name,
        "timestamp": incoming.at,
        "external_id": None if incoming.kind == "reaction" else incoming.external_id,
        "reply_to": incoming.reply_to,
        "kind": incoming.kind,
        "author_id": incoming.author or None,
    }
    return validate(Message, fields)


def bot_turn(name: str, outgoing: Outgoing, content: str, external_id: str, at: int) -> Message:
    """Return the turn of a bot that an answer is, once a platform took it under an id. name: what the bot is called."""
    fields = {
        "group_id": outgoing.group,
        "content": content,
        "role_type": "assistant",
        "role": name,
        "timestamp": at,
        "external_id": external_id,
        "reply_to": outgoing.to,
        "kind": "message",
        "is_proactive": outgoing.action == "checkin",
    }
    return validate(Message, fields)


def outgoing_of(given: ReplyGiven, group: str) -> Outgoing:
    """Return what a platform is to do for an answer."""
    return Outgoing(given.action, given.reply_id, given.content, given.to, group)
