"""Which message is given up, so that those behind it go on: one that takes too long, or that fails where others do not.

What a message alone makes fail parks it. What fails for every message is the world's: messages wait for it, in order.
"""

from collections.abc import Callable
from itertools import islice, takewhile
from typing import Final, Protocol

from asof.runtime.watchdog import Overdue, Watchdog
from asof_agents.parking import expect_memory
from asof_streams.episodic import EpisodeRecorded, EpisodeWithdrawn, GroupErased
from asof_streams.errors import ContractError, StorageFailed, UnavailableError
from asof_streams.events import Record
from asof_streams.log import EventLog
from asof_streams.messages import ErasureRequest, Message, RedactionRequest, WithdrawalRequest, takes_back

_TRIES: Final = 3  # of a message that fails
_LOOK_AHEAD: Final = 1_000  # messages behind it, among which one that goes through is sought


_ERASURES: Final = frozenset({ErasureRequest, RedactionRequest, GroupErased})
# Nothing goes to a language model after its producer asked to take it back.
_ENDS: Final = (ErasureRequest, RedactionRequest, WithdrawalRequest, GroupErased, EpisodeWithdrawn)


class Agent(Protocol):
    """What ingests the records of a log, one message after another: the engine, or a believer."""

    @property
    def checkpoint(self) -> int:
        """The position of the next record to ingest."""
        ...

    def ingest(self, message: Record, /) -> None:
        """Ingest a message, given the first record that it has in the log."""
        ...

    def park(self, message: Record, reason: str, /) -> None:
        """Record that a message was given up."""
        ...

    def roll_back(self) -> None:
        """Drop all since the last flush."""
        ...


class Verdicts:
    """Ingests messages, and gives up those at fault: the next try of one that was given up parks it."""

    def __init__(self, agent: Agent, log: EventLog, watchdog: Watchdog | None) -> None:
        self._agent = agent
        self._log = log
        self._watchdog = watchdog
        self._suspect: Record | None = None
        self._given_up = (-1, "")  # the position of a message, and why

    def ingest(self, message: Record) -> None:
        """Ingest a message, or park it. Overdue: it took too long, and is given up."""
        position, reason = self._given_up
        if message.position == position:
            self._agent.park(message, reason)
        elif type(message.event) in _ERASURES:  # isinstance of a pydantic class takes six times as long
            self._agent.ingest(message)
        else:
            try:
                self._ingest_watched(message)
            except Overdue:
                assert self._watchdog is not None, "nothing else raises it"
                self._given_up = (message.position, self._watchdog.verdict)
                raise
            except Exception:
                self._suspect = message
                raise

    def _ingest_watched(self, message: Record) -> None:
        if self._watchdog is None:
            self._agent.ingest(message)
            return
        with self._watchdog.watch():
            self._agent.ingest(message)

    def gives_up(self, error: BaseException, process_up_to: Callable[[int], None]) -> bool:
        """Return whether an error is the fault of the message that was being ingested, which is given up then.

        One that nobody foresaw is, if the message fails at every try. An UnavailableError is, if another message, best
        of another group, goes through before each of them and after the last: while none does, the world is away.
        Damage is never, nor is a disk that is full, which lets small messages through. The agent has been rolled back.
        process_up_to: lets the messages before a position be processed.
        """
        suspect, self._suspect = self._suspect, None
        if isinstance(error, Overdue):
            return True
        if suspect is None or isinstance(error, ContractError | OSError | StorageFailed):
            return False
        is_foreseen = isinstance(error, UnavailableError)
        other = self._other_than(suspect) if is_foreseen else None
        if is_foreseen and other is None:
            return False
        if isinstance(error, MemoryError):
            expect_memory()
        if self._agent.checkpoint < suspect.position:
            process_up_to(suspect.position)
        for _ in range(_TRIES):
            if (other and not self._goes_through(other)) or self._goes_through(suspect):
                return False
        if other and not self._goes_through(other):
            return False
        self._given_up = (suspect.position, f"{'unavailable' if is_foreseen else 'unexpected'}: {type(error).__name__}")
        return True

    def _other_than(self, suspect: Record) -> Record | None:
        """Return a message that waits behind another, of another group if there is such; None: no message does."""
        behind = islice(self._log.read(suspect.position + 1), _LOOK_AHEAD)
        wanted = takewhile(lambda r: not isinstance(r.event, _ENDS) and not takes_back(r.event), behind)
        others = [record for record in wanted if isinstance(record.event, Message | EpisodeRecorded)]
        return next((record for record in others if record.group != suspect.group), others[0] if others else None)

    def _goes_through(self, message: Record) -> bool:
        """Whether a message can be ingested now. Nothing of that is kept."""
        try:
            self._ingest_watched(message)
        except (Exception, Overdue):  # noqa: BLE001 - the first error has been seen, and is raised where it has to be
            return False
        finally:
            self._agent.roll_back()
        return True
