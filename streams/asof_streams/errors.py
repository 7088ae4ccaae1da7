"""Every exception that asof raises; the class tells the caller what to do.

AsofError
├── ContractError            the caller or the data broke a rule; the same call can never succeed
│   ├── InvalidInput         what was given cannot be accepted; the message says what to change
│   ├── NotFound             no such entity, fact, episode or generation
│   ├── DecodeError          bytes in a log are not an event this version knows
│   ├── DamagedLog           stored bytes are not what was written; the message names the position
│   ├── PositionConflict     a store was offered a position that does not follow its own
│   ├── TopicUnfit           a Kafka topic is not set up to keep history and order; the message names the remedy
│   └── AccessDenied         the Kafka broker or graph database knows who asks, and does not let them
└── UnavailableError         the outside world failed; the same call may work later
    ├── WriterBusy           another process is writing to this directory
    ├── StorageFailed        the disk is full, read-only or failing; nothing half-written remains
    ├── ModelUnavailable     an embedding or language model cannot be reached or loaded
    ├── BrokerUnavailable    the Kafka broker cannot be reached or does not answer in time
    ├── GraphUnavailable     the graph database cannot be reached, or has too much to do
    └── WorkerStalled        a worker stands still while its topic goes on; start it again

Messages name files, positions, fields and ids, never content.
"""

from typing import Final

NOT_UNICODE: Final = "text must be valid Unicode (it has half of a surrogate pair)"


class AsofError(Exception):
    """The root: catch it to catch everything that asof raises on purpose."""


class ContractError(AsofError):
    """The caller or the data broke a rule; retrying cannot help."""


class InvalidInput(ContractError):
    """What was given cannot be accepted; the message says what to change."""


class NotFound(ContractError):
    """There is no such entity, fact, episode or generation."""


class DecodeError(ContractError):
    """Bytes in a log are not an event that this version knows."""


class DamagedLog(ContractError):
    """Stored bytes are not what was written; the message names the position."""


class PositionConflict(ContractError):
    """A store was offered a position that does not follow its own."""


class TopicUnfit(ContractError):
    """A Kafka topic is not set up to keep history and order; the message names the remedy."""


class AccessDenied(ContractError):
    """The Kafka broker or graph database knows who asks, and does not let them."""


class UnavailableError(AsofError):
    """The outside world failed; the same call may work later."""


class WriterBusy(UnavailableError):
    """Another process is writing to this directory."""


class StorageFailed(UnavailableError):
    """The disk is full, read-only or failing; nothing half-written remains."""


class ModelUnavailable(UnavailableError):
    """An embedding or language model cannot be reached or loaded."""


class BrokerUnavailable(UnavailableError):
    """The Kafka broker cannot be reached or does not answer in time."""


class GraphUnavailable(UnavailableError):
    """The graph database cannot be reached, or has too much to do."""


class WorkerStalled(UnavailableError):
    """A worker stands still while its topic goes on; start it again."""
