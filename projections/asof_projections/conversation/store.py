"""The projection of conversations in one SQLite file: it follows the messages log and the conversation log.

It holds no words of a conversation. A lost or damaged file is made again from the two logs.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from asof_projections.conversation import schema
from asof_projections.conversation.model import (
    Checkin,
    ConversationMessage,
    GivenReply,
    MessageChange,
    MessageEdit,
    PromptVersion,
)
from asof_streams.conversation import (
    CheckinCancelled,
    CheckinScheduled,
    CheckinSent,
    ConversationBegun,
    PromptActivated,
    PromptRegistered,
    ReplyErased,
    ReplyGiven,
    ReplySent,
)
from asof_streams.episodic import GroupErased
from asof_streams.errors import ContractError, DamagedView
from asof_streams.events import Record
from asof_streams.ids import derive
from asof_streams.sqlite import SqliteGuard, connect, create, owe_vacuum, transaction

_REMEDY: Final = "delete it: it is made again from its logs"
_OF_TALK: Final = "sort IN ('turn', 'feedback', 'goal')"
_MESSAGE: Final = f"SELECT {', '.join('grp' if f == 'group' else f for f in ConversationMessage._fields)} FROM messages"
_REPLY: Final = "SELECT reply_id, position, grp, answers, action, target, external_id FROM replies"
_FOLLOWED: Final = "SELECT at.value, head.value FROM meta at, meta head WHERE at.key = ? AND head.key = ?"
_SENT_TURNS: Final = (
    f"SELECT {', '.join('m.grp' if f == 'group' else f'm.{f}' for f in ConversationMessage._fields)},"
    " r.reply_id, r.position, r.grp, r.answers, r.action, r.target, r.external_id"
    " FROM messages m JOIN replies r ON r.grp = m.grp AND r.external_id IS NULL AND r.answers < m.position"
    " AND CASE WHEN m.is_proactive THEN r.action = 'checkin' ELSE r.action = 'reply' AND r.target = m.reply_to END"
    " WHERE m.position >= ? AND m.is_bot AND m.sort = 'turn' AND m.external_id IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM replies s WHERE s.grp = m.grp AND s.external_id = m.external_id)"
    " ORDER BY m.position, r.position DESC"
)
_CHANGES: Final = """SELECT * FROM (SELECT external_id, withdrawn_at, 1 FROM messages
        WHERE grp = :group AND withdrawn_at IS NOT NULL ORDER BY withdrawn_at DESC LIMIT :limit)
    UNION ALL SELECT * FROM (SELECT external_id, words_at, 0 FROM messages
        WHERE grp = :group AND words_at <> position ORDER BY words_at DESC LIMIT :limit)"""
_CHECKIN: Final = "SELECT checkin_id, grp, answers, due_at, scheduled_at, state FROM checkins"
_PROMPTS: Final = (
    "SELECT p.prompt, p.version, template, temperature, max_tokens, registered_at, a.version IS p.version"
    " FROM prompts p LEFT JOIN active_prompts a ON a.prompt = p.prompt ORDER BY p.prompt, p.version"
)


class Followed(NamedTuple):
    """How far a log was followed: a position, and the chain's hash over all records before it."""

    position: int
    head: bytes


