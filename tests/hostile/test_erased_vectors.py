"""Vectors of erased text do not come back, whoever embeds, searches and saves while it is erased."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime import open_generations
from asof.runtime.erasure import erase_vectors
from asof_projections.vectors.faiss_index import FaissVectorIndex

WORDS = ("tea", "chess", "jazz", "bread", "silk")


def told(folder: Path) -> asof.Memory:
    memory = asof.open(folder, embedder="hash")
    for group in ("g", "h"):
        for word in WORDS:
            memory.add(f"I like {word}{group}.", role="Ana", group_id=group)
    memory.embed()
    return memory


def saved(folder: Path) -> dict[str, int]:
    """Return how many vectors each saved index has."""
    return {
        path.name: int(json.loads(path.read_bytes().split(b"\n")[1])["count"])
        for path in folder.rglob("*.index")
        if path.is_file()
    }


def while_erasing(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> None:
    """Let something be done once the vectors are erased, before the graphs have forgotten the group."""

    def erase_and_work(*args: Any) -> None:
        erase_vectors(*args)
        work()

    monkeypatch.setattr(open_generations, "erase_vectors", erase_and_work)


def test_what_another_process_saves_in_the_midst_of_an_erasure_is_gone_when_it_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = told(tmp_path)
    other = asof.open(tmp_path, embedder="hash")
    while_erasing(monkeypatch, other.embed)
    memory.erase("g")

    assert saved(tmp_path) == {}
    other.close()
    assert saved(tmp_path) == {}
    memory.embed()
    assert saved(tmp_path) == {"vectors.index": 5, "names.index": 6, "turns.index": 5}
    memory.close()


def test_what_another_process_saves_while_an_erasure_ends_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = told(tmp_path)
    for path in tmp_path.rglob("*.index"):
        path.unlink()
    other = asof.open(tmp_path, embedder="hash")
    save = FaissVectorIndex.save
    late: list[FaissVectorIndex] = []

    def erase_and_save(index: FaissVectorIndex, position: int) -> None:
        if not late:
            late.append(index)
            memory.erase("g")
        save(index, position)

    with monkeypatch.context() as racing:
        racing.setattr(FaissVectorIndex, "save", erase_and_save)
        other.embed()

    assert saved(tmp_path) == {"names.index": 6, "turns.index": 5}
    found = other.search("tea", group_id="h")
    assert [hit.object for hit in found][:1] == ["teah"]
    other.close()
    memory.close()
