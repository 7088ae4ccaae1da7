"""Why: the words behind a fact, and those behind every change of belief in it.

The path is fact, relationship, mentions, episode, position of the message. All of it was recorded when the message was
processed; nothing is inferred here.
"""

import json

from asof_projections.graph.ports import GraphStore, Provenance, Repetition, StatementSource
from asof_projections.model.answers import Consequence, Evidence, Explanation, Fact, instant_of, time_of
from asof_projections.model.rows import FactRow, RelationshipRow
from asof_streams.instants import INF


class Witness:
    """Explains facts. A generation that extracted anew has relationships of its own, others those of the episodes."""

    def __init__(self, beliefs: GraphStore, episodes: GraphStore) -> None:
        self._beliefs = beliefs
        self._episodes = episodes

    def why(self, fact: FactRow, known: int | None) -> Explanation:
        """Return the explanation of a fact, from what was recorded by `known` (None: ever)."""
        until = INF if known is None else known
        provenance = self._beliefs.provenance(fact.uuid, until)
        assert provenance is not None, f"fact {fact.uuid} has no provenance"
        ends_at = {statement.uuid: statement.at for statement in provenance.endings}
        consequences = [(c.kind, c.statement, c.recorded_at, c.source) for c in provenance.revisions]
        named = {c.statement for c in provenance.revisions if c.recorded_at <= until}
        for kind, statements in (("ended", provenance.endings), ("retracted", provenance.retractions)):
            consequences += [  # statements that changed nothing, such as an ending that came before its fact
                (kind, statement.uuid, statement.source.recorded_at, statement.source)
                for statement in statements
                if statement.uuid not in named and not statement.dead
            ]
        sources = [source for source in provenance.sources if source.recorded_at <= until]
        episodes = tuple(dict.fromkeys(source.episode_id for source in sources))
        restated_by = [again for again in self._restatements(fact, provenance) if again.source.recorded_at <= until]
        expired_at = fact.expired_at if fact.expired_at <= until else INF
        return Explanation(
            Fact.of(fact._replace(episodes=episodes, expired_at=expired_at)),
            tuple(e for s in (*sources, *(again.source for again in restated_by)) if (e := self.evidence(s))),
            provenance.time_words,
            provenance.corrects,
            tuple(c for c in provenance.corrected_by if (by := self._beliefs.fact(c)) and by.created_at <= until),
            tuple(again.uuid for again in restated_by),
            tuple(
                Consequence(
                    kind,
                    statement,
                    instant_of(at),
                    time_of(ends_at.get(statement, INF)),
                    source and self.evidence(source),
                )
                for kind, statement, at, source in sorted(consequences, key=lambda b: b[2])
                if at <= until
            ),
        )

    def _restatements(self, fact: FactRow, provenance: Provenance) -> list[Repetition]:
        """Return the statements that said a fact again while it was believed, as facts of their own."""
        if not provenance.repetitions or fact.occurrence:
            return []
        versions = self._beliefs.versions(fact.uuid)
        return [
            again
            for again in provenance.repetitions
            if any(
                one.known_from < again.source.recorded_at < one.known_to
                and one.valid_at <= again.start < one.invalid_at
                for one in versions
            )
        ]

    def evidence(self, source: StatementSource) -> Evidence | None:
        """Return the words of a source. None: its episode is gone."""
        episode = self._episodes.episode(source.episode_id)
        if episode is None:
            return None
        relationship = source.relationship_id and self._relationship(source.relationship_id)
        return Evidence(
            episode.uuid,
            episode.name,
            episode.position,
            episode.role,
            instant_of(source.said_at),
            instant_of(source.recorded_at),
            episode.content[relationship.start : relationship.end] if relationship else episode.content,
            relationship.uuid if relationship else None,
            self._mentions(relationship) if relationship else (),
            json.loads(source.qualifiers),
            episode.source_description,
        )

    def _relationship(self, uuid: str) -> RelationshipRow | None:
        return self._beliefs.relationship(uuid) or self._episodes.relationship(uuid)

    def _mentions(self, relationship: RelationshipRow) -> tuple[str, ...]:
        mentions = (
            self._beliefs.mention(m) or self._episodes.mention(m) for m in (relationship.source, relationship.target)
        )
        return tuple(m.text for m in mentions if m is not None)
