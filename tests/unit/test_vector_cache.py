"""Vectors are computed once for each text and model, survive crashes and damage, and can be erased."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.embedding.ports import Vectors
from asof_streams.errors import DamagedFile, StorageFailed

TEXTS = ["Ana works at SAP.", "Ana moved to Berlin.", "", "Ana works at SAP."]


class Counting(HashingEmbedder):
    """Remembers what it was asked, under a model's name of one's choice."""

    def __init__(self, model_id: str = "a-model") -> None:
        self.asked: list[str] = []
        self.model_id = model_id  # type: ignore[misc]

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return super().embed(texts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.db"


@pytest.fixture
def cached(path: Path) -> Iterator[CachedEmbedder]:
    with closing(CachedEmbedder(Counting(), path)) as cached:
        yield cached


def asked(cached: CachedEmbedder) -> list[str]:
    inner = cached._embedder
    assert isinstance(inner, Counting)
    return inner.asked


def test_a_text_is_computed_once_however_often_it_is_asked_for(cached: CachedEmbedder) -> None:
    first, second = cached.embed(TEXTS), cached.embed(TEXTS[::-1])

    assert asked(cached) == TEXTS[:3]
    assert np.array_equal(first, HashingEmbedder().embed(TEXTS))
    assert np.array_equal(first, second[::-1])


def test_a_vector_takes_little_more_of_the_disk_than_its_numbers(cached: CachedEmbedder, path: Path) -> None:
    cached.embed([f"text {number}" for number in range(1_000)], ["a-group"] * 1_000)
    cached.close()

    assert path.stat().st_size / 1_000 < 1.25 * 4 * cached.dimensions


def test_a_file_of_other_pages_is_read_and_written(path: Path) -> None:
    with closing(sqlite3.connect(path)) as earlier:
        earlier.execute("PRAGMA page_size = 4096")
        earlier.execute("PRAGMA journal_mode = WAL")
        earlier.execute("VACUUM")
    for _ in range(2):
        with closing(CachedEmbedder(Counting(), path)) as cached:
            assert np.array_equal(cached.embed(TEXTS), HashingEmbedder().embed(TEXTS))
    assert asked(cached) == []


def test_what_may_come_to_nothing_is_on_no_file_until_it_is_kept_and_then_computed_no_more(
    cached: CachedEmbedder, path: Path
) -> None:
    cached.embed(TEXTS[:1])
    unkept = cached.embed_unkept(TEXTS)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (1,)

        assert np.array_equal(cached.embed(TEXTS), unkept)
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
    assert asked(cached) == TEXTS[:3]


def test_a_vector_is_kept_to_the_last_bit_for_the_next_process(cached: CachedEmbedder, path: Path) -> None:
    first = cached.embed(TEXTS)

    with closing(CachedEmbedder(Counting(), path)) as other:
        assert np.array_equal(other.embed(TEXTS), first)
        assert asked(other) == []


def test_another_model_has_vectors_of_its_own(cached: CachedEmbedder, path: Path) -> None:
    cached.embed(TEXTS)

    with closing(CachedEmbedder(Counting("another"), path)) as other:
        other.embed(TEXTS)
        assert asked(other) == TEXTS[:3]


def test_more_texts_than_one_query_takes_are_all_found(cached: CachedEmbedder) -> None:
    texts = [f"text {number}" for number in range(1201)]

    first, second = cached.embed(texts), cached.embed(texts)

    assert np.array_equal(first, second)
    assert len(asked(cached)) == 1201


def test_a_forgotten_group_leaves_no_trace_in_the_files_under_any_model(path: Path) -> None:
    secret = "Ana lives at 7 Hidden Lane."
    trace = HashingEmbedder().embed([secret]).tobytes()
    with closing(CachedEmbedder(Counting(), path)) as one, closing(CachedEmbedder(Counting("another"), path)) as two:
        one.embed([*TEXTS, secret], [*("kept" for _ in TEXTS), "gone"])
        two.embed([secret], ["gone"])
        assert any(trace in file.read_bytes() for file in path.parent.iterdir())

        one.forget("gone")
        one.forget("nobody")
        assert one.vacuum()

        assert not any(trace in file.read_bytes() for file in path.parent.iterdir())
        two.embed([secret])
        assert asked(two) == [secret, secret]
        one.embed(TEXTS)
        assert secret not in asked(one)[4:]
        assert len(asked(one)) == 4


def kept(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_what_was_read_before_an_erasure_is_not_kept_after_it(cached: CachedEmbedder, path: Path) -> None:
    before = cached.erasures
    cached.forget("gone")

    found = cached.embed(["a secret", "another"], ["gone", "kept"], before)

    assert np.array_equal(found, HashingEmbedder().embed(["a secret", "another"]))
    assert kept(path) == 0
    cached.embed(["another"], ["kept"], cached.erasures)
    assert kept(path) == 1


def test_what_is_kept_while_the_graphs_still_have_a_group_is_erased_by_the_vacuum(
    cached: CachedEmbedder, path: Path
) -> None:
    cached.forget("gone")
    between = cached.erasures
    cached.embed(["a secret"], ["gone"], between)
    assert kept(path) == 1

    with closing(CachedEmbedder(Counting(), path)) as restarted:  # the debt stands in the file
        assert restarted.vacuum()

    assert kept(path) == 0
    cached.embed(["another secret"], ["gone"], between)
    assert kept(path) == 0


def test_vectors_of_a_file_that_does_not_say_whose_they_are_go_with_the_first_erasure(path: Path) -> None:
    with closing(CachedEmbedder(Counting(), path)) as cached:
        cached.embed(TEXTS)
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP INDEX vector_group")
        db.execute("ALTER TABLE vectors DROP COLUMN grp")
        db.execute("DROP TABLE erasures")

    with closing(CachedEmbedder(Counting(), path)) as cached:
        cached.embed(TEXTS)
        assert asked(cached) == []
        cached.embed(["new"], ["kept"])

        cached.forget("gone")
        assert kept(path) == 1


def test_a_flipped_bit_makes_a_vector_be_computed_again(cached: CachedEmbedder, path: Path) -> None:
    expected = cached.embed(TEXTS)
    with closing(sqlite3.connect(path)) as db, db:
        [[blob]] = db.execute("SELECT vector FROM vectors LIMIT 1").fetchall()
        db.execute("UPDATE vectors SET vector = ? WHERE vector = ?", [bytes([blob[0], blob[1] ^ 64]) + blob[2:], blob])

    assert np.array_equal(cached.embed(TEXTS), expected)
    assert len(asked(cached)) == 4
    assert np.array_equal(cached.embed(TEXTS), expected)
    assert len(asked(cached)) == 4


def test_a_file_that_is_no_database_is_an_error_that_says_what_to_do(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)

    with pytest.raises(DamagedFile, match=r"vectors\.db is damaged; delete it"):
        CachedEmbedder(Counting(), path)


def test_a_place_that_cannot_be_written_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match=r"nowhere/vectors\.db"):
        CachedEmbedder(Counting(), tmp_path / "nowhere" / "vectors.db")


def test_a_reader_is_not_kept_waiting_by_a_writer(cached: CachedEmbedder, path: Path) -> None:
    expected = cached.embed(TEXTS)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")

        assert np.array_equal(cached.embed(TEXTS), expected)

        writer.execute("ROLLBACK")


def test_processes_that_fill_the_file_at_the_same_time_do_not_disturb_each_other(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from asof_projections.embedding.cache import CachedEmbedder\n"
        "from asof_projections.embedding.hashing import HashingEmbedder\n"
        "cached = CachedEmbedder(HashingEmbedder(), Path(sys.argv[1]))\n"
        "for batch in range(20): cached.embed([f'text {batch} {n}' for n in range(10)])\n"
        "cached.close()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, str(path)]

    processes = [subprocess.Popen(command, env=environment) for _ in range(3)]

    assert [process.wait() for process in processes] == [0, 0, 0]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*), count(DISTINCT text) FROM vectors").fetchone() == (200, 200)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
