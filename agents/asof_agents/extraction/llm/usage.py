"""What asking language models has cost since a process began, by what was asked and of which model."""

from collections import Counter
from threading import Lock
from typing import NamedTuple

from asof_agents.extraction.ports import ModelReply, ModelRequest


class Used(NamedTuple):
    """Counts: `failed` calls gave no answer that could be read; `retries` are those made again after one."""

    calls: int = 0
    failed: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


Usage = dict[tuple[str, str], Used]
"""By the key of the prompt and the model."""


class Meter:
    """Counts from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counted: dict[tuple[str, str], Counter[str]] = {}

    def count(self, request: ModelRequest, reply: ModelReply) -> None:
        """Add what came of a question."""
        retries = reply.calls - 1
        added = Used(
            reply.calls, retries + (reply.answer is None), retries, reply.prompt_tokens, reply.completion_tokens
        )
        with self._lock:
            self._counted.setdefault((request.prompt, request.model), Counter()).update(added._asdict())

    def snapshot(self) -> Usage:
        """Return the counts so far."""
        with self._lock:
            return {asked: Used(**counted) for asked, counted in self._counted.items()}
