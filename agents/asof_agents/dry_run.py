"""A dry run: the beliefs if structured facts were stated now. The handlers work them out; nothing is written."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol

from asof_agents.handlers.episodes import episode_of_fact
from asof_agents.handlers.statement_writer import Build
from asof_agents.handlers.structured_facts import state
from asof_agents.overlay import Overlay
from asof_agents.ports import EpisodeView, FactView
from asof_projections.graph.ports import GraphStore
from asof_projections.model.answers import Segment, WhatIf
from asof_projections.model.rows import SegmentRow
from asof_projections.queries.consistent_read import consistent_read
from asof_projections.queries.timelines import with_gaps
from asof_projections.versions import Interval, coalesce
from asof_streams.events import Record
from asof_streams.messages import FactStatement


class DryRunStore(GraphStore, FactView, Protocol):
    """A store of one generation that handlers may ask."""


class DryRun:
    """Tries structured facts on the beliefs of one generation."""

    def __init__(self, beliefs: DryRunStore, episodes: EpisodeView, build: Build) -> None:
        self._beliefs = beliefs
        self._episodes = episodes
        self._build = build

    @consistent_read
    def what_if(self, messages: Iterable[Record]) -> WhatIf:
        """Return the slots that structured facts touch, before them and after them, as a message each, in order.

        The messages are at positions after those of all that the store knows. InvalidInput, NotFound: one of them
        cannot stand, and would be parked for this reason.
        """
        overlay = Overlay(self._beliefs)
        for message in messages:
            overlay.apply(self._said(message, overlay))
        slots = overlay.slots()
        before = [segment for slot in slots for segment in _segments(self._beliefs, *slot)]
        after = [segment for slot in slots for segment in _segments(overlay, *slot)]
        return WhatIf(*(tuple(map(Segment.of, with_gaps(side))) for side in (before, after)))

    def _said(self, message: Record, known: FactView) -> list[Record]:
        """Return the semantic events of a message as they would stand in the log, but for their position there."""
        assert isinstance(message.event, FactStatement), f"{message.event.type} is no structured fact"
        episode = episode_of_fact(message, message.event, self._episodes)
        events = state(message, episode, self._build, known)
        return [message._replace(place=place, size=len(events), event=event) for place, event in enumerate(events)]


def _segments(known: FactView, group: str, subject: str, relation: str) -> list[SegmentRow]:
    """Return the beliefs of a slot, by start: each value over the fewest periods, and each occurrence by itself."""
    slot = known.slot(group, subject, relation, None)
    values: defaultdict[tuple[str, str | None], list[tuple[Interval, str]]] = defaultdict(list)
    plans = set()
    for assertion in slot.assertions:
        own = assertion.fact_id if assertion.granules else None
        values[assertion.value, own] += [(period, assertion.fact_id) for period in slot.held[assertion.fact_id]]
        if own is not None and not assertion.done:
            plans.add(own)
    found = []
    for (value, own), held in values.items():
        what = value[2:]
        name, uuid = (what, None) if value.startswith("v:") else (_name(known, what), what)
        for start, end in coalesce(period for period, _ in held):
            facts = tuple(dict.fromkeys(fact for (at, _), fact in sorted(held) if start <= at < end))
            claim = (_name(known, subject), subject, relation, name, uuid)
            found.append(SegmentRow(*claim, start, end, facts, own in plans, own is not None))
    return sorted(found, key=lambda s: (s.valid_at, s.object or ""))


def _name(known: FactView, uuid: str) -> str:
    entity = known.entity(uuid)
    assert entity is not None, f"entity {uuid} is in no log"
    return entity.name
