"""The run of `asof discord`: the memory, the bot, and what it does by the clock, until it is stopped."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final

import aiohttp
import discord

from asof.cli.discord.client import Bot
from asof.cli.discord.library_log import hide_values
from asof.operations.errors import InvalidInput, UnavailableError
from asof.service.consents import Consents
from asof.service.served_conversation import open_conversation
from asof.service.service import Service
from asof.settings import Settings

_CHECK_IN_SECONDS: Final = 15.0
_EXPIRY_SECONDS: Final = 86_400.0  # each time, what is left of a group is read again


def run(settings: Settings, connected: Callable[[str], None]) -> None:
    """Run the bot until SIGINT or SIGTERM; `connected` is called with its name whenever a session has begun.

    InvalidInput: there is no token, or Discord refuses it or what the bot asks to read. UnavailableError: Discord
    cannot be reached, or the memory's worker ended.
    """
    if settings.discord_token is None:
        raise InvalidInput("there is none: set ASOF_DISCORD_TOKEN to the token of the bot", "discord_token")
    hide_values()
    asyncio.run(_run(settings, settings.discord_token.get_secret_value(), connected))


async def _run(settings: Settings, token: str, connected: Callable[[str], None]) -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    failed = asyncio.Event()

    def fail() -> None:
        loop.call_soon_threadsafe(failed.set)

    with (
        Service(settings, fail, lambda _: None, lambda _: None) as service,
        closing(open_conversation(service, settings)) as conversation,
        Consents(settings.data / "discord.sqlite") as consents,
    ):
        async with Bot(conversation, consents, settings.discord, connected) as bot:
            connection = asyncio.create_task(_connect(bot, token))
            ends: list[asyncio.Task[Any]] = [connection]
            ends += [asyncio.create_task(event.wait()) for event in (stopped, failed)]
            clocks = [
                asyncio.create_task(bot.regularly(_CHECK_IN_SECONDS, bot.check_in)),
                asyncio.create_task(bot.regularly(_EXPIRY_SECONDS, bot.expire)),
            ]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for task in clocks:
                task.cancel()
            await bot.close()
            for task in ends:
                task.cancel()
            if connection.done() and not connection.cancelled():
                connection.result()
            if failed.is_set():
                raise UnavailableError("the worker of this memory ended: its log says why")


async def _connect(bot: Bot, token: str) -> None:
    """Stay connected. What ends that for good is told as an error of ours, none of which shows the token."""
    try:
        await bot.start(token)
    except discord.LoginFailure:
        raise InvalidInput("Discord refused it: make a new one on the page of the bot", "discord_token") from None
    except discord.PrivilegedIntentsRequired:
        raise InvalidInput(
            "Discord does not let this bot read messages: turn on the Message Content Intent on the page of the bot",
            "discord_token",
        ) from None
    except discord.ConnectionClosed as error:
        raise UnavailableError(f"Discord closed the connection for good, with code {error.code}") from None
    except (discord.HTTPException, discord.GatewayNotFound, aiohttp.ClientError, OSError) as error:
        raise UnavailableError(f"Discord cannot be reached: {type(error).__name__}") from None
