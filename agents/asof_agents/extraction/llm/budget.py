"""Budgets of calls to a language model: of each group, and of a build.

A request that is not answered yet counts with what its prompt says, so that many at once spend no more than one after
the other. Requests ahead of their messages are refused while calls before them could still be wanted: so a build that
stops has recorded what it paid for.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_projections.model.prices import ModelBudget, ModelPrice
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed

Replies = Callable[[str], Iterable[ExtractionAnswered | ExtractionFailed]]
"""Returns the recorded replies about the messages of a group."""

_CHARACTERS: Final = 4  # of a token, about
ANSWER_TOKENS: Final = 100  # of an answer, as long as none is known
_KEPT: Final = 10_000  # groups that were asked about last: far more than have calls that are not recorded yet


class Budget:
    """Counts tokens and money against limits. One thread asks `admits` and reserves; any thread settles.

    group: the limit of each group, over all that is recorded of it. recorded: asked for each group, again where
    many others were asked about since. refused: told of each request that is not made.
    """

    def __init__(
        self,
        group: ModelBudget | None = None,
        price: ModelPrice | None = None,
        recorded: Replies = lambda _: (),
        refused: Callable[[ModelRequest], None] = lambda _: None,
    ) -> None:
        self.refused: Final = refused
        self.is_of_build = False
        self._group = group or ModelBudget()
        self._price = price
        self._recorded = recorded
        self._build: ModelBudget | None = None
        self._lock = Lock()
        self._groups: dict[str, Counter[str]] = {}
        self._spent = Counter[str]()  # by the build

    @contextmanager
    def of_build(self, limit: ModelBudget, recorded: Iterable[ExtractionAnswered | ExtractionFailed]) -> Iterator[None]:
        """Count a build meanwhile, with what it has recorded before: it stops where a budget is spent."""
        self._build, self._spent, self.is_of_build = limit, _sum(recorded), True
        try:
            yield
        finally:
            self._build, self.is_of_build = None, False

    def admits(self, group: str, request: ModelRequest, behind: int = 0) -> bool:
        """Whether a request may be made, and as many calls like it that may be wanted before its answer is."""
        if self._build is None and not self._group.is_set:
            return True
        asked = _expected(request)
        of_group = self._group.is_set and not self._fits(self._group, self._of(group), asked, behind)
        of_build = self._build is not None and not self._fits(self._build, self._spent, asked, behind)
        return not (of_group or of_build)

    def reserve(self, group: str, request: ModelRequest) -> None:
        """Count a request that is about to be made."""
        self._add(group, _expected(request))

    def settle(self, group: str, request: ModelRequest, reply: ModelReply | None) -> None:
        """Count what a request came to in the place of what was reserved for it; None: it was not made."""
        expected = _expected(request)
        counted = Counter(prompt=-expected["prompt"], completion=-expected["completion"])
        if reply is not None:
            counted.update(prompt=reply.prompt_tokens, completion=reply.completion_tokens)
        self._add(group, counted)

    def erase(self, group: str) -> None:
        """Count a group from the beginning: what it has cost is erased with it."""
        with self._lock:
            self._groups.pop(group, None)

    def _add(self, group: str, counted: Counter[str]) -> None:
        with self._lock:
            self._spent.update(counted)
            if group in self._groups:
                self._groups[group].update(counted)

    def _of(self, group: str) -> Counter[str]:
        with self._lock:
            spent = self._groups.pop(group, None)
            if spent is not None:
                self._groups[group] = spent  # as the last one
                return spent
        spent = _sum(self._recorded(group))
        with self._lock:
            self._groups[group] = spent
            if len(self._groups) > _KEPT:
                del self._groups[next(iter(self._groups))]
        return spent

    def _fits(self, limit: ModelBudget, spent: Counter[str], asked: Counter[str], behind: int) -> bool:
        with self._lock:
            read, written = (spent[kind] + (1 + behind) * asked[kind] for kind in ("prompt", "completion"))
        return limit.has(read, written, self._price)


def _expected(request: ModelRequest) -> Counter[str]:
    characters = len(request.system) + len(request.user) + len(request.schema)
    return Counter(prompt=characters // _CHARACTERS, completion=ANSWER_TOKENS)


def _sum(replies: Iterable[ExtractionAnswered | ExtractionFailed]) -> Counter[str]:
    spent = Counter[str]()
    for reply in replies:
        spent.update(prompt=reply.prompt_tokens, completion=reply.completion_tokens)
    return spent
