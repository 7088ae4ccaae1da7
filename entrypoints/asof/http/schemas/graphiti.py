"""The bodies and answers of Graphiti's routes, field by field. Unknown fields are ignored, as Graphiti does.

An option of ours in the wrong place is refused: a client that sends one relies on it.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, FailFast, Field, PlainSerializer, model_validator

from asof.http.schemas.body import Outcomes
from asof.operations import queries
from asof.operations.errors import InvalidInput
from asof.operations.messages import (
    EntityTypes,
    EpisodeIds,
    ExcludedTypes,
    RelationTypeMap,
    RelationTypes,
)
from asof.operations.times import from_datetime, system, to_datetime


def _utc(moment: datetime) -> datetime:
    """Return a time in UTC. A naive time is UTC, as in Graphiti."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    try:
        return to_datetime(from_datetime(aware))
    except (ValueError, OverflowError, InvalidInput):
        raise ValueError("it is outside of the years 1 to 9999") from None


def _now() -> datetime:
    return to_datetime(system())


Time = Annotated[datetime, AfterValidator(_utc)]
Id = Annotated[str, Field(examples=["1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10"])]
Offset = Annotated[datetime, PlainSerializer(lambda moment: moment.isoformat(), return_type=str)]  # +00:00, not Z


class Message(BaseModel):
    """A message of a conversation."""

    content: str
    uuid: str | None = Field(None, description="An episode that exists already: then nothing new is recorded.")
    name: str = ""
    role_type: Literal["user", "assistant", "system"]
    role: str | None = Field(None, description="The name of the speaker.")
    timestamp: Time = Field(default_factory=_now, description="When it was said; UTC if it has no offset.")
    source_description: str = ""


class NewMessage(Message):
    """A message of a conversation, with options for its extraction.

    Types that do not fit each other or the ontology are found when the message is processed: it is parked.
    """

    @model_validator(mode="before")
    @classmethod
    def _check_places(cls, fields: Any) -> Any:
        return _expect_none(fields, ("schema_id", "group_id"), "it belongs beside `messages`, not into a message")

    source: Literal["message", "text", "json"] = Field(
        "message", description="What the content is: a turn of a conversation, a text, or a JSON document."
    )
    entity_types: EntityTypes | None = Field(
        None,
        description="Entity types besides those of the ontology: a description by name, or one with attributes.",
        examples=[{"Vendor": "A company that we buy from."}],
    )
    excluded_entity_types: ExcludedTypes | None = Field(
        None, description="Entity types that are not looked for.", examples=[["Environment"]]
    )
    relation_types: RelationTypes | None = Field(
        None,
        description="Relations besides those of the ontology: a description by name.",
        examples=[{"supplied_by": "Who delivers the source."}],
    )
    relation_type_map: RelationTypeMap | None = Field(
        None,
        description="The relations from one type to another. Relations that it does not name stay as they are.",
        examples=[[{"source": "Component", "target": "Vendor", "relations": ["supplied_by"]}]],
    )
    previous_episode_ids: EpisodeIds | None = Field(
        None, description="The episodes that are its context, instead of the last ones before it."
    )
    suppress_content: bool = Field(False, description="Whether its content is removed from the logs after extraction.")
    update_communities: bool = Field(
        False, description="Whether the communities of the entities that it mentions are updated."
    )


OPTIONS: Final = tuple(name for name in NewMessage.model_fields if name not in Message.model_fields)  # of a message


def _expect_none(fields: Any, misplaced: Iterable[str], reason: str) -> Any:
    """Return fields that have none of some options. The error names the option."""
    for name in misplaced:
        if isinstance(fields, dict) and name in fields:
            raise ValueError(f"{name}: {reason}")
    return fields


class AddMessages(BaseModel):
    """Messages of one group, in the order in which they were said."""

    @model_validator(mode="before")
    @classmethod
    def _check_places(cls, fields: Any) -> Any:
        misplaced = [name for name in OPTIONS if name != "suppress_content"]
        return _expect_none(fields, misplaced, "it belongs into a message, not beside `messages`")

    group_id: str = Field(description="The group of the messages; empty means `default`.")
    messages: Annotated[list[NewMessage], FailFast()]
    schema_id: str | None = Field(
        None,
        description="The ontology to read them with; else content with `<graphiti_episode` is read with "
        "`agent_memory_v1`, any other with that of this memory.",
    )
    suppress_content: bool = Field(
        False, description="Whether the content of each of them is removed from the logs after extraction."
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
    """The result of a write."""

    message: str = Field(examples=["Messages added to processing queue"])
    success: bool = Field(examples=[True])


class Taken(Result):
    """The result of taking messages; asked to wait, also what became of each."""

    outcomes: Outcomes = None


# What GET /v1/search takes. Ignored here, it would widen an answer: to other groups, or other times.
_OF_A_SEARCH: Final = frozenset(field.alias or name for name, field in queries.FactSearchQuery.model_fields.items())


class SearchQuery(BaseModel):
    """A search query, and the groups that it is about: all groups if none is named."""

    @model_validator(mode="before")
    @classmethod
    def _check_places(cls, fields: Any) -> Any:
        _expect_none(fields, ("group_id",), "here the groups are a list, `group_ids`")
        return _expect_none(fields, sorted(_OF_A_SEARCH - set(cls.model_fields)), "GET /v1/search takes it")

    group_ids: list[str] | None = None
    query: str
    max_facts: int = 10

    model_config = {"json_schema_extra": {"examples": [{"group_ids": ["ana"], "query": "Where does Ana live?"}]}}


class GetMemory(BaseModel):
    """A conversation; the answer has the facts that match it."""

    @model_validator(mode="before")
    @classmethod
    def _check_places(cls, fields: Any) -> Any:
        _expect_none(fields, ("group_ids",), "here it is one group, `group_id`")
        return _expect_none(fields, sorted(_OF_A_SEARCH - set(cls.model_fields)), "GET /v1/search takes it")

    group_id: str
    max_facts: int = 10
    center_node_uuid: str | None = Field(
        description="Facts near this entity come first; an id that no entity has changes nothing. It may be null."
    )
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
    """An entity under an id of the client's own."""

    uuid: str = Field(description="Sent again under it, it is the same entity: also called so, with the new summary.")
    group_id: str = Field(description="The group of the entity; empty means `default`.")
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
    name_embedding: list[float] | None = Field(description="Always null.")
    summary: str = Field(examples=["A cook."])
    attributes: dict[str, Any] = {}


class FactResult(BaseModel):
    """A fact with its valid period, and the period over which it was believed as first said."""

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
    """The facts found, best first."""

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
    """Why a request was refused."""

    detail: str = Field(examples=["edge 1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10 not found"])


class Wrong(BaseModel):
    """An error in a request, and its place."""

    type: str = Field(examples=["missing"])
    loc: list[str | int] = Field(examples=[["body", "messages", 0, "content"]])
    msg: str = Field(examples=["Field required"])
    input: Any = Field(description="Always null: an answer does not repeat what was sent.")
    ctx: dict[str, Any] | None = None


class Invalid(BaseModel):
    """All errors in a request."""

    detail: list[Wrong]


class Health(BaseModel):
    """The service answers."""

    status: Literal["healthy"] = "healthy"
