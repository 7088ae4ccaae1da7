"""What a reply is made of goes step by step from the facts that were found, as far as the archetype says."""

import asyncio
from pathlib import Path

import pytest

import asof
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
