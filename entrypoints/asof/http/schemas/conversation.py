"""The bodies and answers of the routes by which any platform talks with a memory.

A group has to be named, unlike elsewhere: where an adapter forgets it, all channels would talk with one memory.
"""

import time
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from asof.http.schemas.body import Body
from asof.operations.queries import GroupId, Instant, Name
from asof.service.conversation import Incoming, Outgoing

_ID = "1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10"


class ConversationIncoming(Body):
    """What a platform tells: a message, or a reaction to one, or its edit or deletion."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "group_id": "ana",
                    "kind": "message",
                    "external_id": "17",
                    "author_id": "4",
                    "role": "Ana",
                    "content": "I moved to Berlin in March.",
                    "timestamp": "2024-04-02T09:00:00Z",
                }
            ]
        }
    )

    group_id: GroupId = Field(description="Whose memory it is.")
    kind: Literal["message", "reaction", "edit", "deletion"] = Field(description="What happened.")
    external_id: Name = Field(
        description="The platform's id of the message; of an edit or a deletion, of the message that it is of."
    )
    author_id: Name | None = Field(None, description="The platform's id of who said or did it.")
    role: str = Field("", max_length=200, description="Their name.")
    content: str = Field("", description="The words; of a reaction the emoji.")
    timestamp: Instant | None = Field(None, description="When it was; now, if left out.")
    reply_to: Name | None = Field(
        None, description="The platform's id of the message that it replies to, or that a reaction is put on."
    )

    def incoming(self) -> Incoming:
        """Return what the conversation is told."""
        return Incoming(
            kind=self.kind,
            group=self.group_id,
            external_id=self.external_id,
            author=self.author_id or "",
            name=self.role,
            text=self.content,
            at=time.time_ns() // 1_000 if self.timestamp is None else self.timestamp,
            reply_to=self.reply_to,
        )


class ConversationSent(Body):
    """That a platform sent an answer or a check-in."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana", "id": _ID, "external_id": "18"}]})

    group_id: GroupId = Field(description="Whose memory it is.")
    id: Name = Field(description="The id of the answer.")
    external_id: Name = Field(description="The id that the platform gave it.")
    timestamp: Instant | None = Field(None, description="When it was sent; now, if left out.")

    def outgoing(self) -> Outgoing:
        """Return the answer, as far as its id tells it."""
        return Outgoing("reply", self.id, "", None, self.group_id)

    @property
    def at(self) -> int:
        """The moment, in microseconds."""
        return time.time_ns() // 1_000 if self.timestamp is None else self.timestamp


class ConversationDue(Body):
    """The group whose check-ins are asked for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"group_id": "ana"}]})

    group_id: GroupId = Field(description="Whose memory it is.")


class OutgoingAction(BaseModel):
    """What a platform is to do: to send a text, or to put a reaction on a message or take it off."""

    action: Literal["reply", "react", "unreact", "checkin"]
    id: str
    group_id: str
    content: str = Field(description="The text; of a reaction the emoji.")
    to: str | None = Field(description="The platform's id of the message that it answers or is put on.")


class ConversationOutgoing(BaseModel):
    """What a platform is to do, in this order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"outgoing": [{"action": "react", "id": _ID, "group_id": "ana", "content": "🫡", "to": "17"}]},
            ]
        }
    )

    outgoing: list[OutgoingAction]

    @classmethod
    def of(cls, outgoing: list[Outgoing]) -> "ConversationOutgoing":
        """Return the answer of a route."""
        listed = [
            OutgoingAction(action=one.action, id=one.id, group_id=one.group, content=one.text, to=one.to)
            for one in outgoing
        ]
        return cls(outgoing=listed)


class ConversationNoted(BaseModel):
    """Whether what was sent is a turn of the bot from then on: no acknowledgement, and not noted before."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"turn": True}]})

    turn: bool
