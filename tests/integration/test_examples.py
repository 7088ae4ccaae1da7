"""The examples run as their first lines say, and find what they are there to show."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from http_server import serving

EXAMPLES = Path(__file__).parents[2] / "examples"
SERVED = {
    "agent_memory": """\
Who owns the billing service?  Team Payments owns billing service
What does tenant mean?  Tenant means one customer account
What blocks the release?  release is blocked by migration
""",
    "time_travel": """\
now: Berlin
in February 2024: Madrid
in May 2024: Berlin
in May 2024, as it was known at first: Madrid
""",
}
ALONE = {
    "python_api": """\
2024-02-01 Madrid
2024-05-01 Berlin
we know: Madrid
we thought: Berlin
because Ana said: I moved to Berlin in March.
""",
}

MOVED = """\
ana: 2 episodes
bo: 1 episodes
cy: 0 episodes
"""


def printed(example: str, *given: str) -> str:
    command = [sys.executable, EXAMPLES / f"{example}.py", *given]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("example", SERVED)
def test_an_example_over_http_finds_what_it_is_there_to_show(example: str, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        assert printed(example, server.url) == SERVED[example]


@pytest.mark.parametrize("example", ALONE)
def test_an_example_in_one_process_finds_what_it_is_there_to_show(example: str) -> None:
    assert printed(example) == ALONE[example]


def test_what_was_told_to_one_server_is_taken_along_to_another_once(tmp_path: Path) -> None:
    with serving(tmp_path / "old") as old, serving(tmp_path / "new") as new:
        old.say("ana", "I live in Lisbon.", "I moved to Berlin.", timestamp="2024-04-02T09:00:00Z", name="chat")
        old.say("bo", "(no one): Hm.", role="", role_type="assistant", timestamp="2024-04-02T09:00:00Z")
        for _ in range(2):
            assert printed("move_from_graphiti", old.url, new.url, "ana", "bo", "cy") == MOVED

        for group in ("ana", "bo"):
            assert list(map(content, new.episodes(group))) == list(map(content, old.episodes(group)))
        [before], [after] = (server.search("Where does Ana live?", "ana") for server in (old, new))
        assert before["fact"] == after["fact"] == "Ana lives in Berlin"


def content(episode: dict[str, Any]) -> dict[str, Any]:
    return {name: episode[name] for name in ("content", "valid_at", "name", "source_description")}


def test_no_example_is_left_out() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SERVED.keys() | ALONE.keys() | {"move_from_graphiti"}
