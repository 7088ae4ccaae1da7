"""Erasing a part of a group: what is erased is gone at every moment, as if it had never been, and the rest stays.

Each test compares with what the memory would be without it: no byte is left, questions as of any moment answer without
it, and a build anew gives the same digest.
"""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory
from asof_process import program
from asof_streams.errors import InvalidInput, NotFound
from effort import tries
from http_server import serving
from world import World, on

CANARIES = b"zephyrine", b"quorl"
TOLD = (
    ("2024-01-05", "Ana", "I live in Madrid. I work at Acme."),
    ("2024-02-05", "Ben", "Ana moved to Quorl in February. My sister is Zephyrine."),
    ("2024-02-06", "Ana", "She works at Globex."),
    ("2024-03-05", "Ana", "I like tea. Ben likes coffee."),
    ("2024-04-05", "Ben", "Zephyrine likes coffee."),
    ("2024-05-05", "Ben", "Ana likes tea."),
)


def tell(world: World, *, without: tuple[int, ...] = ()) -> None:
    """Tell two groups of the same days in turn; what is left out of one is nothing in a third, at the same place."""
    for number, (day, who, text) in enumerate(TOLD):
        world.now = on(day)
        left_out = number in without
        world.memory.add("" if left_out else text, role=who, group_id="blank" if left_out else "g")
        world.memory.add(text.replace("Zephyrine", "Zoe").replace("Quorl", "Kiel"), role=who, group_id="other")


def left(folder: Path) -> dict[str, list[bytes]]:
    """Return which canaries stand in files, by file."""
    files = {path: path.read_bytes().lower() for path in folder.rglob("*") if path.is_file()}
    found = {path.name: [word for word in CANARIES if word in content] for path, content in files.items()}
    return {name: here for name, here in found.items() if here}


def answers(memory: Memory, group: str = "g") -> list[object]:
    """Return what a group is known to be, as of now and of each day before."""
    asked: list[object] = []
    for day in [None, *(day for day, _, _ in TOLD)]:
        known = None if day is None else on(day)
        facts = memory.facts(group_id=group, any_time=True, known_at=known)
        asked.append([(f.uuid, f.fact, f.valid_at, f.invalid_at, f.created_at, f.expired_at) for f in facts])
        asked.append([(e.name, e.created_at) for e in memory.entities(group_id=group, known_at=known)])
    return asked


def worded(asked: list[object]) -> list[object]:
    return [[tuple(row)[1:] for row in rows] for rows in asked]  # type: ignore[attr-defined]


def texts(world: World, **asked: Any) -> list[str]:
    preview = world.memory.erasure_preview("g", **asked)
    assert preview.messages is not None
    return [message.content for message in preview.messages]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "data", embedder="hash")
    yield world
    world.memory.close()


@pytest.fixture
def never(tmp_path: Path) -> Iterator[list[object]]:
    """What the group would be known to be, had the messages of the canaries never been said."""
    world = World(tmp_path / "never")
    tell(world, without=(1, 4))
    yield answers(world.memory)
    world.memory.close()


def test_a_group_answers_as_if_what_was_erased_of_it_had_never_been_said(world: World, never: list[object]) -> None:
    tell(world)
    world.memory.search("Where is Zephyrine?", group_id="g")
    others = answers(world.memory, "other")

    erasure = world.memory.erase("g", person="Zephyrine")

    assert erasure.messages == (2, 8)
    assert erasure.done
    assert answers(world.memory) == never
    assert answers(world.memory, "other") == others
    assert left(world.path) == {}
    assert all(check.ok for check in world.memory.verify())
    world.restart()
    assert answers(world.memory) == never


def test_a_build_anew_and_a_replay_have_the_digest_of_what_answers_after_it(world: World, tmp_path: Path) -> None:
    tell(world)
    world.memory.erase("g", phrase="zephyrine")
    tell(world)

    world.memory.rebuild("again")
    world.memory.rebuild("anew", input="episodes")
    world.memory.replay(str(tmp_path / "target"), log="messages")

    assert world.memory.digest("again") == world.digest()
    with World(tmp_path / "target").memory as target:
        assert target.digest() == world.digest()
        assert all(check.ok for check in target.verify())
    facts = answers(world.memory)
    world.memory.switch("anew")
    assert worded(answers(world.memory)) == worded(facts)


