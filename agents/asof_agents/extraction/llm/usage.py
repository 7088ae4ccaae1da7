"""Counts the calls and tokens of language models since the process began, by prompt and model."""

from collections import Counter
from threading import Lock
from typing import NamedTuple

from asof_agents.extraction.ports import ModelReply, ModelRequest


class UsageCounts(NamedTuple):
    """Counts of calls and tokens: `failed` calls gave no usable answer, `retries` came after a failed call.

    refused: requests that were not made, because the budget of a group was spent.
    """

    calls: int = 0
    failed: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    refused: int = 0


Usage = dict[tuple[str, str], UsageCounts]
"""By the key of the prompt and the model."""


class Meter:
    """Sums up usage; called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: dict[tuple[str, str], Counter[str]] = {}

    def count(self, request: ModelRequest, reply: ModelReply) -> None:
        """Add the counts of a reply."""
        retries = reply.calls - 1
        added = UsageCounts(
            reply.calls, retries + (reply.answer is None), retries, reply.prompt_tokens, reply.completion_tokens
        )
        self._add(request, added)

    def refuse(self, request: ModelRequest) -> None:
        """Count a request that is not made."""
        self._add(request, UsageCounts(refused=1))

    def _add(self, request: ModelRequest, added: UsageCounts) -> None:
        with self._lock:
            self._counted.setdefault((request.prompt, request.model), Counter()).update(added._asdict())

    def snapshot(self) -> Usage:
        """Return the counts so far."""
        with self._lock:
            return {asked: UsageCounts(**counted) for asked, counted in self._counted.items()}
