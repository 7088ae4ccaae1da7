"""The journal of a model's answers: recorded answers are used again, and others requested, some of them ahead.

Requests run concurrently, in threads that touch nothing but the model. Handlers fetch the replies in any order and
record them as events. One thread uses the journal.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol

from asof_agents.extraction.llm.budget import Budget
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed
from asof_streams.errors import BuildStopped

SPENT: Final = "budget"  # the reason of a failure: the budget of the group was spent

Recorded = Callable[[str, str], ExtractionAnswered | None]
"""Returns the recorded answer of a request, by its group and digest; None: no log has one."""

Failed = Callable[[str, str, int], ExtractionFailed | None]
"""Returns the recorded failure of a request, by its group, its digest and the position of its message; None: none."""


class Model(Protocol):
    """A language model."""

    def ask(self, request: ModelRequest) -> ModelReply:
        """Return the reply to a request, an answer or a failure; called from any thread."""
        ...


class Journal:
    """Implements ports.Answers over a model and the recorded answers; `concurrency` requests run at a time.

    A request that a handler waits for goes before those sent ahead. An answer is kept until `discard_recorded`, so that
    no call is paid for twice when an error rolls the engine back and it ingests a message again. A failure stands for
    the message that it was recorded about: only a retry, which is another message, asks again.

    budget: what may be spent. Beyond it a request fails without a call, and a build stops.
    """

    def __init__(
        self, model: Model, recorded: Recorded, failed: Failed, concurrency: int, budget: Budget | None = None
    ) -> None:
        self.budget = budget or Budget()
        self.depth = 4 * concurrency  # messages to prefetch, so that none of the slots idles behind a slow reply
        self._model = model
        self._find = recorded
        self.failure = failed
        self._pool = ThreadPoolExecutor(concurrency, "asof-model")
        self._waiting: deque[tuple[str, ModelRequest, Future[ModelReply]]] = deque()
        self._asked: dict[tuple[str, str], Future[ModelReply]] = {}
        self._taken: list[tuple[str, str]] = []
        self._kept: dict[tuple[str, str], ExtractionAnswered] = {}

    def prefetch(self, group: str, request: ModelRequest, cause: int) -> None:
        """Send a request ahead, unless its answer or failure is recorded or it is under way."""
        digest = request.digest
        if (group, digest) in self._asked or self._recorded(group, digest) or self.failure(group, digest, cause):
            return
        if self.budget.admits(group, request, behind=2 * self.depth):
            self._ask((group, digest), request, self._waiting.append)

    def reply(self, group: str, request: ModelRequest, cause: int) -> ModelReply:
        """Return the recorded failure or answer, or the model's reply; it waits for the reply.

        BuildStopped: the budget of the build, or of the group, is spent.
        """
        key = group, request.digest
        if failed := self.failure(*key, cause):
            return ModelReply(None, failed.reason, failed.calls, failed.prompt_tokens, failed.completion_tokens)
        recorded = None if key in self._asked else self._recorded(*key)
        if recorded is not None:
            counts = recorded.calls, recorded.prompt_tokens, recorded.completion_tokens, recorded.latency_ms
            return ModelReply(recorded.answer, "", *counts)
        if key not in self._asked:
            if not self.budget.admits(group, request):
                return self._refuse(request)
            self._ask(key, request, self._waiting.appendleft)
        try:
            reply = self._asked[key].result()
        except BaseException:
            del self._asked[key]
            raise
        if reply.answer is None:
            del self._asked[key]
        else:
            self._taken.append(key)
        return reply

    def keep(self, group: str, answers: Iterable[ExtractionAnswered]) -> None:
        """Keep answers that are erased from the logs until `discard_recorded`: what is told again needs them."""
        self._kept.update(((group, answer.request), answer) for answer in answers)

    def _recorded(self, group: str, digest: str) -> ExtractionAnswered | None:
        return self._kept.get((group, digest)) or self._find(group, digest)

    def _ask(
        self,
        key: tuple[str, str],
        request: ModelRequest,
        put: Callable[[tuple[str, ModelRequest, Future[ModelReply]]], None],
    ) -> None:
        self.budget.reserve(key[0], request)
        self._asked[key] = future = Future[ModelReply]()
        put((key[0], request, future))
        self._pool.submit(self._ask_first)

    def _refuse(self, request: ModelRequest) -> ModelReply:
        if self.budget.is_of_build:
            raise BuildStopped("the budget is spent: go on with a larger one", "paused")
        self.budget.refused(request)
        return ModelReply(None, SPENT, 0)

    def _ask_first(self) -> None:
        """Ask the first waiting request, in a thread of the pool. It is called once for each request."""
        group, request, future = self._waiting.popleft()
        if not future.set_running_or_notify_cancel():
            self.budget.settle(group, request, None)
            return
        try:
            reply = self._model.ask(request)
        except BaseException as error:  # noqa: BLE001 - `reply` raises it
            self.budget.settle(group, request, None)
            future.set_exception(error)
        else:
            self.budget.settle(group, request, reply)
            future.set_result(reply)

    def discard_recorded(self) -> None:
        """Drop the replies that were returned: the logs have them now."""
        for key in self._taken:
            self._asked.pop(key, None)
        self._taken = []
        self._kept.clear()

    def erase(self, group: str) -> None:
        """Drop the requests and replies of a group."""
        for key in [key for key in self._asked if key[0] == group]:
            self._asked.pop(key).cancel()
        self.budget.erase(group)

    def close(self) -> None:
        """Send no more requests; those that have begun end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)
