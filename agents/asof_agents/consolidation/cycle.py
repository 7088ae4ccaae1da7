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
from asof_agents.consolidation.partitions import Partition, partition_of
from asof_agents.ports import ConsolidationView
from asof_streams.consolidation import ConsolidationConfig
from asof_streams.errors import AsofError
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.instants import NEG
from asof_streams.semantic import MemoryConsolidated

Watch = Callable[[str], AbstractContextManager[object]]
"""Measures a phase by its name, from outside: a pass has no clock."""

_OUTSIDE: Final = (AsofError, MemoryError, OSError, sqlite3.Error)  # no fault of a phase: the pass is made again


@dataclass(frozen=True, slots=True)
class Consolidator:
    """What makes the passes of one generation."""

    config: ConsolidationConfig
    partition: Partition
    watch: Watch

    def consolidate(self, first: Record, known: ConsolidationView) -> list[Event]:
        """Return the events of a pass over a group, which the message of a record causes; the last one sums it up."""
        since = known.consolidated_until(first.group)
        since = NEG if since is None else since
        beyond = known.change_beyond(first.group, since, first.recorded_at, self.config.budget)
        until = first.recorded_at if beyond is None else max(beyond, since + 1)
        cycle = Cycle(self, known, first, since, until)
        with self.watch("total_us"):
            cycle.run("community_detection", self.config.enable_community_detection, cycle.detect_communities)
        found = MemoryConsolidated(
            consolidation_id=cycle.id,
            until=until,
            complete=beyond is None,
            failed=tuple(cycle.failed),
            **cycle.counts,
        )
        return [*cycle.events, found]


def consolidator_of(config: ConsolidationConfig | None = None, watch: Watch = nullcontext) -> Consolidator:
    """Return what makes passes by a configuration, or by the defaults. InvalidInput: what it names is not installed."""
    config = config or ConsolidationConfig()
    return Consolidator(config, partition_of(config.community_config), watch)


@dataclass(slots=True)
class Cycle:
    """One pass: its phases, and what they came to so far."""

    by: Consolidator
    known: ConsolidationView
    first: Record
    since: int
    until: int
    events: list[Event] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"communities_detected": 0, "communities_changed_nodes": 0})

    @property
    def id(self) -> str:
        return derive("consolidation", self.first.group, self.first.cause)

    def run(self, phase: str, enabled: bool, work: Callable[[], None]) -> None:
        """Run a phase; one that fails leaves no event, and the others run."""
        if not enabled:
            return
        try:
            with self.by.watch(f"{phase}_us"):
                work()
        except _OUTSIDE:
            raise
        except Exception:  # noqa: BLE001 - nobody foresaw it
            self.failed.append(phase)

    def detect_communities(self) -> None:
        """Detect the communities of the entities whose facts changed."""
        changed = self.known.changed_entities(self.first.group, self.since, self.until)
        found = detect_communities(
            changed, self.known, self.by.partition, now=self.first.recorded_at, consolidation=self.id
        )
        self.events += found.events
        self.counts["communities_detected"] = found.detected
        self.counts["communities_changed_nodes"] = found.moved
