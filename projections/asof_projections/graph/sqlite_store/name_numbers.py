"""Names by number, as vectors are made of them: all names of entities, and those of communities."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from asof_projections.graph.sqlite_store.base import SqliteReader, listed
from asof_projections.graph.sqlite_store.columns import COUNTED, COUNTS, ENTITY
from asof_projections.model.rows import EntityRow
from asof_streams.instants import INF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PART: Final = "SELECT * FROM (SELECT n, grp, name FROM {} WHERE n > :after ORDER BY n LIMIT :page)"
_NAMES: Final = f"""SELECT m.n, g.name, m.name, m.n FROM (
    {_PART.format("names")} UNION ALL {_PART.format("communities")} ORDER BY n LIMIT :page) m
    CROSS JOIN groups g ON g.n = m.grp ORDER BY m.n"""
_COUNT: Final = "SELECT (SELECT count(*) FROM names) + (SELECT count(*) FROM communities)"
_KNOWN: Final = f"SELECT m.n FROM names m WHERE (:grp IS NULL OR m.grp = :grp) AND {COUNTED} ORDER BY m.n"
_COUNT_NOW: Final = f"SELECT m.n FROM names m WHERE m.n IN (SELECT value FROM json_each(?)) AND {COUNTS}"
_NAMED: Final = f"""{ENTITY.replace("SELECT ", "SELECT m.n, ", 1).replace("FROM ", "FROM names m CROSS JOIN ", 1)}
    WHERE m.n IN (SELECT value FROM json_each(?)) AND e.n = m.entity"""


class SqliteNames(SqliteReader):
    """A name's number is the position of the record that gave it, so it never changes."""

    def names(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        return (row[:3] for row in self._pages(_NAMES, after))

    def name_count(self) -> int:
        count: int = self._one(_COUNT)
        return count

    def names_known(self, group: str | None, known: int | None) -> "NDArray[np.int64]":
        import numpy as np  # noqa: PLC0415 - a command starts without it

        grp = None if group is None else self._group(group)
        rows = self._rows(_KNOWN, {"grp": grp, "known": INF if known is None else known})
        return np.fromiter((n for (n,) in rows), np.int64, len(rows))

    def counting(self, numbers: Iterable[int]) -> set[int]:
        """Return those of some numbers whose names count now, of entities alone."""
        return {n for (n,) in self._rows(_COUNT_NOW, (listed(numbers),))}

    def named(self, numbers: Sequence[int]) -> list[EntityRow]:
        entities = {row[0]: EntityRow._make(row[1:]) for row in self._rows(_NAMED, (listed(map(int, numbers)),))}
        return list(dict.fromkeys(entities[n] for n in numbers if n in entities))
