"""Copies the extraction of an episode whose content was suppressed, and so cannot be extracted anew. Pure."""

from collections.abc import Sequence

from asof_agents.handlers.mentions import context
from asof_agents.ports import EpisodeView
from asof_projections.model.rows import MentionRow
from asof_streams.episodic import AttributeStated, EpisodeRecorded, MentionObserved, RelationshipStated
from asof_streams.events import Event, Record


def copy_extraction(batch: Sequence[Record], episodes: EpisodeView, own: EpisodeView) -> list[Event]:
    """Return the extraction of an episode, adapted to a generation that has extracted the turns before it anew.

    episodes: has the episodic layer's mentions. own: has the generation's mentions.
    A reference to a mention of an earlier turn becomes one to the generation's mention with the same words and type;
    if there is none, to the mention of this episode that repeats it.
    """
    first, extracted = batch[0], [record.event for record in batch[1:]]
    assert isinstance(first.event, EpisodeRecorded)
    if not extracted:
        return []
    earlier = [e.uuid for e in context(first.group, first.event, first.cause, episodes)]
    anew = {_key(row): row.repeats or row.uuid for row in reversed(own.mentions_of(earlier))}
    nodes = {row.repeats or row.uuid: anew.get(_key(row)) for row in episodes.mentions_of(earlier)}
    return [_copy(event, nodes) for event in extracted]


def _key(row: MentionRow) -> tuple[str, str, str | None]:
    return row.type, row.text, row.episode_id if row.speaker else None


def _copy(event: Event, nodes: dict[str, str | None]) -> Event:
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
