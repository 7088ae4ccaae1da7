"""What Graphiti's routes take and give, field by field as its clients know them. What else is sent is not looked at."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, PlainSerializer

from asof import clock
from asof_streams import instants
from asof_streams.errors import InvalidInput


def _utc(moment: datetime) -> datetime:
    """Return a time in UTC, which is also what one without an offset is meant in."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    try:
        return instants.to_datetime(instants.from_datetime(aware))
    except (ValueError, OverflowError, InvalidInput):
        raise ValueError("it is outside of the years 1 to 9999") from None


def _now() -> datetime:
    return instants.to_datetime(clock.system())


Time = Annotated[datetime, AfterValidator(_utc)]
Offset = Annotated[datetime, PlainSerializer(lambda moment: moment.isoformat(), return_type=str)]  # +00:00, not Z


class Message(BaseModel):
    """One thing that was said."""

    content: str
    uuid: str | None = Field(None, description="An episode that exists already: then nothing new is recorded.")
    name: str = ""
    role_type: Literal["user", "assistant", "system"]
    role: str | None = Field(None, description="Who said it, by name.")
    timestamp: Time = Field(default_factory=_now, description="When it was said; UTC where no offset is given.")
    source_description: str = ""


class AddMessages(BaseModel):
    """Messages of one group, in the order in which they were said."""

    group_id: str = Field(description="Whose memory they belong to; empty means the group default.")
    messages: list[Message]
    schema_id: str | None = Field(None, description="The ontology to read them with: that of this memory.")

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "group_id": "ana",
                    "messages": [{"content": "I moved to Berlin in March.", "role_type": "user", "role": "Ana"}],
                }
            ]
        }
    }


class Result(BaseModel):
    """What was done."""

    message: str
    success: bool


class SearchQuery(BaseModel):
    """What is looked for, and in which groups: in all where none is named."""

    group_ids: list[str] | None = None
    query: str
    max_facts: int = 10

    model_config = {"json_schema_extra": {"examples": [{"group_ids": ["ana"], "query": "Where does Ana live?"}]}}


class GetMemory(BaseModel):
    """A conversation, for which facts are wanted."""

    group_id: str
    max_facts: int = 10
    center_node_uuid: str | None = Field(description="Must be there; not looked at.")
    messages: list[Message]


class FactResult(BaseModel):
    """A fact with its four times: when it holds in the world, and when it was believed as first said."""

    uuid: str
    name: str
    fact: str
    valid_at: Offset | None
    invalid_at: Offset | None
    created_at: Offset
    expired_at: Offset | None
    source_node_uuid: str
    target_node_uuid: str
    episodes: list[str] = []


class SearchResults(BaseModel):
    """The facts that were found, best first."""

    facts: list[FactResult]


class EpisodicNode(BaseModel):
    """The record of one message."""

    uuid: str
    name: str
    group_id: str
    labels: list[str] = []
    created_at: datetime
    source: Literal["message", "text", "json", "fact_triple"]
    source_description: str
    content: str
    valid_at: datetime
    entity_edges: list[str]
    episode_metadata: dict[str, Any] | None = None


class Health(BaseModel):
    """That the service answers."""

    status: Literal["healthy"] = "healthy"
