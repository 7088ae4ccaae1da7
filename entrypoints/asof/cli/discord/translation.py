"""Between Discord and the conversation: what is told becomes an `Incoming`, and a text becomes messages."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import discord

from asof.cli.discord.policy import Place, Speaker
from asof.operations.times import from_datetime
from asof.service.conversation import Incoming

MAX_UNITS: Final = 2_000  # of a message, of UTF-16; Discord counts characters, of which there are never more


def place_of(channel: object) -> Place | None:
    """Return where a channel is. None: it is not known what it is within, so nothing of it may be taken."""
    match channel:
        case discord.DMChannel():
            return Place(None, channel.id)
        case discord.Thread(parent=parent) if parent is not None:
            within = [parent.id, parent.category_id]
        case discord.TextChannel() | discord.VoiceChannel() | discord.StageChannel():
            within = [channel.category_id]
        case _:
            return None
    return Place(channel.guild.id, channel.id, frozenset(one for one in within if one is not None))


def speaker_of(user: discord.abc.User) -> Speaker:
    """Return who a user is. In a guild the user is a member, who has roles."""
    roles = frozenset(role.id for role in user.roles) if isinstance(user, discord.Member) else frozenset()
    return Speaker(user.id, roles, is_bot=user.bot or user.system)


def incoming_message(message: discord.Message, group: str, text: str, replies_to: str | None) -> Incoming:
    """Return what is told by a message, whose words are `text`."""
    return Incoming(
        kind="message",
        group=group,
        external_id=str(message.id),
        author=str(message.author.id),
        name=message.author.display_name,
        text=text,
        at=from_datetime(message.created_at),
        reply_to=replies_to,
    )


def incoming_edit(message: discord.Message, group: str, text: str, at: datetime) -> Incoming:
    """Return what is told by an edit, which left the words `text`."""
    return Incoming(
        kind="edit",
        group=group,
        external_id=str(message.id),
        author=str(message.author.id),
        name=message.author.display_name,
        text=text,
        at=from_datetime(at),
    )


def incoming_reaction(event: discord.RawReactionActionEvent, group: str, message: str, name: str, at: int) -> Incoming:
    """Return what is told by a reaction. Discord gives it no id: it is one for each message, user and emoji."""
    return Incoming(
        kind="reaction",
        group=group,
        external_id=f"reaction:{message}:{event.user_id}:{event.emoji}",
        author=str(event.user_id),
        name=name,
        text=str(event.emoji),
        at=at,
        reply_to=message,
    )


def incoming_deletion(message: int, group: str, at: int) -> Incoming:
    """Return what is told by a deletion. Discord does not say who deleted a message, nor whose it was."""
    return Incoming(kind="deletion", group=group, external_id=str(message), author="", name="", text="", at=at)


def replied_to(message: discord.Message) -> int | None:
    """Return the message that a message replies to; a forwarded message replies to none."""
    if message.type != discord.MessageType.reply or message.reference is None:
        return None
    return message.reference.message_id


def text_of(message: discord.Message, me: int) -> str:
    """Return the words of a message, with the names of those that it mentions, without the bot's at its beginning.

    me: the id of the bot. Empty: nothing was said, such as by a picture alone, by Discord itself or by a webhook.
    """
    if message.type not in (discord.MessageType.default, discord.MessageType.reply) or message.webhook_id is not None:
        return ""
    words = message.clean_content.strip()
    called = discord.utils.get(message.mentions, id=me)
    if message.guild is not None and called is not None:
        called = message.guild.get_member(me) or called  # who has another name there
    return words if called is None else words.removeprefix(f"@{called.display_name}").lstrip(" ,:")


def parts_of(text: str) -> Iterator[str]:
    """Yield the messages that a text is sent as: cut where a line ends, or a word, if one does in the second half."""
    rest = text.strip()
    while rest:
        part = _first(rest)
        if len(part) < len(rest):
            half = len(part) // 2
            cut = part.rfind("\n", half)
            cut = part.rfind(" ", half) if cut < 0 else cut
            part = part if cut < 0 else part[:cut]
        yield part.rstrip()
        rest = rest[len(part) :].lstrip()


def _first(text: str) -> str:
    """Return the longest beginning of a text that one message can have."""
    end = min(len(text), MAX_UNITS)
    while len(text[:end].encode("utf-16-le")) > 2 * MAX_UNITS:
        end -= 1
    return text[:end]
