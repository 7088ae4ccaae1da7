"""`asof discord`, as an operator starts it, against the stand-in for Discord."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asof_process import interpreter
from discord_bot import said
from discord_server import ALICE, GENERAL, GUILD, TOKEN, FakeDiscord, discord_server
from patience import wait_until

ON_THE_STAND_IN = """
import sys, discord, yarl
from asof.cli import main
discord.http.Route.BASE, gateway = sys.argv.pop(1), sys.argv.pop(1)
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
main()
"""
CANARY = "Canarywood"


@pytest.fixture
def server() -> Iterator[FakeDiscord]:
    with discord_server() as running:
        yield running


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands for Python: what is started by it is forked from what is imported already."""
    return interpreter(tmp_path_factory.mktemp("python"))


@contextmanager
def started(
    server: FakeDiscord, data: Path, token: str = TOKEN, python: Path = Path(sys.executable)
) -> Iterator[subprocess.Popen[str]]:
    """Start the command; end it with the block, if it has not ended."""
    command = [str(python), "-c", ON_THE_STAND_IN, server.http, server.gateway, "discord", "--data", str(data)]
    own = {"ASOF_DISCORD_TOKEN": token, "ASOF_LOG_LEVEL": "debug", "ASOF_EMBEDDER": "hash"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **own}
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()  # which goes on to a fork, as a kill would not
            process.communicate()


def test_it_talks_until_it_is_stopped_and_shows_no_token_and_no_words(server: FakeDiscord, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started(server, data) as process:
        wait_until(lambda: server.commands and server.told >= 2)
        server.command(ALICE, "remember-me")
        wait_until(lambda: server.answers)
        server.limits = 1
        server.say(ALICE, f"I live in {CANARY}.")
        wait_until(lambda: server.sent)
        server.command(ALICE, "what-do-you-know")
        wait_until(lambda: len(server.answers) == 2)
        process.send_signal(signal.SIGTERM)
        shown = "".join(process.communicate())

    assert process.returncode == 0
    assert "connected to Discord as asof" in shown
    assert "rate limited" in shown
    assert CANARY not in shown
    assert TOKEN not in shown
    assert "interaction-" not in shown
    assert not any(TOKEN.encode() in path.read_bytes() for path in data.rglob("*") if path.is_file())
    assert said(data, f"discord-{GUILD}-{GENERAL}") == [f"I live in {CANARY}.", server.sent[0]["content"]]


@pytest.mark.parametrize(
    ("token", "closes", "sentence"),
    [
        ("MTAx.not-its.token", None, "Discord refused it"),
        (TOKEN, 4014, "turn on the Message Content Intent"),
        (TOKEN, 4013, "closed the connection for good, with code 4013"),
    ],
)
def test_what_discord_refuses_ends_it_with_a_sentence_that_says_what_to_do(
    server: FakeDiscord, tmp_path: Path, python: Path, token: str, closes: int | None, sentence: str
) -> None:
    server.closes = closes
    with started(server, tmp_path, token, python) as process:
        shown = "".join(process.communicate())

    assert process.returncode == (1 if closes == 4013 else 2)
    assert sentence in shown
    assert "Traceback" not in shown
    assert token not in shown


def test_where_discord_cannot_be_reached_it_says_so(server: FakeDiscord, tmp_path: Path, python: Path) -> None:
    server.stop_listening()
    with started(server, tmp_path, python=python) as process:
        shown = "".join(process.communicate())

    assert process.returncode == 1
    assert "Discord cannot be reached" in shown
    assert TOKEN not in shown


def test_without_a_token_it_says_which_setting_it_needs(server: FakeDiscord, tmp_path: Path, python: Path) -> None:
    with started(server, tmp_path, "", python) as process:
        shown = "".join(process.communicate())

    assert process.returncode == 2
    assert "ASOF_DISCORD_TOKEN" in shown
