"""The episodic layer as questions see it: a message shows once what follows from it is believed.

Two files cannot be committed in one step. So the store of a generation says with its own commit up to which record of
the episodic log it has followed, and the rows behind that are hidden here: a message appears in both layers by one
commit. Handlers, and whoever inspects a file, read the whole of it as SqliteGraph has it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.instants import INF

# A view hides the table of its name. The plus keeps SQLite from choosing the row id before a better index.
_TABLES: Final = (
    "episodes",
    "mentions",
    "relationships",
    "withdrawals",
    "parked",
    "retries",
    "posts",
)
_VIEW: Final = "CREATE TEMP VIEW {0} AS SELECT * FROM main.{0} WHERE +n < believed()"
_POSTS: Final = {  # tables with a withdrawn_at column, and their other columns
    "feedback": "n, uuid, grp, role, role_type, content, valid_at, created_at",
    "goals": "n, uuid, grp, role, role_type, content, description, saliency, valid_at, created_at",
}
_VIEW_OF_POSTS: Final = f"""CREATE TEMP VIEW {{0}} AS SELECT {{1}}, iif((SELECT w.withdrawal FROM post_withdrawals w
    WHERE w.post = p.n) >= believed(), {INF}, withdrawn_at) AS withdrawn_at FROM main.{{0}} p WHERE +n < believed()"""


class EpisodeReader(SqliteGraph):
    """The episodic layer in the file `path`, up to the position of its log that `believed` returns at each read."""

    def __init__(self, path: Path, believed: Callable[[], int]) -> None:
        super().__init__(path, "episodic")
        self._believed = believed
        self._stop = 0
        with self._guard:
            self._db.create_function("believed", 0, lambda: self._stop, deterministic=True)
            for table in _TABLES:
                self._db.execute(_VIEW.format(table))
            for table, others in _POSTS.items():
                self._db.execute(_VIEW_OF_POSTS.format(table, others))

    def _rows(self, sql: str, values: Any = ()) -> list[Any]:
        self._stop = self._believed()
        return super()._rows(sql, values)

    def _row(self, sql: str, values: Any = ()) -> Any:
        self._stop = self._believed()
        return super()._row(sql, values)

    def _turns_end(self) -> int:
        return self._believed()
