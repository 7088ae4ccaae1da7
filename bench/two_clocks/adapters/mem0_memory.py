"""mem0, where its package is installed: without a model, and with embeddings that say nothing.

It has no times of its own to be told, so it keeps what is said now: a memory for each statement, one for each slot that
has one object at a time. What ends or is retracted is deleted.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.two_clocks.told import Ended, Question, Retracted, Stated, kind_of

_USER = "story"
_MANY = 1_000  # memories of a slot


class Mem0Memory:
    """Tells and asks a memory by `add`, `update`, `delete` and `get_all`."""

    def __init__(self, folder: Path) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder)
        key = {"api_key": "none"}
        self._memory: Any = import_module("mem0").Memory.from_config(
            {
                "llm": {"provider": "openai", "config": key},
                "embedder": {"provider": "openai", "config": {**key, "embedding_dims": 10}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(folder / "vectors"), "embedding_model_dims": 10},
                },
                "history_db_path": ":memory:",
            }
        )
        self._memory.embedding_model = import_module("mem0.embeddings.mock").MockEmbeddings()
        self._single: Sequence[str] = ()
        self._of: dict[str, str] = {}  # memories by ref
        self._slots: dict[tuple[str, str], str] = {}

    def reset(self, single: Sequence[str]) -> None:
        """Begin with nothing."""
        self._single = single

    def state(self, said: Stated) -> None:
        """Add a memory, in place of the one of its slot, if there is one object at a time."""
        slot = said.subject, said.relation
        if said.relation in self._single and slot in self._slots:
            self._delete(self._slots.pop(slot))
        fields = {"subject": said.subject, "relation": said.relation, "object": said.object, "ref": said.ref}
        text = f"{said.subject} {said.relation} {said.object}"
        [added] = self._memory.add(text, user_id=_USER, infer=False, metadata=fields)["results"]
        self._of[said.ref] = self._slots[slot] = added["id"]

    def end(self, said: Ended) -> None:
        """Delete what the ref stated."""
        self._delete(self._of.get(said.of))

    def retract(self, said: Retracted) -> None:
        """Delete what the ref stated."""
        self._delete(self._of.get(said.of))

    def ask(self, question: Question) -> frozenset[str]:
        """Answer with what is said now, whatever the times."""
        held = self._held(question.subject, question.relation)
        match kind_of(question):
            case "two hops":
                found = [self._held(one["object"], question.then or "") for one in held]
                return frozenset(one["object"] for ones in found for one in ones)
            case "known since" | "what changed":
                return frozenset()
            case "who says so":
                return frozenset(one["ref"] for one in held if one["object"] == question.object)
            case _:
                return frozenset(one["object"] for one in held)

    def _held(self, subject: str, relation: str) -> list[dict[str, str]]:
        filters = {"user_id": _USER, "subject": subject, "relation": relation}
        return [one["metadata"] for one in self._memory.get_all(filters=filters, top_k=_MANY)["results"]]

    def _delete(self, memory: str | None) -> None:
        if memory in self._of.values():
            self._memory.delete(memory)
            self._of = {ref: one for ref, one in self._of.items() if one != memory}
            self._slots = {slot: one for slot, one in self._slots.items() if one != memory}
