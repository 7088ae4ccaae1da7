"""Reads of what a chat tells of its messages, of feedback, and of the objectives that are believed for goals."""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from asof_projections.graph.sqlite_store.base import SqliteReader, listed
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.model.rows import FeedbackRow, ObjectiveRow, PostRow
from asof_streams.ids import episode_id
from asof_streams.instants import INF

_POST: Final = f"""SELECT p.uuid, p.kind, p.reply_to, coalesce(e.role, f.role, g.role),
    coalesce(e.role_type, f.role_type, g.role_type), p.author, p.is_proactive, coalesce(e.body, f.content, g.content),
    p.suppressed, coalesce(e.valid_at, f.valid_at, g.valid_at), p.edited_at,
    coalesce(f.withdrawn_at, g.withdrawn_at, {INF}) < {INF}
        OR EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = p.uuid),
    coalesce(e.content_length, length(f.content), length(g.content))
    FROM posts p LEFT JOIN episodes e ON e.n = p.n LEFT JOIN feedback f ON f.n = p.n LEFT JOIN goals g ON g.n = p.n
    WHERE p.grp = ? AND p.external = ? ORDER BY p.n DESC LIMIT 1"""
_FEEDBACK: Final[dict[bool, str]] = {  # by whether it is of one group
    of_group: f"""SELECT f.uuid, g.name, p.cause, p.external, p.reply_to,
    (SELECT t.uuid FROM posts t WHERE t.grp = f.grp AND t.external = p.reply_to AND t.kind = 'turn' AND t.n < f.n
        ORDER BY t.n DESC LIMIT 1),
    f.role, f.role_type, p.author, f.content, f.valid_at, f.created_at,
    iif(f.withdrawn_at <= :known, f.withdrawn_at, {INF})
    FROM feedback f CROSS JOIN groups g ON g.n = f.grp CROSS JOIN posts p ON p.n = f.n
    WHERE {group} f.created_at <= :known AND (:all OR f.withdrawn_at > :known) ORDER BY f.n LIMIT :limit"""
    for of_group, group in ((True, "f.grp = :grp AND"), (False, ""))
}
_DECLARERS: Final = "SELECT uuid, role FROM goals WHERE uuid IN (SELECT value FROM json_each(?))"
_SPEAKERS: Final = """SELECT uuid, role FROM episodes WHERE grp = ?
    AND created_at IN (SELECT value FROM json_each(?))"""
_SPEAKER: Final = f"SELECT uuid, role FROM episodes WHERE {has_id('uuid', '?1')}"
_RETRIED_THEN: Final = """SELECT cause FROM retries WHERE grp = ?
    AND created_at IN (SELECT value FROM json_each(?))"""
_OBJECTIVE: Final = """SELECT o.uuid, g.name, o.description, o.saliency, o.status, o.said_at, o.kf, o.kt
    FROM objectives o CROSS JOIN groups g ON g.n = o.grp"""
_OBJECTIVE_BY_ID: Final = f"{_OBJECTIVE} WHERE o.uuid = ? AND o.kt = {INF}"
_OBJECTIVES: Final[dict[bool, str]] = {
    of_group: f"""{_OBJECTIVE} WHERE {group} o.kf <= :known AND :known < o.kt
    ORDER BY o.saliency DESC, o.n LIMIT :limit"""
    for of_group, group in ((True, "o.grp = :grp AND"), (False, ""))
}
_GOALS_OF: Final = f"""SELECT goal, saliency FROM objective_goals WHERE objective = ? AND withdrawn_at = {INF}
    ORDER BY n"""
_GOALS_THEN: Final = """SELECT goal, created_at FROM objective_goals
    WHERE objective = ? AND created_at <= ? AND withdrawn_at > ? ORDER BY n"""
_OBJECTIVE_OF: Final = "SELECT objective FROM objective_goals WHERE goal = ? ORDER BY n DESC LIMIT 1"


class SqlitePosts(SqliteReader):
    """The part of a store that knows posts, feedback and objectives."""

    def post(self, group: str, external_id: str) -> PostRow | None:
        n = self._group(group)
        rows = self._rows_on(("post", n, external_id), _POST, (n, external_id))
        if not rows:
            return None
        *row, length = rows[0]
        post = PostRow._make(row)
        return post._replace(
            content=post.content[len(post.content) - length :],
            is_proactive=bool(post.is_proactive),
            suppressed=bool(post.suppressed),
            withdrawn=bool(post.withdrawn),
        )

    def feedback(
        self, group: str | None, known: int | None, *, withdrawn: bool = False, limit: int | None = None
    ) -> list[FeedbackRow]:
        """Return the feedback of a group, or of all, in the order of the log; `withdrawn`: also what was taken back."""
        parameters = {**self._of(group, known, limit), "all": withdrawn}
        return [FeedbackRow._make(row) for row in self._rows(_FEEDBACK[group is not None], parameters)]

    def declarers(self, goals: Iterable[str]) -> dict[str, str]:
        """Return who declared each of some goals, by name; what is only implied was declared by nobody."""
        return dict(self._rows(_DECLARERS, (listed(goals),)))

    def speakers(self, group: str, instants: Iterable[int]) -> dict[str, str]:
        """Return the speakers of the episodes that were recorded or retried at some instants, by the episode's id."""
        then = (self._group(group), listed(instants))
        retried = [self._rows(_SPEAKER, (episode_id(group, n),)) for (n,) in self._rows(_RETRIED_THEN, then)]
        return dict(chain(self._rows(_SPEAKERS, then), *retried))

    def objectives(self, group: str | None, known: int | None, *, limit: int | None = None) -> list[ObjectiveRow]:
        """Return the objectives of a group, or of all, that were believed at a moment: the most salient first."""
        parameters = self._of(group, known, limit)
        rows = self._rows(_OBJECTIVES[group is not None], parameters)
        return [ObjectiveRow._make((*row, *self._goals_then(row[0], parameters["known"]))) for row in rows]

    def _of(self, group: str | None, known: int | None, limit: int | None) -> dict[str, int]:
        at = INF - 1 if known is None else known
        own = {} if group is None else {"grp": self._group(group)}
        return {**own, "known": at, "limit": -1 if limit is None else limit}

    def _goals_then(self, objective: str, at: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        goals = self._rows(_GOALS_THEN, (objective, at, at))
        return tuple(goal for goal, _ in goals), tuple(recorded for _, recorded in goals)

    def objective(self, uuid: str) -> ObjectiveRow | None:
        row = self._row(_OBJECTIVE_BY_ID, (uuid,))
        return None if row is None else ObjectiveRow(*row)

    def goals_of(self, objective: str) -> list[tuple[str, float]]:
        return self._rows(_GOALS_OF, (objective,))

    def objective_of(self, goal: str) -> str | None:
        found: str | None = self._one(_OBJECTIVE_OF, goal)
        return found