def test_what_a_person_said_and_what_means_them_under_any_name_is_named_before(world: World) -> None:
    tell(world)
    world.memory.alias("Zephyrine", "Zeph", group_id="g")
    world.memory.add("Zeph lives in Oslo.", role="Cleo", group_id="g")

    assert texts(world, person="zephyrine") == [TOLD[1][2], TOLD[4][2], "Zephyrine\nZeph", "Zeph lives in Oslo."]
    assert texts(world, person="Ana", only_said=True) == [TOLD[0][2], TOLD[2][2], TOLD[3][2]]
    assert texts(world, person="Ben", phrase="likes COFFEE") == [TOLD[3][2], TOLD[4][2]]
    assert texts(world, start="2024-02-06", stop="2024-04-05") == [TOLD[2][2], TOLD[3][2]]
    assert texts(world, phrase="like") == [TOLD[3][2]]
    assert texts(world, person="Nobody") == []
    with pytest.raises(NotFound):
        world.memory.erase("g", person="Nobody")
    with pytest.raises(InvalidInput):
        world.memory.erase("g", only_said=True)


def test_a_structured_fact_and_what_was_parked_or_withdrawn_are_erased_too(world: World) -> None:
    tell(world)
    world.tell("2024-06-01", subject="Zephyrine", object="Quorl")
    episode = world.memory.episodes(group_id="g")[-1].uuid
    world.memory.withdraw(episode, group_id="g")
    world.memory.add("Zephyrine sings.", role="Ben", group_id="g", previous_episode_ids=["nowhere"])
    assert world.parked() == 1

    world.memory.erase("g", person="Zephyrine")

    assert world.parked() == 0
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()
    assert left(world.path) == {}


def test_a_second_erasure_and_one_of_the_whole_group_find_nothing_of_the_first(world: World) -> None:
    tell(world)
    world.memory.erase("g", phrase="Quorl")
    world.memory.erase("g", phrase="Globex")
    assert texts(world, phrase="Globex") == []
    world.memory.rebuild("again")
    assert world.memory.digest("again") == world.digest()

    world.memory.erase("g")

    assert world.memory.facts(group_id="g") == []
    world.memory.rebuild("anew")
    assert world.memory.digest("anew") == world.digest()
    world.memory.close()
    assert left(world.path) == {}


def test_a_message_whose_content_was_not_kept_stays_as_it_was_read(world: World) -> None:
    world.memory.add("I live in Oslo.", role="Ana", group_id="g", suppress_content=True)
    world.memory.add("Zephyrine is in Quorl.", role="Ana", group_id="g")

    world.memory.erase("g", phrase="Quorl")

    assert [fact.object for fact in world.memory.facts(group_id="g")] == ["Oslo"]
    assert left(world.path) == {}


def test_what_is_restored_from_before_and_after_has_nothing_of_it(
    world: World, tmp_path: Path, never: list[object]
) -> None:
    tell(world)
    world.memory.backup(tmp_path / "1")
    world.memory.erase("g", person="Zephyrine")
    world.memory.backup(tmp_path / "2", after=tmp_path / "1")
    world.memory.backup(tmp_path / "whole")

    for name, files in {"a": ("1", "2"), "b": ("whole",)}.items():
        asof.restore(*(tmp_path / file for file in files), data=tmp_path / name, embedder="none")
        with World(tmp_path / name).memory as restored:
            assert answers(restored) == never
            assert restored.digest() == world.digest()
            assert all(check.ok for check in restored.verify())
        assert left(tmp_path / name) == {}


