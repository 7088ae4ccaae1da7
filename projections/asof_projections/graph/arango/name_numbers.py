"""Names by number in ArangoDB, as vectors are made of them."""

from collections.abc import Iterator, Sequence
from heapq import merge
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import LATEST
from asof_projections.graph.arango.identities import ArangoIdentities, entity_of
from asof_projections.model.rows import EntityRow
from asof_streams.instants import INF

_KINDS: Final = ("names", "communities")


class ArangoNames(ArangoIdentities):
    """A name's number is the position of the record that gave it, so it never changes."""

    def names(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        rows = merge(*(self._pages(kind, None, after) for kind in _KINDS), key=lambda row: row["n"])
        return ((row["n"], row["grp"], row["name"]) for row in rows)

    def name_count(self) -> int:
        counts = self._query(aql.COUNTS, open=INF)[0]
        return int(counts["names"] + counts["formed"])

    def names_known(self, group: str | None, known: int | None) -> NDArray[np.int64]:
        rows = self._counting_names(group, LATEST if known is None else known)
        return np.fromiter((row["n"] for row in rows), np.int64)

    def named(self, numbers: Sequence[int]) -> list[EntityRow]:
        pages = (self._page("names", None, int(n) - 1, LATEST, 1) for n in numbers)
        names = (row for page, n in zip(pages, numbers, strict=True) for row in page if row["n"] == n)
        return list(dict.fromkeys(entity_of(row["whose"] | {"grp": row["grp"]}) for row in names))
