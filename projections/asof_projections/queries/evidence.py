"""Why: from a fact to the words that said it, and to the words behind all that became of it.

fact -> relationship -> mentions -> episode -> the message's position. Nothing here is worked out anew: it is what the
agents wrote down when they read the message.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from asof_projections.graph.ports import GraphStore, Source
from asof_projections.rows import Fact, RelationshipRow
from asof_streams.instants import INF, render


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where something was said, in which words."""

    episode: str
    name: str  # the producer's name of the message
    position: int  # of the message, in the messages log
    role: str = field(repr=False)
    said_at: int
    recorded_at: int
    quote: str = field(repr=False)  # the sentence; of what is no relationship, all of the content
    relationship: str | None
    mentions: tuple[str, ...] = field(repr=False)  # what the relationship is between, as worded

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as the doors show it."""
        return {
            "episode": self.episode,
            "name": self.name,
            "position": self.position,
            "role": self.role,
            "said_at": render(self.said_at),
            "recorded_at": render(self.recorded_at),
            "quote": self.quote,
            "relationship": self.relationship,
            "mentions": list(self.mentions),
        }


@dataclass(frozen=True, slots=True)
class Consequence:
    """Something that became of a fact, by which statement, in whose words."""

    kind: str  # superseded | ended | retracted | corrected | contradicted | merged | restored
    statement: str  # id of the assertion, ending or retraction that caused it
    recorded_at: int
    ends_at: int | None  # of an ending: from when on the fact no longer holds
    evidence: Evidence | None

    def to_json(self) -> dict[str, Any]:
        """Return the consequence as the doors show it."""
        return {
            "kind": self.kind,
            "statement": self.statement,
            "recorded_at": render(self.recorded_at),
            "ends_at": None if self.ends_at is None else render(self.ends_at),
            "evidence": self.evidence and self.evidence.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Why:
    """What a fact rests on, and what became of it, each in the order of the log."""

    fact: Fact  # as first said
    evidence: tuple[Evidence, ...]  # its assertion, then what said it again
    time_words: str | None = field(repr=False)
    corrects: str | None
    corrected_by: tuple[str, ...]
    consequences: tuple[Consequence, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as the doors show it."""
        return {
            "fact": self.fact.to_json(),
            "evidence": [e.to_json() for e in self.evidence],
            "time_words": self.time_words,
            "corrects": self.corrects,
            "corrected_by": list(self.corrected_by),
            "consequences": [c.to_json() for c in self.consequences],
        }


class Witness:
    """Looks up the words; relationships stand in the generation's own rows where it extracted anew."""

    def __init__(self, beliefs: GraphStore, episodes: GraphStore) -> None:
        self._beliefs = beliefs
        self._episodes = episodes

    def why(self, fact: Fact, known: int | None) -> Why:
        """Explain a fact by what was recorded until `known` (None: ever); nothing later shows."""
        until = INF if known is None else known
        rests = self._beliefs.provenance(fact.uuid)
        assert rests is not None, f"fact {fact.uuid} has no provenance"
        ends = {said.uuid: said.at for said in rests.endings}
        became = [(c.kind, c.statement, c.recorded_at, c.source) for c in rests.closings]
        named = {c.statement for c in rests.closings}
        for kind, statements in (("ended", rests.endings), ("retracted", rests.retractions)):
            became += [  # what changed nothing when it came, such as an ending heard before its fact
                (kind, said.uuid, said.source.recorded_at, said.source)
                for said in statements
                if said.uuid not in named and not said.dead
            ]
        sources = [source for source in rests.sources if source.recorded_at <= until]
        episodes = tuple(dict.fromkeys(source.episode_id for source in sources))
        expired_at = fact.expired_at if fact.expired_at <= until else INF
        return Why(
            replace(fact, episodes=episodes, expired_at=expired_at),
            tuple(e for source in sources if (e := self.evidence(source))),
            rests.time_words,
            rests.corrects,
            tuple(c for c in rests.corrected_by if (by := self._beliefs.fact(c)) and by.created_at <= until),
            tuple(
                Consequence(kind, statement, at, ends.get(statement), source and self.evidence(source))
                for kind, statement, at, source in sorted(became, key=lambda b: b[2])
                if at <= until
            ),
        )

    def evidence(self, source: Source) -> Evidence | None:
        """Return the words of a source; None where they are in no log that is left."""
        episode = self._episodes.episode(source.episode_id)
        if episode is None:
            return None
        stated = source.relationship_id and self._relationship(source.relationship_id)
        return Evidence(
            episode.uuid,
            episode.name,
            episode.position,
            episode.role,
            source.said_at,
            source.recorded_at,
            episode.content[stated.start : stated.end] if stated else episode.content,
            stated.uuid if stated else None,
            self._mentions(stated) if stated else (),
        )

    def _relationship(self, uuid: str) -> RelationshipRow | None:
        return self._beliefs.relationship(uuid) or self._episodes.relationship(uuid)

    def _mentions(self, stated: RelationshipRow) -> tuple[str, ...]:
        found = (self._beliefs.mention(m) or self._episodes.mention(m) for m in (stated.source, stated.target))
        return tuple(m.text for m in found if m is not None)
