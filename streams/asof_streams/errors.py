"""Every exception that asof raises; the class tells the caller what to do.

AsofError
├── ContractError            the caller or the data broke a rule; the same call can never succeed
│   ├── InvalidInput         what was given cannot be accepted; `field` says where, `reason` what to change
│   ├── NotFound             no such entity, fact, episode or generation
│   │   └── EmptyMemory      nothing was ever written to this memory
│   ├── DecodeError          bytes in a log are not an event this version knows
│   ├── DamagedData          stored bytes are not what was written; the message names the file and the remedy
│   │   ├── DamagedLog       of a log: restore it from a backup; the message names the position
│   │   ├── DamagedView      of a graph or an index: move it away, it is made anew from its log
│   │   └── DamagedFile      of another file, such as the catalogue: the message says whether to restore or delete it
│   ├── PositionConflict     a store was offered a position that does not follow its own
│   ├── TopicUnfit           a Kafka topic is not set up to keep history and order; the message names the remedy
│   └── AccessDenied         the Kafka broker or graph database knows who asks, and does not let them
└── UnavailableError         the outside world failed; the same call may work later
    ├── WriterBusy           another process is writing to this directory
    ├── BuildStopped         the build of a generation was paused or cancelled; `state` says which
    ├── StorageFailed        the disk is full, read-only or failing; nothing half-written remains
    │   └── KeysUnavailable  the store of keys cannot be read, or has not those of this content
    ├── ModelUnavailable     an embedding or language model cannot be reached or loaded
    ├── BrokerUnavailable    the Kafka broker cannot be reached or does not answer in time
    ├── GraphUnavailable     the graph database cannot be reached, or has too much to do
    └── WorkerStalled        a worker stands still while its topic goes on; start it again

Messages name files, positions, fields and ids, never content. No program has to read them: the class and its fields
say all that there is to decide by. All of them can be pickled, and come back with the same fields.
"""

from typing import Final

NOT_UNICODE: Final = "text must be valid Unicode (it has half of a surrogate pair)"


class AsofError(Exception):
    """The root: catch it to catch everything that asof raises on purpose."""


class ContractError(AsofError):
    """The caller or the data broke a rule; retrying cannot help."""


class InvalidInput(ContractError):
    """The input cannot be accepted.

    field: the dotted path of what is wrong, as `relation_type_map.0.source`; None where it is no one field.
    reason: what is wrong with it, and what to do. The text of the error is `field: reason`, or the reason alone.
    """

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason, field)
        self.reason: Final = reason
        self.field: Final = field

    def __str__(self) -> str:
        return self.reason if self.field is None else f"{self.field}: {self.reason}"

    def within(self, field: str) -> "InvalidInput":
        """Return the error as one of a field that holds what was wrong."""
        return InvalidInput(self.reason, field if self.field is None else f"{field}.{self.field}")


class NotFound(ContractError):
    """There is no such entity, fact, episode or generation."""


class EmptyMemory(NotFound):
    """Nothing was ever written to this memory; the first write makes its directory."""


class DecodeError(ContractError):
    """Bytes in a log are not an event that this version knows."""


class DamagedData(ContractError):
    """Stored bytes are not what was written; the message names the file and the remedy."""


class DamagedLog(DamagedData):
    """A log is not what was written: restore it from a backup. The message names the position."""


class DamagedView(DamagedData):
    """A graph or an index is not what its log says: move it away, and it is made anew."""


class DamagedFile(DamagedData):
    """A file beside the logs is not what was written; the message says whether to restore or delete it."""


class PositionConflict(ContractError):
    """A store was offered a position that does not follow its own."""


class TopicUnfit(ContractError):
    """A Kafka topic is not set up to keep history and order; the message names the remedy."""


class AccessDenied(ContractError):
    """The Kafka broker or graph database knows who asks, and does not let them."""


class UnavailableError(AsofError):
    """The outside world failed; the same call may work later.

    accepted: of the good lines of a produce or an import, how many are on the log at least: those at the beginning.
    """

    def __init__(self, reason: str = "", accepted: int = 0) -> None:
        super().__init__(reason, accepted)
        self.reason: Final = reason
        self.accepted: Final = accepted

    def __str__(self) -> str:
        return self.reason


class WriterBusy(UnavailableError):
    """Another process is writing to this directory."""


class BuildStopped(UnavailableError):
    """The build of a generation was stopped from elsewhere, or because a budget is spent.

    state: "paused", and it can be resumed; or "cancelled", and nothing of it is left.
    """

    def __init__(self, reason: str = "", state: str = "paused") -> None:
        super().__init__(reason)
        self.args = (reason, state)
        self.state: Final = state


class StorageFailed(UnavailableError):
    """The disk is full, read-only or failing; nothing half-written remains."""


class KeysUnavailable(StorageFailed):
    """Content is encrypted, and the store of keys cannot be read or has not its keys; the message says what to do."""


class ModelUnavailable(UnavailableError):
    """An embedding or language model cannot be reached or loaded."""


class BrokerUnavailable(UnavailableError):
    """The Kafka broker cannot be reached or does not answer in time."""


class GraphUnavailable(UnavailableError):
    """The graph database cannot be reached, or has too much to do."""


class WorkerStalled(UnavailableError):
    """A worker stands still while its topic goes on; start it again."""
