"""What `asof discord` may take, and whose memory it is: decided by ids alone, before anything is read or written."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from asof.settings import DiscordConfig

PREFIX: Final = "discord-"  # of every group
DIRECT: Final = "dm"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was said. A direct message has no guild; of a thread, `within` is its channel and category."""

    guild: int | None
    channel: int
    within: Collection[int] = ()

    @property
    def scope(self) -> str:
        """What a user opts in to: one guild with all its channels, or direct messages."""
        return DIRECT if self.guild is None else str(self.guild)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said or did something. A bot, or what a webhook sends in a name of its own, is never recorded."""

    id: int
    roles: Collection[int] = ()
    is_bot: bool = False


def group_of(place: Place, config: DiscordConfig) -> str:
    """Return the group whose memory it is. What is said in direct messages never meets what is said in a guild."""
    if place.guild is None:
        return f"{PREFIX}{DIRECT}-{place.channel}"
    if config.memory == "guild":
        return f"{PREFIX}{place.guild}"
    return f"{PREFIX}{place.guild}-{place.channel}"


def is_direct(group: str) -> bool:
    """Whether a group is that of direct messages: one person's with the bot."""
    return group.startswith(f"{PREFIX}{DIRECT}-")


def is_open(place: Place, config: DiscordConfig) -> bool:
    """Whether anything of a place may be taken: neither it nor what it is within is excluded."""
    return config.excluded_channels.isdisjoint((place.channel, *place.within))


def may_speak(speaker: Speaker, config: DiscordConfig) -> bool:
    """Whether anything of a speaker may be taken, if they opted in: no bot, and none of their roles is excluded."""
    return not speaker.is_bot and config.excluded_roles.isdisjoint(speaker.roles)
