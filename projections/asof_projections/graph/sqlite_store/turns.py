"""Turns by number: those known at a moment, the texts to embed, and where a word stands."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from asof_projections.graph.ports import Turns
from asof_projections.graph.sqlite_store.base import SqliteReader, listed
from asof_projections.graph.sqlite_store.columns import EPISODE
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.model.rows import EpisodeRow
from asof_projections.speakers import without_names
from asof_streams.instants import INF

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST: Final = 0.5  # of all turns: where so many are of the group, a filter by it costs more than it saves
_TEXTS: Final = """SELECT e.n, g.name, substr(e.body, -e.content_length), e.grp, e.n
    FROM main.episodes e INDEXED BY turn CROSS JOIN groups g ON g.n = e.grp
    WHERE e.n > :after AND e.source <> 'fact' AND e.content_length > 0 ORDER BY e.n LIMIT :page"""
_AMONG: Final = "IN (SELECT value FROM json_each(?))"
_NUMBERED: Final = f"{EPISODE.replace('SELECT ', 'SELECT e.n, ', 1)} WHERE e.n {_AMONG}"
_NUMBERS: Final = f"""SELECT n FROM episodes WHERE n IN (
    SELECT e.n FROM json_each(?) asked CROSS JOIN episodes e ON {has_id("e.uuid", "asked.value")})"""


class SqliteTurns(SqliteReader):
    """A turn's number is the position of its episode in the log, so it never changes."""

    def turn_texts(self, after: int = -1) -> Iterator[tuple[int, str, str]]:
        self._refresh_turns()
        names = self._search.turns.names
        return ((n, group, without_names(text, names(grp, n))) for n, group, text, grp, _ in self._pages(_TEXTS, after))

    def turn_count(self) -> int:
        self._refresh_turns()
        return len(self._search.turns)

    def turns(self, groups: Sequence[str] | None, known: int) -> Turns:
        self._refresh_turns()
        grps = None if groups is None else tuple(self._group(group) for group in groups)
        return self._search.turns.turns(grps, known, self._turns_end())

    def having(self, words: Sequence[str], turns: Turns) -> "list[NDArray[np.int64]]":
        import numpy as np  # noqa: PLC0415 - a command starts without it

        groups = np.unique(turns.grp[[0, -1]]) if len(turns.n) else turns.grp
        is_filtered = len(groups) == 1 and len(turns.n) < _MOST * len(self._search.turns)
        within = f'grp : "g{groups[0]}" AND ' if is_filtered else ""
        phrases = [f'{within}{{content speaker}} : "{word}"' for word in words]
        with self._guard, self._one_state():
            return self._search.turn_postings.having(self._db, phrases)

    def episodes_numbered(self, numbers: Sequence[int]) -> dict[int, EpisodeRow]:
        rows = {row[0]: EpisodeRow._make(row[1:]) for row in self._rows(_NUMBERED, (listed(map(int, numbers)),))}
        return {number: rows[number] for number in map(int, numbers) if number in rows}

    def turn_numbers(self, uuids: Sequence[str]) -> list[int]:
        return [n for (n,) in self._rows(_NUMBERS, (listed(uuids),))] if uuids else []

    def _turns_end(self) -> int:
        """Return the number before which turns are found."""
        return INF

    def _refresh_turns(self) -> None:
        with self._guard, self._one_state() as writing:
            self._flush()
            self._search.turns.refresh(self._db, writing=writing)
