"""What searches keep of one store in memory: columns of its versions and turns, and lists of where words stand."""

from asof_projections.graph.sqlite_store.postings import Postings
from asof_projections.graph.sqlite_store.turn_cache import TurnCache
from asof_projections.graph.sqlite_store.version_cache import VersionCache


class SearchCaches:
    """The caches of one store, which fill by the searches that need them. A rollback makes them useless."""

    def __init__(self) -> None:
        self.versions = VersionCache()
        self.sentence_postings = Postings("sentence_words")
        self.turns = TurnCache()
        self.turn_postings = Postings("turn_words")
