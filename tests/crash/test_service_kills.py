"""kill -9 of a service between its 202 and the processing: every message that was accepted ends as one episode."""

import http.client
import json
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

import asof
from asking import records
from asof_streams.episodic import EpisodeRecorded
from asof_streams.messages import Message
from effort import tries
from http_server import Server

pytestmark = [pytest.mark.crash, pytest.mark.long, pytest.mark.timeout(1_800)]

SEED = int(os.environ.get("ASOF_CRASH_SEED", "20240101"))
KILLS, CLIENTS = tries(20, nightly=200), 4
ERASE_EVERY = 5  # kills
KEYS, KEYED_KILLS = tries(500, nightly=2_000), tries(8, nightly=25)


def serve(directory: Path) -> Server:
    return Server(directory, has_children=True, ASOF_EMBEDDER="none")


def kill(server: Server) -> None:
    """Kill all processes of a service at the same moment."""
    os.killpg(server.process.pid, signal.SIGKILL)
    server.wait()


def kill_parent(server: Server) -> None:
    """Kill the process that answers; its children end by themselves, and give the directory free."""
    server.end(signal.SIGKILL)


def kill_worker(server: Server) -> None:
    """Kill the process that writes; the one that answers ends by itself."""
    os.kill(int((server.data / "writer.lock").read_text("utf-8")), signal.SIGKILL)
    assert server.wait() != 0


def kill_searcher(server: Server) -> None:
    """Kill the process that searches, which nothing that was accepted depends on; then all."""
    children = [child for starter in _children(server.process.pid) for child in _children(starter)]
    assert children
    for child in children:
        if child != int((server.data / "writer.lock").read_text("utf-8")):
            os.kill(child, signal.SIGKILL)
    kill(server)


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text("utf-8").split()]


class Talkers:
    """Clients that post one message after the other, each with a text of its own, until their service is gone."""

    def __init__(self, url: str, turn: int) -> None:
        self.accepted: list[str] = []
        self._address = urlsplit(url).netloc
        self._threads = [threading.Thread(target=self._talk, args=(f"{turn}-{n}",)) for n in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _talk(self, name: str) -> None:
        client = http.client.HTTPConnection(self._address)
        try:
            for number in range(100_000):
                content = f"I moved to {name}-{number}."
                said = [{"content": content, "role_type": "user", "role": "Ana"}] * (1 + number % 2)
                body = json.dumps({"group_id": "kill", "messages": said})
                client.request("POST", "/messages", body, {"Content-Type": "application/json"})
                if client.getresponse().status == 202:
                    self.accepted += [f"Ana(user): {content}"] * len(said)
                    client.close()
        except (OSError, http.client.HTTPException):
            return
        finally:
            client.close()

    def wait(self, count: int) -> None:
        """Wait until so many messages are accepted."""
        while len(self.accepted) < count:
            time.sleep(0.0005)

    def join(self) -> list[str]:
        for thread in self._threads:
            thread.join()
        return self.accepted


def test_every_message_that_a_service_accepted_is_one_episode_after_many_kills(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    accepted: Counter[str] = Counter()
    erased: list[str] = []
    left = 0
    for turn in range(KILLS):
        server = serve(tmp_path / "data")
        if turn % ERASE_EVERY == 0:
            erased.append(_said_and_erased(server, turn))
        talkers = Talkers(server.url, turn)
        talkers.wait(chance.randint(1, 40))
        time.sleep(chance.uniform(0, 0.02))
        chance.choice(WAYS)(server)
        accepted.update(talkers.join())
        left += _waits(tmp_path / "data")

    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.facts(all_groups=True)  # what was left is processed first
        assert memory.verify()
        told = [r.event.body for r in records(memory, "episodic") if isinstance(r.event, EpisodeRecorded)]
        messages = sum(1 for r in records(memory, "messages") if isinstance(r.event, Message))

    assert left > 0, "no kill came between a 202 and the processing"
    assert len(told) == messages
    assert not accepted - Counter(told), "an accepted message is no episode"
    assert max(Counter(told).values()) <= 2, "a message is two episodes"
    assert not [p for p in (tmp_path / "data").rglob("*") if p.is_file() and any(_has(p, word) for word in erased)]


WAYS: Final = (kill, kill_parent, kill_worker, kill_searcher)


def _said_and_erased(server: Server, turn: int) -> str:
    """Say a word in a group of its own, and erase that; return the word."""
    word = f"canary{turn}x"
    server.say(f"erased-{turn}", f"My friend {word.capitalize()} lives in {word}.")
    assert server.client.delete(f"/group/erased-{turn}").is_success
    return word


def _has(path: Path, word: str) -> bool:
    return word.encode() in path.read_bytes().lower()


def _waits(directory: Path) -> bool:
    """Whether there are messages that were not processed yet."""
    from asof.runtime.layout import DirectoryLayout
    from asof_streams.sqlite_log import SqliteLog

    places = DirectoryLayout(directory)
    with SqliteLog(places.messages) as messages, SqliteLog(places.episodic) as episodic:
        return messages.end() > episodic.checkpoint()


def test_a_request_that_is_sent_again_under_its_key_until_it_is_answered_is_taken_once(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    waiting = [f"k{number}" for number in range(KEYS)]
    answered: dict[str, int] = {}
    unsure = 0
    for _ in range(KEYED_KILLS):
        server = serve(tmp_path / "data")
        address = urlsplit(server.url).netloc
        before = len(answered)
        clients = [threading.Thread(target=_send, args=(address, waiting, answered)) for _ in range(4 * CLIENTS)]
        for client in clients:
            client.start()
        while len(answered) < min(before + 10, KEYS):
            time.sleep(0.0005)
        time.sleep(chance.uniform(0, 0.02))
        kill(server)
        for client in clients:
            client.join()
        unsure += _log(tmp_path / "data").total() > len(answered)
    server = serve(tmp_path / "data")
    _send(urlsplit(server.url).netloc, waiting, answered)
    kill(server)

    taken = _log(tmp_path / "data")
    assert unsure > 0, "no kill came between the log and the answer"
    assert taken == Counter(f"I moved to {key}." for key in answered)
    assert len(answered) == len(set(answered.values())) == KEYS


def _send(address: str, waiting: list[str], answered: dict[str, int]) -> None:
    """Send what waits, each under its key, until the service is gone; what was not answered waits again."""
    client = http.client.HTTPConnection(address)
    while waiting:
        key = waiting.pop()
        body = {"group_id": "g", "messages": [{"content": f"I moved to {key}.", "role_type": "user", "role": "Ana"}]}
        try:
            headers = {"Content-Type": "application/json", "Idempotency-Key": key}
            client.request("POST", "/messages", json.dumps(body), headers)
            answer = client.getresponse()
            assert answer.status == 202
            answered[key] = int(answer.headers["Asof-Position"])
            answer.read()
        except (OSError, http.client.HTTPException):
            waiting.append(key)
            break
    client.close()


def _log(directory: Path) -> Counter[str]:
    """Return what is on the messages log, and how often."""
    from asof.runtime.layout import DirectoryLayout
    from asof_streams.sqlite_log import SqliteLog

    with SqliteLog(DirectoryLayout(directory).messages) as messages:
        return Counter(r.event.content for r in messages.read() if isinstance(r.event, Message))
