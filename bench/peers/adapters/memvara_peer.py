"""Memvara: claims in SQLite, with the shared embedder, and its rules for what is said in a chat."""

import sqlite3
import sys
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench import synthetic
from bench.peers.child import embedder
from bench.peers.subjects import Fact, Message

if sqlite3.sqlite_version_info < (3, 42):  # which it refuses
    sys.modules["sqlite3"] = import_module("pysqlite3")
_USER = "bench"
_ALL = 1_000  # paths


class Embedder:
    name, dim = "hashing", 384

    def __init__(self) -> None:
        self._embedder = embedder()

    def encode(self, texts: Sequence[str]) -> Any:
        return self._embedder.embed(list(texts))


class NewPeer:
    version = version("memvara")

    def __init__(self, folder: Path, model: str) -> None:  # noqa: ARG002 - it reads by rules here
        memvara: Any = import_module("memvara")
        path = str(folder / "memory.db")
        self._memory = memvara.Memvara(path, user=_USER, llm=memvara.NullLLM(), embedder=Embedder())
        schema: Any = import_module("memvara.schema")
        for relation in synthetic.RELATIONS:
            kind = schema.Cardinality.ONE if relation in synthetic.SINGLE else schema.Cardinality.MANY
            spec = schema.PredicateSpec(name=relation, cardinality=kind, object_type=("entity",), graph=True)
            self._memory.registry.register(spec)

    def load(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self.state(fact)

    def state(self, fact: Fact) -> None:
        start, end = _instant(fact["valid_at"]), fact.get("invalid_at")
        times = {"valid_from": start, "valid_to": _instant(end) if end else None}
        self._memory.remember(fact["subject"], fact["relation"], fact["object"], **times)

    def say(self, message: Message) -> None:
        self._memory.add(message["content"], user=message["role"], ts=_instant(message["timestamp"]))

    def slot(self, fact: Fact) -> object:
        return self._memory.history(fact["subject"], fact["relation"], valid_at=_instant(fact["valid_at"]))

    def entity(self, fact: Fact) -> object:
        return self._around(fact, 1)

    def hops(self, fact: Fact) -> object:
        return self._around(fact, 2)

    def _around(self, fact: Fact, steps: int) -> object:
        return self._memory.neighborhood(fact["subject"], depth=steps, k=_ALL, valid_at=_instant(fact["valid_at"]))

    def search(self, question: str) -> object:
        return self._memory.search(question)

    def close(self) -> None:
        self._memory.close()


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
