"""Comparison: the facts in which two generations of one episodic log differ, subject by subject.

Ids differ between builds, so a fact is known by its claim: its group, the key of its subject's name, its relation, and
its object, by the key of its name or as a literal. Of a claim that both believe, equal periods are the same; of the
others, those that share an episode are redated. Where names differ, evidence decides: two facts of one message and one
relation that rest on the same words are one fact, merged differently.

Both stores are read in one order, by group and key, so that only what is of one subject is in memory.
"""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import merge
from itertools import groupby
from typing import Final, NamedTuple

from asof_projections.graph.ports import GraphStore
from asof_projections.model.answers import Explanation
from asof_projections.model.comparisons import GenerationDifference, Label, RelationDifferences
from asof_projections.model.queries import FactsFilter
from asof_projections.model.rows import FactRow, Moment, Window
from asof_projections.names import key
from asof_projections.ports import SubjectStore
from asof_projections.queries.evidence import Witness

_CACHED: Final = 64  # subjects whose claims are kept, and messages whose pairs are
_CACHED_NAMES: Final = 10_000  # entities whose names are kept


class Namesakes(NamedTuple):
    """The entities of a group whose own names have one key."""

    group: str
    key: str


Claim = tuple[str, str]
"""A relation, and its object: "e:" and the key of an entity's name, or "v:" and a literal."""


class FactDifference(NamedTuple):
    """One difference: the fact in either generation."""

    label: Label
    base: FactRow | None
    other: FactRow | None

    @property
    def fact(self) -> FactRow:
        """The fact by which the difference is found: that of the base, where it has one."""
        fact = self.base or self.other
        assert fact is not None, "a difference has a side"
        return fact


Found = tuple[Namesakes, int, FactDifference]
"""A difference, with its subject and its number among those of the subject, from 1."""


