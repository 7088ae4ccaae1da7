"""The last turns that a writer keeps: always those that the file has."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import EpisodeRecorded, EpisodeWithdrawn, GroupErased, MentionObserved
from asof_streams.events import Event, Record

STEPS = st.lists(
    st.tuples(st.sampled_from(["said", "said", "said", "long", "withdrawn", "late", "erased"]), st.integers(0, 12)),
    min_size=1,
    max_size=30,
)


def record(position: int, event: Event) -> Record:
    return Record(position, "ana", 1_000 + position, position // 2, position % 2, 2, 0, event)


def events(kind: str, number: int, at: int) -> list[Event]:
    if kind == "withdrawn":
        return [EpisodeWithdrawn(episode_id=f"e{at}")]
    if kind == "erased":
        return [GroupErased()]
    if kind == "late":  # a retry finds one more mention in an earlier episode
        return [_mention(f"e{at}", f"late {number}", number)]
    body = "Ana(user): " + ("x" * 20_000 if kind == "long" else "I know Bo.")
    said = {"name": "", "source": "message", "source_description": "", "role": "Ana", "role_type": "user"}
    episode = EpisodeRecorded(episode_id=f"e{number}", body=body, content_length=len(body) - 11, valid_at=at, **said)
    return [episode, _mention(f"e{number}", "Bo", number)]


def _mention(episode: str, text: str, number: int) -> MentionObserved:
    return MentionObserved(
        mention_id=f"m{number} {episode}", episode_id=episode, entity_type="Person", text=text, start=0
    )


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
@example(steps=[*(("said", at) for at in range(12)), ("said", 0)])  # of before those that are kept
@example(steps=[("said", 0), ("said", 1), ("erased", 0), ("said", 2)])
@example(steps=[*(("said", at) for at in range(7)), ("late", 3)])
def test_turns_and_mentions_that_are_kept_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    with SqliteGraph(tmp_path_factory.mktemp("turns") / "episodes.db", "episodic", writable=True) as writer:
        said = set[int]()
        for number, (kind, at) in enumerate(steps):
            if kind == "late" and at not in said:
                continue  # a mention follows its episode
            if kind == "erased":
                said.clear()
            elif kind in {"said", "long"}:
                said.add(number)
            writer.apply([record(2 * number + place, event) for place, event in enumerate(events(kind, number, at))])
            for until, before in ((at, number + 1), (20, number), (20, number + 1)):
                asked = ("ana", "message", until, before, 5)
                kept = writer.recent(*asked)
                ids = [turn.uuid for turn in kept]
                mentions, types = writer.mentions_of(ids), writer.types_of_names("ana", ["Bo", "Uma"])
                of_each = [writer.mentions_of([f"e{number}"]) for number in range(len(steps))]
                writer._turns, turns = None, writer._turns  # as a reader has none
                assert writer.recent(*asked) == kept
                assert writer.mentions_of(ids) == mentions
                assert [writer.mentions_of([f"e{number}"]) for number in range(len(steps))] == of_each
                writer._turns = turns
                assert types == ({"Bo": "Person"} if said else {})
