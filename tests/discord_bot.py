"""A bot on the stand-in for Discord: its memory, and what a test waits for."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import asof
from asof.cli.discord.client import Bot
from asof.service.consents import Consents
from asof.service.served_conversation import open_conversation
from asof.service.service import Service
from asof.settings import DiscordConfig, Settings
from discord_server import TOKEN, FakeDiscord
from patience import SECONDS

R = TypeVar("R")
_LOOK_SECONDS = 0.005


class RunningBot:
    """A bot that runs in a thread of its own."""

    def __init__(
        self, server: FakeDiscord, directory: Path, policy: dict[str, Any], topics: dict[str, str] | None = None
    ) -> None:
        self.server, self.directory = server, directory
        self.connections = 0
        self._settings = Settings(
            data=directory,
            embedder="hash",
            quiet_hours="00:00-00:00",
            discord=DiscordConfig(**policy),
            **(topics or {}),  # type: ignore[arg-type]
        )
        self._loop = asyncio.new_event_loop()
        self._ready, self._stop = asyncio.Event(), asyncio.Event()
        self._thread = Thread(target=self._run_all, name="bot")
        self._thread.start()

    def _run_all(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:  # it ends every task
            runner.run(self._run())

    async def _run(self) -> None:
        nothing = lambda *_: None  # noqa: E731
        with (
            Service(self._settings, nothing, nothing, nothing) as self._service,
            closing(open_conversation(self._service, self._settings)) as self.conversation,
            Consents(self.directory / "discord.sqlite") as self.consents,
        ):
            async with Bot(self.conversation, self.consents, self._settings.discord, self._connected) as self.bot:
                connection = asyncio.create_task(self.bot.start(TOKEN))
                await asyncio.wait([connection, asyncio.create_task(self._stop.wait())], return_when="FIRST_COMPLETED")
                await self.bot.close()
                await connection

    def _connected(self, _: str) -> None:
        self.connections += 1
        self._ready.set()

    def do(self, what: Callable[[], Awaitable[R]]) -> R:
        """Do something in the thread of the bot."""

        async def done() -> R:
            return await what()

        return asyncio.run_coroutine_threadsafe(done(), self._loop).result(SECONDS)

    def handled(self) -> None:
        """Wait until all that Discord told is handed over and answered, and what was said is learned from."""
        self.do(self._ready.wait)
        self.do(self._handled)

    async def _handled(self) -> None:
        last = 0
        while last < self.server.told:  # what the bot sends is told to it, too
            last = self.server.told
            await until(partial(self._was_told, last))
            await asyncio.sleep(0)  # the handlers begin
            await self.bot.idle()
        end = (await self._service.take([])).start
        if end:
            await self._service.done(end - 1, SECONDS)

    def _was_told(self, last: int) -> bool:
        return (self.bot.ws.sequence or 0) >= last

    def command(self, who: int, name: str, **more: Any) -> str:
        """Give a slash command, and return its answer."""
        count = len(self.server.answers)
        self.server.command(who, name, **more)
        self.do(lambda: until(lambda: len(self.server.answers) > count))
        return str(self.server.answers[-1]["content"])

    def stop(self) -> None:
        """Disconnect, and close the memory."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()


async def until(true: Callable[[], object]) -> None:
    """Wait in the loop of a bot until something is true."""
    while not true():  # noqa: ASYNC110 - it comes about in other threads
        await asyncio.sleep(_LOOK_SECONDS)


@contextmanager
def running_bot(
    server: FakeDiscord, directory: Path, topics: dict[str, str] | None = None, **policy: Any
) -> Iterator[RunningBot]:
    """Run a bot with a policy until the end of the block. topics: the settings of Kafka; None: it is not on Kafka."""
    bot = RunningBot(server, directory, policy, topics)
    try:
        bot.handled()
        yield bot
    finally:
        bot.stop()


def said(directory: Path, group: str) -> list[str]:
    """Return what was said in a group, in its order."""
    with asof.open(directory) as memory:
        return [episode.content for episode in memory.episodes(group_id=group)]
