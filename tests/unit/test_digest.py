"""The digest of a store is of what it holds, and the same in every version."""

from pathlib import Path

import pytest

from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    FeedbackReceived,
    MentionObserved,
    MessageParked,
    MessageRetried,
    RelationshipStated,
)
from asof_streams.events import Event
from asof_streams.semantic import (
    CommunityFormed,
    ContradictionFlagged,
    EntityAttributed,
    EntityDescribed,
    EntityMerged,
    FactReinforced,
    MentionResolved,
    RelationDeclared,
)
from semantic_story import Story, ended, entity, fact, retracted, unasserted


def told(story: Story, group: str) -> None:
    """Tell something of every kind, the later names and ids first."""
    said = {"name": "", "source": "message", "source_description": "", "role": "Ana", "role_type": "user"}
    claim = {"relation": "likes", "source": "m1", "target": "m2", "stance": "holds", "confidence": 1.0}
    kept = {"confidence": 0.5, "support": 0.5, "attested": 5, "holds": True, "said_at": 5, "episode_id": "e"}
    about = f"{group}Zoe", f"{group}Ana"
    events: list[Event] = [
        EpisodeRecorded(episode_id=f"{group}e", body="Ana(user): I", content_length=1, valid_at=5, **said),
        MentionObserved(mention_id=f"{group}m", episode_id=f"{group}e", entity_type="Person", text="I", start=0),
        RelationshipStated(relationship_id=f"{group}r", episode_id=f"{group}e", start=0, end=1, **claim),
        EpisodeWithdrawn(episode_id="another"),
        MessageParked(reason="limit"),
        MessageRetried(position=0),
        RelationDeclared(relation="likes", cardinality="one"),
        *map(entity, about),
        EntityDescribed(entity_id=f"id-{about[1]}", alias="An", episode_id="e"),
        MentionResolved(
            mention_id=f"{group}m", episode_id="e", entity_id=f"id-{about[1]}", reason="speaker", score=1.0
        ),
        EntityMerged(merge_id=f"{group}g", duplicate=f"id-{about[0]}", into=f"id-{about[1]}", reason="same"),
        EntityAttributed(entity_id=f"id-{about[1]}", name="role", value="cook", attribute_id=f"{group}a", **kept),
        CommunityFormed(community_id=f"{group}c", name="c", members=(f"id-{about[0]}",), episode_id="e"),
        fact(f"{group}y", about[0], "likes", about[1], qualifiers={"by": "Zoe"}),
        fact(f"{group}x", about[1], "age", value="42", number=True, occurrence=True),
        ended(f"{group}d", about[0], "likes", about[1], 9, fact_id=f"{group}y"),
        unasserted(f"{group}y", (0, 9), kind="ended", cause=f"{group}d"),
        retracted(f"{group}t", f"{group}x"),
        ContradictionFlagged(contradiction_id=f"{group}q", earlier=f"{group}x", later=f"{group}y"),
    ]
    story.tell(*events, group=group)
    story.tell(FactReinforced(fact_id=f"{group}y", said_at=3, episode_id="again"), group=group)


FEEDBACK = FeedbackReceived(feedback_id="f", content="Fine.", role="Ana", role_type="user", valid_at=5)
STATED = EpisodeRecorded(
    episode_id="no uuid: \x01é",
    name="",
    source="fact",
    source_description="",
    role="",
    role_type="",
    body='{"group_id":"g","op":"assert","subject":"Zoë \\u0001\\n","relation":"likes","object":"\\"☕\\""}',
    content_length=0,
    valid_at=5,
)
MANY = tuple(
    MentionObserved(mention_id=f"m{number}", episode_id="e", entity_type="Person", text="Ana", start=0)
    for number in range(1_001)
)


@pytest.mark.parametrize(
    ("more", "digest"),
    [
        ((), "672f7de342d27e316cde7e97c03cab27e46c09629be9716abaf577380d0e0585"),
        ((FEEDBACK,), "2b04e8042168e5431d523828df210f2bf4bf17fe9732ac795b40f6deb74c659f"),
        ((STATED,), "ec854c2c44f52d29ec7aaf97def3fd1b25f022bf67d5bd85b059ea98e03967db"),
        (MANY, "bf7c09453ed8aa62b4167bd1b1bcc1f5c043db6a9c04c2ceee27cbb09e9f094e"),
    ],
    ids=["some of everything", "a table that came later", "a structured fact", "more rows than are hashed at once"],
)
def test_the_digest_of_what_is_told_stays_what_it_was(tmp_path: Path, more: tuple[Event, ...], digest: str) -> None:
    story = Story()
    for group in ("h", "g"):
        told(story, group)
    story.tell(*more)
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        store.apply(story.records)
        assert store.digest() == digest
