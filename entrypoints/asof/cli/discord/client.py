"""The client of Discord: hands what those who opted in say to the conversation, and does what it answers.

What concerns one group happens in order; groups do not wait for each other. Whether somebody opted in is
looked up at the moment of handing over, so nothing that waits its turn is taken after /forget-me.
"""

import asyncio
import hashlib
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import discord

from asof.cli.discord import policy, translation
from asof.cli.discord.policy import Place, Speaker
from asof.cli.discord.slash_commands import add_commands
from asof.operations.errors import AsofError
from asof.operations.times import from_datetime
from asof.service.consents import Consents
from asof.service.conversation import Conversation, Forgotten, Incoming, Outgoing
from asof.settings import DiscordConfig

_LOG: Final = logging.getLogger("asof.discord")
_DAY: Final = 86_400_000_000  # microseconds
_NONCE_CHARACTERS: Final = 25  # that Discord takes
_WASTEBASKET: Final = "🗑️"
_HINT: Final = "I remember and answer only those who opted in. `/remember-me` does that, `/forget-me` ends it."
_INTENTS: Final = discord.Intents(
    guilds=True,
    guild_messages=True,
    dm_messages=True,
    guild_reactions=True,
    dm_reactions=True,
    message_content=True,
)


class Bot(discord.Client):
    """A bot over a conversation, which its caller opens and closes."""

    def __init__(
        self, conversation: Conversation, consents: Consents, config: DiscordConfig, connected: Callable[[str], None]
    ) -> None:
        super().__init__(
            intents=_INTENTS,
            max_messages=None,  # nothing that was said stays in this process
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),  # an answer calls nobody
        )
        self.conversation: Final = conversation
        self.consents: Final = consents
        self.config: Final = config
        self.tree: Final = add_commands(self)
        self._connected = connected
        self._lanes: dict[str, asyncio.Task[None]] = {}  # the last piece of work of each group
        self._ends = False

    async def setup_hook(self) -> None:
        """Tell Discord the commands, once it knows the bot."""
        await self.tree.sync()

    async def on_connect(self) -> None:
        """Answer what a crash left without an answer, once a session has begun."""
        assert self.user is not None
        self._connected(self.user.name)
        for outgoing in await self.conversation.resume():
            self._speak(outgoing)

    async def on_error(self, event_method: str, /, *_: object, **__: object) -> None:
        """Log an error by its class: its words may be somebody's."""
        error = sys.exc_info()[0]
        _LOG.error("an unexpected error in %s: %s", event_method, "unknown" if error is None else error.__name__)

    # What Discord tells

    async def on_message(self, message: discord.Message) -> None:
        """Take a message, and answer it. One who did not opt in, and speaks to the bot, is told how."""
        place, speaker = translation.place_of(message.channel), translation.speaker_of(message.author)
        text = translation.text_of(message, self._me)
        if place is None or not text or not self.allows(place, speaker):
            return
        group = policy.group_of(place, self.config)
        calls_me = place.guild is None or any(user.id == self._me for user in message.mentions)

        async def take() -> None:
            if not self._opted_in(speaker, place):
                if calls_me:
                    await message.channel.send(_HINT, reference=_reference(place.channel, str(message.id)))
                return
            self.consents.spoke(str(speaker.id), group, str(place.channel))
            replied = translation.replied_to(message)
            to = None if replied is None else self.consents.first_part(str(replied))
            await self._hand_over(translation.incoming_message(message, group, text, to), place)

        self._in_order(group, take)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """Take an edit. Discord also tells so of previews, pins and threads, which edit nothing."""
        message, at = event.message, event.message.edited_at
        place, speaker = translation.place_of(message.channel), translation.speaker_of(message.author)
        text = translation.text_of(message, self._me)
        if at is None or place is None or not text or not self.allows(place, speaker):
            return
        told = translation.incoming_edit(message, policy.group_of(place, self.config), text, at)
        self._in_order(told.group, lambda: self._hand_over_if_opted_in(told, speaker, place))

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """Take a reaction."""
        place = self._place_of(event.guild_id, event.channel_id)
        if place is None or event.user_id == self._me or (place.guild is not None and event.member is None):
            return
        speaker = translation.speaker_of(event.member) if event.member else Speaker(event.user_id)
        if not self.allows(place, speaker):
            return
        message = self.consents.first_part(str(event.message_id))
        name = event.member.display_name if event.member else ""
        told = translation.incoming_reaction(event, policy.group_of(place, self.config), message, name, now())
        self._in_order(told.group, lambda: self._hand_over_if_opted_in(told, speaker, place))

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """Take a deletion: of whatever was taken, also where nothing more is."""
        self._deleted(event.guild_id, event.channel_id, [event.message_id])

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        """Take deletions."""
        self._deleted(event.guild_id, event.channel_id, sorted(event.message_ids))

    def _deleted(self, guild: int | None, channel: int, messages: list[int]) -> None:
        place = Place(guild, channel)
        for message in messages:
            told = translation.incoming_deletion(message, policy.group_of(place, self.config), now())
            self._in_order(told.group, partial(self._hand_over, told, place))

    # What is done

    async def check_in(self) -> None:
        """Say what is due to be said first."""
        for outgoing in await self.conversation.due(now()):
            self._speak(outgoing)

    async def expire(self) -> None:
        """Erase what was said longer ago than the policy keeps it."""
        if self.config.retention_days is not None:
            await self.conversation.expire(policy.PREFIX, now() - self.config.retention_days * _DAY)

    async def regularly(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do something now and each time so many seconds have passed; an error of it is told, and it goes on."""
        while True:
            await _told(work)
            await asyncio.sleep(seconds)

    def _speak(self, outgoing: Outgoing) -> None:
        """Do what is no answer to what was told just now, where its group was last spoken in."""
        channel = self.consents.channel(outgoing.group)
        if channel is not None and outgoing.action in ("reply", "checkin"):
            self._in_order(outgoing.group, lambda: self._send(outgoing, int(channel)))

    async def forget(self, user: int) -> list[Forgotten]:
        """Forget all that a user said, everywhere, and what they opted in to; return the receipts.

        What is under way ends first; what waits its turn is no longer taken. Direct messages are erased with all that
        was answered in them.
        """
        self.consents.withdraw(str(user))
        await self.idle()
        receipts = [
            await self.conversation.forget(group, None if policy.is_direct(group) else str(user))
            for group in self.consents.groups(str(user))
        ]
        self.consents.forget(str(user))
        return receipts

    async def idle(self) -> None:
        """Wait until what was told so far is handed over and answered."""
        if self._lanes:
            await asyncio.wait(list(self._lanes.values()))

    async def close(self) -> None:
        """Disconnect, once what was told is handed over and answered."""
        self._ends = True
        await self.idle()
        await super().close()

    async def _hand_over_if_opted_in(self, told: Incoming, speaker: Speaker, place: Place) -> None:
        if self._opted_in(speaker, place):
            await self._hand_over(told, place)

    async def _hand_over(self, told: Incoming, place: Place) -> None:
        for outgoing in await self.conversation.take(told):
            match outgoing.action:
                case "reply" | "checkin":
                    await self._send(outgoing, place.channel)
                case "react" | "unreact":
                    await self._mark(outgoing, place.channel, told)

    async def _send(self, outgoing: Outgoing, channel_id: int) -> None:
        channel = self.get_partial_messageable(channel_id)
        sent: list[discord.Message] = []
        for part in translation.parts_of(outgoing.text):
            nonce = _nonce(outgoing.id, len(sent))
            if sent or outgoing.to is None:
                sent.append(await channel.send(part, nonce=nonce))
            else:
                reference = _reference(channel_id, outgoing.to)
                sent.append(await channel.send(part, nonce=nonce, reference=reference))
        if sent:
            first, *others = [str(message.id) for message in sent]
            self.consents.split(first, others)
            at = from_datetime(sent[0].created_at)
            await self.conversation.sent(outgoing, first, at)

    async def _mark(self, outgoing: Outgoing, channel_id: int, told: Incoming) -> None:
        """Put a reaction on a message, or take it off: one's own, but the wastebasket is of whoever asked for it."""
        assert outgoing.to is not None
        message = self.get_partial_messageable(channel_id).get_partial_message(int(outgoing.to))
        if outgoing.action == "react":
            await message.add_reaction(outgoing.text)
        else:
            owner = int(told.author) if outgoing.text == _WASTEBASKET else self._me
            await message.remove_reaction(outgoing.text, discord.Object(owner))

    # Who may, and in which order

    @property
    def _me(self) -> int:
        assert self.user is not None  # from the login on
        return self.user.id

    def allows(self, place: Place, speaker: Speaker) -> bool:
        return policy.is_open(place, self.config) and policy.may_speak(speaker, self.config)

    def _opted_in(self, speaker: Speaker, place: Place) -> bool:
        return self.consents.since(str(speaker.id), place.scope) is not None

    def _place_of(self, guild: int | None, channel: int) -> Place | None:
        if guild is None:
            return Place(None, channel)
        return translation.place_of(self.get_channel(channel))

    def _in_order(self, group: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do a piece of work of a group after those that came before it."""
        if self._ends:
            return
        task = asyncio.create_task(_after(self._lanes.get(group), work))
        self._lanes[group] = task
        task.add_done_callback(lambda done: self._lanes.pop(group) if self._lanes.get(group) is done else None)


async def _after(before: asyncio.Task[None] | None, work: Callable[[], Awaitable[None]]) -> None:
    """Do a piece of work after another one, whatever became of that."""
    if before is not None:
        await asyncio.wait([before])
    await _told(work)


async def _told(work: Callable[[], Awaitable[None]]) -> None:
    """Do a piece of work. What fails is told without its words, which may be somebody's."""
    try:
        await work()
    except discord.HTTPException as error:
        _LOG.warning("Discord refused a request: HTTP %s, code %s", error.status, error.code)
    except AsofError as error:
        _LOG.error("the conversation failed: %s", error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the next message is answered
        _LOG.error("an unexpected error: %s", type(error).__name__)


def _reference(channel: int, message: str) -> discord.MessageReference:
    """Return what makes a message a reply. If the other was deleted meanwhile, it is sent all the same."""
    return discord.MessageReference(message_id=int(message), channel_id=channel, fail_if_not_exists=False)


def _nonce(reply: str, part: int) -> str:
    """Return what tells Discord that a message was sent before: the same for the same part of the same reply."""
    return hashlib.sha256(f"{reply}/{part}".encode()).hexdigest()[:_NONCE_CHARACTERS]


def now() -> int:
    return time.time_ns() // 1_000
