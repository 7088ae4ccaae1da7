"""asof: a directory to which statements are imported with the times at which they were recorded."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import asof
from bench.two_clocks.told import Ended, Question, Retracted, Stated, kind_of

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class AsofMemory:
    """Tells and asks a memory by its Python API. Statements are taken together, before the first question."""

    def __init__(self, folder: Path) -> None:
        self._memory = asof.open(folder, embedder="none")
        self._lines: list[dict[str, Any]] = []
        self._stated: dict[str, Stated] = {}
        self._ended: dict[str, Ended] = {}

    def reset(self, single: Sequence[str]) -> None:
        """Begin with an empty directory; its ontology has these relations."""

    def state(self, said: Stated) -> None:
        """Assert a fact under the ref of its source."""
        self._stated[said.ref] = said
        times = {"valid_at": said.start, "invalid_at": said.end}
        self._line(
            said.recorded, ref=said.ref, subject=said.subject, relation=said.relation, object=said.object, **times
        )

    def end(self, said: Ended) -> None:
        """End the fact that has the ref."""
        self._ended[said.ref] = said
        self._line(said.recorded, op="end", ref=said.of, invalid_at=said.at)

    def retract(self, said: Retracted) -> None:
        """Retract the fact that has the ref, or the ending: that one by its id."""
        ended = self._ended.get(said.of)
        self._line(said.recorded, op="retract", ref=said.of if ended is None else self._ending(ended))

    def ask(self, question: Question) -> frozenset[str]:
        """Answer a question."""
        self._flush()
        subject, relation, valid, known = question.subject, question.relation, question.valid, question.known
        match kind_of(question):
            case "two hops":
                between = self._objects(subject, relation, valid, known)
                found = [self._objects(one, question.then or "", valid, known) for one in between]
                return frozenset[str]().union(*found)
            case "known since":
                return self._known_since(question)
            case "what changed":
                before, after = (self._objects(subject, relation, valid, at) for at in (known, None))
                return frozenset([f"-{one}" for one in before - after] + [f"+{one}" for one in after - before])
            case "who says so":
                facts = self._memory.facts(about=subject, relation=relation, object=question.object, valid_at=valid)
                return frozenset(said.name for fact in facts for said in self._memory.why(fact.uuid).evidence)
            case _:
                return self._objects(subject, relation, valid, known)

    def _objects(self, subject: str, relation: str, valid: datetime, known: datetime | None) -> frozenset[str]:
        facts = self._memory.facts(about=subject, relation=relation, valid_at=valid, known_at=known)
        return frozenset(fact.object for fact in facts)

    def _known_since(self, question: Question) -> frozenset[str]:
        """Return since when one fact after the other has said it without a break."""
        versions = [
            (one.known_from, one.known_to)
            for one in self._memory.history(question.subject)
            if (one.relation, one.object) == (question.relation, question.object)
            and (one.valid_at is None or one.valid_at <= question.valid)
            and (one.invalid_at is None or question.valid < one.invalid_at)
        ]
        since: datetime | None = None
        for known_from, known_to in sorted(versions, key=lambda known: known[1] or _NEVER, reverse=True):
            if known_to is None or (since is not None and known_to >= since):
                since = known_from if since is None else min(since, known_from)
        return frozenset() if since is None else frozenset([since.date().isoformat()])

    def _ending(self, ended: Ended) -> str:
        """Return the id of an ending: that of the consequence that it had."""
        self._flush()
        said = self._stated[ended.of]
        facts = self._memory.facts(about=said.subject, relation=said.relation, object=said.object, any_time=True)
        found = [why for fact in facts if (why := self._memory.why(fact.uuid)).evidence[0].name == ended.of]
        [ending] = {c.statement for why in found for c in why.consequences if c.ends_at == ended.at}
        return ending

    def _line(self, recorded: datetime, **fields: Any) -> None:
        line = {name: _text(value) if isinstance(value, datetime) else value for name, value in fields.items()}
        self._lines.append({**line, "recorded_at": _text(recorded)})

    def _flush(self) -> None:
        if self._lines:
            taken = self._memory.import_facts(self._lines, recorded=True)
            assert not taken.refused
            assert not taken.parked
            self._lines = []


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
