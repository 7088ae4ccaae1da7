"""The how-tos of the HTTP service do what they say: every curl in them is run against a server of its own."""

import subprocess
from pathlib import Path

import pytest

import documents
from http_server import serving


@pytest.mark.parametrize("document", documents.SERVED, ids=lambda path: path.stem)
def test_what_a_document_tells_to_send_is_answered_as_it_shows(document: Path, tmp_path: Path) -> None:
    told = [
        block for language, _, block in documents.FENCED.findall(document.read_text("utf-8")) if language == "console"
    ]
    commands = [found for block in told for found in documents.COMMAND.findall(block)]

    with serving(tmp_path / "data") as server:
        for command, shown in commands:
            asked = command.replace("localhost:8000", server.url)
            answer = subprocess.run(asked, shell=True, check=True, capture_output=True, text=True)
            documents.compare(command, shown, answer.stdout + "\n" * bool(answer.stdout))

    assert commands


def test_a_document_tells_how_to_ask_for_health_and_how_to_redeploy() -> None:
    told = [path.read_text("utf-8") for path in documents.SERVED]

    assert any("\n$ curl -s localhost:8000/healthcheck\n" in text for text in told)
    [redeploying] = [text.partition("\n## Redeploy\n")[2] for text in told if "\n## Redeploy\n" in text]
    steps = redeploying.partition("\n## ")[0]
    assert all(f"\n{number}. " in steps for number in (1, 2, 3))
    assert "SIGTERM" in steps
