"""The events of the conversation log: what a bot answered and why, its check-ins, and the prompts of its replies."""

from typing import ClassVar, Literal

from pydantic import Field

from asof_streams.events import Event, register


@register
class ConversationBegun(Event):
    """A bot answers what is put on the messages log from a position on; what was said before it answers to nobody.

    The first of the log but for prompts. It concerns no group.
    """

    type: ClassVar[str] = "conversation.begun"

    position: int  # of the first message that may be answered


@register
class ReplyGiven(Event):
    """A message was answered: with a text, or by a reaction that is put on a message or taken off it.

    On the log before anybody sees it, so that no message is answered twice. It names what the answer was made of.
    """

    type: ClassVar[str] = "reply.given"

    reply_id: str  # derived from the group, the position of the message, and the place among the answers to it
    answers: int  # the position of the message that is answered
    action: Literal["reply", "react", "unreact"] = "reply"  # what the platform is to do
    content: str = Field(repr=False)  # the text that is shown, empty where none is kept; of a reaction its emoji
    to: str = Field(repr=False)  # the platform's id of the message that is answered, or that the reaction is put on
    prompt: str | None = None  # the key of the prompt; absent: none was asked
    prompt_version: int | None = None  # of the prompt
    model: str | None = None  # the model, and who serves it; absent: none was asked
    failure: str | None = None  # why the model gave no answer, never content
    archetype: str | None = None  # the kind of context that was gathered
    facts: tuple[str, ...] | None = None  # the ids of the facts and objectives that the prompt showed
    turns: tuple[int, ...] | None = None  # the positions of the messages that it showed


@register
class ReplySent(Event):
    """A platform took an answer or a check-in, which is a message of the conversation from then on."""

    type: ClassVar[str] = "reply.sent"

    reply_id: str  # of the `reply.given`; of a check-in its id
    external_id: str = Field(repr=False)  # the platform's id of it


@register
class ReplyErased(Event):
    """Some answers and check-ins of the group are erased, with messages that they were about. It is on topics alone."""

    type: ClassVar[str] = "reply.erased"

    positions: tuple[int, ...]  # of the events, in this log
    answers: tuple[int, ...]  # the positions of the messages that they answered, which stay answered


@register
class CheckinScheduled(Event):
    """The bot is to speak first in a group at a moment. It replaces a check-in of the group that was not sent."""

    type: ClassVar[str] = "checkin.scheduled"

    checkin_id: str  # derived from the group and the position of the message
    answers: int  # the position of the message in whose answer it was scheduled
    due_at: int  # the moment


@register
class CheckinSent(Event):
    """A check-in was due and was given, once. On the log before anybody sees it."""

    type: ClassVar[str] = "checkin.sent"

    checkin_id: str  # of the `checkin.scheduled`
    content: str = Field(repr=False)  # the text, as the user is shown it
    prompt: str | None = None  # the key of the prompt; absent: none was asked
    prompt_version: int | None = None  # of the prompt
    model: str | None = None  # the model, and who serves it; absent: none was asked
    failure: str | None = None  # why the model gave no answer, never content


@register
class CheckinCancelled(Event):
    """A check-in will not be sent."""

    type: ClassVar[str] = "checkin.cancelled"

    checkin_id: str  # of the `checkin.scheduled`
    reason: str  # why: `replaced`, by a newer one


@register
class PromptRegistered(Event):
    """A version of a prompt was written. It concerns no group."""

    type: ClassVar[str] = "prompt.registered"

    prompt: str  # its key, such as `MAIN_CONVERSATION`
    prompt_version: int  # from 2 on: the first is asof's own
    template: str = Field(repr=False)  # its words, with placeholders in braces
    temperature: float  # 0 to 2: how freely a model chooses its words
    max_tokens: int  # that an answer may have
    active: bool  # whether it is used from here on


@register
class PromptActivated(Event):
    """Another version of a prompt is used from here on."""

    type: ClassVar[str] = "prompt.activated"

    prompt: str  # its key
    prompt_version: int  # 1 is asof's own
