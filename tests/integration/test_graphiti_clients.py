"""Programs made for Graphiti's server use ours unmodified: one that is published, one made from its own description.

What makes that one also makes a client of our own description, and so does another program.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

from graphiti_stories import FOLDER
from http_server import serving
from unchecked import not_checked

CLIENTS = Path(__file__).parents[1] / "clients"
SAID = [
    {"content": text, "role_type": "user", "role": "Ana", "name": "turn", "timestamp": at, "source_description": "chat"}
    for text, at in [("I live in Berlin.", "2024-04-02T09:00:00Z"), ("I live in Paris.", "2024-06-02T09:00:00Z")]
]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The published clients, as their lock file has them."""
    if not shutil.which("npm"):
        not_checked("with the published client of Graphiti's server: there is no Node.js")
    folder = tmp_path / "clients"
    shutil.copytree(CLIENTS, folder)
    run(["npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], folder)
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs that make a client of a description."""
    folder = tmp_path_factory.mktemp("generator")
    run([find_uv_bin(), "venv", "--python", sys.executable, str(folder / "venv")], folder)
    python = folder / "venv" / "bin" / "python"
    run([find_uv_bin(), "pip", "install", "--python", str(python), "-r", str(CLIENTS / "requirements.txt")], folder)
    return python.parent


def make_client(programs: Path, description: Path, folder: Path) -> list[str]:
    """Make a client of an OpenAPI document; return the command that runs programs with it."""
    make = [str(programs / "openapi-python-client"), "generate", "--fail-on-warning", "--path", str(description)]
    run([*make, "--meta", "none", "--output-path", str(folder / "client")], folder)
    return [str(programs / "python")]


def test_the_client_of_openclaws_plugin_finds_what_it_told(installed: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        asked = [server.url, json.dumps(SAID), "Where does Ana live?"]
        answers: dict[str, Any] = json.loads(run(["node", "openclaw.mjs", *asked], installed))

    assert answers["healthy"] is True
    assert answers["ingest"] == {"message": "Messages added to processing queue", "success": True}
    assert [episode["content"] for episode in answers["episodes"]] == [
        "Ana(user): I live in Berlin.",
        "Ana(user): I live in Paris.",
    ]
    assert {(fact["fact"], fact["invalid_at"]) for fact in answers["search"]} == {
        ("Ana lives in Berlin", "2024-06-02T09:00:00+00:00"),
        ("Ana lives in Paris", None),
    }
    assert len(answers["getMemory"]) == 1


def test_a_client_made_from_graphitis_description_can_call_every_route(programs: Path, tmp_path: Path) -> None:
    python = make_client(programs, FOLDER / "openapi.json", tmp_path)
    program = str(shutil.copy(CLIENTS / "generated.py", tmp_path))
    with serving(tmp_path / "data") as server:
        answers: dict[str, Any] = json.loads(run([*python, program, server.url], tmp_path))

    operations = json.loads((FOLDER / "openapi.json").read_text("utf-8"))["paths"].values()
    described = {operation["operationId"] for methods in operations for operation in methods.values()}
    assert answers["fact"] == "Ana lives in Berlin"
    assert answers["same"] is True
    assert {name.replace("__", "_") for name in described} == answers["answers"].keys()
    assert set(answers["answers"].values()) == {200, 201, 202}


def test_a_client_is_made_from_our_own_description_without_a_warning(programs: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        description = tmp_path / "openapi.json"
        description.write_bytes(server.client.get("/openapi.json").content)
        python = make_client(programs, description, tmp_path)
        ask = "from client.api.v1 import v1_facts; from client import Client; import sys"
        show = "print(v1_facts.sync(client=Client(base_url=sys.argv[1]), about='Ana').facts)"
        assert run([*python, "-c", f"{ask}; {show}", server.url], tmp_path) == "[]\n"

    operations = [one for methods in json.loads(description.read_text("utf-8"))["paths"].values() for one in methods]
    assert len([*(tmp_path / "client" / "api").glob("*/[a-z]*.py")]) == len(operations)


def test_another_program_makes_a_client_of_our_own_description_too(programs: Path, tmp_path: Path) -> None:
    if not shutil.which("java"):
        not_checked("with a client that OpenAPI Generator makes: there is no Java")
    add = [find_uv_bin(), "pip", "install", "--python", str(programs / "python"), "-r", str(CLIENTS / "generator.txt")]
    if subprocess.run(add, check=False, capture_output=True).returncode:
        not_checked("with a client that OpenAPI Generator makes: its 30 MB cannot be fetched")
    with serving(tmp_path / "data") as server:
        server.say("default", "I live in Rome.")
        description = tmp_path / "openapi.json"
        description.write_bytes(server.client.get("/openapi.json").content)
        make = [str(programs / "openapi-generator-cli"), "generate", "--generator-name", "python"]
        run([*make, "--input-spec", str(description), "--output", str(tmp_path / "made")], tmp_path)
        ask = "import sys, openapi_client as made; from openapi_client.api.v1_api import V1Api"
        show = "print(V1Api(made.ApiClient(made.Configuration(host=sys.argv[1]))).v1_facts(about='Ana').facts[0].fact)"
        python = str(programs / "python")
        assert run([python, "-c", f"{ask}; {show}", server.url], tmp_path / "made") == "Ana lives in Rome\n"


def run(command: list[str], folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # the generator looks for ruff
    environment = {**os.environ, "PATH": path, "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    ended = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout
