"""Resolution within one message alone."""

import pytest

from asof_agents.resolution.episode_resolver import EpisodeResolver
from asof_streams.episodic import EpisodeRecorded, MentionObserved
from asof_streams.semantic import EntityIntroduced, MentionResolved


def mention(text: str, type_: str = "Person", *, speaker: bool = False) -> MentionObserved:
    about = {"mention_id": f"{type_} {text} {speaker}", "episode_id": "e", "entity_type": type_}
    return MentionObserved(text=text, start=0, speaker=speaker, **about)


def resolved(*mentions: MentionObserved, role: str = "Ben") -> list[tuple[str, str | None, str, float]]:
    """Return name and type of the entity of each mention, in the order in which they are resolved, and why."""
    about = {"episode_id": "e", "name": "", "source": "message", "source_description": "", "body": ""}
    episode = EpisodeRecorded(role=role, role_type="user", content_length=0, valid_at=0, **about)
    resolver = EpisodeResolver(None, "build", "g", 0, episode)
    resolver.resolve(mentions)
    entities = {e.entity_id: e for e in resolver.events if isinstance(e, EntityIntroduced)}
    meant = [(entities[e.entity_id], e.reason, e.score) for e in resolver.events if isinstance(e, MentionResolved)]
    return [(entity.name, entity.entity_type, reason, score) for entity, reason, score in meant]


def test_a_name_is_the_same_within_a_message_and_so_is_a_part_of_the_one_full_name() -> None:
    said = [mention("Ana"), mention("Ana Lee"), mention("ana lee"), mention("Ana", "Organization")]

    assert resolved(*said) == [
        ("Ana Lee", "Person", "new", 1.0),
        ("Ana Lee", "Person", "name", 1.0),
        ("Ana", "Organization", "new", 1.0),
        ("Ana Lee", "Person", "first name", 0.9),
    ]


@pytest.mark.parametrize(("role", "name"), [("Ben", "Ben"), ("", "user")])
def test_the_speaker_is_who_is_called_as_the_role_or_else_as_its_type(role: str, name: str) -> None:
    me, my = mention("I", speaker=True), mention("my", speaker=True)

    assert resolved(mention(name), me, my, role=role) == [
        (name, "Person", "new", 1.0),
        (name, "Person", "speaker", 1.0),
        (name, "Person", "speaker", 1.0),
    ]
    assert resolved(me, role=role) == [(name, "Person", "speaker", 1.0)]
