"""Groups that talk by way of topics, and the responders that answer them, in this process."""

import asyncio
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import places_of
from asof.service.topic_responder import ResponderPartition
from asof.settings import Settings
from asof_streams.conversation import ReplyGiven
from asof_streams.events import Event, decode
from asof_streams.instants import SECOND, parse, render
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.topics import create
from kafka_worker import World, until

NOW = parse("2025-01-15T10:30:00Z")


class Reply(NamedTuple):
    """An answer: its action, the message that it is to, and its words."""

    action: str
    to: str
    content: str


class Chat:
    """Groups that talk by way of the topics, and the responders of their one partition, in this process."""

    def __init__(self, world: World, root: Path, partition: int = 0, **settings: Any) -> None:
        asyncio.run(create(world.connection, world.topics, ["main"], replies=True))
        self.partition = partition
        self.world = world
        self.root = root
        self.settings = {"embedder": "none"} | settings
        self.now = NOW

    def say(self, text: str, id_: str, group: str = "g", **more: Any) -> int:
        """Send a message; return the offset after it."""
        self.now += SECOND
        told: dict[str, Any] = {
            "group_id": group,
            "content": text,
            "role": "ana",
            "role_type": "user",
            "external_id": id_,
        }
        told |= {"kind": "message", "author_id": "1", "timestamp": render(self.now)}
        return self.world.send(
            [{name: value for name, value in (told | more).items() if value is not None}], self.partition
        )

    def reply_as_bot(self, text: str, id_: str, to: str | None, group: str = "g") -> None:
        """Send what a platform took of the bot's, as its turn."""
        told = {"role": "bot", "role_type": "assistant", "author_id": None, "reply_to": to, "is_proactive": to is None}
        self.say(text, id_, group, **told)

    @contextmanager
    def responder(self, name: str = "data", patience: float = 0) -> Iterator[ResponderPartition]:
        """Open a responder, which does not wait for what nobody learns, unless it has patience: seconds."""
        settings = Settings(data=self.root / name, **self.settings)
        count = self.world.client.partitions(self.world.topics.messages)
        places = places_of(DirectoryLayout(self.root / name), self.partition, count)
        given = places, settings, self.world.connection, self.world.topics, self.partition
        with closing(ResponderPartition(*given, now=lambda: self.now, patience=patience)) as responder:
            self.answer(responder)
            yield responder

    def answer(self, responder: ResponderPartition) -> None:
        """Let a responder answer all that is on the topic."""

        def is_answered() -> bool:
            responder.ingest([])
            end = self.world.client.end(self.world.topics.messages, self.partition)
            return responder.offset >= end and not responder.is_answering

        until(is_answered)

    def forget(self, responder: ResponderPartition, word: str) -> None:
        """Let a responder go on until no file has a word in it: files are rewritten after the messages are known."""

        def is_gone() -> bool:
            responder.ingest([])
            return not self.in_files(word)

        until(is_gone)

    def learn(self, name: str = "data") -> None:
        """Let a recorder and a believer take all that there is."""
        with closing(self.world.partition(self.root / name)) as partition:
            partition.ingest([])

    def events(self) -> list[Event]:
        """Return the events that stand on the replies topic."""
        fence = Fence("replies")
        stands = chain.from_iterable(
            map(fence.pass_through, self.world.records(self.world.topics.replies, self.partition))
        )
        return [decode(sent.type, sent.version, sent.payload) for sent in stands if sent.payload]

    def given(self) -> list[Reply]:
        return [Reply(one.action, one.to, one.content) for one in self.events() if isinstance(one, ReplyGiven)]

    def answered(self) -> list[str]:
        return [reply.to for reply in self.given()]

    def on_replies(self, word: str) -> list[int]:
        """Return the offsets of the records of the replies topic that have a word in them."""
        records = self.world.records(self.world.topics.replies, self.partition)
        return [raw.offset for raw in records if word.encode() in (raw.value or b"")]

    def in_files(self, word: str) -> set[str]:
        return holds(self.root, word)


def holds(folder: Path, word: str) -> set[str]:
    """Return the files of a folder that have a word in them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix() for path in files if word.encode() in _content(path)}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # somebody removed it meanwhile
        return b""
