"""Connections: how many there are at once, and how long one may take to send a request.

Without these limits, clients that send half a request and wait would use up the connections of the process.
"""

import asyncio
import resource
from typing import Final, Literal

from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_SECONDS: Final = 10.0
_BODY_SECONDS: Final = 60.0
_LAST_SECONDS: Final = 5.0  # for a client to take what is sent to it, once the service is to end
_OWN_FILES: Final = 256  # logs, graphs and vectors: what the process opens beside connections
MOST: Final = max(64, min(1_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OWN_FILES))

Stage = Literal["head", "body", "answer"]


class BoundedConnection(H11Protocol):
    """One connection. It is closed if a request does not come in time: 10 seconds for its head, 60 for its body.

    Where there are too many, a new one takes the place of the one that has waited longest for the rest of a request;
    where none waits, the new one is closed. A service that ends waits for answers, and five seconds for their clients:
    one that takes nothing would keep it for ever.
    """

    stage: Stage = "answer"
    since: float = 0.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._enter("head")
        if len(self.connections) > MOST:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._enter("answer")
        super().connection_lost(exc)

    def _watch(self) -> None:
        answered = self.cycle is None or self.cycle.response_complete
        stage: Stage = "head" if answered else "body" if self.cycle.more_body else "answer"
        if stage != self.stage and not self.transport.is_closing():
            self._enter(stage)

    def _enter(self, stage: Stage) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self.stage, self.since = stage, self.loop.time()
        if stage != "answer":
            seconds = _HEAD_SECONDS if stage == "head" else _BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self.end)

    def _make_room(self) -> None:
        waiting = [
            other
            for other in self.connections
            if isinstance(other, BoundedConnection) and other is not self and other.stage != "answer"
        ]
        min(waiting, key=lambda other: other.since, default=self).end()

    def shutdown(self) -> None:
        """Close it, after the answer that is under way."""
        super().shutdown()
        self.loop.call_later(_LAST_SECONDS, self._end_unread)

    def _end_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.end()
        else:  # the answer is still being made
            self.loop.call_later(_LAST_SECONDS, self._end_unread)

    def end(self) -> None:
        """Close it without an answer."""
        self.connections.discard(self)  # at once; the loop tells of the loss later
        self.transport.abort()
