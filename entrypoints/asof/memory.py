"""The Python API: a memory in one directory, with the same verbs as the command line.

    with asof.open("./asof-data") as memory:
        memory.add("I moved to Berlin in March", role="Ana", group_id="ana")
        memory.facts(about="Ana", relation="lives_in", valid_at="2024-01-01")

Reading needs no lock, and sees what was flushed. The first write takes the directory's writer lock and keeps it until
the memory is closed; a second writer gets WriterBusy. Every time may be given as text (RFC 3339), a date, an aware
datetime, or microseconds.

With the setting `kafka`, writing sends to the messages topic instead: any number may, and what they sent is known once
a worker has taken it.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from asof.readings import MemoryQueries, Time, instant
from asof.runtime import clock, json_lines
from asof.runtime.ingestion import Directory, Sink, take
from asof.runtime.layout import DirectoryLayout
from asof.runtime.results import Added, Produced
from asof.runtime.wiring import Policy, Progress, Source, describe, load_ontology
from asof.runtime.writer import Writer, open_writer
from asof.settings import Settings
from asof_agents.handlers.episodes import episode_id
from asof_projections.generations import GenerationInfo, check_name
from asof_streams import instants
from asof_streams.errors import InvalidInput
from asof_streams.messages import ErasureRequest, Message, accept, check_group

if TYPE_CHECKING:
    from asof.kafka.producer import Producer


class Memory(MemoryQueries):
    """A memory in one directory. Use it as a context manager, or close() it."""

    def __init__(self, data: Path, settings: Settings, now: Callable[[], int] = clock.system) -> None:
        super().__init__(DirectoryLayout(data), settings, now)
        self._on_kafka = settings.kafka is not None
        self._limit = json_lines.MAX_RECORD_BYTES if self._on_kafka else json_lines.MAX_LINE_BYTES
        self._writer: Writer | None = None
        self._producer: Producer | None = None

    # writing

    def add(
        self,
        content: str,
        *,
        group_id: str = "default",
        role: str = "",
        role_type: Literal["user", "assistant", "system"] = "user",
        timestamp: Time | None = None,
        **fields: Any,
    ) -> Added:
        """Add one message. Durable when it returns.

        Other fields are Graphiti's (name, source_description, source), and those that say how it is read (schema_id,
        entity_types and others, suppress_content): docs/reference/events.md has them, under `message.sent`.
        """
        given = {
            "content": content,
            "group_id": group_id,
            "role": role,
            "role_type": role_type,
            "timestamp": None if timestamp is None else instants.render(instant(timestamp)),
            **fields,
        }
        line = json_lines.line_of(accept(Message, given), given)
        json_lines.check_size(line.text, self._limit)
        position = self._sink().put([line])
        return Added(position, None if self._on_kafka else episode_id(group_id, position))

    def produce(
        self, source: Iterable[bytes | str], *, strict: bool = False, acknowledged: Progress | None = None
    ) -> Produced:
        """Add messages given as JSON lines. A bad line is refused with its reason; `strict`: then none is taken."""
        return self._take_lines(source, json_lines.as_message, strict=strict, acknowledged=acknowledged)

    def import_facts(
        self,
        source: Iterable[bytes | str],
        *,
        recorded: bool = False,
        ontology: str | None = None,
        strict: bool = False,
        acknowledged: Progress | None = None,
    ) -> Produced:
        """Add structured facts given as JSON lines: exact names, no extraction (design 8 has the fields)."""
        if recorded and self._on_kafka:
            raise InvalidInput("recorded: on Kafka the broker's clock says when a fact was recorded, so leave this out")
        read = json_lines.as_fact(recorded=recorded, ontology=load_ontology(ontology) if ontology else None)
        return self._take_lines(source, read, strict=strict, acknowledged=acknowledged)

    def erase(self, group_id: str) -> int:
        """Make everything of a group gone, at every moment of both clocks. Returns the position of the request.

        On Kafka its offset, and the group is gone from what answers; its records stay on the topics.
        """
        request = ErasureRequest(group_id=check_group(group_id))
        return self._sink().put([json_lines.line_of(request, {"group_id": group_id})])

    def _take_lines(
        self, source: Iterable[bytes | str], read: json_lines.Read, *, strict: bool, acknowledged: Progress | None
    ) -> Produced:
        found = json_lines.read_lines(source, read, self._limit)
        return take(found, self._sink, strict=strict, acknowledged=acknowledged)

    def _sink(self) -> Sink:
        """Return where lines go: the one place where that is decided."""
        if not self._on_kafka:
            return Directory(self._write(), self._now)
        if self._producer is None:
            from asof.kafka.producer import Producer

            self._producer = Producer(self._settings)
        return self._producer

    # generations

    def rebuild(
        self,
        name: str,
        *,
        source: Source = "mentions",
        ontology: str | None = None,
        policy: Policy | None = None,
        progress: Progress | None = None,
    ) -> GenerationInfo:
        """Build a new generation from the episodic log, beside the one that answers; `switch` makes it answer."""
        writer = self._write()
        check_name(name)
        if any(info.name == name for info in writer.catalog.generations):
            raise InvalidInput(f"generation {name} is there already: choose another name, or drop it first")
        active = writer.catalog[writer.catalog.active]
        chosen = load_ontology(ontology) if ontology else writer.ontology(active.name)
        info = describe(name, chosen, policy or active.policy, source, writer.logs.extractors.version(chosen))
        writer.build(info, chosen, progress)
        return info

    def switch(self, name: str) -> None:
        """Let another generation answer, in one step."""
        self._write().switch(name)
        self._close_reader()

    def drop(self, name: str) -> None:
        """Remove a generation that does not answer."""
        self._write().drop(name)

    def _write(self) -> Writer:
        if self._on_kafka:
            raise InvalidInput("on Kafka the worker writes the generations; they cannot be changed through here yet")
        if self._writer is None:
            self._writer = open_writer(self._places, self._settings)
        return self._writer

    def close(self) -> None:
        """Close everything; what was acknowledged stays."""
        self._close_reader()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._producer is not None:
            self._producer.close()
            self._producer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
