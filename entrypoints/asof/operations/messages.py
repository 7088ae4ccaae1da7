"""The messages that doors put on the log, the options for their extraction, and the ids that follow from them."""

from asof_streams.errors import NOT_UNICODE
from asof_streams.extraction_options import (
    ONTOLOGY_PATTERN,
    EntityTypes,
    EpisodeIds,
    ExcludedTypes,
    RelationTypeMap,
    RelationTypes,
)
from asof_streams.ids import derive, episode_id
from asof_streams.messages import (
    AnyMessage,
    ConsolidationRequest,
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RecordRefused,
    RedactionRequest,
    RetryRequest,
    TimezoneStatement,
    WithdrawalRequest,
    accept,
    check_group,
    in_database,
    in_scope,
    validate,
)
from asof_streams.sqlite_requests import KeyedRequest

__all__ = [
    "NOT_UNICODE",
    "ONTOLOGY_PATTERN",
    "AnyMessage",
    "ConsolidationRequest",
    "EntityStatement",
    "EntityTypes",
    "EpisodeIds",
    "ErasureRequest",
    "ExcludedTypes",
    "FactStatement",
    "IdentityStatement",
    "KeyedRequest",
    "Message",
    "RecordRefused",
    "RedactionRequest",
    "RelationTypeMap",
    "RelationTypes",
    "RetryRequest",
    "TimezoneStatement",
    "WithdrawalRequest",
    "accept",
    "canonical_group",
    "check_group",
    "derive",
    "episode_id",
    "in_database",
    "in_scope",
    "validate",
]


def canonical_group(scope: str, key: str) -> str:
    """Return the group id of a key within a scope: the same for ever, on every machine. It tells nothing of the key."""
    return f"{scope}-{derive('group', scope, key)}"
