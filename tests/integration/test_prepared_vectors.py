"""Vectors that are read before anybody asks: searches find with them what they find without, and nothing erased."""

from pathlib import Path

import pytest

import asof
from asof.operations import facts
from asof.operations.queries import FactSearchQuery, ask
from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.prepared_vectors import PreparedVectors
from asof.runtime.wiring import existing
from asof.service.reader import Reader
from asof.settings import Settings
from asof_projections.vectors import faiss_index

WORDS = ["tea", "jazz", "chess", "plums"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with asof.open(settings.data, embedder="hash") as memory:
        for group in ("kept", "gone"):
            for word in WORDS:
                memory.add(f"I like {word}.", role="Ana", group_id=group)
        memory.embed()
    return settings


def files_of(places: DirectoryLayout) -> list[Path]:
    name = existing(places).active
    return [places.index(name), places.names_index(name), places.turns_index]


def prepare(reader: Reader) -> None:
    for _ in reader.prepare():
        pass


def found(reader: Reader, group: str) -> list[str]:
    hits = facts.search(reader, ask(FactSearchQuery, {"query": "What does Ana like?", "group_id": group}))
    assert hits.vectors_behind == 0
    return [hit.uuid for hit in hits]


def test_a_file_is_read_once_and_its_vectors_are_taken_once(settings: Settings) -> None:
    places = DirectoryLayout(settings.data)
    prepared = PreparedVectors.of(places, settings)
    assert prepared is not None
    facts_file, _, turns_file = files_of(places)
    held = prepared.take(facts_file)

    assert held is not None
    assert len(held) == 2 * len(WORDS)
    assert prepared.take(facts_file) is None
    turns_file.unlink()
    assert prepared.take(turns_file) is None


def test_a_search_finds_the_same_with_vectors_that_were_read_before(settings: Settings) -> None:
    places = DirectoryLayout(settings.data)
    with Reader(places, settings, clock.system) as plain, Reader(places, settings, clock.system) as prepared:
        prepare(prepared)

        assert found(prepared, "kept") == found(plain, "kept") != []


def test_a_search_between_two_steps_finds_the_same_and_they_go_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_index, "MANY", 1)
    monkeypatch.setattr(faiss_index, "ENCODED", 3)
    places = DirectoryLayout(settings.data)
    with Reader(places, settings, clock.system) as plain, Reader(places, settings, clock.system) as prepared:
        steps = prepared.prepare()
        next(steps)

        assert found(prepared, "kept") == found(plain, "kept") != []
        assert len([*steps]) > 2


def test_what_is_erased_after_the_vectors_were_read_is_not_found(settings: Settings) -> None:
    places = DirectoryLayout(settings.data)
    with Reader(places, settings, clock.system) as prepared:
        prepare(prepared)
        with asof.open(settings.data, embedder="hash") as memory:
            memory.erase("gone")
            memory.add("I like snow.", role="Ana", group_id="kept")
            kept = {hit.uuid for hit in memory.search("What does Ana like?", group_id="kept")}

        assert {*found(prepared, "kept")} == kept
        assert found(prepared, "gone") == []


def test_nothing_is_read_where_there_is_no_memory_or_the_embedder_is_elsewhere(
    settings: Settings, tmp_path: Path
) -> None:
    assert PreparedVectors.of(DirectoryLayout(tmp_path / "none"), settings) is None
    for other in ("none", "openai", "sentence-transformers"):
        elsewhere = settings.model_copy(update={"embedder": other})
        assert PreparedVectors.of(DirectoryLayout(settings.data), elsewhere) is None
