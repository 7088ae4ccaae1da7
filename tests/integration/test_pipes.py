"""Lines that come through a pipe are taken as they come, not when a thousand of them are there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from asof.api.memory import Memory
from asof.settings import Settings
from patience import wait_until


def test_a_line_of_an_open_pipe_is_acknowledged_without_waiting_for_more(tmp_path):
    data = tmp_path / "data"
    command = [str(Path(sys.executable).with_name("asof")), "produce", "-", "--data", str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as producer:
        assert producer.stdin is not None
        line = {"group_id": "default", "role": "Ana", "role_type": "user", "content": "I live in Madrid."}
        producer.stdin.write(json.dumps(line).encode() + b"\n")
        producer.stdin.flush()
        wait_until(lambda: lives_in(data) == ["Madrid"])
        producer.stdin.close()
        assert producer.wait() == 0


def lives_in(data: Path) -> list[str]:
    """Return where Ana lives."""
    if not ((data / "catalog.json").exists() and (data / "generations/main/graph.db").exists()):
        return []
    with Memory(Settings(data=data, embedder="none")) as memory:
        return [fact.object for fact in memory.facts(about="Ana", relation="lives_in", all_groups=True)]


def test_what_was_acknowledged_before_the_source_failed_is_seen_at_once(tmp_path):
    fact = {"group_id": "default", "relation": "knows", "object": "Ben"}

    def failing():
        for number in range(1_000):
            yield json.dumps({**fact, "subject": f"Person {number}"})
        raise ConnectionError

    with Memory(Settings(data=tmp_path / "data", embedder="none")) as memory:
        with pytest.raises(ConnectionError):
            memory.import_facts(failing())

        assert len(memory.facts(relation="knows", all_groups=True)) == 1_000
