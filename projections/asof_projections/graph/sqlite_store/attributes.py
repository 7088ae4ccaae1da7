"""Attributes of entities: their believed values as of a known moment, and the statements behind them.

A statement is only ever added, together with whether its value held then. So the value believed at a known moment is
that of the attribute's last holding statement recorded by then.
"""

from collections.abc import Sequence
from typing import Any, Final

from asof_projections.graph.sqlite_store.base import OF_THESE, SqliteReader
from asof_projections.model.rows import AttributeRow, Saying
from asof_projections.names import folded
from asof_streams.instants import INF

_COLUMNS: Final = "a.name, a.value, a.support, a.attested, a.episode"
_LAST: Final = f"SELECT {_COLUMNS} FROM attributes a INDEXED BY {{}} WHERE a.entity = ? AND a.name = ?"
_HELD: Final = f"{_LAST.format('attribute_held')} AND a.holds = 1 ORDER BY a.n DESC LIMIT 1"
_SAID: Final = f"{_LAST.format('attribute_value')} AND a.folded = ? ORDER BY a.n DESC LIMIT 1"
_BELIEVED: Final = f"""SELECT e.uuid, {_COLUMNS} FROM attributes a CROSS JOIN entities e ON e.n = a.entity
    WHERE a.support > 0 AND a.n IN (SELECT max(n) FROM attributes INDEXED BY attribute_held
    WHERE entity {OF_THESE}
    AND holds = 1 AND created_at <= :known GROUP BY entity, name) ORDER BY a.attested DESC, a.n DESC"""

# A statement that was weighed again has several rows; the first has what was said.
_SAYINGS: Final = """SELECT e.uuid, a.name, a.value, a.confidence, a.said_at, a.episode, a.stated, min(a.n) AS n
    FROM attributes a INDEXED BY attribute_value CROSS JOIN entities e ON e.n = a.entity
    WHERE a.entity = ? AND a.name = ? AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = a.episode)
    GROUP BY a.stated ORDER BY n"""
_SPOKEN_OF: Final = """SELECT DISTINCT e.uuid, a.name FROM attributes a CROSS JOIN entities e ON e.n = a.entity
    WHERE a.episode = ? ORDER BY e.uuid, a.name"""


class SqliteAttributes(SqliteReader):
    """Attributes as believed at a moment, and the statements that handlers weigh."""

    def attributes(self, uuids: Sequence[str], known: int | None) -> list[AttributeRow]:
        rows = self._rows_of(uuids, _BELIEVED, known=INF if known is None else known)
        return [AttributeRow._make(row) for row in rows]

    def attribute(self, entity: str, name: str, value: str | None = None) -> AttributeRow | None:
        n = self._entity(entity)
        parameters: tuple[Any, ...] = (n, name) if value is None else (n, name, folded(value))
        rows = self._rows_on(("attribute", n), _HELD if value is None else _SAID, parameters)
        attribute = AttributeRow(entity, *rows[0]) if rows else None
        return attribute if attribute and attribute.support else None

    def sayings(self, entity: str, name: str) -> list[Saying]:
        return [Saying._make(row[:-1]) for row in self._rows(_SAYINGS, (self._entity(entity), name))]

    def spoken_of(self, episode: str) -> list[tuple[str, str]]:
        return self._rows(_SPOKEN_OF, (episode,))
