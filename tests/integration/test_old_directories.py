"""Directories that an earlier version wrote open as they are, answer as they did, and are built anew as they were.

tests/history/directories has them, tests/old_directories.py says what is there. No answer changes unless the changelog
says so: what changes stands in CHANGED, and nowhere else.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from http_server import serving
from old_directories import NAMES, Ask, ask, expected, forget_derived, unpack

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"


class Changed(NamedTuple):
    """Answers that are not what they were, on purpose."""

    asked: tuple[str, ...]  # how the command lines begin, or the paths of the requests
    entry: str  # words of the changelog's entry that says so
    becomes: Callable[[Ask], Ask]  # given the question with the answer of old, that with the answer of today


def failing(old: Ask) -> Ask:
    """Return a question whose command ends with 1."""
    return {**old, "code": 1}


def limited(old: Ask) -> Ask:
    """Return a question about an entity with as many facts as it asks for: there were as many of each direction."""
    if "--limit" not in old["ask"]:
        return old
    limit = int(old["ask"][old["ask"].index("--limit") + 1])
    return {**old, "answer": [{**entity, "facts": entity["facts"][:limit]} for entity in old["answer"]]}


def seeking(old: Ask) -> Ask:
    """Return a request whose answer goes on from a fact, not from a number of facts."""
    cursor = "CjE3MTQ1NTQwMDAwMDAwMDAKMTU2MTA3NTIwMDAwMDAwMAoxMDkKMTcxMDgzODgwMDAwMDAwMA"
    return {**old, "answer": {**old["answer"], "next": cursor}}


def counting(old: Ask) -> Ask:
    """Return a question whose answer names the embedder, and counts the messages that failed."""
    embedder = {"embedder": os.environ["ASOF_EMBEDDER"], "embedder_fallback": None, "failed": 0}
    return {**old, "answer": {**old["answer"], **embedder}}


CHANGED: list[Changed] = [
    Changed(
        (
            "timeline Ana --group gone --known-at",
            "timeline Eva --group gone --known-at",
            "timeline Ben --group two --known-at 2024-05",
        ),
        "`asof timeline` of a name that no entity has ends with 1 and says so",
        failing,
    ),
    Changed(("stats",), "`asof stats` names the embedder, and counts what failed", counting),
    Changed(("entity ",), "A limit of `entity` counts the facts of both directions together", limited),
    Changed(("/v1/facts?group_id=two&any_time=true&limit=3",), "Cursors of `/v1` are opaque", seeking),
]


def wanted(old: Ask) -> Ask:
    """Return a question with the answer that it is to have today."""
    said = old["path"] if "path" in old else " ".join(old["ask"])
    for changed in CHANGED:
        if said.startswith(changed.asked):
            old = changed.becomes(old)
    return old


def differing(data: Path, asked: list[Ask]) -> Iterator[tuple[Ask, Ask]]:
    """Yield what is answered otherwise today, beside what is wanted."""
    for old in asked:
        if (today := ask(data, old)) != (want := wanted(old)):
            yield today, want


def expect(data: Path, asked: list[Ask]) -> None:
    """See that all is answered as it was."""
    for today, want in differing(data, asked):
        assert today == want, f"answered otherwise: asof {' '.join(want['ask'])}"


def contents(data: Path) -> dict[str, str]:
    """Return what the files of a directory hold, but for those that are there while a file is open."""
    return {
        str(file.relative_to(data)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(data.rglob("*"))
        if file.is_file() and not file.name.endswith(("-wal", "-shm"))
    }


@pytest.fixture
def unpacked(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of the directories, with the settings that it was asked with."""
    monkeypatch.chdir(tmp_path)
    for setting, value in expected(request.param)["settings"].items():
        monkeypatch.setenv(setting, value)
    return unpack(request.param, tmp_path)


def having(part: str) -> pytest.MarkDecorator:
    """Run a test on each directory of which a part is written down."""
    return pytest.mark.parametrize("unpacked", [name for name in NAMES if part in expected(name)], indirect=True)


@having("asked")
def test_a_directory_is_read_as_it_is_and_answers_as_it_did(unpacked: Path) -> None:
    before = contents(unpacked)

    expect(unpacked, expected(unpacked.name)["asked"])

    assert contents(unpacked) == before


@having("rebuilt")
def test_generations_that_are_built_anew_are_what_they_were(unpacked: Path) -> None:
    expect(unpacked, expected(unpacked.name)["rebuilt"])


@having("replayed")
def test_a_messages_log_alone_becomes_what_it_was(unpacked: Path) -> None:
    forget_derived(unpacked)

    expect(unpacked, expected(unpacked.name)["replayed"])


@having("http")
def test_a_server_on_a_directory_answers_as_it_did(unpacked: Path) -> None:
    with serving(unpacked, ASOF_EMBEDDER="none") as server:
        for old in expected(unpacked.name)["http"]:
            answer = server.client.request(old["method"], old["path"], json=old["body"])
            assert answer.json() == wanted(old)["answer"], f"{old['method']} {old['path']}"


def test_what_changed_is_in_the_changelog() -> None:
    text = " ".join(CHANGELOG.read_text("utf-8").split())

    assert [changed.entry for changed in CHANGED if changed.entry not in text] == []
