"""The state of a build: the writer ingests into the generations itself, or a second process does, in a large ingest."""

from typing import Final, Protocol

from asof.runtime.bulk_builder import BulkBuilder
from asof.runtime.control_log import touch
from asof.runtime.generations import FLUSH_ASKED, FLUSH_EVERY
from asof.runtime.open_generations import OpenGenerations
from asof.runtime.open_logs import OpenLogs

_MUCH: Final = 4_000  # messages at once: more will come, and a second process is worth its start


class BuildState(Protocol):
    """A state of the writer; every method returns or leaves the generations whole up to what they have read."""

    batch: int  # messages that are flushed together

    def advance(self, stop: int) -> "BuildState":
        """Return the state to go on in after a full batch, which ends before a position of the episodic log."""
        ...

    def finish(self, stop: int) -> None:
        """Have the generations follow up to a position. They may be closed then, and may have to follow further."""
        ...

    def kill(self) -> None:
        """End the process beside this one at once."""
        ...


class InlineBuild:
    """The writer ingests into the generations that it has open."""

    def __init__(self, batch: int) -> None:
        self.batch = batch

    def advance(self, stop: int) -> BuildState:
        del stop
        return self

    def finish(self, stop: int) -> None:
        pass

    def kill(self) -> None:
        pass


class GrowingBuild(InlineBuild):
    """An inline build that becomes a bulk build with the first full batch, where another process can be started."""

    def __init__(self, logs: OpenLogs, generations: OpenGenerations) -> None:
        super().__init__(_MUCH)
        self._logs = logs
        self._generations = generations

    def advance(self, stop: int) -> BuildState:
        infos = [info for info in self._logs.catalog.generations if info.name in self._generations]
        try:
            builder = BulkBuilder(self._logs.places, infos)
        except OSError:  # no more processes here: this one goes on alone
            return self
        self._generations.close_all()
        return BulkBuild(self._logs, builder).advance(stop)


class BulkBuild:
    """Another process ingests into the generations, which are closed here, while the writer records."""

    def __init__(self, logs: OpenLogs, builder: BulkBuilder) -> None:
        self.batch = FLUSH_EVERY
        self._logs = logs
        self._builder = builder

    def advance(self, stop: int) -> BuildState:
        self._builder.follow(stop)
        self._compress_batches(True)
        return self

    def finish(self, stop: int) -> None:
        self._compress_batches(False)
        if self._builder.join(stop):
            touch(self._logs.places)  # so that readers open the graphs anew
        self._logs.remove_interrupted()

    def kill(self) -> None:
        self._builder.kill()

    def _compress_batches(self, on: bool) -> None:
        for log in (self._logs.messages, self._logs.episodic):
            log.compresses_batches = on


def inline_build(logs: OpenLogs, generations: OpenGenerations) -> InlineBuild:
    """Return the state that a writer begins in.

    Only a writer of files grows: a model is slower than one process, and only that one asks it; the logs of topics have
    one writer.
    """
    if generations.journal is not None:
        return InlineBuild(FLUSH_ASKED)
    if logs.are_replicas:
        return InlineBuild(FLUSH_EVERY)
    return GrowingBuild(logs, generations)
