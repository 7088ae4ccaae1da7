"""The right answers, worked out anew for each question from all that was said by then.

What holds: a statement does from its start until the end that it gives, or the first ending of it. In a relation with
one object at a time, one without an end also ends where a statement of another object begins; where two still overlap,
the one that begins later holds, and of two that begin together the one that was said later. What is retracted was never
said: not a statement, nor an ending, nor that two names are of one.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from bench.two_clocks.told import SAME, SINGLE, Ended, Question, Retracted, Said, Stated, kind_of


class Oracle:
    """Answers from a list of what was said."""

    def __init__(self, told: Sequence[Said]) -> None:
        self._told = told
        self._live_by: dict[datetime | None, list[Said]] = {}

    def ask(self, question: Question) -> frozenset[str]:
        """Return the right answer."""
        subject, relation, valid, known = question.subject, question.relation, question.valid, question.known
        match kind_of(question):
            case "two hops":
                between = self.objects(subject, relation, valid, known)
                found = [self.objects(one, question.then or "", valid, known) for one in between]
                return frozenset[str]().union(*found)
            case "known since":
                return self._known_since(question)
            case "what changed":
                before, after = (self.objects(subject, relation, valid, at) for at in (known, None))
                return frozenset([f"-{one}" for one in before - after] + [f"+{one}" for one in after - before])
            case "who says so":
                holding = self._holding(self._live(None), self._called(subject, None), relation, valid)
                return frozenset(said.ref for said in holding if said.object == question.object)
            case _:
                return self.objects(subject, relation, valid, known)

    def objects(self, subject: str, relation: str, valid: datetime, known: datetime | None) -> frozenset[str]:
        """Return what held at an instant, as it was known at another."""
        holding = self._holding(self._live(known), self._called(subject, known), relation, valid)
        return frozenset(said.object for said in holding)

    def _known_since(self, question: Question) -> frozenset[str]:
        since: datetime | None = None
        for recorded in sorted({said.recorded for said in self._told}, reverse=True):
            if question.object not in self.objects(question.subject, question.relation, question.valid, recorded):
                break
            since = recorded
        return frozenset() if since is None else frozenset([since.date().isoformat()])

    def _live(self, known: datetime | None) -> list[Said]:
        if known not in self._live_by:
            self._live_by[known] = self._find_live(known)
        return self._live_by[known]

    def _find_live(self, known: datetime | None) -> list[Said]:
        heard = [said for said in self._told if known is None or said.recorded <= known]
        wrong = {said.of for said in heard if isinstance(said, Retracted)}
        return [said for said in heard if not isinstance(said, Retracted) and said.ref not in wrong]

    def _called(self, name: str, known: datetime | None) -> set[str]:
        """Return all names of what has a name."""
        pairs = [
            {said.subject, said.object}
            for said in self._live(known)
            if isinstance(said, Stated) and said.relation == SAME
        ]
        names = {name}
        for _ in pairs:
            names = names.union(*(pair for pair in pairs if pair & names))
        return names

    def _holding(self, live: Iterable[Said], names: set[str], relation: str, valid: datetime) -> list[Stated]:
        """Return the statements that hold at an instant."""
        live = list(live)
        slot = [s for s in live if isinstance(s, Stated) and s.subject in names and s.relation == relation]
        holding = [s for s in slot if s.start <= valid and all(valid < end for end in _ends(s, slot, live))]
        if relation not in SINGLE or not holding:
            return holding
        last = max(holding, key=lambda s: (s.start, s.recorded))
        return [s for s in holding if s.object == last.object]


def _ends(said: Stated, slot: Sequence[Stated], live: Sequence[Said]) -> list[datetime]:
    """Return the instants at which a statement may end; the first of them counts."""
    ends = [one.at for one in live if isinstance(one, Ended) and one.of == said.ref and one.at > said.start]
    if said.end is not None:
        return [*ends, said.end]
    if said.relation in SINGLE:
        place = (said.start, said.recorded)
        ends += [other.start for other in slot if other.object != said.object and (other.start, other.recorded) > place]
    return ends
