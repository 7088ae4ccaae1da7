"""The journal of a model's answers: what is recorded is looked up before anything is asked.

Questions may be asked ahead, several at once, in threads that touch nothing else; replies are taken in any order, and
it is the handlers that record them. Used by one thread.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_streams.episodic import ExtractionAnswered

Recorded = Callable[[str, str], ExtractionAnswered | None]
"""Given a group and the digest of a request: the answer that a log has."""


class Model(Protocol):
    """A language model."""

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return what came of a question, from any thread. ModelUnavailable: no question can be asked as it is set."""
        ...


class Journal:
    """Implements ports.Answers over a model and what the logs have recorded; asks `concurrency` questions at a time.

    What is waited for goes before what is asked ahead. A reply is kept until it is `recorded`, so that none is paid for
    twice where the work has to be done again.
    """

    def __init__(self, model: Model, recorded: Recorded, concurrency: int) -> None:
        self.depth = 4 * concurrency  # messages that may be asked about, while one may wait for a second answer
        self._model = model
        self._find = recorded
        self._pool = ThreadPoolExecutor(concurrency, "asof-model")
        self._waiting: deque[tuple[ModelRequest, Future[ModelReply]]] = deque()
        self._asked: dict[tuple[str, str], Future[ModelReply]] = {}
        self._taken: list[tuple[str, str]] = []

    def prefetch(self, group: str, request: ModelRequest) -> None:
        """Ask, unless the answer is recorded or the question under way."""
        digest = request.digest
        if (group, digest) not in self._asked and self._find(group, digest) is None:
            self._ask((group, digest), request, self._waiting.append)

    def reply(self, group: str, request: ModelRequest) -> ModelReply:
        """Return what came of a question; what is recorded goes first."""
        key = group, request.digest
        found = None if key in self._asked else self._find(*key)
        if found is not None:
            counts = found.calls, found.prompt_tokens, found.completion_tokens, found.latency_ms
            return ModelReply(found.answer, "", *counts)
        if key not in self._asked:
            self._ask(key, request, self._waiting.appendleft)
        try:
            reply = self._asked[key].result()
        except BaseException:
            del self._asked[key]
            raise
        self._taken.append(key)
        return reply

    def _ask(
        self,
        key: tuple[str, str],
        request: ModelRequest,
        put: Callable[[tuple[ModelRequest, Future[ModelReply]]], None],
    ) -> None:
        self._asked[key] = future = Future[ModelReply]()
        put((request, future))
        self._pool.submit(self._ask_first)

    def _ask_first(self) -> None:
        """Ask what waits first, in a thread of the pool: there are as many calls of this as questions."""
        request, future = self._waiting.popleft()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(self._model.ask(request))
            except BaseException as error:  # noqa: BLE001 - whoever waits for the answer gets it
                future.set_exception(error)

    def discard_recorded(self) -> None:
        """Drop the replies that were returned: the logs have them now."""
        for key in self._taken:
            self._asked.pop(key, None)
        self._taken = []

    def erase(self, group: str) -> None:
        """Drop what was asked about a group."""
        for key in [key for key in self._asked if key[0] == group]:
            self._asked.pop(key).cancel()

    def close(self) -> None:
        """Ask nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
