"""Encrypted topics, what is sent to them, and what can be found of it there and in files."""

from contextlib import closing
from pathlib import Path
from typing import Any

import asof
from asof.kafka.encryption import choose_encryption
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from kafka_worker import Partition, World


class Sealed(World):
    """Topics that are encrypted, and a memory that sends to them."""

    def __init__(self, bootstrap: str, prefix: str, folder: Path) -> None:
        super().__init__(bootstrap, prefix)
        self.folder = folder
        choose_encryption(self.connection, self.topics, folder / "keys")

    def open(self, name: str = "copy", **settings: Any) -> asof.Memory:
        given = {"embedder": "none", "keys": self.folder / "keys"} | self.settings() | settings
        return asof.open(self.folder / name, **given)

    def add(self, group: str, text: str) -> None:
        with self.open() as memory:
            memory.add(text, role=group.title(), group_id=group, timestamp="2024-01-01")

    def work(self, name: str = "worker") -> Path:
        """Let a recorder and a believer take all that there is; return their directory."""
        data = self.folder / name
        settings = Settings(data=data, embedder="none", keys=self.folder / "keys")
        with closing(Partition(DirectoryLayout(data), settings, self.connection, self.topics, 0)) as partition:
            partition.ingest([])
        return data

    def on_topics(self, word: str) -> list[str]:
        names = (self.topics.messages, self.topics.episodic, self.topics.semantic("main"), self.topics.dead_letters)
        return [
            name
            for name in names
            for raw in self.records(name)
            if word.encode() in b"".join([raw.key or b"", raw.value or b"", *(value for _, value in raw.headers)])
        ]

    def in_files(self, word: str) -> set[str]:
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return {path.relative_to(self.folder).as_posix() for path in files if word.encode() in path.read_bytes()}
