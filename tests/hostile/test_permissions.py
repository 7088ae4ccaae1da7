"""What a memory keeps is for its own user alone."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from api_keys import ADMIN, sent, written
from asof.service.api_keys import Keys
from asof_streams.errors import InvalidInput
from http_server import serving


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> set[tuple[str, int]]:
    """Return the kinds and modes of everything in a directory, itself included."""
    found = set()
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        found.add(("folder" if stat.S_ISDIR(status.st_mode) else "file", stat.S_IMODE(status.st_mode)))
    return found


PRIVATE = {("folder", 0o700), ("file", 0o600)}


@pytest.mark.usefixtures("_umask")
def test_all_that_a_memory_makes_is_for_its_user_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    data = tmp_path / "above" / "data"
    with asof.open(data, embedder="hash") as memory:
        memory.add("I live in Oslo.", role="Ana")
        assert memory.search("Where does Ana live?")
        assert memory.entities(like="Oslo")
        memory.rebuild("second")
        memory.add("I moved to Rome.", role="Ana", schema_id="agent_memory_v1")
        memory.erase("other")

        assert any(path.name.endswith("-wal") for path in data.rglob("*")), "also while it is open"
        assert modes(data.parent) == PRIVATE
    assert modes(data.parent) == PRIVATE


def test_a_served_memory_is_for_its_user_alone(tmp_path: Path) -> None:
    keys = written(tmp_path / "keys.toml")
    with serving(tmp_path / "data", ASOF_KEYS_FILE=str(keys)) as server:
        server.client.headers.update(sent(ADMIN))
        server.say("g", "I live in Paris.")
        assert server.search("Where does Ana live?", "g")

        assert modes(tmp_path / "data") == PRIVATE


def test_a_directory_that_was_open_to_others_is_closed_when_it_is_written_to(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    with asof.open(data, embedder="hash") as memory:
        memory.add("I live in Oslo.", role="Ana")
        assert memory.search("Oslo")
        shutil.copytree(data, copy)
    for path in copy.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (copy / "notes.txt").write_text("of somebody else")
    (copy / "notes.txt").chmod(0o644)
    copy.chmod(0o2755)

    with asof.open(copy, embedder="hash") as memory:
        memory.add("I moved to Rome.", role="Ana")

    assert stat.S_IMODE(copy.stat().st_mode) == 0o2700
    assert stat.S_IMODE((copy / "notes.txt").stat().st_mode) == 0o644, "what is not the memory's is left as it is"
    (copy / "notes.txt").unlink()
    copy.chmod(0o700)
    assert modes(copy) == PRIVATE


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o602, 0o620, 0o666])
def test_a_file_of_keys_that_others_may_read_or_change_is_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    keys = written(tmp_path / "keys.toml")
    keys.chmod(mode)

    with pytest.raises(InvalidInput, match=f"chmod 600 {keys}"):
        Keys.read(keys)


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o640])
def test_a_file_of_keys_of_the_service_alone_is_taken(tmp_path: Path, mode: int) -> None:
    keys = written(tmp_path / "keys.toml")
    keys.chmod(mode)

    assert Keys.read(keys).caller(ADMIN) is not None
