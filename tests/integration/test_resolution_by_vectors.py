"""Names that are near in meaning: whom a model is asked about because of them, however and how often it is done."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from asking import records
from asof_agents.resolution.candidates import NEAR
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_streams.episodic import EpisodeRecorded, ExtractionAnswered
from asof_streams.errors import InvalidInput, ModelUnavailable
from asof_streams.messages import WithdrawalRequest
from asof_streams.semantic import MentionResolved
from embedding_server import EmbeddingServer
from embedding_server import serving as embedding
from model_server import ModelServer, serving
from model_world import events, facts, prompts, say
from unchecked import not_checked
from world import World

HM = ["Hm."] * 4  # a name in the last turns would be repeated, not resolved
TOLD = ["I live in New York City.", *HM, "My colleague Tom lives in Gotham."]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        server.decides = lambda mentions, _: answer(*mentions)
        yield server


@pytest.fixture
def vectors() -> Iterator[EmbeddingServer]:
    with embedding() as vectors:
        vectors.means = {"Gotham": "New York City"}
        yield vectors


@pytest.fixture
def world(tmp_path: Path, server: ModelServer, vectors: EmbeddingServer) -> Iterator[World]:
    told = opened(tmp_path / "data", server, vectors)
    yield told
    told.memory.close()


def opened(path: Path, server: ModelServer, vectors: EmbeddingServer, **settings: Any) -> World:
    asked = {"extractor": "model", "model_url": server.url, "model_name": "fake"}
    return World(path, **{**asked, "embedder": "openai", "embedding_url": vectors.url, **settings})


def answer(*mentions: int) -> str:
    """Return an answer that lets mentions mean the likeliest thing that is known."""
    return json.dumps({"meant": [{"mention": n, "known": 1, "confidence": 0.9} for n in mentions], "same": []})


def lasting(world: World) -> list[Any]:
    """Everything that is believed, with its place in the log."""
    return [(r.cause, r.place, r.event.model_dump(exclude={"latency_ms"})) for r in records(world.memory)]


def kept(world: World) -> int:
    """How many vectors last."""
    with closing(sqlite3.connect(world.path / "vectors.db")) as db:
        return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_a_model_is_asked_whether_a_name_means_what_is_near_in_meaning_and_it_is_known_from_then_on(world, server):
    say(world, *TOLD, *HM, "My friend Eva lives in Gotham.")

    [shown] = prompts(server, "Known")
    assert "1. Gotham (Location): 1\n" in shown
    assert "1. New York City: Ana lives in New York City" in shown
    assert {"Tom lives in New York City", "Eva lives in New York City"} <= facts(world)
    assert [event.reason for event in events(world, MentionResolved)].count("model") == 1


def test_a_retry_asks_again_about_a_name_that_is_near_in_meaning(world, server):
    server.decides = lambda *_: "no"
    say(world, *TOLD)
    assert "Tom lives in Gotham" in facts(world)
    server.decides = lambda mentions, _: answer(*mentions)
    world.memory.retry(group_id="g")

    assert {fact.subject for fact in world.memory.facts(group_id="g", object="New York City")} == {"Ana", "Tom"}


@pytest.mark.parametrize(
    ("known", "said", "means"),
    [
        ("I live in New York City.", "My colleague Tom lives in Lima.", {}),  # nothing near
        ("I work at Acme.", "My colleague Tom lives in Gotham.", {"Gotham": "Acme"}),  # a place and a firm
        ("My friend is 30 years old.", "My colleague is thirty years old.", {"thirty": "30 years old"}),  # values
        ("I work at Unit 12.", "My colleague Tom works at Unit 13.", {"Unit 13": "Unit 12"}),  # numbers
    ],
)
def test_what_is_not_near_is_of_another_type_a_value_or_another_number_is_not_asked_about(
    world, server, vectors, known, said, means
):
    vectors.means = means
    say(world, known, *HM, said)

    assert prompts(server, "Known") == []


def test_names_of_another_group_are_near_nobody(world, server):
    say(world, TOLD[0], group_id="h")
    say(world, TOLD[-1])

    assert prompts(server, "Known") == []


def test_a_name_that_counts_no_longer_is_near_nothing(world, server, vectors):
    vectors.means = {"Zoe": "Eva Sole"}
    for group in ("g", "h"):
        say(world, "My friend Eva lives in Oslo.", *HM, "Eva Sole works at Acme.", *HM, group_id=group)
    recorded = [r for r in records(world.memory, "episodic") if isinstance(r.event, EpisodeRecorded)]
    [gave] = [r.event.episode_id for r in recorded if r.group == "h" and "Sole" in r.event.content]
    writer = world.memory._session.writer()
    writer.messages.accept([WithdrawalRequest(group_id="h", episode_id=gave)], clock=world.now)
    writer.process(flush=True)

    for group, asked in (("h", 0), ("g", 1)):
        say(world, "My colleague Zoe likes tea.", group_id=group)
        assert len(prompts(server, "Known")) == asked


def test_the_likeliest_are_those_most_alike_or_nearest_and_of_equally_near_ones_the_oldest(world, server, vectors):
    vectors.means = {"Gotham": "Arkham", "Lima": "Arkham", "Oslo": "Arkham", "Bonn": "Arkham"}
    server.decides = lambda *_: answer()
    say(world, *(f"I was born in {place}." for place in ("Lima", "Oslo", "Bonn", "Gothem")), *HM, TOLD[-1])

    assert len(prompts(server, "Known")) == 3  # Oslo, Bonn and Gotham
    known = prompts(server, "Known")[-1].partition("Known:\n")[2].splitlines()
    assert [line.partition(":")[0] for line in known] == ["1. Lima", "2. Oslo", "3. Bonn", "4. Gothem"]


def test_what_is_near_is_the_same_however_much_is_committed_and_wherever_it_begins_again(tmp_path, server, vectors):
    one, other = (opened(tmp_path / name, server, vectors) for name in ("one", "other"))
    began = one.now
    say(one, *TOLD)
    for text in TOLD:
        other.now = began
        say(other, text)
        other.restart()

    assert lasting(one) == lasting(other)
    assert len(prompts(server, "Known")) == 2
    for world in (one, other):
        world.memory.close()


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_rebuild_finds_the_same_near_and_asks_the_model_nothing(world, server, vectors, source):
    say(world, *TOLD)
    before, calls, requests = world.digest(), server.calls, len(vectors.requests)
    world.memory.rebuild("again", input=source)
    world.memory.switch("again")

    assert (world.digest() == before) or source == "episodes"  # its mentions have ids of its own
    assert "Tom lives in New York City" in facts(world)
    assert server.calls == calls
    assert len(vectors.requests) <= 2 * requests  # vectors of names that are only looked for are kept nowhere
    assert len(events(world, ExtractionAnswered)) >= 1


def test_eight_calls_at_once_find_near_what_one_after_the_other_finds(tmp_path, server, vectors):
    told = [opened(tmp_path / str(n), server, vectors, model_calls=n) for n in (1, 8)]
    for each in told:
        server.latency = 0.05 * (each is told[1])
        say(each, *TOLD, *HM, "My friend Eva lives in Gotham.", "I love Lima.", *HM, "My colleague Eva hates Gotham.")

    assert lasting(told[0]) == lasting(told[1])
    assert len(prompts(server, "Known")) >= 2
    for each in told:
        each.memory.close()


def test_no_vector_lasts_of_what_is_erased(world, server):
    say(world, *TOLD, group_id="h")
    say(world, "My friend Eva lives in Oslo.", "I love Lima.")
    assert kept(world) == 4  # what h calls things
    world.memory.erase("h")
    world.memory.erase("g")
    assert kept(world) == 0
    asked = len(prompts(server, "Known"))
    say(world, TOLD[-1])
    say(world, TOLD[-1], group_id="h")
    assert len(prompts(server, "Known")) == asked


def test_a_generation_begun_without_vectors_goes_on_without_until_it_is_built_anew(tmp_path, server, vectors):
    begun = opened(tmp_path / "data", server, vectors, embedder="none")
    say(begun, TOLD[0], *HM)
    begun.memory.rebuild("read", input="episodes")
    begun.memory.close()
    world = opened(tmp_path / "data", server, vectors)
    say(world, *TOLD)
    assert prompts(server, "Known") == []

    world.memory.rebuild("near")
    assert len(prompts(server, "Known")) == 1
    world.memory.close()


def test_a_generation_read_anew_with_vectors_goes_on_with_no_others(world, server, vectors):
    say(world, *TOLD)
    world.memory.rebuild("read", input="episodes")
    world.memory.close()

    with pytest.raises(InvalidInput, match="ASOF_EMBEDDER"):
        say(opened(world.path, server, vectors, embedder="none"), "Hm.")


SAME = [("Burma", "Myanmar"), ("Holland", "the Netherlands"), ("Bob Miller", "Robert Miller"), ("Coke", "Coca-Cola")]
TWO = [("Anna", "Maria"), ("Berlin", "Hamburg"), ("SAP", "IBM"), ("Tea", "Coffee"), ("George Orwell", "George Eliot")]


@pytest.fixture
def minilm() -> MiniLMEmbedder:
    try:
        return MiniLMEmbedder()
    except ModelUnavailable as error:
        not_checked(f"with all-MiniLM-L6-v2: {error}")


def test_names_of_one_thing_are_near_and_names_of_two_are_not_by_the_model_that_comes_with_asof(minilm):
    one, other = (minilm.embed([pair[n] for pair in SAME + TWO]) for n in (0, 1))

    assert list((one * other).sum(axis=1) >= NEAR) == [True] * len(SAME) + [False] * len(TWO)


@pytest.mark.usefixtures("minilm")
def test_the_model_that_comes_with_asof_is_loaded_with_the_first_name_and_finds_what_is_near(tmp_path, server):
    said = [*HM, "I live in Burma.", *HM, "My colleague Tom lives in Myanmar."]
    program = f"""
import sys, asof
asked = {{"extractor": "model", "model_url": {server.url!r}, "model_name": "fake", "embedder": "minilm"}}
with asof.open({str(tmp_path / "data")!r}, **asked) as memory:
    for text in {said}:
        print({{"faiss", "tokenizers"}} <= set(sys.modules))
        memory.add(text, role="Ana")
    print(*(fact.fact for fact in memory.facts()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[: len(said)] == ["False"] * 5 + ["True"] * 5
    assert "Tom lives in Burma" in done.stdout
    assert len(prompts(server, "Known")) == 1
