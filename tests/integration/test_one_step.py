"""One message is one step for who reads: its episode and what follows from it are seen together, or neither is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime.child_process import ChildProcess
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import OpenLogs
from asof.runtime.writer import Writer
from asof.settings import Settings
from asof_streams.messages import Message, accept
from child_work import remember
from effort import tries
from http_server import Server

MESSAGES = tries(60, nightly=1_000)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I live in Rome.", role="Ana")
    return tmp_path / "data"


@pytest.fixture
def reader(data: Path) -> Iterator[Memory]:
    with asof.open(data, embedder="none") as memory:
        yield memory


@pytest.fixture
def writer(data: Path) -> Iterator[Writer]:
    """A writer that has taken a message and recorded it, and not shown yet what is believed of it."""
    logs = OpenLogs(DirectoryLayout(data), Settings(data=data, embedder="none"))
    writer = Writer(logs)
    said = {"group_id": "default", "content": "I live in Oslo.", "role": "Ana", "role_type": "user"}
    logs.messages.accept([accept(Message, said)], clock=logs.messages.latest() + 1)
    writer.process(flush=False)
    writer.engine.episodic.flush()
    yield writer
    writer.close()


def seen(memory: Memory) -> tuple[int, int, int, list[str]]:
    """Return what a reader sees of the messages in each of the ways to look at episodes, and of facts."""
    exported = "".join(memory.export(episodic=True)).count('"turn_id"')
    [group] = memory.groups()
    return len(memory.episodes()), group.episodes, exported, [fact.object for fact in memory.facts()]


def test_an_episode_is_seen_from_the_moment_that_its_facts_are(reader: Memory, writer: Writer) -> None:
    before = seen(reader)
    writer.engine.flush()

    assert before == (1, 1, 1, ["Rome"])
    assert seen(reader) == (2, 2, 2, ["Oslo"])


def test_no_episode_is_seen_without_its_facts_while_another_process_writes(data: Path, reader: Memory) -> None:
    child, torn = ChildProcess(remember, data, MESSAGES), []
    while not child.ready():
        episodes = {episode.role for episode in reader.episodes(limit=None)}
        facts = {fact.subject for fact in reader.facts(limit=None)}
        after = {episode.role for episode in reader.episodes(limit=None)}
        torn += [episodes - facts, facts - after]
    child.receive()
    child.stop()

    assert not any(torn)
    assert len(reader.episodes(limit=None)) == len(reader.facts(limit=None)) == MESSAGES + 1


def test_no_episode_is_served_without_its_facts(server: Server) -> None:
    torn = []
    for number in range(MESSAGES):
        message = {"content": f"I like Model{number}x.", "role_type": "user", "role": f"User{number}"}
        server.client.post("/messages", json={"group_id": "step", "messages": [message]})
        episodes: set[str] = set()
        while f"User{number}" not in episodes:
            found = server.client.get("/v1/episodes", params={"group_id": "step", "limit": 1_000}).json()["episodes"]
            episodes = {episode["role"] for episode in found}
            facts = server.client.get("/v1/facts", params={"group_id": "step", "limit": 1_000}).json()["facts"]
            torn.append(episodes - {fact["subject"] for fact in facts})

    assert not any(torn)
