"""The conversation log of a directory with its projection: what was answered, by a bot that follows the messages log.

One process at a time answers. It follows the messages log before it writes, so it knows what is said, and what was
erased: nothing is answered to a message that is gone. Others write to the log beside it, in turns: whoever erases a
group, and whoever changes a prompt.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, Self

from asof.runtime.conversation_fold import ConversationFold
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof_projections.conversation.model import Checkin, ConversationMessage, PromptVersion
from asof_projections.conversation.store import ConversationStore, Followed
from asof_streams.conversation import (
    CheckinCancelled,
    CheckinScheduled,
    CheckinSent,
    ConversationBegun,
    ReplyGiven,
)
from asof_streams.errors import ContractError, DamagedView, WriterBusy
from asof_streams.events import Draft, Event, Record
from asof_streams.messages import ErasureRequest, Message, RedactionRequest
from asof_streams.sqlite import SqliteGuard, connect, vacuum
from asof_streams.sqlite_log import SqliteLog
from asof_streams.stored_log import stored_log

_TRIES: Final = 5
_REMEDY: Final = "restore it from a backup"
_SIDE_FILES: Final = ("", "-wal", "-shm")


class ConversationLog(ConversationFold):
    """The conversation log, opened for writing, and its projection; used by one thread, and closed by it.

    beside: leaves the one who answers there: nothing is taken over. log: opens the log where it is no file of the
    directory alone. NotFound: there is no messages log.
    """

    def __init__(
        self, places: DirectoryLayout, *, beside: bool = False, log: Callable[[SqliteLog], SqliteLog] | None = None
    ) -> None:
        self._places = places
        with ExitStack() as opened:
            messages = opened.enter_context(SqliteLog(places.messages))
            if log is None:
                term = _term(places) if beside else None
                answers = opened.enter_context(SqliteLog(places.conversation, writable=True, term=term))
            else:
                answers = opened.enter_context(closing(log(messages)))
            store = opened.enter_context(_open_store(places.conversations, messages, answers))
            super().__init__(messages, answers, store)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close both files."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Following.

    def begin(self, now: int) -> None:
        """Answer from here on, unless that has begun: nothing that was said before is ever answered."""
        self.follow()
        if self.store.begun is None:
            end = self._messages.end()
            self._append("", 0, [ConversationBegun(position=end)], now, end)

    def know(self, position: int, said: Message) -> None:
        """Know a message by what was said, where its content is not kept, and was gone before this log followed it.

        What was erased stays unknown.
        """
        self.follow()
        if any(self._messages.read(position, position + 1)) or self.store.message_at(position) is not None:
            return
        if not self._erases(said.group_id, position):
            at, followed = self._messages.recorded_at(position), self.store.followed("messages")
            record = Record(position, said.group_id, at, position, 0, 1, 0, said)
            self.store.apply_messages(self._classified([record]), followed.position, followed)

    # Reading.

    def recorded_at(self, position: int) -> int:
        """Return when a message was recorded, in UTC microseconds."""
        return self._messages.recorded_at(position)

    def event(self, position: int) -> Event | None:
        """Return an event of the conversation log; None: it was erased."""
        return next((record.event for record in self._log.read(position, position + 1)), None)

    def said_by(self, author: str, group: str) -> list[int]:
        """Return the positions of what an author said in a group, as the function of this name does."""
        self.follow()
        return said_by(self._messages, author, group)

    def said_before(self, moment: int, group: str) -> list[int]:
        """Return the positions of what was said in a group before a moment, as the function of this name does."""
        self.follow()
        return said_before(self._messages, moment, group)

    def groups(self, prefix: str) -> list[str]:
        """Return the groups whose ids begin so, in the order of their ids."""
        self.follow()
        return [group for group in self.store.groups() if group.startswith(prefix)]

    def unanswered(self) -> list[ConversationMessage]:
        """Return the messages that are to be answered and are not, in their order."""
        return [] if self.store.begun is None else self.store.unanswered(self._log.checkpoint())

    def followed(self) -> int:
        """Return how far the messages log is followed: the position of the first message that is not known."""
        self.follow()
        return self.store.followed("messages").position

    def scheduled(self, group: str | None, due_by: int) -> list[Checkin]:
        """Return the check-ins (of a group; None: of all) that are due by a moment and were not sent."""
        self.follow()
        return self.store.scheduled(group, due_by)

    # Writing.

    def send_checkin(self, checkin: Checkin, event: CheckinSent, now: int, since: int) -> bool:
        """Append that a check-in is sent, for good; return False, and do not, where it was, or another replaced it.

        since: how far the messages log was followed when it was worded. Where something of its group was erased since
        then, it is not sent either: it may have the words, and is worded again.
        """
        self.follow()
        current = self.store.checkin(checkin.checkin_id)
        is_scheduled = current is not None and current.state == "scheduled"
        return is_scheduled and self.append(checkin.group, checkin.answers, [event], now, since)

    def _erases(self, group: str, since: int) -> bool:
        """Whether something of a group was erased by the messages from a position on."""
        records = self._messages.read(since, self._messages.end())
        return any(r.group == group and isinstance(r.event, ErasureRequest | RedactionRequest) for r in records)

    def append(self, group: str, cause: int, events: Sequence[Event], now: int, since: int | None = None) -> bool:
        """Append what is answered to a message, for good; return False, and do not, if that message is gone.

        since: how far the messages log was followed when it was worded, as of `send_checkin`. A check-in that is
        scheduled replaces the one before it.
        """
        self.follow()
        message = self.store.message_at(cause)
        if message is None or message.group != group or (since is not None and self._erases(group, since)):
            return False
        if message.withdrawn_at is not None and any(isinstance(event, ReplyGiven) for event in events):
            return False
        if any(isinstance(event, CheckinScheduled) for event in events):
            replaced = (checkin.checkin_id for checkin in self.store.scheduled(group))
            events = [*(CheckinCancelled(checkin_id=id_, reason="replaced") for id_ in replaced), *events]
        self._append(group, cause, events, now, self._answered_before(cause))
        return True

    def pass_over(self, position: int) -> None:
        """Leave the messages before a position without an answer, where they have none yet."""
        self._log.append([], checkpoint=max(position, self._log.checkpoint()))

    def _answered_before(self, answered: int) -> int:
        """Return the position before which every message is answered, once one more is."""
        waiting = (message.position for message in self.unanswered() if message.position != answered)
        return next(waiting, self.store.followed("messages").position)

    def active_prompt(self, prompt: str) -> PromptVersion | None:
        """Return the version of a prompt that is used; None: it is asof's own."""
        return self.store.active_prompt(prompt)

    def append_prompts(self, events: Sequence[Event], now: int) -> None:
        """Append what changes prompts, for good."""
        self._append("", 0, events, now, self._log.checkpoint())

    def _append(self, group: str, cause: int, events: Sequence[Event], now: int, checkpoint: int) -> None:
        at = max(now, self._log.last_recorded(group) + 1)
        drafts = [Draft(group, at, cause, place, len(events), event) for place, event in enumerate(events)]
        self._log.append(drafts, checkpoint=max(checkpoint, self._log.checkpoint()))
        self._follow_log()

    # Erasing.

    def _erase(self, request: Record) -> None:
        """Carry out an erasure: first on the log, so that it is all done again after a crash between the two."""
        group = request.group
        if isinstance(request.event, RedactionRequest):
            replies = self.store.replies_about(group, request.event.positions)
            self._log.redact(group, [reply.position for reply in replies])
        else:
            self._log.erase(group, before=self._log.caused_by(request.position))
        super()._erase(request)


