"""The undoing of a pass of consolidation: takes back what still stands of its results. Pure.

Only the last pass that stands can be undone, so that the communities are those of the pass before. A membership that
changed since, and a merge that was taken back since, stay as they are. As after a split, no later pass makes a merge
again that was undone; communities are detected anew, since the next pass looks at the same changes again.
"""

from asof_agents.ports import ConsolidationView
from asof_streams.episodic import MessageParked
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.semantic import CommunityJoined, CommunityLeft, EntityUnmerged, MemoryUnconsolidated


def undo(first: Record, known: ConsolidationView) -> list[Event]:
    """Return the events that undo the last pass over a group, or why there is none to undo."""
    last = known.standing_pass(first.group)
    if last is None:
        return [MessageParked(reason="no consolidation of this group is left to undo")]
    stated_in = derive("consolidation", first.group, first.cause)
    events: list[Event] = [MemoryUnconsolidated(consolidation_id=last.uuid, until=last.begin)]
    events += [EntityUnmerged(merge_id=merge) for merge in known.consolidated_at(first.group, last.recorded_at)]
    for entity, before in known.moved_at(first.group, last.recorded_at):
        if before is None:
            events.append(CommunityLeft(entity_id=entity, episode_id=stated_in))
        else:
            events.append(CommunityJoined(community_id=before, entity_id=entity, episode_id=stated_in))
    return events
