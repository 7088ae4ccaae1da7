"""eventsourcing: its recorder of events in SQLite."""

import json
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.peers.subjects import Fact


class NewPeer:
    version = version("eventsourcing")

    def __init__(self, folder: Path, model: str) -> None:  # noqa: ARG002 - it reads nothing with a model
        sqlite: Any = import_module("eventsourcing.sqlite")
        self._event: Any = import_module("eventsourcing.persistence").StoredEvent
        self._recorder = sqlite.SQLiteApplicationRecorder(sqlite.SQLiteDatastore(str(folder.parent / "events.sqlite")))
        self._recorder.create_table()
        self._aggregates = count(1)

    def load(self, facts: Sequence[Fact]) -> None:
        """Keep none: it takes part in appends alone."""

    def append(self, facts: Sequence[Fact]) -> None:
        of = UUID(int=next(self._aggregates))
        states = (json.dumps(fact).encode() for fact in facts)
        self._recorder.insert_events([self._event(of, n, "fact.stated", state) for n, state in enumerate(states, 1)])

    def close(self) -> None:
        self._recorder.datastore.close()
