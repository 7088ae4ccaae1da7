"""Memvara, where its package is installed (and SQLite is 3.42 or later, which it needs).

A statement that it finds stored already reinforces that claim: then its ref names no claim of its own, and what ends or
retracts it changes nothing. Endings cannot be taken back, nor can names that were learned to be the same.
"""

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.two_clocks.told import SAME, Ended, Question, Retracted, Stated, kind_of

_USER = "story"


class MemvaraMemory:
    """Tells and asks a store by `remember`, `delete`, `history` and `why`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._memvara = import_module("memvara")
        self._memory: Any = self._memvara.Memvara(
            str(folder / "memory.db"), user=_USER, llm=self._memvara.NullLLM(), embeddings=False
        )
        self._claims: dict[str, list[str]] = {}  # by ref

    def reset(self, single: Sequence[str]) -> None:
        """Begin with an empty store that knows which predicates have one value."""
        schema = import_module("memvara.schema")
        for relation in single:
            self._memory.registry.register(schema.PredicateSpec(name=relation, cardinality=schema.Cardinality.ONE))

    def state(self, said: Stated) -> None:
        """Remember it, with the source as an episode; let another name be one of the same entity."""
        if said.relation == SAME:
            self._learn_name(said.object, said.subject)
            return
        source = self._memvara.Episode(said.ref, ts=said.recorded)
        receipt = self._memory.remember(
            said.subject,
            said.relation,
            said.object,
            valid_from=said.start,
            valid_to=said.end,
            recorded_at=said.recorded,
            sources=[source],
        )
        self._claims[said.ref] = [claim.id for claim in receipt.added]

    def end(self, said: Ended) -> None:
        """Close the valid time of the claims of the ref."""
        for claim in self._claims.get(said.of, ()):
            self._memory.delete(claim, at=said.at, close="ended")

    def retract(self, said: Retracted) -> None:
        """Retire the claims of the ref."""
        for claim in self._claims.get(said.of, ()):
            self._memory.delete(claim, at=said.recorded, close="retired")

    def ask(self, question: Question) -> frozenset[str]:
        """Answer from the claims of a slot that are live at both times."""
        subject, relation, valid, known = question.subject, question.relation, question.valid, question.known
        match kind_of(question):
            case "two hops":
                found = [
                    self._objects(one, question.then or "", valid, known)
                    for one in self._objects(subject, relation, valid, known)
                ]
                return frozenset[str]().union(*found)
            case "known since":
                since = [
                    c.recorded_at for c in self._live(subject, relation, valid, None) if c.object == question.object
                ]
                return frozenset([min(since).date().isoformat()] if since else [])
            case "what changed":
                before, after = (self._objects(subject, relation, valid, at) for at in (known, None))
                return frozenset([f"-{one}" for one in before - after] + [f"+{one}" for one in after - before])
            case "who says so":
                claims = [c for c in self._live(subject, relation, valid, None) if c.object == question.object]
                return frozenset(source.content for claim in claims for source in self._memory.why(claim.id).episodes)
            case _:
                return self._objects(subject, relation, valid, known)

    def _objects(self, subject: str, relation: str, valid: datetime, known: datetime | None) -> frozenset[str]:
        return frozenset(claim.object for claim in self._live(subject, relation, valid, known))

    def _live(self, subject: str, relation: str, valid: datetime, known: datetime | None) -> list[Any]:
        claims = self._memory.history(subject, relation)
        return [claim for claim in claims if claim.is_live(valid_at=valid, known_at=known)]

    def _learn_name(self, name: str, other: str) -> None:
        scope = self._memory.scope(user=_USER).scope
        entities = self._memory.writer.reconciler.entities
        try:
            entities.learn_alias(import_module("memvara.types").owner_key(scope), name, other)
        except KeyError:
            return  # of whom it knows nothing
