"""What the projection of conversations takes and returns: rows without the words, which stand in the logs alone."""

from typing import Literal, NamedTuple

Sort = Literal["turn", "feedback", "goal", "undo", "edit", "deletion", "none"]
"""What a message is to its conversation; see asof_agents.conversation.classification."""


class ConversationMessage(NamedTuple):
    """A message of a conversation."""

    position: int  # in the messages log
    group: str
    external_id: str | None  # the platform's id of it
    author: str
    is_bot: bool
    is_proactive: bool
    sort: Sort
    reply_to: str | None  # the external id of the message that it replies to, or that a reaction is put on
    said_at: int
    awaits_reply: bool  # whether a bot is to answer it
    words_at: int  # the position of the message that has its words: another one, once it was edited
    withdrawn_at: int | None  # the position of the message by which it was deleted or undone


class MessageEdit(NamedTuple):
    """An edit of a message of a conversation."""

    position: int  # in the messages log: it has the words from now on
    group: str
    external_id: str  # of the message
    sort: Sort  # of the message from now on: a turn may become a goal


class MessageChange(NamedTuple):
    """An edit, a deletion or an undoing of a message of a conversation."""

    external_id: str  # of the message
    position: int  # of the change, in the messages log
    is_deletion: bool  # also of what was undone


class GivenReply(NamedTuple):
    """An answer or a check-in that was given."""

    reply_id: str
    position: int  # in the conversation log
    group: str
    answers: int  # the position of the message that is answered, or in whose answer the check-in was scheduled
    action: Literal["reply", "react", "unreact", "checkin"]
    to: str | None  # the external id of the message that is answered, or that the reaction is put on
    external_id: str | None  # that the platform gave it; None: the platform has not taken it yet


class Checkin(NamedTuple):
    """A check-in."""

    checkin_id: str
    group: str
    answers: int  # the position of the message in whose answer it was scheduled
    due_at: int
    scheduled_at: int  # when it was
    state: Literal["scheduled", "sent", "cancelled"]


class PromptVersion(NamedTuple):
    """A version of a prompt."""

    prompt: str
    version: int
    template: str
    temperature: float
    max_tokens: int
    registered_at: int | None  # None: it comes with asof
    active: bool
