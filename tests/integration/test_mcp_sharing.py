"""Several agents on one directory over `asof mcp`: each gets what it asks for, and none loses a message of another."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from asof.mcp.local_settings import OWN, UNUSED, fingerprints
from asof.mcp.local_socket import connected as connection_with
from asof.mcp.profiles import INSTRUCTIONS, PROFILES
from asof.settings import Settings
from asof_process import ASOF
from mcp_agent import ERAS, agent, end
from patience import SECONDS

AGENTS, TURNS = 3, 5


def name_of(number: int, turn: int) -> str:
    return f"Bob{number}{turn}"


def test_every_message_of_every_agent_is_found_once_by_each_of_them(tmp_path: Path) -> None:
    data, failed = tmp_path / "data", list[BaseException]()
    written, asked = Barrier(AGENTS, timeout=SECONDS), Barrier(AGENTS, timeout=SECONDS)
    names = sorted(name_of(number, turn) for number in range(AGENTS) for turn in range(TURNS))

    def work(number: int) -> None:
        try:
            with agent(data, "--group", "team", mode=ERAS[number % 2], ASOF_MCP_PROFILE="full") as one:
                one.tell(*(f"My colleague is {name_of(number, turn)}." for turn in range(TURNS)), speaker=f"A{number}")
                written.wait()
                said = [each["content"] for each in one.ask("list_episodes", limit=100)["episodes"]]
                assert len(said) == len(names)
                for name in names:
                    assert sum(name in text for text in said) == 1, (number, name)
                    assert name in one.text("recall", query=f"Who is {name}?"), (number, name)
                asked.wait()  # none goes while another asks
        except BaseException as error:  # noqa: BLE001 - told below
            written.abort()
            asked.abort()
            failed.append(error)

    agents = [Thread(target=work, args=(number,)) for number in range(AGENTS)]
    for one in agents:
        one.start()
    for one in agents:
        one.join()
    end(data)

    assert not failed, failed


def test_each_agent_has_the_profile_and_instructions_that_it_asks_for(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with agent(data, ASOF_MCP_INSTRUCTIONS="Remember the tea.") as first:
        for profile, tools in PROFILES.items():
            with agent(data, ASOF_MCP_PROFILE=profile) as other:
                assert list(other.tools) == [tool.name for tool in tools]
                assert other.instructions == INSTRUCTIONS[profile]
        assert list(first.tools) == [tool.name for tool in PROFILES["core"]]
        assert first.instructions == "Remember the tea."
    end(data)


def test_an_agent_is_told_which_of_its_settings_are_not_used_and_what_to_do_and_never_what_they_say(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    others = {
        "ASOF_MODEL_NAME": "secret-model",
        "ASOF_MODEL_KEY": "secret-key",
        "ASOF_MODEL_URL": "https://secret.test",
    }
    names = ["embedder", "model_key", "model_name", "model_url", "ontology", "policy"]
    ontology = tmp_path / "secret.yaml"
    ontology.write_text("id: secret\nversion: 1\n")
    with agent(data) as first:
        others |= {"ASOF_EMBEDDER": "none", "ASOF_POLICY": "graded", "ASOF_ONTOLOGY": str(ontology)}
        with agent(data, **others) as other:
            status, text = other.ask("get_status"), other.text("get_status")
            answers = [text, json.dumps(status), other.text("recall", query="secret")]
        with agent(data, ASOF_MCP_PROFILE="full", ASOF_LOG_LEVEL="debug") as alike:
            assert alike.ask("get_status")["settings_not_used"] == []
        assert first.ask("get_status")["settings_not_used"] == []
        told = data.with_suffix(".err").read_text()
    end(data)

    assert status["settings_not_used"] == names
    for said in (text, told):
        assert ", ".join(f"ASOF_{name.upper()}" for name in names) in said
        assert "Give all agents the same, end them all, and start again" in said
        assert "of ASOF_ONTOLOGY, ASOF_POLICY a directory keeps what it was made with" in said
    assert "secret" not in "".join([*answers, told, (data / "mcp.log").read_text()])


def test_what_each_agent_says_is_read_with_the_ontology_of_its_own_settings(tmp_path: Path) -> None:
    data, said = tmp_path / "data", ("I live in Berlin.", "Tenant means one customer account.")
    with (
        agent(data, "--group", "desktop") as desktop,
        agent(data, "--group", "editor", ASOF_ONTOLOGY="agent_memory_v1") as editor,
    ):
        learned = {
            name: [fact["fact"] for text in said for one in who.tell(text) for fact in one["learned"]]
            for name, who in (("desktop", desktop), ("editor", editor))
        }
        assert editor.ask("get_status")["settings_not_used"] == []
    end(data)
    with agent(data, ASOF_ONTOLOGY="agent_memory_v1") as editor:  # it starts the process of a directory made before
        learned["again"] = [fact["fact"] for one in editor.tell("Ben owns the gateway.") for fact in one["learned"]]
    end(data)

    assert learned == {
        "desktop": ["Ana lives in Berlin"],
        "editor": ["Tenant means one customer account"],
        "again": ["Ben owns gateway"],
    }


def test_every_setting_is_an_agents_own_or_compared_or_said_to_change_nothing_here() -> None:
    assert Settings.model_fields.keys() >= OWN | UNUSED
    assert fingerprints(Settings()).keys() == Settings.model_fields.keys() - OWN - UNUSED


def test_an_agent_that_asks_as_no_version_does_is_refused_with_a_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with agent(data), connection_with(data) as connection:
        connection.sendall(b'{"version": "0.0", "group": "g", "of_another_version": 1}\n')
        answer = json.loads(connection.makefile().readline())
    end(data)

    assert "serves this directory, and this is 0.0: end the agents that use it" in answer["error"]


class Editor:
    """An editor's end of a server, which sends lines as they are."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def answer_to(self, line: bytes) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    with connected(tmp_path / "data") as one:
        yield one
    end(tmp_path / "data")


@contextmanager
def connected(data: Path) -> Iterator[Editor]:
    environment = {**os.environ, "ASOF_EMBEDDER": "hash"}
    command = [str(ASOF), "mcp", "--data", str(data)]
    with (
        data.with_suffix(".err").open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment
        ) as process,
    ):
        yield Editor(process)
        assert process.stdin is not None
        process.stdin.close()


def called(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def test_what_is_no_message_is_answered_and_the_next_one_too(editor: Editor) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "editor", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    assert editor.answer_to(json.dumps(asked).encode())["id"] == 0

    surrogate = editor.answer_to(called(1, "recall", query="\ud800"))
    assert (surrogate["id"], surrogate["error"]["code"]) == (1, -32700)
    assert "half of a surrogate pair" in surrogate["error"]["message"]
    for line, number, code in (
        (b"{", None, -32700),
        (b'{"id": "x"}', "x", -32600),
        (b"[]", None, -32600),
        (b"[" * 100_000, None, -32700),
        (b'{"jsonrpc": "2.0", "id": true, "method": 1}', None, -32600),
    ):
        answer = editor.answer_to(line)
        assert (answer["id"], answer["error"]["code"]) == (number, code), line[:40]
    assert editor.answer_to(called(2, "get_status"))["result"]["structuredContent"]["status"] == "ok"
