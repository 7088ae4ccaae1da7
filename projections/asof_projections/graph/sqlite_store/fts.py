"""Facts by number: full-text search, the facts that hold at a moment, and the sentences to embed."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from asof_projections.graph.sqlite_store.base import SqliteReader, listed
from asof_projections.graph.sqlite_store.facts import AMONG, meeting
from asof_projections.model.queries import FactSearchQuery
from asof_projections.model.rows import Moment, Window
from asof_streams.instants import INF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from asof_projections.graph.sqlite_store.version_cache import Holding

_WORD: Final = re.compile(r"\w+")
_MOST: Final = 0.6  # of all facts
_SENTENCES: Final = """SELECT f.n, g.name, f.sentence, f.n FROM facts f CROSS JOIN groups g ON g.n = f.grp
    WHERE f.n > :after ORDER BY f.n LIMIT :page"""

# What a search may be limited to, the most selective first: the columns of a version, and the SQL of what they may be.
_ENDS: Final = ("s", "object")
_LIMITS: Final = {
    "near": (_ENDS, f"(SELECT +n FROM entities WHERE uuid {AMONG.format('near')})"),
    "relations": (("relation",), f"(SELECT n FROM relations WHERE name {AMONG.format('relations')})"),
    "types": (_ENDS, f"(SELECT +n FROM entities WHERE type {AMONG.format('types')})"),
    "groups": (("grp",), f"(SELECT n FROM groups WHERE name {AMONG.format('groups')})"),
}
_INDEXES: Final = {"s": "subject", "object": "object", "relation": "relation", "grp": "group"}


@cache
def _numbers(first: str, *others: str, deeds: bool) -> str:
    """Return the statement for the numbers of facts under some limits; it reads by the index of the first."""
    told, met = meeting(deeds=deeds)
    also = "".join(f" AND ({_limited(name, *_LIMITS[name][0])})" for name in others)
    return " UNION ALL ".join(
        f"SELECT fact FROM versions INDEXED BY {when}_{_INDEXES[column]} {told} "
        f"WHERE {_limited(first, column)}{also} AND {met} AND {kt}"
        for column in _LIMITS[first][0]
        for when, kt in (("now", f"kt = {INF}"), ("past", f"kt < {INF} AND kt > :kmin"))
    )


def _limited(name: str, *columns: str) -> str:
    return " OR ".join(f"{column} IN {_LIMITS[name][1]}" for column in columns)


class FullTextSearch(SqliteReader):
    """Search over facts. A fact's number is the position of its assertion in the log."""

    def text(
        self, query: str, group: str | None, at: Moment, limit: int, among: "NDArray[np.int64] | None" = None
    ) -> list[tuple[int, float]]:
        words = list(dict.fromkeys(_WORD.findall(query)))
        if not words:
            return []
        import numpy as np  # noqa: PLC0415 - a command starts without it

        from asof_projections.graph.sqlite_store.bm25 import best  # noqa: PLC0415 - it needs numpy
        from asof_projections.graph.sqlite_store.version_cache import Holding  # noqa: PLC0415 - it needs numpy

        with self._guard, self._one_state():
            holding = self._holding(group, at)
            if among is not None:
                chosen = np.zeros(len(holding.has), np.bool)
                chosen[among[among < len(chosen)]] = True
                holding = Holding.of(chosen & holding.has, holding.words)
            # The group is indexed as a word beside the sentence, so that a search reads its own group alone. Where most
            # facts are of the group, that filter costs more than reading the others too.
            is_small = len(holding.numbers) < _MOST * self._search.versions.facts
            within = f'grp : "g{self._group(group)}" AND ' if group is not None and is_small else ""
            lists = self._search.sentence_postings.having(self._db, [f'{within}sentence : "{word}"' for word in words])
            return best(lists, holding, limit)

    def live(self, group: str | None, at: Moment) -> "NDArray[np.int64]":
        with self._guard:
            return self._holding(group, at).numbers

    def _holding(self, group: str | None, at: Moment) -> "Holding":
        """Return which facts hold at a moment."""
        with self._one_state() as writing:
            self._flush()
            self._search.versions.refresh(self._db, writing=writing)
            grp = None if group is None else self._group(group)
        return self._search.versions.holding(grp, Window.at(at))

    def numbers(self, query: FactSearchQuery, at: Moment, near: Sequence[str] | None) -> "NDArray[np.int64]":
        import numpy as np  # noqa: PLC0415 - a command starts without it

        chosen = {"near": near, "relations": query.relations, "types": query.entity_types, "groups": query.groups}
        lists = {name: items for name, items in chosen.items() if items or (name == "near" and items is not None)}
        parameters = {**Window.at(at)._asdict(), **{name: listed(items or ()) for name, items in lists.items()}}
        rows = self._rows(_numbers(*lists, deeds=at.deeds), parameters)
        return np.unique(np.array(rows, np.int64))

    def sentences(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        return (row[:3] for row in self._pages(_SENTENCES, after))
