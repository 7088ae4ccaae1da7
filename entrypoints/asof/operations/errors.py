"""The errors that operations raise: one tree, whose classes say what a caller can do about it."""

from asof_streams.errors import (
    AccessDenied,
    AsofError,
    BrokerUnavailable,
    ContractError,
    DamagedLog,
    DecodeError,
    GraphUnavailable,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    PositionConflict,
    StorageFailed,
    TopicUnfit,
    UnavailableError,
    WriterBusy,
)

__all__ = [
    "AccessDenied",
    "AsofError",
    "BrokerUnavailable",
    "ContractError",
    "DamagedLog",
    "DecodeError",
    "GraphUnavailable",
    "InvalidInput",
    "ModelUnavailable",
    "NotFound",
    "PositionConflict",
    "StorageFailed",
    "TopicUnfit",
    "UnavailableError",
    "WriterBusy",
]
