"""The worker's own side: the one process that ingests the messages, one after the other.

What comes while it is busy is shown together, soon: a message waits for those behind it no longer than a moment. What
it has not come to when it is stopped stays on the log and is processed at the next start. What may succeed later is
tried again, in order; damage ends the worker before the position moves, and with it the service.
"""

import logging
import time
from contextlib import closing
from typing import Final, NamedTuple

from asof.runtime import clock
from asof.runtime.child_process import Channel, ChannelClosed
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import OpenLogs
from asof.runtime.processes import log_to_stderr, lower_priority
from asof.runtime.watchdog import Watchdog
from asof.runtime.writer import Writer
from asof.service.session import Session
from asof.service.worker_handle import WorkerAnswer, WorkerCall, WorkerProgress, WorkerStart, WorkerWait
from asof.settings import Settings
from asof_streams.backoff import Backoff
from asof_streams.errors import AsofError, UnavailableError

_BACKOFF: Final = Backoff(0.1, 6.0, longest=30.0)  # of a message: what it needs may be a model that is restarted
_SHOWN_SECONDS: Final = 0.05  # after which what was taken is shown, though more waits
_ERASING_SECONDS: Final = 0.1  # between looks whether what was erased can leave the files, while nothing comes
_ADOPTING_SECONDS: Final = 0.5  # between looks whether a generation was built or dropped, while nothing comes
_LOCKED_SECONDS: Final = 3.0  # how long the worker of a service that was killed may take to end

log = logging.getLogger(__name__)


def process(channel: Channel, settings: Settings) -> None:
    """Process messages as the service calls, until it has finished."""
    lower_priority()
    log_to_stderr(settings, "asof", "asof_agents")
    logs = OpenLogs(DirectoryLayout(settings.data), settings, patience=_LOCKED_SECONDS)
    try:
        channel.send(WorkerStart(logs.messages.term))
    except BaseException:
        logs.close()
        raise
    with closing(Writer(logs, Watchdog(settings.message_seconds))) as writer:
        session = Session(logs.places, settings, clock.system, writer=writer)
        try:
            Processing(writer, session, channel).run()
        finally:
            session.close_reader()


class _Taken(NamedTuple):
    """A message that is taken, and not shown yet."""

    position: int
    picked_up: float  # by the monotonic clock
    events: int


class Processing:
    """Ingests messages in their order, and makes their effects visible."""

    def __init__(self, writer: Writer, session: Session, channel: Channel) -> None:
        self._writer = writer
        self._session = session
        self._channel = channel
        self._calls: list[WorkerCall] = []
        self._taken: list[_Taken] = []
        self._failure = ""  # of what there is to do while nothing comes, when it was last tried

    def run(self) -> None:
        """Go on until there are no more calls, which ends it with ChannelClosed."""
        self._tell()
        self._take_all()
        while True:
            if not self._channel.ready(_ERASING_SECONDS if self._writer.erasing else _ADOPTING_SECONDS):
                self._keep_up()
            else:
                self._receive()
                self._take_all()

    def _keep_up(self) -> None:
        """Follow for generations, and let files be rewritten; what cannot be done now is tried at the next look."""
        try:
            self._writer.adopt()
            if self._writer.erasing:
                self._vacuum()
        except UnavailableError as error:
            if str(error) != self._failure:
                log.warning("what is left to do waits: %s", error)
            self._failure = str(error)
        else:
            self._failure = ""

    def _receive(self) -> None:
        """Take note of a call; one that only wakes is answered by looking."""
        match self._channel.receive():
            case WorkerCall() as call:
                self._calls.append(call)

    def _answer_calls(self) -> None:
        """Do what was asked for; an error of ours is the answer, and any other ends the worker."""
        while self._calls:
            number, work = self._calls.pop(0)
            try:
                answer = WorkerAnswer(number, work(self._session), None)
            except AsofError as error:
                answer = WorkerAnswer(number, None, error)
            self._channel.send(answer)

    @property
    def _next(self) -> int:
        return self._writer.engine.episodic.checkpoint

    def _take_all(self) -> None:
        """Take messages until there are none, and all that follows is shown."""
        pauses, alone = _BACKOFF.pauses(), False
        while not self._stopping():
            self._answer_calls()  # all that were received: nothing is said of them again
            if not (self._taken or self._waits()):
                break
            try:
                self._take_some(alone=alone)
                pauses, alone = _BACKOFF.pauses(), False
            except UnavailableError as error:
                self._taken = [taken for taken in self._taken if taken.position < self._next]  # the rest is forgotten
                pause, alone = next(pauses), True
                self._channel.send(WorkerWait(self._next, str(error)))
                log.warning("message %d waits %.1f s: %s", self._next, pause, error)
                self._pause(pause)

    def _take_some(self, *, alone: bool) -> None:
        """Take messages and show them. Taken alone, none waits for one behind it that may fail."""
        until = time.monotonic() + _SHOWN_SECONDS
        while self._waits():
            self._take_one()
            if alone or time.monotonic() > until or self._stopping():
                break
        self._writer.process(flush=True, stop=self._next)
        now = time.monotonic()
        for position, picked_up, events in self._taken:
            log.info("message %d done in %.1f ms: %d episodic events", position, (now - picked_up) * 1_000, events)
        seconds = tuple(now - taken.picked_up for taken in self._taken)
        self._tell(seconds)
        self._taken = []

    def _vacuum(self) -> None:
        """Let files be rewritten that a reader held when something was erased."""
        self._writer.vacuum()
        if not self._writer.erasing:
            self._tell()

    def _tell(self, seconds: tuple[float, ...] = ()) -> None:
        usage, waits = self._writer.usage(), self._waits()
        self._channel.send(
            WorkerProgress(
                self._next, seconds, usage, waits, self._writer.erasing, self._writer.phases(), self._writer.ingested()
            )
        )

    def _waits(self) -> bool:
        return self._next < self._writer.messages.end()

    def _take_one(self) -> None:
        position, end = self._next, self._writer.messages.end()
        log.info("message %d picked up, %d wait behind it", position, end - position - 1)
        picked_up, before = time.monotonic(), self._writer.engine.episodic.end
        self._writer.process(flush=False, stop=position + 1)
        self._taken.append(_Taken(position, picked_up, self._writer.engine.episodic.end - before))

    def _stopping(self) -> bool:
        """Whether there are to be no more calls; those that came by now are answered by looking."""
        try:
            while self._channel.ready():
                self._receive()
        except ChannelClosed:
            return True
        return False

    def _pause(self, seconds: float) -> None:
        """Wait, unless told to stop, and answer calls meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self._channel.ready(left):
            if self._stopping():
                return
            self._answer_calls()
