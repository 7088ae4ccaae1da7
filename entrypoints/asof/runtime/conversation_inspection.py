"""Checks the projection of conversations, by folding both of its logs again."""

import tempfile
from pathlib import Path

from asof.runtime.conversation_fold import ConversationFold
from asof.runtime.layout import DirectoryLayout
from asof_projections.conversation.inspection import copy_conversations, expect_rows
from asof_projections.conversation.store import ConversationStore
from asof_streams.errors import DamagedView
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.sqlite_log import SqliteLog


def check_conversations(places: DirectoryLayout) -> str:
    """Check the projection of conversations against its logs. DamagedView: it is not what they say. DamagedLog.

    Of a group that was erased in part, only pages and indexes are checked: what the rest is to the conversation was
    decided while all of it could be read.
    """
    named = places.conversations
    with tempfile.TemporaryDirectory() as scratch, SqliteLog(places.messages) as messages:
        copy, anew = Path(scratch) / "copy.db", Path(scratch) / named.name
        with copy_conversations(named, copy) as store, SqliteLog(places.conversation) as log:
            messages_to, log_to = store.followed("messages"), store.followed("log")
            for followed, of in ((messages_to, messages), (log_to, log)):
                if followed.position > of.end() or (followed.position and followed.head != of.head(followed.position)):
                    raise DamagedView(f"{named} is not of these logs: asof repair makes it anew")
            with ConversationStore(anew, writable=True) as fresh:
                ConversationFold(messages, log, fresh).follow(messages_to.position, log_to.position)
        count = expect_rows(copy, anew, named, _partly_gone(messages, messages_to.position))
    return f"{count} message{'s' * (count != 1)}, as the logs say"


def _partly_gone(messages: SqliteLog, stop: int) -> set[str]:
    """Return the groups in which messages before a position are gone that no erasure of the whole group came after."""
    gone: set[str] = set()
    at = 0
    for record in messages.read(0, stop):
        gone.update(map(messages.group_of, range(at, record.position)))
        at = record.position + 1
        if isinstance(record.event, ErasureRequest):
            gone.discard(record.group)
        elif isinstance(record.event, RedactionRequest):
            gone.add(record.group)
    gone.update(map(messages.group_of, range(at, stop)))
    return gone
