"""Who was taken to be whom: the links between entities, and the mentions that mean them."""

from collections.abc import Sequence
from typing import Final

from asof_projections.answers import Link
from asof_projections.graph.base import Connected, listed
from asof_streams.instants import INF

_SAME: Final = "(SELECT n FROM entities WHERE uuid IN (SELECT value FROM json_each(:uuids)))"
_LINKS: Final = f"""SELECT d.uuid, i.uuid, l.reason, l.kf, iif(l.kt > :until, {INF}, l.kt)
    FROM links l CROSS JOIN entities d ON d.n = l.duplicate CROSS JOIN entities i ON i.n = l.into_
    WHERE l.n IN (SELECT n FROM links WHERE duplicate IN {_SAME} UNION SELECT n FROM links WHERE into_ IN {_SAME})
    AND l.kf <= :until ORDER BY l.n"""
_APPEARANCES: Final = f"SELECT count(*) FROM resolutions WHERE entity IN {_SAME} AND created_at <= :until"


class Identities(Connected):
    """Links are shown with the time over which they were believed, so that a merge taken back stays visible."""

    def links(self, uuids: Sequence[str], known: int | None) -> list[Link]:
        given = {"uuids": listed(uuids), "until": INF if known is None else known}
        return [Link._make(row) for row in self._rows(_LINKS, given)]

    def appearances(self, uuids: Sequence[str], known: int | None) -> int:
        given = {"uuids": listed(uuids), "until": INF if known is None else known}
        count: int = self._row(_APPEARANCES, given)[0]
        return count
