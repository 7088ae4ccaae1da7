"""The entities of a question: those that it names, then those of the facts and turns that fit it best."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from asof_projections.entity_ids import entity_with_id
from asof_projections.model.answers import Attribute, EpisodeHit, Fact, instant_of
from asof_projections.model.contexts import EntityOutline
from asof_projections.model.rows import EntityRow
from asof_projections.ports import BeliefStore
from asof_projections.queries.consistent_read import consistent_read
from asof_projections.queries.summaries import surest
from asof_streams.ids import shown_id

_MOST: Final = 5  # entities
_WORDS: Final = 64  # of a question, among which names are looked for
_LONGEST: Final = 3  # words of a name
_BEST: Final = 3  # facts and turns, whose entities and speakers count


class About:
    """Finds entities in the graph of one generation."""

    def __init__(self, beliefs: BeliefStore) -> None:
        self._beliefs = beliefs

    @consistent_read
    def entities(
        self, question: str, group: str | None, known: int, facts: Sequence[Fact], episodes: Sequence[EpisodeHit]
    ) -> list[EntityOutline]:
        """Return at most five entities as known at a moment: those named, those of facts, speakers; each once."""
        outlines: list[EntityOutline] = []
        seen: set[str] = set()
        speakers = (hit.role for hit in episodes[:_BEST] if hit.role)
        spoke = (row for role in speakers for row in self._beliefs.called(group, role, known))
        for row in chain(self._named(question, group, known), self._ends(facts[:_BEST]), spoke):
            if len(outlines) == _MOST:
                break
            if row.uuid not in seen:
                same = sorted(self._beliefs.identity([row.uuid], known))
                seen.update(same)
                outlines.append(self._outline(row, same, known))
        return outlines

    def _named(self, question: str, group: str | None, known: int) -> Iterator[EntityRow]:
        """Yield the entities that a question names; of a name within another one, the longer."""
        words = question.split()[:_WORDS]
        free = set(range(len(words)))
        for length in range(_LONGEST, 0, -1):
            for start in range(len(words) - length + 1):
                places = set(range(start, start + length))
                if places <= free and (
                    rows := self._beliefs.called(group, " ".join(words[start : start + length]), known)
                ):
                    free -= places
                    yield from rows

    def _ends(self, facts: Iterable[Fact]) -> Iterator[EntityRow]:
        for fact in facts:
            for uuid in (fact.subject_uuid, fact.object_uuid):
                if uuid and (row := entity_with_id(self._beliefs, fact.group_id, uuid)):
                    yield row

    def _outline(self, row: EntityRow, same: Sequence[str], known: int) -> EntityOutline:
        names = dict.fromkeys(name for uuid in (row.uuid, *same) for name in self._beliefs.aliases(uuid, known))
        attributes = surest(self._beliefs.attributes(same, known))
        introduced = instant_of(row.known_from)
        return EntityOutline(
            shown_id(row.uuid), *row[1:4], introduced, tuple(names), tuple(map(Attribute.of, attributes))
        )
