"""What Graphiti's routes take and give, field by field as its clients know them. What else is sent is not looked at."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, PlainSerializer

from asof.runtime import clock
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
Id = Annotated[str, Field(examples=["1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10"])]
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

    message: str = Field(examples=["Messages added to processing queue"])
    success: bool = Field(examples=[True])


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

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "group_id": "ana",
                    "center_node_uuid": None,
                    "messages": [{"content": "Where does Ana live?", "role_type": "user", "role": "Ben"}],
                }
            ]
        }
    }


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

    uuid: Id
    name: str = Field(examples=["Ana"])
    group_id: str = Field(examples=["ana"])
    labels: list[str] = []
    created_at: datetime = Field(examples=["2024-04-02T09:00:00.000001Z"])
    name_embedding: list[float] | None = Field(description="Null: no vector of an entity is shown.")
    summary: str = Field(examples=["A cook."])
    attributes: dict[str, Any] = {}


class FactResult(BaseModel):
    """A fact with its four times: when it holds in the world, and when it was believed as first said."""

    uuid: Id
    name: str = Field(examples=["lives_in"])
    fact: str = Field(examples=["Ana lives in Berlin"])
    valid_at: Offset | None = Field(examples=["2024-03-01T00:00:00+00:00"])
    invalid_at: Offset | None = Field(examples=[None])
    created_at: Offset = Field(examples=["2024-04-02T09:00:00.000001+00:00"])
    expired_at: Offset | None = Field(examples=[None])
    source_node_uuid: Id
    target_node_uuid: Id
    episodes: list[Id] = []


class SearchResults(BaseModel):
    """The facts that were found, best first."""

    facts: list[FactResult]


class EpisodicNode(BaseModel):
    """The record of one message."""

    uuid: Id
    name: str
    group_id: str = Field(examples=["ana"])
    labels: list[str] = []
    created_at: datetime = Field(examples=["2024-04-02T09:00:00.000001Z"])
    source: Literal["message", "text", "json", "fact_triple"]
    source_description: str
    content: str = Field(examples=["Ana(user): I moved to Berlin in March."])
    valid_at: datetime = Field(examples=["2024-04-02T09:00:00Z"])
    entity_edges: list[Id]
    episode_metadata: dict[str, Any] | None = None


class Refusal(BaseModel):
    """Why a request could not be done."""

    detail: str = Field(examples=["edge 1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10 not found"])


class Wrong(BaseModel):
    """What is wrong, and where it was sent."""

    type: str = Field(examples=["missing"])
    loc: list[str | int] = Field(examples=[["body", "messages", 0, "content"]])
    msg: str = Field(examples=["Field required"])
    input: None = Field(description="Null: what was sent is not said again.")
    ctx: dict[str, Any] | None = None


class Invalid(BaseModel):
    """Everything that is wrong with a request."""

    detail: list[Wrong]


class Health(BaseModel):
    """That the service answers."""

    status: Literal["healthy"] = "healthy"
