"""A memory to tell things to: the public API over a temporary directory, with a clock that the test turns."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from asof.api.memory import Memory
from asof.settings import Settings
from asof_streams.instants import from_datetime
from asof_streams.messages import AnyMessage


def on(text: str) -> int:
    """Return a day ("2021-03-01"), month or year as microseconds."""
    return from_datetime(datetime.fromisoformat((text + "-01-01")[:10]).replace(tzinfo=UTC))


class World:
    """One group `g`, relations `lives_in` and `works_at` (single-valued) and any other (many-valued)."""

    def __init__(self, path: Path, **settings) -> None:
        self.path = path
        self.settings = Settings(data=path, **{"embedder": "none", **settings})
        self.now = on("2024-01-01")
        self.memory = self.open()

    def open(self) -> Memory:
        return Memory(self.settings, now=lambda: self.now)

    def restart(self) -> None:
        self.memory.close()
        self.memory = self.open()

    def tell(self, day: str | None = None, **line) -> int:
        """State one structured fact on a day; returns the known moment at which it is believed."""
        if day is not None:
            self.now = on(day)
        line = {"group_id": "g", "subject": "Ana", "relation": "lives_in", **line}
        for name in ("valid_at", "invalid_at", "said_at"):
            if isinstance(line.get(name), str) and "T" not in line[name]:
                line[name] = (line[name] + "-01-01")[:10] + "T00:00:00Z"
        produced = self.memory.import_facts([json.dumps(line)])
        assert not produced.refused, produced.refused
        return self.now

    def send(self, *messages: AnyMessage, day: str | None = None) -> int:
        """Put messages on the log and let them be taken; returns the known moment of the last."""
        if day is not None:
            self.now = on(day)
        writer = self.memory._session.writer()
        for message in messages:
            writer.messages.accept([message], clock=self.now)
        writer.process(flush=True)
        return self.now

    def parked(self) -> int:
        return self.memory.stats()["parked"]

    def where(
        self, valid: str, known: str | int | None = None, relation: str = "lives_in", about: str = "Ana"
    ) -> list[str]:
        """Return the objects that hold at a valid day, as known on a known day (None: now)."""
        known_at = on(known) if isinstance(known, str) else known
        facts = self.memory.facts(group_id="g", about=about, relation=relation, valid_at=on(valid), known_at=known_at)
        return sorted(f.object for f in facts)

    def digest(self) -> str:
        return self.memory.digest()


def days(instant: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)).date().isoformat()
