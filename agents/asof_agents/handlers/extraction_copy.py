"""Carrying over what was found in an episode that cannot be read anew: its content was not kept. Pure."""

from collections.abc import Sequence

from asof_agents.handlers.mentions import context
from asof_agents.ports import EpisodeView
from asof_projections.model.rows import MentionRow
from asof_streams.episodic import AttributeStated, EpisodeRecorded, MentionObserved, RelationshipStated
from asof_streams.events import Event, Record


def copy_extraction(batch: Sequence[Record], episodes: EpisodeView, seen: EpisodeView) -> list[Event]:
    """Return what was found in an episode that cannot be read anew, among what is found anew in the turns before it.

    What points to a mention of one of them points to the one that `seen` has in its place, as worded and of its type;
    where there is none, to the episode's own that repeated it.
    """
    first, found = batch[0], [record.event for record in batch[1:]]
    assert isinstance(first.event, EpisodeRecorded)
    if not found:
        return []
    earlier = [e.uuid for e in context(first.group, first.event, first.cause, episodes)]
    anew = {_place(row): row.repeats or row.uuid for row in reversed(seen.mentions_of(earlier))}
    nodes = {row.repeats or row.uuid: anew.get(_place(row)) for row in episodes.mentions_of(earlier)}
    return [_carried(event, nodes) for event in found]


def _place(row: MentionRow) -> tuple[str, str, str | None]:
    return row.type, row.text, row.episode_id if row.speaker else None


def _carried(event: Event, nodes: dict[str, str | None]) -> Event:
    match event:
        case MentionObserved(repeats=str(before)):
            node = nodes.get(before)
            nodes[before] = node or event.mention_id
            return event.model_copy(update={"repeats": node})
        case RelationshipStated(source=source, target=target):
            ends = {"source": nodes.get(source) or source, "target": nodes.get(target) or target}
            return event.model_copy(update=ends)
        case AttributeStated(mention_id=mention):
            return event.model_copy(update={"mention_id": nodes.get(mention) or mention})
    return event
