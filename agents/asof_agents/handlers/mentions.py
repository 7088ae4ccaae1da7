"""The mentions handler: the extraction of a turn becomes events of mentions, relationships and attributes.

Mentions are unique per (episode, entity type, text). A mention with the type and text of one in the turns before
`repeats` that one, and relationships refer to the first: the episodic graph has one node for both.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from asof_agents.extraction.ports import (
    Answers,
    Extraction,
    Extractor,
    ImpliedGoal,
    Mention,
    Relationship,
    StatedAttribute,
    Turn,
)
from asof_agents.extraction.replies import answer_events
from asof_agents.extraction.turns import turn_of, turns
from asof_agents.handlers.objectives import implied_goal_id
from asof_agents.ports import EpisodeView
from asof_projections.model.rows import EpisodeRow
from asof_streams.episodic import (
    AttributeStated,
    EpisodeRecorded,
    GoalImplied,
    MentionObserved,
    RelationshipStated,
)
from asof_streams.events import Event, Record, event_of
from asof_streams.ids import derive

CONTEXT_TURNS = 4  # earlier turns that an extractor gets, and within which a mention is repeated

Nodes = Mapping[tuple[str, str], str]  # the id of the first mention of a (type, text) in the turns before


def mention_id(build: str, mention: Mention) -> str:
    """Return the id of a mention; `build` is "" for the episodic layer's own extraction."""
    return derive("mention", build, mention.episode_id, mention.type, mention.text)


def context(group: str, episode: EpisodeRecorded, before: int, known: EpisodeView) -> list[EpisodeRow]:
    """Return the context of an episode, oldest first: the episodes that it names, otherwise the last four.

    The last four are of messages at positions below `before`, so that a rebuild finds the same ones.
    """
    named = episode.previous_episode_ids
    if named is None:
        itself = (episode.episode_id, episode.corrects)  # a retry finds the episode, an edit the one that it edits
        limit = CONTEXT_TURNS + (1 if episode.corrects is None else 2)
        recent = known.recent(group, episode.source, episode.valid_at, before, limit)
        return [e for e in recent if e.uuid not in itself][-CONTEXT_TURNS:]
    chosen = [known.episode(uuid) for uuid in dict.fromkeys(named)]
    return sorted((e for e in chosen if e is not None), key=lambda e: e.valid_at)


def extract(
    recorded: Record,
    extractor: Extractor,
    answers: Answers | None,
    episodes: EpisodeView,
    own: EpisodeView,
    build: str,
    content: str | None = None,
    stated: Sequence[Event] | None = None,
) -> list[Event]:
    """Return the events of a recorded episode's extraction, a model's answer first; none of what a bot said in a chat.

    episodes: has the episodes for context. own: has the mentions of this extraction, which are the episodic layer's, or
    those of a generation that extracts anew. content: the message's content; where it is suppressed, neither the
    episode nor the recorded answer keeps a word of it. stated: the events of an extraction before, by rules alone, of
    which a retry repeats nothing.
    """
    group, episode = recorded.group, recorded.event
    assert isinstance(episode, EpisodeRecorded)
    if episode.is_of_bot:
        return []  # it says what is believed already, and would keep it alive
    turn = turn_of(episode, content)
    earlier = context(group, episode, recorded.cause, episodes)
    rows = own.mentions_of([e.uuid for e in earlier])
    before = turns(earlier, rows)
    request = extractor.request(turn, before)
    reply = answers.reply(group, request, recorded.cause) if request and answers else None
    extraction = extractor.extract(
        turn, before, lambda names: own.types_of_names(group, names), reply.answer if reply else None
    )
    if reply and reply.answer and episode.suppressed:
        reply = replace(reply, answer="")  # the answer quotes the content
    answered = answer_events(turn, request, reply, extraction.refused) if request and reply else []
    nodes = {(r.type, r.text): r.repeats or r.uuid for r in reversed(rows) if not r.speaker}
    events = extraction_events(extraction, turn, nodes, build)
    return [*answered, *(events if stated is None else _without(stated, events, recorded.cause))]


