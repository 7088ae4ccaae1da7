"""The mentions agent: what an extractor finds in one turn becomes events of mentions, relationships and attributes.

Mentions are unique per (episode, entity type, text). A mention that stands already in the turns before, with the same
type and text, `repeats` that one, and relationships point to the first: the graph has one node for both, as in the
second example of spec/episodic-graph.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from asof_agents.extraction.markup import words
from asof_agents.extraction.ports import (
    Answers,
    Extraction,
    Extractor,
    Mention,
    ModelReply,
    ModelRequest,
    RejectedPart,
    Turn,
)
from asof_agents.extraction.registry import TAG
from asof_agents.ports import EpisodeView
from asof_projections.model.rows import EpisodeRow, MentionRow
from asof_streams.episodic import (
    AttributeStated,
    EpisodeRecorded,
    ExtractionAnswered,
    ExtractionFailed,
    ExtractionRefused,
    MentionObserved,
    RelationshipStated,
)
from asof_streams.events import Event, Record
from asof_streams.ids import derive

CONTEXT_TURNS = 4  # spec/episodic-graph: "context window of last 4 messages"

Nodes = Mapping[tuple[str, str], str]  # the mention id that stands for a (type, text) of the turns before


def mention_id(build: str, mention: Mention) -> str:
    """Return the id of a mention; `build` is "" for the episodic layer's own extraction."""
    return derive("mention", build, mention.episode_id, mention.type, mention.text)


def turn_of(episode: EpisodeRecorded, content: str | None = None) -> Turn:
    """Return an episode as an extractor sees it; `content` is what was said, where the episode may not have it."""
    text = _read(episode.content if content is None else content)
    return Turn(episode.episode_id, episode.role, episode.role_type, text, episode.valid_at)


def turns(episodes: Sequence[EpisodeRow], rows: Sequence[MentionRow] = ()) -> list[Turn]:
    """Return recorded episodes as an extractor sees them, with the mentions that were found in them."""
    by_episode: dict[str, tuple[Mention, ...]] = {
        uuid: tuple(Mention(r.episode_id, r.type, r.text, r.start, r.speaker) for r in of)
        for uuid, of in groupby(sorted(rows, key=lambda r: r.episode_id), key=lambda r: r.episode_id)
    }
    return [
        Turn(e.uuid, e.role, e.role_type, _read(e.content), e.valid_at, by_episode.get(e.uuid, ())) for e in episodes
    ]


def _read(content: str) -> str:
    return words(content) if TAG in content else content


def context(group: str, episode: EpisodeRecorded, before: int, known: EpisodeView) -> list[EpisodeRow]:
    """Return the episodes with which one is read, oldest first: those that it names, else the last ones.

    Of the last ones only those of messages at positions before `before`.
    """
    named = episode.previous_episode_ids
    if named is None:
        return known.recent(group, episode.source, episode.valid_at, before, CONTEXT_TURNS)
    found = [known.episode(uuid) for uuid in dict.fromkeys(named)]
    return sorted((e for e in found if e is not None), key=lambda e: e.valid_at)


def extract(
    recorded: Record,
    extractor: Extractor,
    answers: Answers | None,
    episodes: EpisodeView,
    seen: EpisodeView,
    build: str,
    content: str | None = None,
) -> list[Event]:
    """Read one recorded episode with the turns before it as context; return its events, a model's answer first.

    `content` is what was said, of which suppressed content leaves nothing in its episode or in an answer that is kept.
    `seen` knows the mentions of this extraction: the episodic layer's, or those of a generation that extracts anew.
    """
    group, episode = recorded.group, recorded.event
    assert isinstance(episode, EpisodeRecorded)
    turn = turn_of(episode, content)
    earlier = context(group, episode, recorded.cause, episodes)
    rows = seen.mentions_of([e.uuid for e in earlier])
    before = turns(earlier, rows)
    request = extractor.request(turn, before)
    reply = answers.reply(group, request) if request and answers else None
    found = extractor.extract(
        turn, before, lambda names: seen.types_of_names(group, names), reply.answer if reply else None
    )
    if reply and reply.answer and episode.suppressed:
        reply = replace(reply, answer="")  # it quotes what was said
    asked = answer_events(turn, request, reply, found.refused) if request and reply else []
    nodes = {(r.type, r.text): r.repeats or r.uuid for r in reversed(rows) if not r.speaker}
    return [*asked, *extraction_events(found, turn, nodes, build)]


def answer_events(turn: Turn, request: ModelRequest, reply: ModelReply, refused: Sequence[RejectedPart]) -> list[Event]:
    """Return the events of a question to a model: its answer and how many parts of it were refused, or its failure."""
    about: dict[str, Any] = {
        "episode_id": turn.episode_id,
        "request": request.digest,
        "prompt": request.prompt,
        "prompt_version": request.prompt_version,
        "model": request.model,
        "calls": reply.calls,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
    }
    if reply.answer is None:
        return [ExtractionFailed(reason=reply.failure, **about)]
    answered = ExtractionAnswered(answer=reply.answer, latency_ms=reply.latency_ms, **about)
    return [
        answered,
        *(
            ExtractionRefused(
                episode_id=turn.episode_id, request=answered.request, part=part, reason=reason, count=count
            )
            for (part, reason), count in sorted(Counter(refused).items())
        ),
    ]


def extraction_events(found: Extraction, turn: Turn, before: Nodes, build: str) -> list[Event]:
    """Return the events of what was found in a turn: its mentions, its relationships, then its attributes. Pure."""
    node: dict[Mention, str] = {}
    events: list[Event] = []
    for mention in dict.fromkeys(found.mentions):
        repeats = None if mention.speaker else before.get((mention.type, mention.text))
        own = mention_id(build, mention)
        node[mention] = repeats or own
        events.append(
            MentionObserved(
                mention_id=own,
                episode_id=turn.episode_id,
                entity_type=mention.type,
                text=mention.text,
                start=mention.start,
                speaker=mention.speaker,
                repeats=repeats,
            )
        )

    def node_of(mention: Mention) -> str:
        return node.get(mention) or before.get((mention.type, mention.text)) or mention_id(build, mention)

    for number, statement in enumerate(found.relationships):
        events.append(
            RelationshipStated(
                relationship_id=derive("relationship", build, turn.episode_id, number),
                episode_id=turn.episode_id,
                relation=statement.relation,
                source=node_of(statement.source),
                target=node_of(statement.target),
                stance=statement.stance,
                valid_from=statement.valid_from,
                valid_to=statement.valid_to,
                grain=statement.grain,
                time_words=statement.time_words,
                confidence=statement.confidence,
                start=statement.span[0],
                end=statement.span[1],
            )
        )
    for number, attribute in enumerate(found.attributes):
        events.append(
            AttributeStated(
                attribute_id=derive("attribute", build, turn.episode_id, number),
                episode_id=turn.episode_id,
                mention_id=node_of(attribute.mention),
                name=attribute.name,
                value=attribute.value,
                confidence=attribute.confidence,
                start=attribute.span[0],
                end=attribute.span[1],
            )
        )
    return events
