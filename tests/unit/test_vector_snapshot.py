"""The file of a vector index gives back what was written, or nothing: never a wrong answer."""

import logging
from pathlib import Path

import numpy as np
import pytest

from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_streams.errors import StorageFailed
from full_disk import files_no_larger_than

MODEL = "a-model@0123"
DIMENSIONS = 4


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.index"


def saved(path: Path, count: int = 5, position: int = 17) -> FaissVectorIndex:
    index = FaissVectorIndex.open(path, MODEL, DIMENSIONS)
    index.add(np.arange(count), np.eye(count, DIMENSIONS, dtype=np.float32) + np.float32(0.25))
    index.save(position)
    return index


def state(path: Path, model: str = MODEL, dimensions: int = DIMENSIONS) -> tuple[int, int]:
    index = FaissVectorIndex.open(path, model, dimensions)
    return index.position, len(index)


@pytest.mark.parametrize("count", [0, 5])
def test_every_flipped_bit_makes_the_index_start_afresh(path: Path, count: int) -> None:
    saved(path, count)
    whole = path.read_bytes()
    assert state(path) == (17, count)

    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        assert state(path) == (0, 0), f"byte {place}"


def test_every_length_but_the_whole_makes_the_index_start_afresh(path: Path) -> None:
    saved(path)
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert state(path) == (0, 0), f"length {length}"
    path.write_bytes(whole + b"\0")
    assert state(path) == (0, 0)


def test_vectors_of_another_model_or_length_are_not_mixed_with_ours(path: Path) -> None:
    saved(path)

    assert state(path, model="another@4567") == (0, 0)
    assert state(path, dimensions=8) == (0, 0)
    assert state(path) == (17, 5)


def test_starting_afresh_is_logged_with_the_name_of_the_file(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_bytes(b"something else\n")

    with caplog.at_level(logging.WARNING):
        assert state(path) == (0, 0)
    assert [record.__dict__["file"] for record in caplog.records] == [str(path)]


def test_what_starts_afresh_can_be_filled_and_saved_over_the_damage(path: Path) -> None:
    path.write_bytes(b"something else\n")

    saved(path)

    assert state(path) == (17, 5)


def test_a_full_disk_is_an_error_and_leaves_the_file_that_was_there(path: Path) -> None:
    index = saved(path)
    before = path.read_bytes()
    index.add([100], np.ones((1, DIMENSIONS), np.float32))

    with files_no_larger_than(len(before) - 1), pytest.raises(StorageFailed, match=r"vectors\.index cannot be written"):
        index.save(18)

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    assert index.position == 17
    index.save(18)
    assert state(path) == (18, 6)


def test_a_place_that_cannot_be_read_is_an_error_not_an_empty_index(path: Path) -> None:
    path.mkdir()

    with pytest.raises(StorageFailed, match=r"vectors\.index cannot be read"):
        FaissVectorIndex.open(path, MODEL, DIMENSIONS)