def _without(stated: Sequence[Event], events: Sequence[Event], cause: int) -> Iterator[Event]:
    """Yield the events that an extraction before did not have, under ids of the message that caused them."""
    mentions = {event.mention_id for event in stated if isinstance(event, MentionObserved)}
    goals = {event.goal_id for event in stated if isinstance(event, GoalImplied)}
    relationships = {_claim(event) for event in stated if isinstance(event, RelationshipStated)}
    for event in events:
        match event:
            case MentionObserved(mention_id=id_) if id_ not in mentions:
                yield event
            case RelationshipStated(relationship_id=id_) if _claim(event) not in relationships:
                yield event.model_copy(update={"relationship_id": derive("relationship", id_, cause)})
            case AttributeStated(attribute_id=id_):
                yield event.model_copy(update={"attribute_id": derive("attribute", id_, cause)})
            case GoalImplied(goal_id=id_) if id_ not in goals:
                yield event


def _claim(stated: RelationshipStated) -> tuple[str, ...]:
    return stated.relation, stated.source, stated.target, stated.stance


def extraction_events(extraction: Extraction, turn: Turn, before: Nodes, build: str) -> list[Event]:
    """Return the events of a turn's extraction: its mentions, its relationships, its attributes, then its goals."""
    nodes: dict[Mention, str] = {}
    events: list[Event] = []
    for mention in dict.fromkeys(extraction.mentions):
        observed = _mention_event(mention, turn, before, build)
        nodes[mention] = observed.repeats or observed.mention_id
        events.append(observed)

    def node_of(mention: Mention) -> str:
        return nodes.get(mention) or before.get((mention.type, mention.text)) or mention_id(build, mention)

    events += [
        _relationship_event(statement, node_of, turn, derive("relationship", build, turn.episode_id, str(number)))
        for number, statement in enumerate(extraction.relationships)
    ]
    events += [
        _attribute_event(attribute, node_of, turn, derive("attribute", build, turn.episode_id, number))
        for number, attribute in enumerate(extraction.attributes)
    ]
    events += [_goal_event(goal, turn, number) for number, goal in enumerate(extraction.goals)]
    return events


def _mention_event(mention: Mention, turn: Turn, before: Nodes, build: str) -> MentionObserved:
    return event_of(
        MentionObserved,
        {  # all of them, in their order
            "mention_id": mention_id(build, mention),
            "episode_id": turn.episode_id,
            "entity_type": mention.type,
            "text": mention.text,
            "start": mention.start,
            "speaker": mention.speaker,
            "repeats": None if mention.speaker else before.get((mention.type, mention.text)),
        },
    )


def _relationship_event(
    statement: Relationship, node_of: Callable[[Mention], str], turn: Turn, id_: str
) -> RelationshipStated:
    return event_of(
        RelationshipStated,
        {  # all of them, in their order
            "relationship_id": id_,
            "episode_id": turn.episode_id,
            "relation": statement.relation,
            "source": node_of(statement.source),
            "target": node_of(statement.target),
            "stance": statement.stance,
            "valid_from": statement.valid_from,
            "valid_to": statement.valid_to,
            "grain": statement.grain,
            "time_words": statement.time_words,
            "granule": statement.granule,
            "planned": statement.planned,
            "former": statement.former,
            "shared": statement.shared,
            "confidence": float(statement.confidence),  # a model may say 1
            "start": statement.span[0],
            "end": statement.span[1],
        },
    )


def _attribute_event(
    attribute: StatedAttribute, node_of: Callable[[Mention], str], turn: Turn, id_: str
) -> AttributeStated:
    return AttributeStated(
        attribute_id=id_,
        episode_id=turn.episode_id,
        mention_id=node_of(attribute.mention),
        name=attribute.name,
        value=attribute.value,
        confidence=attribute.confidence,
        start=attribute.span[0],
        end=attribute.span[1],
    )


def _goal_event(goal: ImpliedGoal, turn: Turn, number: int) -> GoalImplied:
    return GoalImplied(
        goal_id=implied_goal_id(turn.episode_id, number),
        episode_id=turn.episode_id,
        description=goal.description,
        saliency=goal.saliency,
        start=goal.span[0],
        end=goal.span[1],
    )
