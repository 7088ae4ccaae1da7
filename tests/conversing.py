"""A conversation as a platform has it: a service, a conversation over it, and what a user says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from asof.service.conversation import Conversation, Incoming, Outgoing
from asof.service.local_conversation import LocalConversation
from asof.service.service import Service
from asof.settings import Settings
from asof_streams.instants import SECOND, parse

NOW = parse("2025-01-15T10:30:00Z")

_NUMBERS = count(1)


@dataclass
class Platform:
    """One platform: it numbers what is said, takes what is answered, and has a clock of its own."""

    conversation: Conversation
    service: Service
    group: str = "guild"
    now: int = NOW
    taken: list[Outgoing] = field(default_factory=list)
    number: int = 0  # of what was said last

    def incoming(self, text: str, *, author: str = "111", name: str = "alice", reply_to: str | None = None) -> Incoming:
        self.number = next(_NUMBERS)
        self.now += SECOND
        return Incoming("message", self.group, f"m{self.number}", author, name, text, self.now, reply_to)

    async def say(
        self, text: str, *, author: str = "111", name: str = "alice", to: str | None = None
    ) -> list[Outgoing]:
        return await self.conversation.take(self.incoming(text, author=author, name=name, reply_to=to))

    async def talk(self, text: str) -> str:
        """Say something, send what is answered, and return its text."""
        [answer] = await self.say(text)
        await self.send(answer)
        return answer.text

    async def send(self, answer: Outgoing) -> str:
        """Take an answer, and return the id that it has here."""
        self.number = next(_NUMBERS)
        self.now += SECOND
        self.taken.append(answer)
        await self.conversation.sent(answer, f"m{self.number}", self.now)
        return f"m{self.number}"

    async def edit(self, number: int, text: str) -> None:
        """Edit a message by its number."""
        self.now += SECOND
        await self.conversation.take(Incoming("edit", self.group, f"m{number}", "111", "alice", text, self.now))

    async def delete(self, number: int) -> None:
        """Delete a message by its number."""
        self.now += SECOND
        await self.conversation.take(Incoming("deletion", self.group, f"m{number}", "", "", "", self.now))

    async def react(self, emoji: str, on: str, *, author: str = "111") -> list[Outgoing]:
        self.now += SECOND
        return await self.conversation.take(
            Incoming("reaction", self.group, "", author, "alice", emoji, self.now, reply_to=on)
        )

    async def learned(self) -> None:
        """Wait until everything that was said is learned from."""
        end = (await self.service.take([])).start
        if end:
            await self.service.done(end - 1)


def settings_of(directory: Path, **more: object) -> Settings:
    return Settings(data=directory, **({"embedder": "hash"} | more))  # type: ignore[arg-type]


@asynccontextmanager
async def platform(settings: Settings, *, patience: float = 0.5) -> AsyncIterator[Platform]:
    with (
        Service(settings, lambda: None, lambda _: None, lambda _: None) as service,
        LocalConversation(service, settings, now=lambda: NOW, patience=patience) as conversation,
    ):
        yield Platform(conversation, service)
