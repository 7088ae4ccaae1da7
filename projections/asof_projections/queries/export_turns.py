"""The sentences of turns, and what each of them names, as the pieces of an export."""

from collections.abc import Iterator
from typing import Any

from asof_projections.confidence import entity_confidence
from asof_projections.graph.ports import GraphStore
from asof_projections.model.rows import EpisodeRow, MentionRow, Moment, RelationshipRow
from asof_projections.sentences import SentenceSpan, sentence_at, sentence_id, sentence_spans
from asof_streams.instants import render


def is_by(at: Moment, row: EpisodeRow | MentionRow | RelationshipRow) -> bool:
    """Whether the turn of a row was said by the valid moment and recorded by the known one."""
    said = at.valid is None or row.valid_at <= at.valid
    return said and (at.known is None or row.created_at <= at.known)


def sentences_of(episode: EpisodeRow) -> Iterator[dict[str, Any]]:
    """Yield the sentences of a turn."""
    for number, span in enumerate(sentence_spans(episode.content)):
        yield {
            "id": sentence_id(episode.uuid, number),
            "episode_id": episode.uuid,
            "index": number,
            "content": episode.content[slice(*span)],
            "metadata": {"chunk_index": number, "source_type": "ingestion", "start": span.start, "end": span.end},
            "validAt": render(episode.valid_at),
            "createdAt": render(episode.created_at),
        }


def links_of(episodes: GraphStore, group: str | None, at: Moment) -> Iterator[dict[str, Any]]:
    """Yield an edge from a sentence to each node that it names first, or states something of, with its confidence."""
    places = _Places(episodes)
    for mention in episodes.mentions(group):
        node = episodes.mention(mention.repeats) if mention.repeats else mention
        sentence = places.of(mention.episode_id, mention.start)
        if sentence is not None and node is not None and is_by(at, mention) and is_by(at, node):
            yield _link(sentence, node, mention)
    shown: tuple[str, set[str]] = "", set()
    for stated in episodes.relationships(group):
        sentence = places.of(stated.episode_id, stated.start)
        if sentence is None or not is_by(at, stated):
            continue
        if shown[0] != sentence:
            shown = sentence, set()
        for node in (episodes.mention(uuid) for uuid in (stated.source, stated.target)):
            if node is None or node.uuid in shown[1] or not is_by(at, node):
                continue
            shown[1].add(node.uuid)
            if node.episode_id != stated.episode_id or places.of(node.episode_id, node.start) != sentence:
                yield _link(sentence, node, node)


class _Places:
    """The sentences of the episode that was asked for last: the rows of one mostly follow each other."""

    def __init__(self, episodes: GraphStore) -> None:
        self._episodes = episodes
        self._last: tuple[str, list[SentenceSpan]] = "", []

    def of(self, episode_id: str, offset: int) -> str | None:
        """Return the id of the sentence that an offset is in; None: it is in none."""
        if self._last[0] != episode_id:
            episode = self._episodes.episode(episode_id)
            self._last = episode_id, sentence_spans(episode.content) if episode else []
        number = sentence_at(self._last[1], offset)
        return None if number is None else sentence_id(episode_id, number)


def _link(sentence: str, node: MentionRow, mention: MentionRow) -> dict[str, Any]:
    return {
        "id": f"{sentence}:{mention.uuid}",
        "source": sentence,
        "target": node.uuid,
        "type": "relates_to",
        "weight": 1.0 if mention.speaker else entity_confidence(mention.text, mention.type),
    }
