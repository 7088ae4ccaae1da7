"""asof, in one directory: its log, its graph, and vectors behind them."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import asof
from asof.runtime.layout import DirectoryLayout
from asof_projections.projector import rebuild
from asof_streams.messages import FactStatement, accept
from asof_streams.sqlite_log import SqliteLog
from bench.peers.subjects import AT_ONCE, Fact, Message

_GROUP = "bench"


class NewPeer:
    version = asof.__version__

    def __init__(self, folder: Path, model: str) -> None:
        self._directory = folder / "facts"
        self._memory = asof.open(self._directory, embedder="hash")
        settings = {"extractor": "model", "model_name": "fake", "model_url": model, "model_calls": AT_ONCE}
        self._reading = asof.open(folder.parent / "read", embedder="hash", **settings)
        self._log = SqliteLog(folder.parent / "log.sqlite", writable=True)
        self._clock = count()

    def load(self, facts: Sequence[Fact]) -> None:
        self._memory.import_facts(facts)

    def state(self, fact: Fact) -> None:
        self._memory.import_facts([fact])

    def say(self, message: Message) -> None:
        self._memory.add(message["content"], role=message["role"], timestamp=message["timestamp"], group_id="chat")

    def slot(self, fact: Fact) -> object:
        about, relation, at = fact["subject"], fact["relation"], fact["valid_at"]
        return self._memory.facts(about=about, relation=relation, valid_at=at, group_id=_GROUP)

    def about(self, fact: Fact) -> object:
        return self._memory.facts(about=fact["subject"], valid_at=fact["valid_at"], group_id=_GROUP)

    def entity(self, fact: Fact) -> object:
        return self._memory.entity(fact["subject"], valid_at=fact["valid_at"], group_id=_GROUP)

    def hops(self, fact: Fact) -> object:
        return self._memory.neighbourhood(fact["subject"], 2, valid_at=fact["valid_at"], group_id=_GROUP)

    def search(self, question: str) -> object:
        return self._memory.search(question, group_id=_GROUP)

    def append(self, facts: Sequence[Fact]) -> None:
        self._log.accept([accept(FactStatement, fact) for fact in facts], clock=next(self._clock))

    def read(self, messages: Sequence[Message]) -> None:
        self._reading.produce(messages)

    def generation(self, facts: Sequence[Fact]) -> None:  # noqa: ARG002 - all that were taken
        self._memory.rebuild("anew")
        self._memory.drop("anew")
        self.search("anybody")  # who reads opens its files anew, which is no part of what is asked next

    def projection(self, facts: Sequence[Fact]) -> None:  # noqa: ARG002 - all that were taken
        made = self._directory.parent.parent / "projected.db"
        with SqliteLog(DirectoryLayout(self._directory).semantic("main")) as log:
            rebuild(log, made)
        made.unlink()

    def close(self) -> None:
        for opened in (self._memory, self._reading, self._log):
            opened.close()
