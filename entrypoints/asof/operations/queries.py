"""The query models that doors take their parameters from."""

from asof_projections.model.queries import (
    DEFAULT_GROUP,
    FAR,
    MAX_QUERY,
    EpisodeQuery,
    EventsQuery,
    ExportQuery,
    FactQuery,
    GroupId,
    GroupQuery,
    GroupsQuery,
    HistoryQuery,
    KnownHistoryQuery,
    MessageQuery,
    ask,
    instant,
    unknown,
)

__all__ = [
    "DEFAULT_GROUP",
    "FAR",
    "MAX_QUERY",
    "EpisodeQuery",
    "EventsQuery",
    "ExportQuery",
    "FactQuery",
    "GroupId",
    "GroupQuery",
    "GroupsQuery",
    "HistoryQuery",
    "KnownHistoryQuery",
    "MessageQuery",
    "ask",
    "instant",
    "unknown",
]
