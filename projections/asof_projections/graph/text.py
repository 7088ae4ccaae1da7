"""Facts by number: found by their words, chosen by moment, handed to the vector index."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.base import Connected
from asof_projections.graph.facts import Window
from asof_projections.graph.live import Mirror
from asof_projections.rows import Moment
from asof_streams.sqlite import snapshot

_WORD: Final = re.compile(r"\w+")
_HOLDS: Final = """EXISTS (SELECT 1 FROM versions v INDEXED BY version_fact WHERE v.fact = w.rowid
    AND v.kt > :kmin AND v.kf <= :kmax AND v.vf <= :vmax AND v.vt > :vmin)"""
# The group is a word beside the sentence, so that a search costs what its own group has; it weighs nothing.
_SEARCH: Final = f"""SELECT w.rowid, -bm25(sentence_words, 1.0, 0.0) AS score FROM sentence_words w
    WHERE sentence_words MATCH :words AND {_HOLDS} ORDER BY score DESC, w.rowid LIMIT :limit"""
_SENTENCES: Final = """SELECT f.n, g.name, f.sentence, f.n FROM facts f CROSS JOIN groups g ON g.n = f.grp
    WHERE f.n > :after ORDER BY f.n LIMIT :page"""


class Numbered(Connected):
    """Facts as numbers: the positions of their assertions in the log."""

    _mirror: Mirror

    def text(self, query: str, group: str | None, at: Moment, limit: int) -> list[tuple[int, float]]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(query)))
        if not words:
            return []
        match = f"sentence : ({words})"
        if group is not None:
            match = f'grp : "g{self._group(group)}" AND {match}'
        return self._rows(_SEARCH, Window.at(at)._asdict() | {"words": match, "limit": limit})

    def live(self, group: str | None, at: Moment) -> NDArray[np.int64]:
        writing = self._db.in_transaction
        with self._guard, nullcontext() if writing else snapshot(self._db):
            self._settle()
            self._mirror.refresh(self._db, writing=writing)
            grp = None if group is None else self._group(group)
        return self._mirror.holding(grp, Window.at(at))

    def sentences(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        return (row[:3] for row in self._pages(_SENTENCES, after))
