"""How far a worker is, seen from outside: what readers of its directory can see, and when."""

import threading
import time
from pathlib import Path

from asof.runtime.layout import DirectoryLayout
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import AsofError
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing
from asof_streams.sqlite_log import SqliteLog

_LOOK = 0.005  # seconds


class Following:
    """Looks into the directory of a worker that is starting or runs."""

    def __init__(self, data: Path) -> None:
        self._places = DirectoryLayout(data)

    def rate(self, count: int) -> float:
        """Return messages a second, from when the worker holds the first to when what follows from `count` is there."""
        while not self._received():
            time.sleep(_LOOK)
        start = time.perf_counter()
        self.wait_for(count)
        return count / (time.perf_counter() - start)

    def wait_for(self, count: int) -> None:
        """Wait until so many messages are taken."""
        while self.taken() < count:
            time.sleep(0.05)

    def _received(self) -> int:
        try:
            with SqliteLog(self._places.messages) as messages:
                return messages.end()
        except AsofError:
            return 0

    def taken(self) -> int:
        """Return how many messages have come so far that what follows from them is on the semantic log."""
        try:
            with SqliteLog(self._places.semantic("main")) as semantic, SqliteLog(self._places.episodic) as episodic:
                *_, (_, _, _, cause, *_) = episodic.read(semantic.checkpoint() - 1, semantic.checkpoint())
                return cause + 1
        except (AsofError, ValueError):
            return 0

    def while_sending(
        self, client: Client, topic: str, records: list[Outgoing], rate: float
    ) -> tuple[list[float], dict[int, float]]:
        """Send records at a rate; return when each was sent, and when each position was seen."""
        sent: list[float] = []
        sending = threading.Thread(target=self._send, args=(client, topic, records, rate, sent))
        sending.start()
        seen: list[tuple[float, int]] = []  # when, and the position of the semantic log that readers saw then
        with SqliteGraph(self._places.graph("main"), "semantic.main") as graph:
            while len(sent) < len(records) or self.taken() <= len(records) or seen[-1][1] < self._believed():
                seen.append((time.perf_counter(), graph.position()))
                time.sleep(_LOOK)
        sending.join()
        return sent, self._moments(seen)

    def _believed(self) -> int:
        with SqliteLog(self._places.semantic("main")) as log:
            return log.end()

    def _moments(self, seen: list[tuple[float, int]]) -> dict[int, float]:
        """Return when each message was first seen, by its position: when the last of its events was."""
        found: dict[int, float] = {}
        looks = iter(seen)
        moment, position = next(looks)
        with SqliteLog(self._places.semantic("main")) as log:
            for record in log.read():
                while position <= record.position:
                    moment, position = next(looks)
                found[record.cause] = moment
        return found

    @staticmethod
    def _send(client: Client, topic: str, records: list[Outgoing], rate: float, sent: list[float]) -> None:
        began = time.perf_counter()
        while (done := len(sent)) < len(records):
            due = min(int((time.perf_counter() - began) * rate) + 1, len(records))
            if due > done:
                moment = time.perf_counter()
                client.send(topic, 0, records[done:due])
                sent += [moment] * (due - done)
            time.sleep(_LOOK)
