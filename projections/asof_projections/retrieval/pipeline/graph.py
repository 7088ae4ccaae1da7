"""The graph that the pipeline walks: facts, their two ends, and the turns that say them, as of one moment.

A node is read once for a question. What an entity is taken to be the same as stands for it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.ports import Turns
from asof_projections.model.rows import EpisodeRow, FactRow, Moment
from asof_projections.ports import BeliefStore, TurnStore
from asof_projections.retrieval.pipeline.nodes import Key
from asof_streams.instants import NEG

FACTS: Final = 100  # of an entity, those said last, that are its neighbours
Edges = dict[Key, set[Key]]


class MemoryGraph:
    """Facts, turns and entities of some groups around what a question found, as of one moment."""

    def __init__(
        self,
        beliefs: BeliefStore,
        episodes: TurnStore,
        turns: Turns,
        at: Moment,
        among: NDArray[np.int64] | None,
    ) -> None:
        self._beliefs = beliefs
        self._episodes = episodes
        self._turns = turns
        self._at = at
        self._among = among  # the facts that filters leave; None: all
        self.facts: dict[int, FactRow] = {}
        self.names: dict[str, str] = {}  # of entities
        self.turns: dict[int, EpisodeRow] = {}
        self._around: dict[Key, set[Key]] = {}
        self._said: dict[str, int] = {}  # the number of each turn that says a fact
        self._times: dict[str, int] = {}  # when each episode that says one was said

    def read_facts(self, numbers: Iterable[int]) -> None:
        """Read facts by number; those that do not hold at the moment, or that filters leave out, are skipped."""
        wanted = [number for number in dict.fromkeys(numbers) if number not in self.facts]
        if wanted:
            self._keep([rows[-1] for rows in self._beliefs.facts_numbered(wanted, self._at).values()])

    def read_turns(self, numbers: Iterable[int]) -> None:
        """Read turns by number."""
        wanted = [number for number in dict.fromkeys(numbers) if number not in self.turns]
        if wanted:
            self.turns |= self._episodes.episodes_numbered(wanted)

    def neighbours(self, keys: Sequence[Key]) -> Edges:
        """Return the neighbours of some nodes, those of each in no order."""
        self._around |= self._read([key for key in keys if key not in self._around])
        return {key: self._around[key] for key in keys if key in self._around}

    def _read(self, keys: Sequence[Key]) -> Edges:
        self.read_facts(int(key.id) for key in keys if key.kind == "fact")
        edges: Edges = defaultdict(set)
        for key in keys:
            if key.kind == "entity":
                same = sorted(self._beliefs.identity([str(key.id)], self._at.known))
                edges[key] |= {Key("fact", number) for number in self.facts_of(same, FACTS)}
        turns = [int(key.id) for key in keys if key.kind == "turn"]
        for number, facts in self._facts_said_by(turns).items():
            edges[Key("turn", number)] |= {Key("fact", fact) for fact in facts}
        for key in keys:
            if key.kind == "fact" and key.id in self.facts:
                edges[key] |= self.ends(self.facts[int(key.id)])
        return edges

    def ends(self, fact: FactRow) -> set[Key]:
        """Return the neighbours of a fact: its subject, its object unless that is a literal, the turns that say it."""
        ends = {Key("entity", uuid) for uuid in (fact.subject_uuid, fact.object_uuid) if uuid is not None}
        return ends | {Key("turn", self._said[uuid]) for uuid in fact.episodes if uuid in self._said}

    def time_of(self, fact: FactRow) -> int:
        """Return when a fact was said last; where no episode is left, from when on it holds, or is believed."""
        said = [self._times[uuid] for uuid in fact.episodes if uuid in self._times]
        return max(said, default=fact.created_at if fact.valid_at == NEG else fact.valid_at)

    def introduced(self, uuid: str) -> tuple[str, int]:
        """Return the name of an entity that is there, and when it was introduced."""
        row = self._beliefs.entity(uuid)
        assert row is not None, "a store lost an entity within one read"
        return row.name, row.known_from

    def facts_of(self, entities: Sequence[str], most: int) -> list[int]:
        """Return the numbers of the facts of some entities, those said last first, at most so many."""
        return self._keep(self._beliefs.latest(entities, self._at, most))

    def _facts_said_by(self, turns: Sequence[int]) -> dict[int, list[int]]:
        """Return the facts that hold of those that each turn began, by number."""
        self.read_turns(turns)
        begun: dict[int, list[int]] = {}
        for number in turns:
            if (row := self.turns.get(number)) is not None:
                changes = self._beliefs.changes(row.position - 1, 1)  # all of one message, of it or of a later one
                begun[number] = [each.fact.number for each in changes if each.opened and each.position == row.position]
        self.read_facts(fact for facts in begun.values() for fact in facts)
        return {
            number: [n for n in facts if n in self.facts and self.turns[number].uuid in self.facts[n].episodes]
            for number, facts in begun.items()
        }

    def _keep(self, rows: Iterable[FactRow]) -> list[int]:
        """Keep rows that filters leave, with what says them; return their numbers, each once, in their order.

        Where valid time is lifted, a fact is its last version.
        """
        versions: dict[int, FactRow] = {}
        for row in rows:
            if self._is_left(row.number) and row.valid_at >= versions.get(row.number, row).valid_at:
                versions[row.number] = row
        left = list(versions.values())
        self.facts |= {row.number: row for row in left if row.number not in self.facts}
        for row in left:
            self.names.setdefault(row.subject_uuid, row.subject)
            if row.object_uuid is not None:
                self.names.setdefault(row.object_uuid, row.object)
        said = [uuid for row in left for uuid in row.episodes if uuid not in self._times]
        if said:
            episodes = self._episodes.episodes_numbered(sorted(self._episodes.turn_numbers(said)))
            turns = self._turns.n[self._turns.places(np.array(list(episodes), np.int64))]
            self._said |= {episodes[number].uuid: number for number in turns.tolist()}
            self._times |= {episode.uuid: episode.valid_at for episode in episodes.values()}
        return [row.number for row in left]

    def _is_left(self, number: int) -> bool:
        if self._among is None:
            return True
        place = int(np.searchsorted(self._among, number))
        return place < len(self._among) and int(self._among[place]) == number
