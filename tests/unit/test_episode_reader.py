"""A reader of the episodic layer sees what stands before the position that is believed, of every kind of row."""

from pathlib import Path

from asof_projections.graph.sqlite_store.episode_reader import EpisodeReader
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    FeedbackReceived,
    FeedbackWithdrawn,
    GoalDeclared,
    GoalWithdrawn,
    MentionObserved,
    MessageParked,
    MessageRetried,
    RelationshipStated,
)
from semantic_story import Story

IDS = ("a", "b", "c")


def told() -> Story:
    said = {"source": "message", "source_description": "", "name": "", "role": "Ana", "role_type": "user"}
    claim = {"relation": "likes", "source": "Ana", "target": "tea", "stance": "holds", "confidence": 1.0}
    chat = {"role": "Ana", "role_type": "user", "valid_at": 5}
    goal = {**chat, "content": "I want to run", "description": "run", "saliency": 1.0}
    story = Story()
    for number, id_ in enumerate(IDS):
        words = {"body": f"Ana(user): {id_}", "content_length": 1, "valid_at": number}
        story.tell(
            EpisodeRecorded(episode_id=id_, external_id=id_, **words, **said),
            MentionObserved(mention_id=f"m-{id_}", episode_id=id_, entity_type="Person", text="Ana", start=0),
            RelationshipStated(relationship_id=f"r-{id_}", episode_id=id_, start=0, end=1, **claim),
        )
    story.tell(MessageParked(reason="limit"))
    story.tell(MessageRetried(position=3))
    story.tell(FeedbackReceived(feedback_id="f", external_id="1", content="Fine.", **chat))
    story.tell(GoalDeclared(goal_id="goal", external_id="2", **goal))
    story.tell(EpisodeWithdrawn(episode_id="b"), MessageParked(reason="limit"))
    story.tell(FeedbackReceived(feedback_id="f2", external_id="3", content="Fine.", **chat))
    story.tell(FeedbackWithdrawn(feedback_id="f"))
    story.tell(GoalWithdrawn(goal_id="goal"))
    story.tell(FeedbackWithdrawn(feedback_id="f2"), FeedbackReceived(feedback_id="f3", content="Good.", **chat))
    return story


def seen(store: SqliteGraph) -> tuple[object, ...]:
    return (
        [list(rows(None)) for rows in (store.episodes, store.mentions, store.relationships)],
        [(store.episode(id_), store.withdrawn(id_), store.post("g", id_)) for id_ in (*IDS, "1", "2", "3")],
        [store.parked(None, limit=9), store.parked_count(), store.retried(3), store.unsettled(3)],
        [store.feedback("g", None, withdrawn=withdrawn) for withdrawn in (False, True)],
        store.declarers(["goal"]),
        store.recent("g", "message", 9, 99, 9),
    )


def test_what_is_not_believed_yet_is_in_no_answer(tmp_path: Path) -> None:
    records = told().records
    with SqliteGraph(tmp_path / "whole.db", "episodic", writable=True) as whole:
        whole.apply(records)
        whole.commit(len(records), b"")
    believed = 0
    before = None
    with EpisodeReader(tmp_path / "whole.db", lambda: believed) as reader:
        for believed in range(len(records) + 1):
            with SqliteGraph(tmp_path / f"{believed}.db", "episodic", writable=True) as part:
                part.apply(records[:believed])
                part.commit(believed, b"")
                assert seen(reader) == seen(part)
                assert seen(reader) != before  # each record shows
                before = seen(part)
