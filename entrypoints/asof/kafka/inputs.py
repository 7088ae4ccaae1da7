"""What believers and copies of beliefs are made from: the messages and episodic events of a partition in a directory.

One process keeps these logs and their graph up, under the lock of the directory: the recorder of the partition, or
whoever copies the topics. All others read what it has committed.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from asof.kafka.topic_logs import TopicLogs, TopicPartitions
from asof.runtime.erasure import ErasedFrom
from asof.runtime.replica_manifest import PATIENCE
from asof.runtime.wiring import following_store
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import catch_up
from asof_streams.errors import NotFound, WriterBusy
from asof_streams.kafka.state import TopicProgress
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import AGENT, WriterLock, is_held


class InputReplica:
    """The logs, copied from the topics by this process. WriterBusy: another one keeps them up."""

    def __init__(self, at: TopicPartitions, patience: float = 0.0) -> None:
        self._at = at
        self._suppressed = 0  # messages whose content is not to be kept, and is not, up to this position
        self._looked_for_content = False
        self._episodes: SqliteGraph | None = None
        with ExitStack() as opened:
            lock = WriterLock(at.places.root, patience=patience)
            opened.callback(lock.release)
            self.logs = TopicLogs(at, writer=None)
            opened.callback(self.logs.close)
            self.logs.begin()
            opened.callback(self._close_episodes)
            self._opened = opened.pop_all()
        self.messages, self.episodic = self.logs.messages, self.logs.episodic

    @property
    def episodes(self) -> SqliteGraph:
        """The graph of the episodic log."""
        self.show()
        assert self._episodes is not None
        return self._episodes

    def catch_up(self, ends: Mapping[tuple[str, int], int]) -> None:
        """Copy the records of the topics before these ends. That of the episodic topic was asked first."""
        answered = max(self.episodic.checkpoint(), self.episodic.last_cause() + 1)
        if self.messages.end() < answered:  # that log was deleted: what was erased of it is to be erased again
            self.messages.catch_up(answered)
        self.messages.read_up_to(ends[self.messages.at])
        self.episodic.catch_up(ends[self.episodic.at])
        self.episodic.expect_source()
        self._suppress()

    def _suppress(self) -> None:
        """Forget suppressed content that recorders have read; at first, the content that was left before."""
        checkpoint = self.episodic.checkpoint()
        if checkpoint > self._suppressed and (self.messages.has_content_keys or not self._looked_for_content):
            self.messages.suppress(self._suppressed, checkpoint)
            self._looked_for_content = True
        self._suppressed = checkpoint

    def show(self) -> None:
        """Let the graph follow the episodic log."""
        if self._episodes is None:
            self._episodes = following_store(self.episodic, self._at.places.episodes)
        else:
            catch_up(self.episodic, self._episodes)

    def reached(self) -> TopicProgress | None:
        """Return up to where the episodic log and its graph have the topic; None: the graph is behind."""
        self.show()
        return self.logs.progress()

    def files(self) -> list[ErasedFrom]:
        """Return the files that a group may be erased from."""
        return [self.messages, self.episodic, *([self._episodes] if self._episodes else [])]

    def close(self) -> None:
        """Let others keep the logs up."""
        self._opened.close()

    def _close_episodes(self) -> None:
        if self._episodes is not None:
            self._episodes.close()


class InputReader:
    """The logs, as another process keeps them up. NotFound: they are not there yet."""

    def __init__(self, at: TopicPartitions) -> None:
        places = at.places
        self._paths = (places.messages, places.episodic, places.episodes)
        self._topic = str(at.episodic)
        self._files = [_identity(path) for path in self._paths]
        with ExitStack() as opened:
            self.messages = opened.enter_context(SqliteLog(places.messages))
            self.episodic = opened.enter_context(SqliteLog(places.episodic))
            self.episodes = opened.enter_context(SqliteGraph(places.episodes, self.episodic.name))
            self._state = opened.enter_context(at.state())
            if not self.are_current:
                raise NotFound(f"{places.root}: its files are being made")
            self._opened = opened.pop_all()

    def reached(self) -> TopicProgress | None:
        """Return up to where the episodic log and its graph have the topic; None: the graph is behind."""
        progress = self._state.progress(self._topic)
        return progress if self.episodes.position() >= progress.position else None

    @property
    def are_current(self) -> bool:
        """Whether the files are those that were opened: a graph may have been built anew."""
        return self._files == [_identity(path) for path in self._paths]

    def files(self) -> list[ErasedFrom]:
        """Return no file: the process that keeps them up erases from them."""
        return []

    def close(self) -> None:
        """Close the files."""
        self._opened.close()


class InputChoice:
    """The inputs of a believer: read where another process keeps them up, else copied, until a recorder wants to.

    beside: whether a recorder works in the directory, and may be about to come to this partition.
    """

    def __init__(self, at: TopicPartitions, *, beside: bool) -> None:
        self.chosen: InputReplica | InputReader | None = None
        self._at = at
        self._left = time.monotonic() if beside else -PATIENCE  # when another process kept the inputs up the last time

    def is_settled(self) -> bool:
        """Return whether what was chosen still holds."""
        chosen = self.chosen
        if isinstance(chosen, InputReplica):
            return not is_held(self._at.places.root, AGENT)
        return chosen is not None and chosen.are_current and not self._is_left()

    def choose(self) -> None:
        """Choose anew; nothing is chosen where a recorder has only begun."""
        self.close()
        with suppress(WriterBusy):
            if self._is_left():
                self.chosen = InputReplica(self._at)
                return
        with suppress(NotFound):
            self.chosen = InputReader(self._at)

    def _is_left(self) -> bool:
        """Whether no other process has kept the inputs up for so long that none may be about to."""
        root, now = self._at.places.root, time.monotonic()
        if is_held(root) or is_held(root, AGENT):
            self._left = now
        return now - self._left > PATIENCE

    def close(self) -> None:
        """Let go of the inputs."""
        if self.chosen is not None:
            self.chosen.close()
            self.chosen = None


def _identity(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
