"""Where tests keep their files: in memory where there is room, and where TMPDIR says if somebody named it."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

import scratch
from scratch import keep_in_memory


@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(scratch, "NIGHTLY", False)
    monkeypatch.setenv("TMPDIR", "")  # whatever becomes of it is undone
    monkeypatch.delenv("TMPDIR")


@pytest.mark.skipif(sys.platform != "linux", reason="what memory is free is read as Linux tells it")
def test_files_are_kept_in_memory_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_IN_MEMORY", tmp_path)
    monkeypatch.setattr(scratch, "_FREE_BYTES", 0)
    keep_in_memory()
    assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"), [("_FREE_BYTES", 1 << 60), ("_IN_MEMORY", Path("/there/is/none")), ("NIGHTLY", True)]
)
def test_files_are_kept_on_the_disk_where_there_is_none_and_at_night(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, name, value)
    keep_in_memory()
    assert "TMPDIR" not in os.environ


def test_files_are_kept_where_somebody_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(scratch, "_FREE_BYTES", 0)
    keep_in_memory()
    assert os.environ["TMPDIR"] == str(tmp_path)