def test_no_directory_is_made_as_of_a_moment_before_it_and_a_replay_up_to_there_is(
    world: World, tmp_path: Path
) -> None:
    tell(world)
    world.memory.erase("g", person="Zephyrine")

    with pytest.raises(InvalidInput, match="asof replay") as refused:
        world.memory.checkout(tmp_path / "before", known_at="2024-02-07")
    assert refused.value.field == "known_at"
    assert not (tmp_path / "before").exists()
    world.memory.replay(str(tmp_path / "before"), log="messages", stop=6)

    with World(tmp_path / "before").memory as before:
        known = world.memory.facts(group_id="g", any_time=True, known_at="2024-02-07")
        assert [f.fact for f in before.facts(group_id="g", any_time=True)] == [f.fact for f in known]


def test_where_content_is_encrypted_no_older_backup_can_be_made_to_say_it(tmp_path: Path) -> None:
    sealed, again = World(tmp_path / "sealed", keys=tmp_path / "keys"), tmp_path / "again"
    tell(sealed)
    sealed.memory.backup(tmp_path / "before")

    erasure = sealed.memory.erase("g", person="Zephyrine")

    assert erasure.keys_destroyed
    asof.restore(tmp_path / "before", data=again, embedder="none")
    with World(again).memory as restored:
        assert [message.content for message in restored.erasure_preview("g", person="Ben").messages or ()] == [
            TOLD[3][2],
            TOLD[5][2],
        ]
        assert all(check.ok for check in restored.verify())
        restored.rebuild("anew")
        assert restored.digest("anew") == restored.digest()
    assert left(again) == {}
    sealed.memory.close()


_DYING = """
import os, signal, sys
import asof
from asof_agents import engine
from asof_streams.sqlite_log import SqliteLog

which = int(sys.argv[2])
calls = 0

def dying(method):
    def call(*given, **more):
        global calls
        calls += 1
        if calls == which:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*given, **more)
    return call

memory = asof.open(sys.argv[1], embedder="none")
memory.verify()
for name in ("redact", "erase", "append"):
    setattr(SqliteLog, name, dying(getattr(SqliteLog, name)))
memory.erase("g", person="Zephyrine")
print("done")
"""


def test_an_erasure_that_is_killed_anywhere_is_done_by_whoever_opens_the_directory_next(
    tmp_path: Path, never: list[object]
) -> None:
    for which in range(1, 12) if tries(1, nightly=2) > 1 else (2, 3, 5):
        world = World(tmp_path / str(which))
        tell(world)
        world.memory.close()
        died = subprocess.run(program(_DYING, world.path, which), capture_output=True, text=True, check=False)
        if died.returncode == 0:
            break
        assert died.returncode == -signal.SIGKILL, died.stderr

        world.restart()
        world.memory.add("I like jazz.", role="Ana", group_id="other")

        assert answers(world.memory) == never
        world.memory.close()
        assert left(world.path) == {}
        world.restart()
        assert all(check.ok for check in world.memory.verify())
        world.memory.rebuild("again")
        assert world.memory.digest("again") == world.digest()
        world.memory.close()
    assert which >= 5


def test_over_http_a_part_is_named_before_and_its_erasure_certified(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.say("g", "My sister is Zephyrine.", "I live in Oslo.")
        asked = {"group_id": "g", "phrase": "zephyrine"}
        preview = server.client.get("/v1/erasure-preview", params=asked).json()
        assert [message["content"] for message in preview["messages"]] == ["My sister is Zephyrine."]

        first = server.client.post("/v1/erase", json=asked, headers={"Idempotency-Key": "1"})
        assert first.status_code == 200, first.text
        assert (first.json()["messages"], first.json()["done"]) == ([0], True)
        assert left(tmp_path / "data") == {}
        assert server.client.post("/v1/erase", json=asked, headers={"Idempotency-Key": "1"}).json() == first.json()
        assert server.client.post("/v1/erase", json=asked).status_code == 404
        assert server.client.get("/v1/erasure-preview", params=asked).json()["messages"] == []
        facts = server.client.get("/v1/facts", params={"group_id": "g"}).json()["facts"]
        assert [fact["object"] for fact in facts] == ["Oslo"]