def said_by(messages: SqliteLog, author: str, group: str) -> list[int]:
    """Return the positions of what an author said in a group, edits included, and of all that the bot said since.

    The bot may have repeated it to anybody. Its words are context alone: nothing is learned from them.
    """
    found: list[int] = []
    for record in messages.of_group(group):
        if isinstance(message := record.event, Message):
            is_own = (message.author_id or message.role) == author
            is_bot = message.role_type == "assistant" and message.author_id is None
            if is_own or (found and is_bot):
                found.append(record.position)
    return found


def said_before(messages: SqliteLog, moment: int, group: str) -> list[int]:
    """Return the positions of what was said in a group before a moment, with all later edits of it."""
    found: list[int] = []
    old: set[str | None] = set()
    for record in messages.of_group(group):
        if isinstance(message := record.event, Message):
            said_at = record.recorded_at if message.timestamp is None else message.timestamp
            if said_at < moment:
                old.add(message.external_id)
            if said_at < moment or (message.external_id is not None and message.external_id in old):
                found.append(record.position)
    return found


def erase_from_conversation(places: DirectoryLayout) -> None:
    """Carry out the erasures that are on the messages log in the conversation log, where there is one.

    In a copy of topics whoever answers does it. WriterBusy: whoever answers was replaced again and again meanwhile.
    """
    if places.conversation.exists() and not is_copy(places.root):
        for attempt in range(_TRIES):
            try:
                with ConversationLog(places, beside=True) as log:
                    log.follow()
            except WriterBusy:  # another one has begun to answer meanwhile
                if attempt == _TRIES - 1:
                    raise
            else:
                return


class ConversationFiles:
    """The files of a conversation, as far as there are any, for whoever rewrites those that erased rows were in."""

    def __init__(self, places: DirectoryLayout) -> None:
        self._places = places

    def vacuum(self) -> bool:
        """Rewrite the files that owe it; return whether nothing of the erased rows is left."""
        paths = (self._places.conversation, self._places.conversations)
        done = [_vacuum(path) for path in paths if path.exists()]
        return all(done)


def _vacuum(path: Path) -> bool:
    with SqliteGuard(path, _REMEDY, DamagedView), closing(connect(path, writable=True, durable=False)) as db:
        return vacuum(db)


def _open_store(path: Path, messages: SqliteLog, answers: SqliteLog) -> ConversationStore:
    """Return the projection; one that cannot be read, or that other logs made, is made anew."""
    if path.exists():
        try:
            store = ConversationStore(path, writable=True)
        except ContractError:
            pass
        else:
            if _agrees(store.followed("messages"), messages) and _agrees(store.followed("log"), answers):
                return store
            store.close()
        for suffix in _SIDE_FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    return ConversationStore(path, writable=True)


def _agrees(followed: Followed, log: SqliteLog) -> bool:
    return followed.position == 0 or (followed.position <= log.end() and followed.head == log.head(followed.position))


def _term(places: DirectoryLayout) -> int | None:
    """Return the term of whoever answers; None: nobody has yet."""
    if not places.conversation.exists():
        return None
    with stored_log(places.conversation) as log:
        return log.head.term
