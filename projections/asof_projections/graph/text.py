"""Facts by number: found by their words, chosen by moment, handed to the vector index."""

import re
from collections.abc import Iterable, Iterator
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
# In the order of `rank`, which the index has by itself: whether they hold is looked up of the best alone.
_SEARCH: Final = f"""SELECT w.rowid, -w.rank FROM sentence_words w
    WHERE sentence_words MATCH :words AND w.rank MATCH 'bm25(1.0, 0.0)' AND {_HOLDS} ORDER BY w.rank"""
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
        with self._guard:
            self._settle()
            return _best(self._db.execute(_SEARCH, Window.at(at)._asdict() | {"words": match}), limit)

    def live(self, group: str | None, at: Moment) -> NDArray[np.int64]:
        writing = self._db.in_transaction
        with self._guard, nullcontext() if writing else snapshot(self._db):
            self._settle()
            self._mirror.refresh(self._db, writing=writing)
            grp = None if group is None else self._group(group)
        return self._mirror.holding(grp, Window.at(at))

    def sentences(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        return (row[:3] for row in self._pages(_SENTENCES, after))


def _best(found: Iterable[tuple[int, float]], limit: int) -> list[tuple[int, float]]:
    """Return the first of what comes by falling scores, equal ones by number."""
    best: list[tuple[int, float]] = []
    for number, score in found:
        if best and len(best) >= limit and score < best[-1][1]:
            break
        best.append((number, score))
    best.sort(key=lambda each: (-each[1], each[0]))
    return best[:limit]
