"""Maps Graphiti's bodies to messages of the log, and facts, entities and episodes to Graphiti's answers."""

from collections.abc import Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError

from asof.http.schemas import graphiti
from asof.operations.answers import Entity, Episode, Fact
from asof.operations.errors import InvalidInput
from asof.operations.ids import object_node
from asof.operations.messages import (
    NOT_UNICODE,
    AnyMessage,
    EntityStatement,
    Message,
    RecordRefused,
    accept,
    check_group,
    in_scope,
    validate,
)
from asof.operations.queries import DEFAULT_GROUP
from asof.operations.times import from_datetime


def messages_of(given: graphiti.AddMessages) -> list[AnyMessage]:
    """Return the messages for the log. An invalid group id parks them when they are processed, as Graphiti does.

    RequestValidationError: the group id, or a text, has half of a surrogate pair: no JSON may hold that.
    """
    group = given.group_id or DEFAULT_GROUP
    try:
        check_group(group)
    except InvalidInput as error:
        if error.reason == NOT_UNICODE:
            raise unprocessable(error.reason, "group_id") from None
        return [RecordRefused(group_id="", reason=str(error.within("group_id")))] * len(given.messages)
    options = {"schema_id": given.schema_id} | ({"suppress_content": True} if given.suppress_content else {})
    return [_message(group, number, message, options) for number, message in enumerate(given.messages)]


def _message(group: str, number: int, given: graphiti.NewMessage, options: dict[str, Any]) -> Message:
    fields = {
        "group_id": group,
        "content": given.content,
        "role_type": given.role_type,
        "role": given.role or "",
        "name": given.name,
        "uuid": given.uuid,
        "timestamp": from_datetime(given.timestamp),
        "source_description": given.source_description,
        **{name: getattr(given, name) for name in graphiti.OPTIONS},
        **options,
    }
    try:
        return validate(Message, fields)
    except InvalidInput as error:
        raise unprocessable(error.reason, "messages", number, *loc_of(error.field)) from None


def unprocessable(reason: str, *where: str | int, of: str = "body") -> RequestValidationError:
    """Return a validation error of a body or a path in the form of FastAPI."""
    error: dict[str, Any] = {"type": "value_error", "loc": (of, *where), "msg": reason, "input": None}
    return RequestValidationError([error])


def loc_of(field: str | None) -> list[str | int]:
    """Return the dotted path of a field in the form in which FastAPI says where an error is."""
    return [int(part) if part.isdigit() else part for part in field.split(".")] if field else []


def query_of(messages: list[graphiti.Message]) -> str:
    """Return the search query of a conversation."""
    return "".join(f"{m.role_type}({m.role or ''}): {m.content}\n" for m in messages)


def fact_result(fact: Fact) -> graphiti.FactResult:
    """Return a fact in Graphiti's form.

    That form has no place for plans: the sentence says so.
    """
    return graphiti.FactResult(
        uuid=fact.uuid,
        name=fact.relation,
        fact=f"{fact.fact} (planned)" if fact.planned else fact.fact,
        valid_at=fact.valid_at,
        invalid_at=fact.invalid_at,
        created_at=fact.created_at,
        expired_at=fact.expired_at,
        source_node_uuid=fact.subject_uuid,
        target_node_uuid=object_node(fact),
        episodes=list(fact.episodes),
    )


def stated_entity(given: graphiti.AddEntityNode) -> EntityStatement:
    """Return the message for the log."""
    fields = {"group_id": given.group_id or DEFAULT_GROUP, "entity_id": given.uuid}
    try:
        return in_scope(accept(EntityStatement, {**fields, "name": given.name, "summary": given.summary}))
    except InvalidInput as error:
        where = ["uuid"] if error.field == "entity_id" else loc_of(error.field)
        raise unprocessable(error.reason, *where) from None


def entity_node(stated: EntityStatement, entity: Entity) -> graphiti.EntityNode:
    """Return an entity in Graphiti's form, as it was just stated."""
    return graphiti.EntityNode(
        uuid=entity.uuid,
        name=stated.name,
        group_id=entity.group_id,
        created_at=entity.created_at,
        name_embedding=None,
        summary=stated.summary,
    )


def episodic_node(episode: Episode, body: str, facts: Sequence[str]) -> graphiti.EpisodicNode:
    """Return an episode in Graphiti's form, with the ids of its facts."""
    return graphiti.EpisodicNode.model_validate(
        {
            "uuid": episode.uuid,
            "name": episode.name,
            "group_id": episode.group_id,
            "created_at": episode.created_at,
            "source": "fact_triple" if episode.source == "fact" else episode.source,
            "source_description": episode.source_description,
            "content": body,
            "valid_at": episode.valid_at,
            "entity_edges": list(facts),
        }
    )
