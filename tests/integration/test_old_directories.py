"""Directories that an earlier version wrote open as they are, answer as they did, and are built anew as they were.

tests/history/directories has them, tests/old_directories.py says what is there. No answer changes unless the changelog
says so: what changes stands in CHANGED of tests/changed_answers.py, and nowhere else.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from changed_answers import CHANGED, wanted
from http_server import serving
from old_directories import NAMES, Ask, ask, expected, forget_derived, found_again, unpack

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"


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
        if file.is_file()
        and not file.name.endswith(("-wal", "-shm"))
        and file.name not in ("vectors.db", "turns.index")  # which the first search makes
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
def test_a_directory_answers_as_it_did_and_is_written_to_with_the_first_question_alone(unpacked: Path) -> None:
    first, *others = expected(unpacked.name)["asked"]
    expect(unpacked, [first])  # graphs of another version are built anew
    before = contents(unpacked)

    expect(unpacked, [first, *others])

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
            ranks = old["path"] in ("/search", "/get-memory")
            body = {**old["body"], "max_facts": 1_000} if ranks else old["body"]
            answer = server.client.request(old["method"], old["path"], json=body).json()
            if ranks:
                answer = {"facts": found_again(answer["facts"], old["answer"]["facts"])}
            assert answer == wanted(old)["answer"], f"{old['method']} {old['path']}"


def test_what_changed_is_in_the_changelog() -> None:
    text = " ".join(CHANGELOG.read_text("utf-8").split())

    assert [changed.entry for changed in CHANGED if changed.entry not in text] == []
