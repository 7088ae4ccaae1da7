"""What a service asks of a memory for itself, beside the operations that every door has."""

from asof.runtime.replica_manifest import is_copy
from asof.service.session import Session
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest


class Reader(Session):
    """A memory opened for reading by one thread of a service."""

    def parked(self) -> int:
        """Return how many messages are parked."""
        opened = self.of(None).opened()
        return opened.episodes.parked_count() + opened.beliefs.parked_count()

    def vectors(self) -> int:
        """Return how many vectors a search by this reader compares with; 0 before its first."""
        return self.of(None).vectors

    def keep_up(self, seconds: float) -> bool:
        """Embed new texts for about so long; return whether there are more. No search of this reader waits then."""
        return any(source.keep_up(seconds) for source in self.sources.every())

    def end(self) -> int:
        """Return the position that the next message will have, as far as is known here: on a topic its offset."""
        with SqliteLog(self.places.messages) as log:
            return log.checkpoint() if is_copy(self.places.root) else log.end()

    def positions_of(self, request: KeyedRequest) -> range | None:
        """Return the positions of the messages of an earlier request; None: there was none. InvalidInput: another."""
        with SqliteLog(self.places.messages) as log:
            return log.positions_of(request, clock=self.now())
