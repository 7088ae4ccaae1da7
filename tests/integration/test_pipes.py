"""Lines that come through a pipe are taken as they come, not when a thousand of them are there."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asof.memory import Memory
from asof.settings import Settings


def test_a_line_of_an_open_pipe_is_acknowledged_without_waiting_for_more(tmp_path):
    data = tmp_path / "data"
    command = [str(Path(sys.executable).with_name("asof")), "produce", "-", "--data", str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as producer:
        assert producer.stdin is not None
        line = {"group_id": "g", "role": "Ana", "role_type": "user", "content": "I live in Madrid."}
        producer.stdin.write(json.dumps(line).encode() + b"\n")
        producer.stdin.flush()
        deadline = time.monotonic() + 60
        facts = []
        while not facts and time.monotonic() < deadline:
            time.sleep(0.1)
            if (data / "catalog.json").exists() and (data / "generations/main/graph.db").exists():
                with Memory(data, Settings(data=data, embedder="none")) as memory:
                    facts = memory.facts(about="Ana", relation="lives_in")

        assert [f.object for f in facts] == ["Madrid"]
        producer.stdin.close()
        assert producer.wait(30) == 0


def test_what_was_acknowledged_before_the_source_failed_is_seen_at_once(tmp_path):
    fact = {"group_id": "g", "relation": "knows", "object": "Ben"}

    def failing():
        for number in range(1_000):
            yield json.dumps({**fact, "subject": f"Person {number}"})
        raise ConnectionError

    with Memory(tmp_path / "data", Settings(data=tmp_path / "data", embedder="none")) as memory:
        with pytest.raises(ConnectionError):
            memory.import_facts(failing())

        assert len(memory.facts(relation="knows")) == 1_000
