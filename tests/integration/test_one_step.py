"""One message is one step for who reads: its episode and what follows from it are seen together, or neither is."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from asof.operations.posts import feedback
from asof.runtime.child_process import ChildProcess
from asof.runtime.writer import Writer
from asof.service.service import Service
from asof.settings import Settings
from asof_projections.model.queries import FeedbackQuery, ask
from child_work import believe_when_called, recording_writer, remember
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
def writer(settings: Settings) -> Iterator[Writer]:
    """A writer that has taken a message and recorded it, and not shown yet what is believed of it."""
    said = {"group_id": "default", "content": "I live in Oslo.", "role": "Ana", "role_type": "user"}
    with closing(recording_writer(settings, said)) as writer:
        yield writer


@pytest.fixture
def settings(data: Path) -> Settings:
    return Settings(data=data, embedder="none")


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


UNDO = {"group_id": "default", "content": "🗑️", "role_type": "user", "kind": "reaction", "reply_to": "2"}


@pytest.fixture
def corrected(reader: Memory) -> Memory:
    """A memory of which a message to the bot is feedback, which UNDO takes back."""
    reader.add("You live in Rome, Ana.", role_type="assistant", kind="message", external_id="1")
    reader.add("Shorter, please.", kind="message", external_id="2", reply_to="1")
    return reader


def test_feedback_is_seen_as_withdrawn_once_what_withdraws_it_is_believed(
    corrected: Memory, settings: Settings
) -> None:
    before = corrected.feedback(withdrawn=True)
    corrected.close()
    with closing(recording_writer(settings, UNDO)) as writer, asof.open(settings.data, embedder="none") as reader:
        recorded_alone = reader.feedback(withdrawn=True), reader.feedback()
        writer.engine.flush()
        [after] = reader.feedback(withdrawn=True)

        assert recorded_alone == (before, before)
        assert (after.uuid, after.withdrawn_at is None, reader.feedback()) == (before[0].uuid, False, [])


def test_feedback_is_served_as_withdrawn_once_what_withdraws_it_is_believed(
    corrected: Memory, settings: Settings
) -> None:
    before = corrected.feedback()
    corrected.close()

    async def served(service: Service) -> tuple[object, object]:
        question = partial(feedback, query=ask(FeedbackQuery, {}))
        alone = await service.ask(question)
        await asyncio.wrap_future(service.worker.call(repr))
        return alone, await service.ask(question)

    def start_child(_: object, settings: Settings) -> ChildProcess:
        return ChildProcess(believe_when_called, settings, UNDO)

    def nothing(*_: object) -> None:
        pass

    with Service(settings, nothing, nothing, nothing, start_child) as service:
        assert asyncio.run(served(service)) == (before, [])


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
