"""What a reply is made of: what is found, what is around that as far as the archetype says, and goals by meaning."""

import asyncio
from pathlib import Path

import pytest

import asof
from asof.runtime.layout import DirectoryLayout
from asof_projections.embedding.cache import cached_vectors
from asof_projections.embedding.hashing import HashingEmbedder
from asof_streams.conversation import ReplyGiven
from asof_streams.sqlite_log import SqliteLog
from conversing import platform, settings_of
from reply_server import replying

CHAIN = [
    ("Ana", "works_at", "Acme"),
    ("Acme", "located_in", "Munich"),
    ("Marienplatz", "located_in", "Munich"),
    ("Marienplatz", "owned_by", "Wittelsbach"),
]
APART = [("Bob", "lives_in", "Oslo"), ("Oslo", "located_in", "Norway")]
PROMPT = "{relationship_graph}\n---\n{semantic_facts}\n---\n{current_message}"
FOUND = "- Ana works at Acme"
HOPS = [
    "Acme --[located_in]--> Munich",
    "Marienplatz --[located_in]--> Munich",
    "Marienplatz --[owned_by]--> Wittelsbach",
]


def stated(directory: Path, facts: list[tuple[str, str, str]]) -> None:
    with asof.open(directory, embedder="minilm") as memory:
        for subject, relation, object_ in facts:
            memory.state_fact(subject=subject, relation=relation, object=object_, group_id="guild")
        memory.register_prompt("MAIN_CONVERSATION", PROMPT)
        memory.embed()  # or a busy machine would find by words alone


def shown(directory: Path, said: str) -> tuple[list[str], list[str]]:
    """Return the triples and the facts that a model is shown with a message."""

    async def main() -> str:
        with replying() as server:
            async with platform(
                settings_of(directory, embedder="minilm", model_url=server.url, model_name="m")
            ) as here:
                await here.talk(said)
            return server.prompts[-1]

    triples, facts, message = asyncio.run(main()).split("\n---\n")
    assert message == said
    return triples.splitlines(), facts.splitlines()


@pytest.mark.parametrize(
    ("said", "hops"),
    [
        pytest.param("Ana works at Acme.", 1, id="by default one"),
        pytest.param("Do you remember where Ana works?", 2, id="to recall two"),
        pytest.param("Hi, how are you, Ana at Acme?", 0, id="for small talk none"),
    ],
)
def test_a_reply_goes_from_what_was_found_as_many_hops_as_its_archetype_says(
    tmp_path: Path, said: str, hops: int
) -> None:
    stated(tmp_path, CHAIN + APART)

    triples, facts = shown(tmp_path, said)

    assert facts == [FOUND]
    assert triples == (HOPS[:hops] or ["(nothing)"])


AIMS = ["become a machine learning engineer", "save money for a house", "run a marathon in spring"]


def aimed(directory: Path, embedder: str) -> None:
    with asof.open(directory, embedder=embedder) as memory:
        for number, aim in enumerate(AIMS):
            text, id_ = f"My goal is to {aim}", f"goal{number}"
            memory.add(text, role="alice", group_id="guild", external_id=id_, kind="message")
        memory.register_prompt("MAIN_CONVERSATION", PROMPT)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Can you recommend a course on neural networks?", ["- a goal: become a machine learning engineer"]),
        ("Which shoes should I buy for running?", ["- a goal: run a marathon in spring"]),
        ("What is for dinner?", ["(nothing)"]),
        ("Hi, how are you?", ["(nothing)"]),
    ],
)
def test_a_goal_is_shown_with_a_message_that_is_like_it_in_meaning(tmp_path: Path, said: str, found: list[str]) -> None:
    aimed(tmp_path, "minilm")

    assert shown(tmp_path, said)[1] == found

    with SqliteLog(tmp_path / "conversation.sqlite") as log:
        [given] = [record.event for record in log.read() if isinstance(record.event, ReplyGiven)]
    with asof.open(tmp_path) as memory:
        by_id = {one.uuid: f"- a goal: {one.description}" for one in memory.objectives(group_id="guild")}
    assert [by_id[id_] for id_ in given.facts or ()] == [line for line in found if line in by_id.values()]


def test_the_vector_of_a_goal_is_kept_and_goes_with_its_group(tmp_path: Path) -> None:
    aimed(tmp_path, "hash")
    vectors, said = DirectoryLayout(tmp_path).vectors, "How do I become an engineer in machine learning?"

    async def main() -> tuple[str, str]:
        async with platform(settings_of(tmp_path)) as here:
            before = await here.talk(said)
            assert set(cached_vectors(vectors, HashingEmbedder().model_id, AIMS)) == {*AIMS}
            await here.conversation.forget("guild")
            return before, await here.talk(said)

    before, after = asyncio.run(main())

    assert "a goal: become a machine learning engineer" in before
    assert "goal" not in after
    assert cached_vectors(vectors, HashingEmbedder().model_id, AIMS) == {}
