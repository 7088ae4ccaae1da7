"""A platform with one conversation that is killed at a step, or runs to its end, as the work of a child process.

It is told one message, again with each run, as a platform does that connects again. What it is to show stands in the
file `shown` of the directory's parent before anything else is done with it; what it has shown it reports as sent.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asof.runtime.child_process import Channel
from asof.runtime.conversation_log import ConversationLog
from asof.service.conversation import Incoming, Outgoing
from asof.service.intake import Intake
from asof.service.local_conversation import LocalConversation
from asof.service.responder import Responder
from asof.service.service import Service
from asof.settings import Settings
from asof_streams.sqlite_log import SqliteLog

NOW = 1_736_937_000_000_000
TEXT = "I live in Rome."
TAKING: dict[str, tuple[type, str, str]] = {  # of a message: where the process ends, before a call or after it
    "nothing is on a log": (Intake, "put", "before"),
    "the message is on its log": (Intake, "_take_all", "after"),
    "the message is known": (ConversationLog, "_follow_messages", "after"),
    "the reply is begun": (Responder, "reply", "before"),
    "the reply is made": (Responder, "_events", "after"),
    "the reply is to be appended": (SqliteLog, "append", "before"),
    "the reply is on its log": (SqliteLog, "append", "after"),
    "the reply is known": (ConversationLog, "append", "after"),
}
SENDING: dict[str, tuple[type, str, str]] = {
    "the turn of the bot is on no log": (Intake, "put", "before"),
    "the turn of the bot is on its log": (Intake, "_take_all", "after"),
    "the reply is to be noted as sent": (SqliteLog, "append", "before"),
    "the reply is noted as sent": (SqliteLog, "append", "after"),
}
SHOWN = "the reply is shown"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def end_at(owner: type, name: str, when: str) -> None:
    """Let the next call of a method end this process."""
    method: Callable[..., Any] = getattr(owner, name)

    def ending(*args: Any, **kwargs: Any) -> Any:
        if when == "after":
            method(*args, **kwargs)
        die()

    setattr(owner, name, ending)


async def talk(directory: Path, step: str | None) -> None:
    settings = Settings(data=directory, embedder="none")
    shown = directory.with_name("shown")
    with (
        Service(settings, lambda: None, lambda _: None, lambda _: None) as service,
        LocalConversation(service, settings, now=lambda: NOW) as conversation,
    ):
        if step in TAKING:
            end_at(*TAKING[step])
        answers = await conversation.resume()
        answers += await conversation.take(Incoming("message", "g", "m1", "1", "ana", TEXT, NOW))
        with shown.open("a") as file:
            file.writelines(f"{answer.id} {answer.text.splitlines()[0]}\n" for answer in answers)
            file.flush()
            os.fsync(file.fileno())
        if step == SHOWN:
            die()
        if step in SENDING:
            end_at(*SENDING[step])
        for line in shown.read_text().splitlines():
            id_, _, text = line.partition(" ")
            await conversation.sent(Outgoing("reply", id_, text, "m1", "g"), "b1", NOW)
        await service.settled((await service.take([])).start - 1)


def run(_: Channel, directory: Path, step: str | None) -> None:
    asyncio.run(talk(directory, step))
