"""Programs made for Graphiti's server use ours unmodified, as their authors published them: Node.js runs them."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from http_server import serving

CLIENTS = Path(__file__).parents[1] / "clients"
SAID = [
    {"content": text, "role_type": "user", "role": "Ana", "name": "turn", "timestamp": at, "source_description": "chat"}
    for text, at in [("I live in Berlin.", "2024-04-02T09:00:00Z"), ("I live in Paris.", "2024-06-02T09:00:00Z")]
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clients, as their lock file has them."""
    if not shutil.which("npm"):
        pytest.skip("NO NODE.JS: the clients of Graphiti's server were not tried")
    folder = tmp_path_factory.mktemp("clients") / "clients"
    shutil.copytree(CLIENTS, folder)
    command = ["npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]
    ended = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return folder


def told(installed: Path, client: str, *given: str) -> Any:
    ended = subprocess.run(
        ["node", client, *given], cwd=installed, check=False, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_the_client_of_openclaws_plugin_finds_what_it_told(installed: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        answers = told(installed, "openclaw.mjs", server.url, json.dumps(SAID), "Where does Ana live?")

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
