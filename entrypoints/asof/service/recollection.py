"""Recollection: what a memory knows that fits a message, gathered for a reply in the process that searches."""

from dataclasses import dataclass
from datetime import UTC, tzinfo

from asof.service.reader import Reader
from asof_agents.conversation.material import ShownFact
from asof_projections.model.answers import Fact
from asof_projections.model.queries import FactSearchQuery, FactsQuery, ask
from asof_projections.model.rows import Moment
from asof_streams.errors import EmptyMemory
from asof_streams.instants import INF, NEG
from asof_streams.timezones import zone_of


@dataclass(frozen=True, slots=True)
class RecollectionQuery:
    """Ask a memory for what fits a message of a group; a function of a reader, which pickle can take."""

    group: str
    text: str
    before: int  # what was recorded then or later, such as the message itself, is not remembered
    limit: int

    def __call__(self, reader: Reader) -> tuple[ShownFact, ...]:
        """Return the facts that hold now and fit, the best first. Of an empty memory none."""
        try:
            source = reader.of(self.group)
            known, _ = source.reached(self.group)
        except EmptyMemory:
            return ()
        if known == NEG:
            return ()
        known, now = min(known, self.before - 1), reader.now()
        fields = {"query": self.text, "group_id": self.group, "limit": self.limit, "over": "facts"}
        hits = source.search(ask(FactSearchQuery, fields), Moment(now, known))
        return tuple(shown(hit) for hit in hits)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Ask a memory for what it believes of a group now; a function of a reader."""

    group: str
    limit: int = 100

    def __call__(self, reader: Reader) -> tuple[ShownFact, ...]:
        """Return the facts that hold now, the first asserted first."""
        try:
            source = reader.of(self.group)
            known, _ = source.reached(self.group)
        except EmptyMemory:
            return ()
        query = ask(FactsQuery, {"group_id": self.group, "limit": self.limit})
        return tuple(shown(fact) for fact in source.opened().questions.facts(query, Moment(reader.now(), known)))


@dataclass(frozen=True, slots=True)
class ZoneOf:
    """Ask a memory for the time zone of a group as it was stated last, UTC where none was; a function of a reader."""

    group: str

    def __call__(self, reader: Reader) -> tzinfo:
        """Return the zone."""
        try:
            name = reader.of(self.group).opened().episodes.timezone(self.group, INF)
        except EmptyMemory:
            return UTC
        return UTC if name is None else zone_of(name)


def shown(fact: Fact) -> ShownFact:
    """Return a fact as a prompt shows it."""
    return ShownFact(fact.uuid, fact.fact, fact.subject, fact.relation, fact.object)