class ConversationStore:
    """The projection in the file `path`, used by one thread at a time.

    writable: made where there is none. NotFound: there is none to read. ContractError: its tables are of another
    version, or it is damaged.
    """

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        self.path: Final = path
        self._guard = SqliteGuard(path, _REMEDY, DamagedView)
        with self._guard:
            if writable and not path.exists():
                create(path, schema.SCRIPT)
            self._db = connect(path, writable=writable, durable=False)  # after a power cut it is caught up
        try:
            if self._one("SELECT value FROM meta WHERE key = 'version'") != schema.VERSION:
                raise ContractError(f"{path} has tables of another version: {_REMEDY}")
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Following.

    def followed(self, log: str) -> Followed:
        """Return how far a log was followed: `messages`, or `log`, that of the conversation."""
        with self._guard:
            position, head = self._db.execute(_FOLLOWED, (log, f"{log}_head")).fetchone()
        return Followed(position, bytes(head))

    @property
    def begun(self) -> int | None:
        """The position of the first message that may be answered; None: nobody has answered anything yet."""
        begun: int | None = self._one("SELECT value FROM meta WHERE key = 'begun'")
        return begun

    def apply_messages(
        self, messages: Iterable[ConversationMessage | MessageEdit], start: int, reached: Followed
    ) -> bool:
        """Apply messages, in their order, that follow up to `reached` from a position of the messages log.

        Return False, and apply none, where another process has followed from there meanwhile.
        """
        with self._writing():
            if self.followed("messages").position != start:
                return False
            for message in messages:
                self._apply_message(message)
            self._reach("messages", reached)
        return True

    def apply_events(self, records: Iterable[Record], start: int, reached: Followed) -> bool:
        """Apply records of the conversation log, as `apply_messages` does."""
        with self._writing():
            if self.followed("log").position != start:
                return False
            for record in records:
                self._apply_event(record)
            self._reach("log", reached)
        return True

    def _apply_message(self, message: ConversationMessage | MessageEdit) -> None:
        of_talk = f"WHERE grp = ? AND external_id = ? AND {_OF_TALK}"
        if isinstance(message, MessageEdit):
            values = (message.position, message.sort, message.group, message.external_id)
            self._db.execute(f"UPDATE messages SET words_at = ?, sort = ? {of_talk}", values)
            return
        if message.sort in ("deletion", "undo"):
            target = message.reply_to if message.sort == "undo" else message.external_id
            sql = f"UPDATE messages SET withdrawn_at = coalesce(withdrawn_at, ?) {of_talk}"
            self._db.execute(sql, (message.position, message.group, target))
        if message.sort != "deletion":
            marks = ", ".join("?" * len(message))
            self._db.execute(f"INSERT OR REPLACE INTO messages VALUES ({marks})", message)

    def _apply_event(self, record: Record) -> None:
        match record.event:
            case ConversationBegun() as begun:
                self._db.execute("UPDATE meta SET value = ? WHERE key = 'begun'", (begun.position,))
            case ReplyGiven() as given:
                self._give(given.reply_id, record, given.answers, given.action, given.to)
            case ReplySent() as sent:
                sql = "UPDATE replies SET external_id = ? WHERE reply_id = ? AND grp = ?"
                self._db.execute(sql, (sent.external_id, sent.reply_id, record.group))
            case ReplyErased() as erased:
                for answered in erased.answers:
                    self._give(derive("reply", record.group, answered, 0), record, answered, "reply", None)
            case GroupErased():
                for table in ("replies", "checkins"):
                    self._db.execute(f"DELETE FROM {table} WHERE grp = ? AND answers < ?", (record.group, record.cause))
            case CheckinScheduled() as checkin:
                replaced = "UPDATE checkins SET state = 'cancelled' WHERE grp = ? AND state = 'scheduled'"
                self._db.execute(replaced, (record.group,))
                scheduled = (checkin.checkin_id, record.group, checkin.answers, checkin.due_at, record.recorded_at)
                self._db.execute("INSERT OR REPLACE INTO checkins VALUES (?, ?, ?, ?, ?, 'scheduled')", scheduled)
            case CheckinSent() as checkin:
                self._end_checkin(checkin.checkin_id, "sent")
                self._give(checkin.checkin_id, record, record.cause, "checkin", None)
            case CheckinCancelled() as checkin:
                self._end_checkin(checkin.checkin_id, "cancelled")
            case PromptRegistered() as prompt:
                named = (prompt.prompt, prompt.prompt_version, prompt.template)
                written = (*named, prompt.temperature, prompt.max_tokens, record.recorded_at)
                self._db.execute("INSERT OR REPLACE INTO prompts VALUES (?, ?, ?, ?, ?, ?)", written)
                if prompt.active:
                    self._activate(prompt.prompt, prompt.prompt_version)
            case PromptActivated() as prompt:
                self._activate(prompt.prompt, prompt.prompt_version)

    def _give(self, reply_id: str, record: Record, answers: int, action: str, to: str | None) -> None:
        values = (reply_id, record.position, record.group, answers, action, to)
        self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, NULL)", values)

    def _end_checkin(self, checkin_id: str, state: str) -> None:
        self._db.execute("UPDATE checkins SET state = ? WHERE checkin_id = ?", (state, checkin_id))

    def _activate(self, prompt: str, version: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO active_prompts VALUES (?, ?)", (prompt, version))

    def _reach(self, log: str, reached: Followed) -> None:
        self._db.executemany(
            "UPDATE meta SET value = ? WHERE key = ?", [(reached.position, log), (reached.head, f"{log}_head")]
        )

    # Erasing.

    def erase(self, group: str, before: int) -> None:
        """Erase what is known of a group by messages before a position of the messages log."""
        with self._writing():
            for table, at in (("messages", "position"), ("replies", "answers"), ("checkins", "answers")):
                self._db.execute(f"DELETE FROM {table} WHERE grp = ? AND {at} < ?", (group, before))
            owe_vacuum(self._db)

    def redact(self, group: str, positions: Sequence[int]) -> None:
        """Erase what is known of some messages, with the answers to them and the answers that they are."""
        replies = self.replies_about(group, positions)
        own = [(group, at) for at in positions]
        with self._writing():
            self._db.executemany("DELETE FROM messages WHERE grp = ? AND position = ?", own)
            self._db.executemany("DELETE FROM replies WHERE reply_id = ?", [(reply.reply_id,) for reply in replies])
            self._db.executemany("DELETE FROM checkins WHERE grp = ? AND answers = ?", own)
            owe_vacuum(self._db)

    def replies_about(self, group: str, positions: Sequence[int]) -> list[GivenReply]:
        """Return the answers to some messages, check-ins among them, and the answers that these messages are."""
        found = {}
        for at in positions:
            rows = self._rows(f"{_REPLY} WHERE grp = ? AND answers = ?", group, at)
            message = self.message_at(at)
            if message is not None and message.external_id is not None:
                rows += self._rows(f"{_REPLY} WHERE grp = ? AND external_id = ?", group, message.external_id)
            found.update({row[0]: GivenReply(*row) for row in rows})
        return list(found.values())

    # Messages.

    def message(self, group: str, external_id: str) -> ConversationMessage | None:
        """Return a turn, feedback or a goal by its platform's id."""
        found = self._rows(
            f"{_MESSAGE} WHERE grp = ? AND external_id = ? AND {_OF_TALK} ORDER BY position LIMIT 1", group, external_id
        )
        return _message(found[0]) if found else None

    def message_at(self, position: int) -> ConversationMessage | None:
        """Return a message by its position in the messages log."""
        found = self._rows(f"{_MESSAGE} WHERE position = ?", position)
        return _message(found[0]) if found else None

    def recent_turns(self, group: str, before: int, limit: int) -> list[ConversationMessage]:
        """Return the last turns of a group among the messages before a position, in the order in which they were said.

        Feedback, goals, and what was deleted or undone are no turns.
        """
        rows = self._rows(
            f"{_MESSAGE} WHERE grp = ? AND position < ? AND sort = 'turn' AND withdrawn_at IS NULL"
            " ORDER BY said_at DESC, position DESC LIMIT ?",
            group,
            before,
            limit,
        )
        return [_message(row) for row in reversed(rows)]

    def last_told(self, group: str, before: int) -> int | None:
        """Return the position of what a user said last in a group, among the messages before a position."""
        sql = "SELECT position FROM messages WHERE grp = ? AND position < ? AND NOT is_bot"
        position: int | None = self._one(f"{sql} ORDER BY said_at DESC, position DESC LIMIT 1", group, before)
        return position

    def changes(self, group: str, limit: int) -> list[MessageChange]:
        """Return the last edits of messages of a group, and the last deletions and undoings, so many of each at most.

        Deletions come first, and each kind from the last back.
        """
        rows = self._rows(_CHANGES, group=group, limit=limit)
        return [MessageChange(external_id, position, bool(is_deletion)) for external_id, position, is_deletion in rows]

    def groups(self) -> list[str]:
        """Return the groups in which anything was said, in the order of their ids."""
        return [group for (group,) in self._rows("SELECT DISTINCT grp FROM messages ORDER BY grp")]

    def unanswered(self, start: int) -> list[ConversationMessage]:
        """Return the messages from a position on that a bot is to answer and has not, in their order."""
        rows = self._rows(
            f"{_MESSAGE} m WHERE awaits_reply AND withdrawn_at IS NULL AND position >= ?"
            " AND NOT EXISTS (SELECT 1 FROM replies WHERE answers = m.position) ORDER BY position",
            start,
        )
        return [_message(row) for row in rows]

    # Replies and check-ins.

    def reply(self, reply_id: str) -> GivenReply | None:
        """Return an answer or a check-in that was given."""
        found = self._rows(f"{_REPLY} WHERE reply_id = ?", reply_id)
        return GivenReply(*found[0]) if found else None

    def answers_to(self, position: int) -> list[GivenReply]:
        """Return the answers to a message, in the order in which they were given."""
        rows = self._rows(f"{_REPLY} WHERE answers = ? AND action != 'checkin' ORDER BY position", position)
        return [GivenReply(*row) for row in rows]

    def sent_turns(self, start: int) -> list[tuple[ConversationMessage, GivenReply]]:
        """Return the turns of a bot from a position on with the answers or check-ins that they are, in their order.

        Those are left out that are known as sent.
        """
        width = len(ConversationMessage._fields)
        rows = self._rows(_SENT_TURNS, start)
        return [(_message(row[:width]), GivenReply(*row[width:])) for row in rows]

    def scheduled(self, group: str | None = None, due_by: int | None = None) -> list[Checkin]:
        """Return the check-ins that are to be sent, the first due first: of a group, and those due by a moment."""
        rows = self._rows(
            f"{_CHECKIN} WHERE state = 'scheduled' AND (?1 IS NULL OR grp = ?1) AND (?2 IS NULL OR due_at <= ?2)"
            " ORDER BY due_at, checkin_id",
            group,
            due_by,
        )
        return [Checkin(*row) for row in rows]

    def checkin(self, checkin_id: str) -> Checkin | None:
        """Return a check-in."""
        found = self._rows(f"{_CHECKIN} WHERE checkin_id = ?", checkin_id)
        return Checkin(*found[0]) if found else None

    # Prompts.

    def prompts(self) -> list[PromptVersion]:
        """Return every version of a prompt that was registered, in order of keys and versions."""
        return [PromptVersion(*row)._replace(active=bool(row[-1])) for row in self._rows(_PROMPTS)]

    def active_prompt(self, prompt: str) -> PromptVersion | None:
        """Return the version of a prompt that is used; None: it is asof's own."""
        return next((one for one in self.prompts() if one.prompt == prompt and one.active), None)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._guard, transaction(self._db):
            yield

    def _rows(self, sql: str, *values: Any, **named: Any) -> list[Any]:
        with self._guard:
            return self._db.execute(sql, named or values).fetchall()

    def _one(self, sql: str, *values: Any) -> Any:
        rows = self._rows(sql, *values)
        return rows[0][0] if rows else None


def _message(row: Sequence[Any]) -> ConversationMessage:
    message = ConversationMessage(*row)
    return message._replace(
        is_bot=bool(message.is_bot), is_proactive=bool(message.is_proactive), awaits_reply=bool(message.awaits_reply)
    )