class GenerationView:
    """The facts of one generation that are believed at a known moment, by subject."""

    def __init__(self, store: SubjectStore, episodes: GraphStore, known: int) -> None:
        self._store = store
        self._witness = Witness(store, episodes)
        self._known = known
        self._merges = next(store.each_link(None, known), None) is not None
        self.names = lru_cache(_CACHED_NAMES)(self._names)
        self.claims = lru_cache(_CACHED)(self._claims)

    def subjects(self, group: str | None, start: Namesakes | None) -> Iterator[Namesakes]:
        """Yield the subjects of a group, or of all, in their order, from one on."""
        first = Namesakes("", "") if start is None else start
        groups = self._store.group_names(first.group) if group is None else (group,)
        for name in groups:
            keys = self._store.subject_keys(name, first.key if name == first.group else "")
            yield from (Namesakes(name, found) for found in keys)

    def facts(self, subject: Namesakes) -> list[FactRow]:
        """Return the facts of a subject, by start."""
        about = FactsFilter.model_construct(group_id=subject.group)
        window = Window.at(Moment(None, self._known))
        uuids = self._store.introduced(*subject)
        return self._store.facts(about, window, subjects=uuids) if uuids else []

    def asserted(self, group: str, recorded_at: int) -> list[FactRow]:
        """Return the facts that a message asserted, as first said, believed or not."""
        return self._store.asserted(group, recorded_at)

    def words(self, fact: FactRow) -> tuple[str, ...]:
        """Return the words at the two ends of a fact's relationship; none: it was stated as a structured fact."""
        provenance = self._store.provenance(fact.uuid)
        evidence = provenance and self._witness.evidence(provenance.sources[0])
        return evidence.mentions if evidence else ()

    def why(self, fact: FactRow | None) -> Explanation | None:
        """Return the explanation of a fact."""
        return fact and self._witness.why(fact, self._known)

    def entities(self, fact: FactRow) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names of both ends of a fact, with those of all that they are merged with."""
        ends = ((fact.subject_uuid, fact.subject), (fact.object_uuid, fact.object))
        subject, value = (self.names(uuid) if uuid and self._merges else frozenset({key(name)}) for uuid, name in ends)
        return subject, value

    def _names(self, uuid: str) -> frozenset[str]:
        found = map(self._store.entity, self._store.identity([uuid], self._known))
        return frozenset(key(entity.name) for entity in found if entity is not None)

    def _claims(self, subject: Namesakes) -> dict[Claim, dict[str, FactRow]]:
        """Return the claims of a subject: of each its facts by id, with the first period of each fact."""
        claims: dict[Claim, dict[str, FactRow]] = {}
        for fact in self.facts(subject):
            claims.setdefault(claim_of(fact), {}).setdefault(fact.uuid, fact)
        return claims


def subject_of(fact: FactRow) -> Namesakes:
    """Return the subject of a fact, as it is compared."""
    return Namesakes(fact.group_id, key(fact.subject))


def claim_of(fact: FactRow) -> Claim:
    """Return the relation and the object of a fact, as they are compared."""
    return fact.relation, f"v:{fact.object}" if fact.object_uuid is None else f"e:{key(fact.object)}"


class Comparison:
    """Two generations beside each other."""

    def __init__(self, base: GenerationView, other: GenerationView) -> None:
        self._base, self._other = base, other
        self._merged = lru_cache(_CACHED)(self._find_merged)

    def differences(
        self, group: str | None, after: tuple[Namesakes, int] | None = None, same: Counter[str] | None = None
    ) -> Iterator[Found]:
        """Yield the differences behind one, each with its subject and its number there: by group, key and claim.

        same: counts the facts that both believe alike, by relation.
        """
        same = Counter() if same is None else same
        for subject in self._subjects(group, None if after is None else after[0]):
            found = enumerate(self._compare(subject, same), 1)
            yield from ((subject, n, one) for n, one in found if after is None or (subject, n) > after)

    def summary(self, group: str | None, first: int) -> tuple[list[RelationDifferences], list[Found]]:
        """Return the numbers of each relation, by its name, and the first differences."""
        same, different = Counter[str](), Counter[tuple[str, Label]]()
        shown: list[Found] = []
        for found in self.differences(group, None, same):
            different[found[2].fact.relation, found[2].label] += 1
            if len(shown) < first:
                shown.append(found)
        labels: tuple[Label, ...] = ("gained", "lost", "redated", "merged")
        relations = sorted({*same, *(relation for relation, _ in different)})
        return [RelationDifferences(r, same[r], *(different[r, label] for label in labels)) for r in relations], shown

    def explained(self, found: FactDifference) -> GenerationDifference:
        """Return a difference with the words behind both sides."""
        _, base, other = found
        if base is None:
            base = other and _asserted_as(other, self._base)
        elif other is None:
            other = _asserted_as(base, self._other)
        return GenerationDifference(found.label, self._base.why(base), self._other.why(other))

    def _subjects(self, group: str | None, start: Namesakes | None) -> Iterator[Namesakes]:
        sides = (view.subjects(group, start) for view in (self._base, self._other))
        return (subject for subject, _ in groupby(merge(*sides)))

    def _compare(self, subject: Namesakes, same: Counter[str]) -> Iterator[FactDifference]:
        """Yield the differences of a subject, by claim; count what is believed alike."""
        sides = [_by_claim(view.facts(subject)) for view in (self._base, self._other)]
        for claim in sorted({*sides[0], *sides[1]}):
            base, other = (side.get(claim, []) for side in sides)
            if base and other:
                yield from self._compare_periods(base, other, same)
            else:
                yield from self._one_sided(base, other)

    def _compare_periods(
        self, base: list[FactRow], other: list[FactRow], same: Counter[str]
    ) -> Iterator[FactDifference]:
        """Yield the differences of a claim that both believe."""
        equal, base, other = _paired(base, other, lambda fact: [_period(fact)])
        redated, base, other = _paired(base, other, lambda fact: fact.episodes)
        for one, two in equal:
            if self._are_alike(one, two):
                same[one.relation] += 1
            else:
                yield FactDifference("merged", one, two)
        for one, two in redated:
            yield FactDifference("redated" if self._are_alike(one, two) else "merged", one, two)
        yield from (FactDifference("lost", fact, None) for fact in base)
        yield from (FactDifference("gained", None, fact) for fact in other)

    def _are_alike(self, base: FactRow, other: FactRow) -> bool:
        """Whether the ends of two facts are merged with entities of the same names."""
        return self._base.entities(base) == self._other.entities(other)

    def _one_sided(self, base: list[FactRow], other: list[FactRow]) -> Iterator[FactDifference]:
        """Yield the differences of a claim that one side believes; a merged fact where the base has it, once."""
        told: set[str] = set()
        for fact in base:
            merged = self._merged(fact.group_id, fact.created_at).get(fact.uuid)
            if merged is None:
                yield FactDifference("lost", fact, None)
            elif fact.uuid not in told:
                told.add(fact.uuid)
                yield FactDifference("merged", fact, merged)
        for fact in other:
            merged_ones = self._merged(fact.group_id, fact.created_at).values()
            if all(fact.uuid != one.uuid for one in merged_ones):
                yield FactDifference("gained", None, fact)

    def _find_merged(self, group: str, recorded_at: int) -> dict[str, FactRow]:
        """Return the facts of a message that the other generation believes of other entities, by the id in the base."""
        base = _alone(self._base, self._other, group, recorded_at)
        other = _alone(self._other, self._base, group, recorded_at)
        words = {
            fact.uuid: view.words(fact) for view, facts in ((self._base, base), (self._other, other)) for fact in facts
        }
        pairs, _, _ = _paired(base, other, lambda fact: [(fact.relation, words[fact.uuid])])
        return {one.uuid: two for one, two in pairs}


def _alone(view: GenerationView, without: GenerationView, group: str, recorded_at: int) -> list[FactRow]:
    """Return the facts of a message that one generation believes, and of whose claims the other believes nothing."""
    found = []
    for fact in view.asserted(group, recorded_at):
        subject, claim = subject_of(fact), claim_of(fact)
        believed = view.claims(subject).get(claim, {}).get(fact.uuid)
        if believed is not None and claim not in without.claims(subject):
            found.append(believed)
    return found


def _asserted_as(fact: FactRow, view: GenerationView) -> FactRow | None:
    """Return the fact of the same claim that another generation asserted by the same message, as first said."""
    asserted = view.asserted(fact.group_id, fact.created_at)
    same = (subject_of(fact), claim_of(fact))
    return next((one for one in asserted if (subject_of(one), claim_of(one)) == same), None)


def _by_claim(facts: Iterable[FactRow]) -> dict[Claim, list[FactRow]]:
    """Return facts by their claims, each in their order."""
    claims: dict[Claim, list[FactRow]] = {}
    for fact in facts:
        claims.setdefault(claim_of(fact), []).append(fact)
    return claims


def _paired(
    base: list[FactRow], other: list[FactRow], marks: Callable[[FactRow], Sequence[Hashable]]
) -> tuple[list[tuple[FactRow, FactRow]], list[FactRow], list[FactRow]]:
    """Return the pairs of facts that share a mark, each in one pair at most, and what is left of both sides."""
    marked: dict[Hashable, deque[int]] = {}
    for number, fact in enumerate(other):
        for mark in marks(fact):
            marked.setdefault(mark, deque()).append(number)
    pairs: list[tuple[FactRow, FactRow]] = []
    taken, left = set[int](), list[FactRow]()
    for fact in base:
        queues = (marked[mark] for mark in marks(fact) if mark in marked)
        free = next(filter(lambda number: number is not None, (_next_free(queue, taken) for queue in queues)), None)
        if free is None:
            left.append(fact)
        else:
            taken.add(free)
            pairs.append((fact, other[free]))
    return pairs, left, [fact for number, fact in enumerate(other) if number not in taken]


def _next_free(numbers: deque[int], taken: set[int]) -> int | None:
    """Return the first number that is not taken, and drop those before it."""
    while numbers and numbers[0] in taken:
        numbers.popleft()
    return numbers[0] if numbers else None


def _period(fact: FactRow) -> Hashable:
    return fact.valid_at, fact.invalid_at, fact.occurrence, fact.planned
