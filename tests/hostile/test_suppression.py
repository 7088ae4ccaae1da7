"""Content that is not to be kept: it is in no file in the clear, before it is read or after, and a crash loses none."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from asof.mcp.scope import ClientScope
from asof.runtime.layout import DirectoryLayout
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from http_server import serving
from mcp_agent import agent_here, serving_here
from world import World

SECRET = "Zanzibarquay"
KEYS = "first-secret-key", "second-secret-key"
SAID = f"I moved to Berlin in March. Nobody should ever hear of {SECRET}."


def holding(folder: Path, word: str = SECRET) -> list[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(file.relative_to(folder)) for file in files if word.lower().encode() in file.read_bytes().lower()]


def quiet(content: str = SAID) -> Message:
    return Message(group_id="g", content=content, role_type="user", role="Ana", suppress_content=True)


def test_content_waits_encrypted_and_is_read_after_any_restart(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.tell(relation="likes", object="tea")
    world.memory.close()
    with SqliteLog(DirectoryLayout(world.path).messages, writable=True) as log:
        log.accept([quiet(), quiet("I like tea.")], clock=world.now)
        assert holding(world.path) == []
        assert [record.event for record in log.read(1)] == [quiet(), quiet("I like tea.")]
        whole = [file.read_bytes() for file in world.path.rglob("messages.sqlite*") if file.is_file()]

    world = World(tmp_path / "data")

    assert world.where("2024-06") == ["Berlin"]
    assert [episode.content for episode in world.memory.episodes(group_id="g")][1:] == ["", ""]
    assert holding(world.path) == []
    assert list((world.path / "messages.keys").iterdir()) == []  # so no earlier copy of the log can be read
    assert any(b"\x00" in content for content in whole)
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()


def test_a_record_whose_key_was_destroyed_before_its_payload_reads_as_suppressed(tmp_path: Path) -> None:
    with SqliteLog(tmp_path / "messages.sqlite", writable=True) as log:
        log.accept([quiet(), quiet()], clock=1)
        log.accept([quiet().model_copy(update={"suppress_content": False})], clock=1)
        [key] = (tmp_path / "messages.keys").iterdir()
        key.unlink()

        assert [record.position for record in log.read()] == [2]
        assert log.suppress(0, 3)
        assert log.verify() == 3


@pytest.mark.parametrize("setting", [True, False])
def test_a_setting_suppresses_the_content_of_every_message(tmp_path: Path, setting: bool) -> None:
    world = World(tmp_path / "data", suppress_content=setting)
    world.memory.add(SAID, role="Ana", group_id="g")
    world.restart()

    assert bool(holding(world.path)) is not setting
    assert world.where("2024-06") == ["Berlin"]
    world.memory.close()


def test_it_can_be_wished_beside_the_messages_over_http_and_by_the_setting_of_a_service(tmp_path: Path) -> None:
    messages = [{"content": SAID, "role_type": "user", "role": "Ana"}]
    with serving(tmp_path / "one") as server:
        answer = server.client.post("/messages", json={"group_id": "g", "messages": messages, "suppress_content": True})
        server.settled(int(answer.headers["asof-position"]))
        assert [fact["fact"] for fact in server.search("Berlin", "g")] != []
        assert holding(tmp_path / "one") == []
    with serving(tmp_path / "two", ASOF_SUPPRESS_CONTENT="true") as server:
        server.say("g", SAID)
        assert holding(tmp_path / "two") == []


def test_no_digest_is_left_by_which_content_could_be_guessed(tmp_path: Path) -> None:
    """Of a request with a key of its caller's, what is kept depends on the key, which is not kept itself."""
    message = {"content": SAID, "role_type": "user", "role": "Ana", "suppress_content": True}
    with serving(tmp_path / "data") as server:
        for key in KEYS:
            body = {"group_id": "g", "messages": [message]}
            answer = server.client.post("/messages", json=body, headers={"Idempotency-Key": key})
            server.settled(int(answer.headers["asof-position"]))

    assert len(digests(tmp_path / "data")) == 2
    assert holding(tmp_path / "data", KEYS[0]) == []


def test_no_digest_is_left_of_what_an_agent_says_either(tmp_path: Path) -> None:
    scope = ClientScope(group="g")
    with serving_here(tmp_path / "data", suppress_content=True) as served, agent_here(served, scope) as agent:
        for key in KEYS:
            agent.ask("add_memory", episode_body=SAID, idempotency_key=key, wait_seconds=30)

    assert len(digests(tmp_path / "data")) == 2
    assert holding(tmp_path / "data", KEYS[0]) == []


def digests(data: Path) -> set[bytes]:
    """Return the different digests that are kept of requests."""
    with closing(sqlite3.connect(DirectoryLayout(data).messages)) as log:
        return {said for (said,) in log.execute("SELECT said FROM requests")}
