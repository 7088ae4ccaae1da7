"""What Graphiti's routes take and give, field by field as its clients know them. What else is sent is not looked at."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, PlainSerializer

from asof import clock
from asof_streams import instants
from asof_streams.errors import NOT_UNICODE, InvalidInput
from asof_streams.options import EntityTypes, EpisodeIds, ExcludedTypes, RelationTypeMap, RelationTypes


def _utc(moment: datetime) -> datetime:
    """Return a time in UTC, which is also what one without an offset is meant in."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    try:
        return instants.to_datetime(instants.from_datetime(aware))
    except (ValueError, OverflowError, InvalidInput):
        raise ValueError("it is outside of the years 1 to 9999") from None


def _unicode(text: str) -> str:
    """Refuse what no log can keep."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(NOT_UNICODE) from None
    return text


def _now() -> datetime:
    return instants.to_datetime(clock.system())


Time = Annotated[datetime, AfterValidator(_utc)]
Unicode = Annotated[str, AfterValidator(_unicode)]
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


class NewMessage(Message):
    """One thing that was said, and if that matters, how it is to be read.

    Types that fit neither each other nor the ontology are found when the message is processed: it is parked.
    """

    entity_types: EntityTypes | None = Field(
        None,
        description="Kinds of things to look for besides those of the ontology: by name, what each is.",
        examples=[{"Vendor": "A company that we buy from."}],
    )
    excluded_entity_types: ExcludedTypes | None = Field(
        None, description="Kinds of things not to look for.", examples=[["Environment"]]
    )
    relation_types: RelationTypes | None = Field(
        None,
        description="Relations to look for besides those of the ontology: by name, what each means.",
        examples=[{"supplied_by": "Who delivers the source."}],
    )
    relation_type_map: RelationTypeMap | None = Field(
        None,
        description="Which relations may lead from a type to another. One that is not in it is left as it is.",
        examples=[[{"source": "Component", "target": "Vendor", "relations": ["supplied_by"]}]],
    )
    previous_episode_ids: EpisodeIds | None = Field(
        None, description="The episodes to read it with as context, in place of the last ones before it."
    )
    suppress_content: bool = Field(False, description="Whether its content is taken out of the logs once it was read.")
    update_communities: bool = Field(
        False, description="Whether the communities of what it mentions are brought up to date."
    )


class AddMessages(BaseModel):
    """Messages of one group, in the order in which they were said."""

    group_id: Unicode = Field(description="Whose memory they belong to; empty means the group default.")
    messages: list[NewMessage]
    schema_id: str | None = Field(
        None,
        description="The ontology to read them with; else content with `<graphiti_episode` is read with "
        "`agent_memory_v1`, any other with that of this memory.",
    )

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "group_id": "ana",
                    "messages": [{"content": "I moved to Berlin in March.", "role_type": "user", "role": "Ana"}],
                },
                {
                    "group_id": "team",
                    "schema_id": "agent_memory_v1",
                    "messages": [
                        {
                            "content": "The parser is supplied by Initech.",
                            "role_type": "user",
                            "entity_types": {"Vendor": "A company that we buy from."},
                            "relation_types": {"supplied_by": "Who delivers the source."},
                        }
                    ],
                },
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


class AddEntityNode(BaseModel):
    """An entity, under an id of the sender's own."""

    uuid: str = Field(description="Sent again under it, it is the same entity: also called so, with the new summary.")
    group_id: str = Field(description="Whose memory it belongs to; empty means the group default.")
    name: str
    summary: str = ""

    model_config = {
        "json_schema_extra": {
            "examples": [
                {"uuid": "8e03978e-40d5-43dd-bc93-6894a57f9324", "group_id": "ana", "name": "Ana", "summary": "A cook."}
            ]
        }
    }


class EntityNode(BaseModel):
    """An entity that is known."""

    uuid: str
    name: str
    group_id: str
    labels: list[str] = []
    created_at: datetime
    name_embedding: list[float] | None = None
    summary: str
    attributes: dict[str, Any] = {}


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


class Refusal(BaseModel):
    """Why a request could not be done."""

    detail: str


class Health(BaseModel):
    """That the service answers."""

    status: Literal["healthy"] = "healthy"
