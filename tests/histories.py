"""A history told to the real engine over real logs and stores in a folder; read back through Questions and Search."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from asking import Asker
from asof_agents.engine import Engine
from asof_agents.extraction.ports import Extraction, KnownNames, Mention, Relationship, StatedAttribute, Turn
from asof_agents.extraction.registry import ExtractorRegistry, Ontologies
from asof_agents.generation import Generation
from asof_agents.handlers.statement_writer import Build
from asof_agents.layer import Layer, batch_of
from asof_ontologies import registry
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.queries.temporal import TemporalQueries
from asof_streams.events import Draft, Record
from asof_streams.ids import episode_id
from asof_streams.instants import from_datetime, parse_moment
from asof_streams.messages import (
    AnyMessage,
    ErasureRequest,
    FactStatement,
    Message,
    RetryRequest,
    WithdrawalRequest,
    accept,
)
from asof_streams.semantic import RelationDeclared
from asof_streams.sqlite_log import SqliteLog

ONTOLOGY = registry.load("default")
ONTOLOGIES = Ontologies(ONTOLOGY, find=registry.load)
SINGLE = ("lives_in", "works_at")


def on(text: str) -> int:
    """Return the first instant of a day ("2021-03-01"), month or year."""
    return from_datetime(datetime.fromisoformat((text + "-01-01")[:10]).replace(tzinfo=UTC))


class Triples:
    """An extractor for tests: a turn that reads "Ana -lives_in-> Berlin" says so; any other says nothing.

    A number is an Age, which is a literal. "Ana: role = cook, 0.9" says what she is like, and how sure that is.
    """

    version = "triples-1"

    def request(self, _turn: Turn, _before: Sequence[Turn]) -> None:
        """They are read from the turn alone."""

    def extract(
        self, turn: Turn, _before: Sequence[Turn], _known: KnownNames, _answer: str | None = None
    ) -> Extraction:
        if " = " in turn.text:
            return self._described(turn)
        if "->" not in turn.text:
            return Extraction()
        subject, rest = turn.text.split(" -", 1)
        relation, object_ = rest.split("-> ")
        ends = [
            Mention(turn.episode_id, "Age" if name.isdigit() else "Thing", name, turn.text.index(name))
            for name in (subject, object_)
        ]
        return Extraction(tuple(ends), (Relationship(ends[0], relation, ends[1], span=(0, len(turn.text))),))

    def _described(self, turn: Turn) -> Extraction:
        whom, rest = turn.text.split(": ", 1)
        thing, found = Mention(turn.episode_id, "Thing", whom, 0), []
        for described in rest.split("; "):
            name, what = described.split(" = ")
            value, sure = what.split(", ")
            found.append(StatedAttribute(thing, name, value, float(sure), (0, len(turn.text))))
        return Extraction((thing,), attributes=tuple(found))


class History:
    """One memory in the group `g`, but for what names another; lives_in and works_at are single-valued."""

    def __init__(self, folder: Path) -> None:
        self.messages = SqliteLog(folder / "messages.sqlite", writable=True, durable=False)
        episodic = SqliteLog(folder / "episodic.sqlite", writable=True, durable=False)
        semantic = SqliteLog(folder / "semantic.main.sqlite", writable=True, durable=False)
        declared = [RelationDeclared(relation=name, cardinality="one") for name in SINGLE]
        semantic.append([Draft("", 0, -1, i, len(declared), e) for i, e in enumerate(declared)], checkpoint=0)
        self.episodes = SqliteGraph(folder / "episodes.db", "episodic", writable=True)
        self.beliefs = SqliteGraph(folder / "graph.db", "semantic.main", writable=True)
        self.beliefs.apply(list(semantic.read()))
        self.beliefs.commit(semantic.end(), semantic.head(semantic.end()))
        generation = Generation(
            Layer(semantic, self.beliefs), self.beliefs, Build("test", ONTOLOGY, "recency"), partial(batch_of, episodic)
        )

        def erase(group: str, _before: int) -> None:
            for log in (episodic, semantic):
                log.erase(group)

        self.extractor = Triples()
        readers = ExtractorRegistry(ONTOLOGY, ONTOLOGIES, lambda *_: self.extractor)

        def redact(group: str, positions: Sequence[int]) -> None:
            self.messages.redact(group, positions)
            semantic.erase(group)

        self.engine = Engine(
            Layer(episodic, self.episodes), self.episodes, readers, (generation,), erase, redact, self._message
        )
        self.questions = Asker(TemporalQueries(self.beliefs, self.episodes))
        self.episodic, self.semantic = episodic, semantic
        self._open: list[Any] = [self.messages, episodic, semantic, self.episodes, self.beliefs]

    def tell(self, day: str, **line) -> None:
        """State one structured fact on a day."""
        for name in ("valid_at", "invalid_at", "said_at"):
            if name in line:
                line[name] = on(line[name])
        self._take(day, FactStatement.model_validate({"group_id": "g", "subject": "Ana", **line}))

    def say(self, day: str, content: str, said: str | None = None, **more) -> None:
        """Say one message on a day; `said`: on another than that on which it is recorded. `more` are its fields."""
        fields = {"group_id": "g", "content": content, "role": "ana", "role_type": "user"} | more
        self._take(day, accept(Message, fields | {"timestamp": f"{said or day}T00:00:00Z"}))

    def withdraw(self, day: str, number: int) -> None:
        """Let the episode of the message at a position count no longer."""
        self._take(day, WithdrawalRequest(group_id="g", episode_id=episode_id("g", number)))

    def forget(self, day: str, group: str = "g") -> None:
        self._take(day, ErasureRequest(group_id=group))

    def retry(self, day: str, position: int) -> None:
        """Let the message at a position be processed again."""
        self._take(day, RetryRequest(group_id="g", position=position))

    def send(self, day: str, message: AnyMessage) -> None:
        self._take(day, message)

    def send_at(self, recorded_at: int, message: AnyMessage) -> None:
        """Let a message be recorded at an instant."""
        self._ingest(message, recorded_at)

    def _message(self, position: int) -> Record | None:
        return next(self.messages.read(position, position + 1), None)

    def _take(self, day: str, message) -> None:
        self._ingest(message, parse_moment(day))

    def _ingest(self, message, clock: int) -> None:
        [position] = self.messages.accept([message], clock=clock)
        self.engine.ingest(next(self.messages.read(position)))
        self.engine.flush()

    def close(self) -> None:
        for part in self._open:
            part.close()
