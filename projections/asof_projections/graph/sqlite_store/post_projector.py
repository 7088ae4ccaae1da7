"""Projects what a chat tells of its messages, feedback, goals, and the objectives that are believed for them."""

import sqlite3
from collections.abc import Callable
from typing import Any, Final

from asof_projections.graph.sqlite_store.row_ids import RowIds
from asof_projections.graph.sqlite_store.write_buffer import WriteBuffer
from asof_streams.episodic import EpisodeRecorded, FeedbackReceived, FeedbackWithdrawn, GoalDeclared, GoalWithdrawn
from asof_streams.events import Record
from asof_streams.instants import INF
from asof_streams.semantic import ObjectiveRaised, ObjectiveWithdrawn

_POST: Final = "INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FEEDBACK: Final = f"INSERT INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?, ?, {INF})"
_GOAL: Final = f"INSERT INTO goals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {INF})"
_WITHDRAW: Final = f"UPDATE {{}} SET withdrawn_at = ? WHERE {{}} = ? AND withdrawn_at = {INF}"
_WITHDRAWAL: Final = "INSERT OR IGNORE INTO post_withdrawals SELECT n, grp, ? FROM {} WHERE uuid = ?"
_OBJECTIVE: Final = f"INSERT INTO objectives VALUES (?, ?, ?, ?, ?, ?, ?, ?, {INF})"
_OBJECTIVE_GOAL: Final = f"INSERT INTO objective_goals VALUES (?, ?, ?, ?, ?, ?, {INF})"
_FORGET_UNSEEN: Final = f"DELETE FROM objectives WHERE uuid = ? AND kt = {INF} AND kf = ?"
_CLOSE: Final = f"UPDATE objectives SET kt = ? WHERE uuid = ? AND kt = {INF}"

Post = EpisodeRecorded | FeedbackReceived | GoalDeclared


class PostProjector:
    """Writes the rows of these events. The caller holds the transaction of the connection."""

    def __init__(
        self, db: sqlite3.Connection, buffer: WriteBuffer, row_ids: RowIds, index_for: Callable[[str], None]
    ) -> None:
        self._db = db
        self._buffer = buffer
        self._row_ids = row_ids
        self._index_for = index_for
        self.handlers: dict[type, Callable[[Record, Any], None]] = {
            FeedbackReceived: self._feedback,
            FeedbackWithdrawn: self._feedback_withdrawn,
            GoalDeclared: self._goal,
            GoalWithdrawn: self._goal_withdrawn,
            ObjectiveRaised: self._raised,
            ObjectiveWithdrawn: self._objective_withdrawn,
        }

    def turn(self, r: Record, e: EpisodeRecorded) -> None:
        """Write what a chat tells of a turn, if it tells anything."""
        if e.external_id is not None or e.reply_to is not None or e.author_id is not None or e.is_proactive:
            self._post(r, e, e.episode_id, "turn", is_proactive=e.is_proactive)

    def _post(self, r: Record, e: Post, uuid: str, kind: str, *, is_proactive: bool = False) -> None:
        group = self._row_ids.group(r)
        told = (kind, e.external_id, e.reply_to, e.author_id, is_proactive, e.suppressed, e.edited_at)
        self._buffer.add(_POST, (r.position, uuid, group, r.cause, *told), ("post", group, e.external_id))

    def _feedback(self, r: Record, e: FeedbackReceived) -> None:
        said = (e.role, e.role_type, e.content, e.valid_at, r.recorded_at)
        self._buffer.add(_FEEDBACK, (r.position, e.feedback_id, self._row_ids.group(r), *said))
        self._post(r, e, e.feedback_id, "feedback")

    def _goal(self, r: Record, e: GoalDeclared) -> None:
        said = (e.role, e.role_type, e.content, e.description, e.saliency, e.valid_at, r.recorded_at)
        self._buffer.add(_GOAL, (r.position, e.goal_id, self._row_ids.group(r), *said))
        self._post(r, e, e.goal_id, "goal")

    def _feedback_withdrawn(self, r: Record, e: FeedbackWithdrawn) -> None:
        self._withdraw_post(r, "feedback", e.feedback_id, "feedback_uuid")

    def _goal_withdrawn(self, r: Record, e: GoalWithdrawn) -> None:
        self._withdraw_post(r, "goals", e.goal_id, "goal_uuid")
        self._withdraw(r, "objective_goals", "goal", e.goal_id, "objective_goal")

    def _withdraw_post(self, r: Record, table: str, uuid: str, index: str) -> None:
        self._withdraw(r, table, "uuid", uuid, index)
        self._db.execute(_WITHDRAWAL.format(table), (r.position, uuid))

    def _withdraw(self, r: Record, table: str, column: str, uuid: str, index: str) -> None:
        self._buffer.flush()
        self._index_for(index)
        self._db.execute(_WITHDRAW.format(table, column), (r.recorded_at, uuid))

    def _raised(self, r: Record, e: ObjectiveRaised) -> None:
        group = self._row_ids.group(r)
        self._close(r, e.objective_id)
        row = (e.objective_id, group, e.description, e.saliency, e.status, e.said_at, r.recorded_at)
        self._db.execute(_OBJECTIVE, (r.position, *row))
        if e.stated is not None:
            goal = (r.position, e.objective_id, e.goal_id, group, e.stated, r.recorded_at)
            self._db.execute(_OBJECTIVE_GOAL, goal)

    def _objective_withdrawn(self, r: Record, e: ObjectiveWithdrawn) -> None:
        self._close(r, e.objective_id)

    def _close(self, r: Record, objective: str) -> None:
        self._index_for("objective_uuid")
        self._db.execute(_FORGET_UNSEEN, (objective, r.recorded_at))
        self._db.execute(_CLOSE, (r.recorded_at, objective))
