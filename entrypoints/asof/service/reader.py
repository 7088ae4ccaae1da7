"""The questions of a service for itself, beside the operations of every door."""

import logging
from collections.abc import Iterator
from typing import Final

from asof.runtime.processes import return_freed_memory
from asof.runtime.replica_manifest import is_copy
from asof.service.session import Session
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import AsofError, NotFound
from asof_streams.instants import SECOND
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest

_LONG: Final = 64  # rounds of embedding, some seconds of work, after which freed memory is given back

log = logging.getLogger(__name__)


class Reader(Session):
    """A memory opened for reading by one thread of a service."""

    _unprepared = ""  # why the next search was not prepared when it was last tried; empty: it was
    _rounds = 0  # of `keep_up`, since there was nothing more to embed

    def unsettled(self) -> dict[str, int]:
        """Return how many messages are parked, and how many failed."""
        opened = self.of(None).opened()
        stores = (opened.episodes, opened.beliefs)
        return {state: sum(store.parked_count(state) for store in stores) for state in ("parked", "failed")}

    def consolidations(self) -> dict[str, int]:
        """Return the number of passes of consolidation in the generation that answers, and the sums of their counts."""
        name = self.of(None).opened().generation
        if not self.places.graph(name).exists():  # of a replica whose graph is in a database alone
            return {}
        with SqliteGraph(self.places.graph(name), f"semantic.{name}") as beliefs:
            return beliefs.consolidation_counts()

    def age(self, position: int) -> float:
        """Return the seconds since the message at a position was recorded, on Kafka since one at its offset was.

        0, where it is not here yet.
        """
        with SqliteLog(self.places.messages) as log:
            at = log.caused_by(position)
            return 0.0 if at == log.end() else max(0, self.now() - log.recorded_at(at)) / SECOND

    def vectors(self) -> int:
        """Return how many vectors a search by this reader compares with; 0 before its first."""
        return self.of(None).vectors

    def keep_up(self, seconds: float) -> bool:
        """Embed new texts for about so long; return whether there are more. No search of this reader waits then.

        Once there are none, what the next search reads is brought up.
        """
        sources = self.sources.every()
        is_behind = any(source.keep_up(seconds) for source in sources)
        self._rounds += 1
        if self._rounds >= _LONG and (self._rounds % _LONG == 0 or not is_behind):
            return_freed_memory()  # a growing index leaves its smaller blocks behind
        if is_behind:
            return True
        self._rounds = 0
        try:
            for source in sources:
                source.read_ahead(self.now())
        except AsofError as error:  # the search reads it itself, and says what is wrong to whoever asks
            if self._unprepared != str(error):
                log.warning("the next search is not prepared: %s", error)
            self._unprepared = str(error)
        else:
            self._unprepared = ""
        return False

    def prepare(self) -> Iterator[None]:
        """Read what a search needs of files, step by step, while nobody asks."""
        for source in self.sources.every():
            yield from source.prepare()

    def end(self) -> int:
        """Return the position that the next message will have, as far as is known here: on a topic its offset."""
        with SqliteLog(self.places.messages) as log:
            return log.checkpoint() if is_copy(self.places.root) else log.end()

    def positions_in(self, group: str, start: int) -> list[int]:
        """Return the positions of a group's messages from one on, in order, as far as they are here.

        On a topic they are offsets. Messages that were erased are left out.
        """
        try:
            with SqliteLog(self.places.messages) as log:
                if not is_copy(self.places.root):
                    return log.positions_in(group, start)
                return [log.cause_of(at) for at in log.positions_in(group, log.caused_by(start))]
        except NotFound:  # nothing was said yet
            return []

    def positions_of(self, request: KeyedRequest) -> range | None:
        """Return the positions of the messages of an earlier request; None: there was none. InvalidInput: another."""
        with SqliteLog(self.places.messages) as log:
            return log.positions_of(request, clock=self.now())
