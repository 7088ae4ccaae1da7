"""A session: one opened memory, which operations read from and write to."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import RLock
from typing import TYPE_CHECKING, Self

from asof.runtime import json_lines
from asof.runtime.control_log import catch_up
from asof.runtime.inbound_message import MAX_RECORD_BYTES
from asof.runtime.ingestion import EmbeddedSink, MessageSink
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import Progress, existing
from asof.service.read_sessions import ReadSession, ReadSessions
from asof.settings import Settings
from asof_projections.generations import Catalog
from asof_projections.model.rows import Moment
from asof_projections.queries.temporal import TemporalQueries
from asof_streams.errors import InvalidInput
from asof_streams.files import expect_own_files
from asof_streams.resource_pool import ResourcePool

if TYPE_CHECKING:
    from asof.kafka.producer import Producer
    from asof.runtime.writer import Writer
    from asof.service.embedding import BackgroundEmbedder
    from asof_projections.model.answers import Hit, Hits
    from asof_projections.model.queries import FactSearchQuery
    from asof_projections.model.rows import EntityRow


class Session:
    """A memory in one directory, or behind Kafka's topics. Use it as a context manager, or close() it.

    Reading holds no lock and sees every message that was acknowledged. The first write takes the directory's writer
    lock and keeps it until the session is closed; a second writer gets WriterBusy. With the setting `kafka`, writing
    sends to the messages topic, and each question sees what was on the topics when it was asked, or a twentieth of a
    second before, as far as workers had answered it.

    One thread uses it at a time. Threads that share one take turns by `lock`, which `Operation.ask` holds; whoever has
    a session alone, such as a command, or a reader of a service, calls operations without it. `shared`: all take turns,
    so what a search finds without a vector is embedded behind it, by a thread of the session's own. writer: of the
    directory, where it is open already; it is closed with the session.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        settings: Settings,
        now: Callable[[], int],
        *,
        shared: bool = False,
        writer: "Writer | None" = None,
    ) -> None:
        expect_own_files(places.root)
        self.places = places
        self.settings = settings
        self.now = now
        self.on_kafka = settings.kafka is not None
        self.line_limit = MAX_RECORD_BYTES if self.on_kafka else json_lines.MAX_LINE_BYTES  # bytes
        self.sources = ReadSessions(places, settings)
        self.progress: Progress | None = None  # told of long work
        self.lock = RLock()  # taken again by a thread that asks from within `progress`
        self._writer = writer
        self._producer: Producer | None = None
        self._shared = shared
        self._process = os.getpid()
        self._vectors: ResourcePool[Session] | None = None  # the thread that makes vectors, once a search lacked some
        self._embedder: BackgroundEmbedder | None = None

    def of(self, group: str | None) -> ReadSession:
        """Return the partition of a group. InvalidInput: there are several, and no group is named."""
        return self.sources.of(group)

    def queries(self, group: str | None) -> TemporalQueries:
        """Return the queries over the partition of a group."""
        return self.sources.of(group).opened().questions

    def catalog(self) -> Catalog:
        """Return the catalogue of generations. NotFound: nothing was written yet."""
        places = self.sources.every()[0].places
        return existing(places) if is_copy(places.root) else catch_up(places)

    def sink(self) -> MessageSink:
        """Return where messages go: the directory's log, or the messages topic."""
        if not self.on_kafka:
            return EmbeddedSink(self.writer(), self.now, self.settings.clock_years)
        if self._producer is None:
            from asof.kafka.producer import Producer

            self._producer = Producer(self.settings)
        return self._producer

    def writer(self) -> "Writer":
        """Return the directory opened for writing. InvalidInput: on Kafka the worker writes it."""
        if self.on_kafka:
            raise InvalidInput("on Kafka a worker writes the directory: for generations see docs/how-to/rebuild.md")
        if self._writer is None:
            from asof.runtime.writer import open_writer  # with all that derives beliefs: questions need none of it

            self._writer = open_writer(self.places, self.settings)
        return self._writer

    def adopt(self) -> None:
        """Let whoever writes the directory here follow for what was built: this session, or nobody if another does."""
        if self._writer is not None:
            self._writer.adopt()
        else:
            self.sources.every()[0].process_backlog()

    @contextmanager
    def reporting(self, progress: Progress | None) -> Iterator[None]:
        """Tell of long work meanwhile."""
        with self.lock:
            self.progress = progress
            try:
                yield
            finally:
                self.progress = None

    def search(self, source: ReadSession, query: "FactSearchQuery", at: Moment) -> "Hits[Hit]":
        """Return the best facts and turns of a partition; vectors that it lacks are made behind the answer."""
        hits = source.search(query, at)
        if self._shared and source.lacks_vectors:
            self._embed_behind()
        return hits

    def like(self, source: ReadSession, query: str, known: int, group: str | None, limit: int) -> "Hits[EntityRow]":
        """Return the entities whose names are nearest in meaning, as `search` does."""
        hits = source.like(query, known, group, limit)
        if self._shared and source.lacks_vectors:
            self._embed_behind()
        return hits

    def _embed_behind(self) -> None:
        if self._vectors is None or self._embedder is None:
            from asof.service.embedding import BackgroundEmbedder

            self._vectors = ResourcePool("asof-vectors", lambda: nullcontext(self))
            self._embedder = BackgroundEmbedder(self._vectors.submit)
        self._embedder.follow()

    def keep_up(self, seconds: float) -> bool:
        """Embed new texts for about so long, from any thread; return whether there are more."""
        with self.lock:
            sources = self.sources.every()
        return any(source.keep_up(seconds, self.lock) for source in sources)

    def close_reader(self) -> None:
        """Close the readers; the next question opens them anew."""
        self.sources.close()

    def release(self) -> None:
        """Close every file, so that others may replace them; the next question or write opens them anew."""
        self.close_reader()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._producer is not None:
            self._producer.close()
            self._producer = None

    def close(self) -> None:
        """Close everything; acknowledged messages stay. A holder of the lock calls `release` instead.

        In a fork of the process that opened it nothing is closed: files and threads are that one's.
        """
        if os.getpid() != self._process:
            return
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = self._embedder = None
        self.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
