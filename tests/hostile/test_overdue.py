"""A message that takes too long is parked, and that verdict stays; meanwhile a service ends when it is told to."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import OpenLogs
from asof.runtime.watchdog import Watchdog
from asof.runtime.writer import Writer
from asof.settings import Settings
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Turn
from asof_streams.messages import Message, accept
from http_server import serving

LONG = "endless"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rules never come to an end with one word."""
    extract = EnglishExtractor.extract

    def extract_slowly(self: EnglishExtractor, turn: Turn, *given: Any) -> Extraction:
        while LONG in turn.text:
            pass
        return extract(self, turn, *given)

    monkeypatch.setattr(EnglishExtractor, "extract", extract_slowly)


@pytest.mark.usefixtures("slow")
def test_a_message_that_takes_too_long_is_parked_and_those_around_it_are_processed(tmp_path: Path) -> None:
    logs = OpenLogs(DirectoryLayout(tmp_path), Settings(data=tmp_path, embedder="none"))
    said = [f"I like {thing}." for thing in ("tea", LONG, "chess")]
    fields = [{"group_id": "default", "role": "Ana", "role_type": "user", "content": text} for text in said]
    logs.messages.accept([accept(Message, given) for given in fields], clock=1)
    writer = Writer(logs, Watchdog(0.5))
    writer.process(flush=True)
    writer.close()

    with asof.open(tmp_path, embedder="none") as memory:
        before = memory.digest()
        [parked] = memory.parked()
        assert (parked.position, parked.reason) == (1, "overdue: it took more than 0.5 seconds of processor time")
        assert [fact.object for fact in memory.facts(about="Ana")] == ["tea", "chess"]
        memory.rebuild("resolved")
        assert memory.digest("resolved") == before
        memory.rebuild("extracted", input="episodes")  # which reads the message no more: the verdict is kept


def test_a_service_ends_while_a_message_takes_long(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        server.say("a", "I live in Rome.")
        child = int((data / "writer.lock").read_text())
        os.kill(child, signal.SIGSTOP)  # as one that does not come back to its channel
        message = {"content": "I like tea.", "role_type": "user"}
        server.client.post("/messages", json={"group_id": "a", "messages": [message]})
        assert server.end() == 0

    assert not Path(f"/proc/{child}").exists()
    with asof.open(data, embedder="none") as memory:
        assert len(memory.episodes(group_id="a")) == 2
