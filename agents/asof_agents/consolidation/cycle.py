"""One pass of consolidation over a group: its phases, each of which may fail without the others. Pure.

A pass looks at what was recorded since the one before, as far as its budget goes, and as it was known before the
message that causes it. Its results only add: they are events that name it, and no event of a fact is among them. So
nothing that was known before is known otherwise, and whatever holds goes on.
"""

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Final

from asof_agents.consolidation.communities import detect_communities
from asof_agents.consolidation.decay import faded_before
from asof_agents.consolidation.merges import find_merges
from asof_agents.consolidation.partitions import Partition, partition_of
from asof_agents.ports import ConsolidationView, EpisodeView
from asof_streams.consolidation_config import ConsolidationConfig
from asof_streams.errors import AsofError
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.instants import NEG
from asof_streams.semantic import MemoryConsolidated, MemoryDecayed

Watch = Callable[[str], AbstractContextManager[object]]
"""Measures a phase by its name, from outside: a pass has no clock."""

IsValue = Callable[[str], bool]
"""Whether the entities of a type are values, such as ages."""

_COUNTED: Final = (
    "communities_detected",
    "communities_changed_nodes",
    "entity_duplicates_found",
    "entity_merges_performed",
    "nodes_decayed",
)
_OUTSIDE: Final = (AsofError, MemoryError, OSError, sqlite3.Error)  # no fault of a phase: the pass is made again


@dataclass(frozen=True, slots=True)
class Consolidator:
    """What makes the passes of one generation."""

    config: ConsolidationConfig
    partition: Partition
    watch: Watch

    def is_due(self, first: Record, known: ConsolidationView, episodes: EpisodeView) -> bool:
        """Whether so many messages of a group came since its last pass that the message of a record causes one."""
        if not (every := self.config.trigger_interval):
            return False
        last = known.last_pass(first.group)
        since = NEG if last is None else last[1]
        return episodes.episodes_since(first.group, since, first.recorded_at, every) == every

    def consolidate(self, first: Record, known: ConsolidationView, is_value: IsValue) -> list[Event]:
        """Return the events of a pass over a group, which the message of a record causes; the first one sums it up.

        is_value: whether the entities of a type are values.
        """
        last = known.last_pass(first.group)
        since = NEG if last is None else last[0]
        beyond = known.change_beyond(first.group, since, first.recorded_at, self.config.budget)
        until = first.recorded_at if beyond is None else max(beyond, since + 1)
        cycle = Cycle(self, known, first, since, until, is_value)
        config = self.config
        with self.watch("total"):
            cycle.run("community_detection", cycle.detect_communities, enabled=config.enable_community_detection)
            cycle.run("entity_merge", cycle.merge_entities, enabled=config.enable_entity_merge)
            cycle.run("decay", cycle.decay, enabled=config.enable_decay)
        summary = MemoryConsolidated(
            consolidation_id=cycle.id,
            until=until,
            complete=beyond is None,
            failed=tuple(cycle.failed),
            begin=None if since == NEG else since,
            **cycle.counts,
        )
        return [summary, *cycle.events]


def consolidator_of(config: ConsolidationConfig | None = None, watch: Watch = nullcontext) -> Consolidator:
    """Return what makes passes by a configuration, or by the defaults. InvalidInput: what it names is not installed."""
    config = config or ConsolidationConfig()
    return Consolidator(config, partition_of(config.community_config), watch)


@dataclass(slots=True)
class Cycle:
    """One pass: its phases, and their results so far."""

    by: Consolidator
    known: ConsolidationView
    first: Record
    since: int
    until: int
    is_value: IsValue
    events: list[Event] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))

    @property
    def id(self) -> str:
        return derive("consolidation", self.first.group, self.first.cause)

    def run(self, phase: str, work: Callable[[], None], *, enabled: bool) -> None:
        """Run a phase; one that fails leaves no event, and the others run."""
        if not enabled:
            return
        try:
            with self.by.watch(phase):
                work()
        except _OUTSIDE:
            raise
        except Exception:  # noqa: BLE001 - nobody foresaw it
            self.failed.append(phase)

    def detect_communities(self) -> None:
        """Detect the communities of the entities whose facts changed."""
        now = self.first.recorded_at
        found = detect_communities(self._changed(), self.known, self.by.partition, now=now, consolidation=self.id)
        self.events += found.events
        self.counts["communities_detected"] = found.detected
        self.counts["communities_changed_nodes"] = found.moved

    def merge_entities(self) -> None:
        """Merge the entities whose facts changed with their namesakes."""
        found = find_merges(
            self._changed(),
            self.known,
            self.first.group,
            self.is_value,
            threshold=self.by.config.entity_merge_threshold,
            consolidation=self.id,
        )
        self.events += found.events
        self.counts["entity_duplicates_found"] = found.duplicates
        self.counts["entity_merges_performed"] = len(found.events)

    def decay(self) -> None:
        """Count the entities that have faded."""
        half_life = self.by.config.decay_halflife_secs
        nodes = self.known.introduced_before(self.first.group, faded_before(self.first.recorded_at, half_life))
        self.events.append(MemoryDecayed(half_life_secs=half_life, nodes=nodes, consolidation_id=self.id))
        self.counts["nodes_decayed"] = nodes

    def _changed(self) -> list[str]:
        return self.known.changed_entities(self.first.group, self.since, self.until)
