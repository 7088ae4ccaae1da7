"""The fold of conversations: what stands on the messages log and on the conversation log becomes their projection."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from asof_agents.conversation.classification import classify
from asof_projections.conversation.model import ConversationMessage, MessageEdit
from asof_projections.conversation.store import ConversationStore, Followed
from asof_streams.events import Record
from asof_streams.messages import ErasureRequest, Message, RedactionRequest
from asof_streams.sqlite_log import SqliteLog

_CHUNK: Final = 1_000  # records that are applied at once
_NEAR: Final = 3  # records between two that are read with them
_ANSWERED: Final = frozenset({"turn", "feedback", "goal", "undo"})


class ConversationFold:
    """Folds both logs into a projection, each from where it was followed up to."""

    def __init__(self, messages: SqliteLog, log: SqliteLog, store: ConversationStore) -> None:
        self._messages = messages
        self._log = log
        self.store: Final = store

    def follow(self, messages_to: int | None = None, log_to: int | None = None) -> None:
        """Know all that is on both logs, or what stands before a position of each."""
        self._follow_log(log_to)
        self._follow_messages(messages_to)

    def _follow_log(self, to: int | None = None) -> None:
        while (at := self.store.followed("log").position) < (end := self._log.end() if to is None else to):
            stop = min(at + _CHUNK, end)
            self.store.apply_events(self._log.read(at, stop), at, Followed(stop, self._log.head(stop)))

    def _follow_messages(self, to: int | None = None) -> None:
        while (at := self.store.followed("messages").position) < (end := self._messages.end() if to is None else to):
            stop = min(at + _CHUNK, end)
            some = list(self._messages.read(at, stop))
            requests = (record for record in some if isinstance(record.event, ErasureRequest | RedactionRequest))
            request = next(requests, None)
            if request is not None and request.position == at:
                self._erase(request)
                self._apply([], at, at + 1)
            else:
                stop = stop if request is None else request.position
                self._apply([record for record in some if record.position < stop], at, stop)

    def _apply(self, records: Sequence[Record], start: int, stop: int) -> None:
        self.store.apply_messages(self._classified(records), start, Followed(stop, self._messages.head(stop)))

    def _classified(self, records: Sequence[Record]) -> Iterator[ConversationMessage | MessageEdit]:
        """Yield what messages are to their conversations; each knows those before it."""
        for record in records:
            if type(record.event) is Message:
                message = self._message(record, record.event)
                if message.sort != "edit":
                    yield message
                elif edit := self._edit(message, record.event):
                    yield edit

    def _edit(self, message: ConversationMessage, text: Message) -> MessageEdit | None:
        """Return an edit; None: there is nothing to edit, or a later edit came before it."""
        edited = None if message.external_id is None else self.store.message(message.group, message.external_id)
        if edited is None or edited.external_id is None:
            return None
        if edited.words_at != edited.position:
            last = self.messages([edited.words_at]).get(edited.words_at)
            if last is not None and isinstance(last.event, Message) and message.said_at < _said_at(last, last.event):
                return None
        by = {"kind": "message", "role_type": "assistant" if edited.is_bot else "user"}
        sort = "feedback" if edited.sort == "feedback" else classify(text.model_copy(update=by), replies_to_bot=False)
        return MessageEdit(message.position, message.group, edited.external_id, sort)

    def _message(self, record: Record, message: Message) -> ConversationMessage:
        group, author = record.group, message.author_id or message.role
        replied = self.store.message(group, message.reply_to) if message.reply_to is not None else None
        sort = classify(message, replied is not None and replied.is_bot)
        is_new = message.kind != "message" or message.external_id is None
        if not is_new and self.store.message(group, message.external_id or "") is not None:
            sort = "none"  # it was told twice
        if sort == "undo" and not (
            replied and replied.sort in ("feedback", "goal") and replied.author == author and not replied.withdrawn_at
        ):
            sort = "none"
        awaits = message.kind is not None and message.role_type == "user" and sort in _ANSWERED
        said_at = _said_at(record, message)
        is_bot = message.role_type == "assistant"
        return ConversationMessage(
            record.position, group, message.external_id, author, is_bot, message.is_proactive, sort, message.reply_to,
            said_at, awaits, record.position, None,
        )  # fmt: skip

    def messages(self, positions: Sequence[int]) -> dict[int, Record]:
        """Return the records at some positions of the messages log that can still be read."""
        found = (record for run in _runs(positions) for record in self._messages.read(run.start, run.stop))
        wanted = {*positions}
        return {r.position: r for r in found if r.position in wanted and type(r.event) is Message}

    def _erase(self, request: Record) -> None:
        """Erase what a message asks for."""
        if isinstance(request.event, RedactionRequest):
            self.store.redact(request.group, request.event.positions)
        else:
            self.store.erase(request.group, request.position)


def _runs(positions: Iterable[int]) -> list[range]:
    """Return ranges in which some positions are: to read a few records more costs less than another question."""
    runs: list[range] = []
    for at in sorted(positions):
        if runs and at <= runs[-1].stop + _NEAR:
            runs[-1] = range(runs[-1].start, at + 1)
        else:
            runs.append(range(at, at + 1))
    return runs


def _said_at(record: Record, message: Message) -> int:
    return record.recorded_at if message.timestamp is None else message.timestamp
