"""Facts by number: full-text search, the facts that hold at a moment, and the sentences to embed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.sqlite_store.base import SqliteReader
from asof_projections.graph.sqlite_store.bm25 import best
from asof_projections.graph.sqlite_store.version_cache import VersionCache
from asof_projections.model.rows import Moment, Window
from asof_streams.sqlite import snapshot

_WORD: Final = re.compile(r"\w+")
_SENTENCES: Final = """SELECT f.n, g.name, f.sentence, f.n FROM facts f CROSS JOIN groups g ON g.n = f.grp
    WHERE f.n > :after ORDER BY f.n LIMIT :page"""


class FullTextSearch(SqliteReader):
    """Search over facts. A fact's number is the position of its assertion in the log."""

    _version_cache: VersionCache

    def text(self, query: str, group: str | None, at: Moment, limit: int) -> list[tuple[int, float]]:
        words = list(dict.fromkeys(_WORD.findall(query)))
        if not words:
            return []
        grp = None if group is None else self._group(group)
        with self._guard, self._one_state():
            self._flush()
            return best(self._db, words, grp, Window.at(at), limit)

    def live(self, group: str | None, at: Moment) -> NDArray[np.int64]:
        with self._guard, self._one_state() as writing:
            self._flush()
            self._version_cache.refresh(self._db, writing=writing)
            grp = None if group is None else self._group(group)
        return self._version_cache.holding(grp, Window.at(at))

    def sentences(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        return (row[:3] for row in self._pages(_SENTENCES, after))

    @contextmanager
    def _one_state(self) -> Iterator[bool]:
        """Let several statements read one state; yield whether it may have uncommitted rows."""
        if self._db.in_transaction:
            yield True
        else:
            with snapshot(self._db):
                yield False
