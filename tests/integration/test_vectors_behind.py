"""Vectors of many texts are made behind the searches: until then words answer, and the answer says so."""

import json
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import clock, vector_search
from asof.runtime.erasure import erase_vectors
from asof.runtime.layout import DirectoryLayout
from asof.service import reader as reader_module
from asof.service.reader import Reader
from asof.settings import Settings
from asof_projections.embedding.cache import cached_vectors
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.graph.sqlite_store.version_cache import VersionCache
from asof_projections.model.queries import FactSearchQuery, ask
from asof_projections.model.rows import Moment
from asof_streams.episodic import GroupErased
from asof_streams.errors import StorageFailed
from asof_streams.events import Record
from asof_streams.instants import INF
from commands import Asof, fact
from patience import wait_until
from process_memory import private_megabytes

MANY = 120


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch):
    """Texts are embedded many at once only while this is set; questions, which come alone, always are."""
    monkeypatch.setattr(vector_search, "_OWN_SECONDS", 0)  # the processor of today would make all of these at once
    gate, embed = threading.Event(), HashingEmbedder.embed

    def waiting(self, texts):
        if len(texts) > 1:
            assert gate.wait(300)
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed", waiting)
    return gate


@pytest.fixture
def lines() -> list[str]:
    return [json.dumps(fact(group_id="g", subject=f"Ana {number}", object="Rome")) for number in range(MANY)]


@pytest.fixture
def memory(tmp_path: Path, lines: list[str], gate):
    with asof.open(tmp_path / "data", embedder="hash") as memory:
        memory.import_facts(lines)
        yield memory
        gate.set()


def scores(hits):
    return [(hit.fact, hit.score, hit.scores) for hit in hits]


def test_a_search_after_an_import_answers_by_words_and_later_by_vectors(memory: Memory, gate) -> None:
    at_once = memory.search("Ana 7", group_id="g", over="facts")

    assert (at_once[0].fact, at_once[0].scores.meaning) == ("Ana 7 lives in Rome", None)
    assert at_once.vectors_behind == MANY

    gate.set()
    wait_until(lambda: memory.search("Ana 7", group_id="g").vectors_behind == 0)
    assert memory.search("Ana 7", group_id="g")[0].scores.meaning is not None


def test_what_is_made_behind_is_what_a_search_that_waits_finds(memory: Memory, gate, tmp_path, lines) -> None:
    gate.set()
    memory.search("Ana 7 in Rome", group_id="g")
    wait_until(lambda: memory.search("Ana 7 in Rome", group_id="g").vectors_behind == 0)

    with asof.open(tmp_path / "other", embedder="hash") as other:
        other.import_facts(lines)
        assert other.embed().vectors >= MANY
        waited = other.search("Ana 7 in Rome", group_id="g")
    assert waited.vectors_behind == 0
    assert scores(memory.search("Ana 7 in Rome", group_id="g")) == scores(waited)


def test_entities_like_a_name_are_found_by_words_at_once_and_later_by_vectors_too(memory: Memory, gate) -> None:
    at_once = memory.entities(like="Ana 7", group_id="g")
    misspelt = memory.entities(like="Ana7", group_id="g", limit=3)
    unlike = memory.entities(like="Zorro", group_id="g")

    assert [entity.name for entity in at_once] == ["Ana 7"]
    assert [entity.name for entity in misspelt] == ["Ana 7"]
    assert unlike == []
    assert at_once.vectors_behind == MANY + 1  # with Rome
    assert memory.entities(group_id="g").vectors_behind == 0

    gate.set()
    wait_until(lambda: memory.entities(like="Ana 7", group_id="g").vectors_behind == 0)
    assert len(memory.entities(like="Ana 7", group_id="g")) == 10


def test_a_turn_that_was_asked_as_a_question_is_not_embedded_once_more(tmp_path: Path, monkeypatch) -> None:
    said = "Where is the station?"
    embedded: list[str] = []
    embed = HashingEmbedder.embed

    def noting(self, texts):
        embedded.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed", noting)
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with asof.open(settings.data, embedder="none") as memory:
        memory.add("I live in Rome.", group_id="g", role="Ana")
        with Reader(DirectoryLayout(settings.data), settings, clock.system) as reader:
            reader.keep_up(1)
            reader.of("g").similarities(said, ["a place"])
            memory.add(said, group_id="g", role="Ana")
            reader.keep_up(1)

    assert "I live in Rome." in embedded
    assert embedded.count(said) == 1
    assert cached_vectors(DirectoryLayout(settings.data).vectors, HashingEmbedder().model_id, [said]).keys() == {said}


class Reads:
    """Counts the facts that are read into memory for searches; `error` is raised instead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.facts = 0
        self.error: Exception | None = None
        measure = VersionCache._measure

        def noting(cache: VersionCache, db: sqlite3.Connection) -> None:
            if self.error is not None:
                raise self.error
            before = cache.facts
            measure(cache, db)
            self.facts += cache.facts - before

        monkeypatch.setattr(VersionCache, "_measure", noting)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


WHERE = ask(FactSearchQuery, {"query": "Where does Ana live?", "group_id": "g", "over": "both"})


def found(reader: Reader) -> list[str]:
    hits = reader.of("g").search(WHERE, Moment(reader.now(), INF - 1))
    return [hit.fact for hit in hits] + [turn.content for turn in hits.episodes]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with Reader(DirectoryLayout(settings.data), settings, clock.system) as reader:
        yield reader


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I live in Rome.", group_id="g", role="Ana")
        yield memory


def test_what_came_since_the_last_search_is_read_behind_it_and_the_next_one_finds_the_same(
    told: Memory, reader: Reader, reads: Reads, tmp_path: Path
) -> None:
    reader.keep_up(1)
    assert reads.facts == 0, "nobody has searched yet"
    found(reader)
    assert reads.facts == 1
    told.add("My sister Eve lives in Oslo.", group_id="g", role="Ana")
    reader.keep_up(1)
    behind = reads.facts
    answer = found(reader)
    assert behind > 1
    assert reads.facts == behind
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with Reader(DirectoryLayout(settings.data), settings, clock.system) as another:
        assert found(another) == answer


def test_long_after_a_search_nothing_is_read_behind_it(
    told: Memory, reader: Reader, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(reader)
    monkeypatch.setattr(vector_search, "_CONVERSATION_SECONDS", -1)  # as if it were long ago
    told.add("My sister Eve lives in Oslo.", group_id="g", role="Ana")

    reader.keep_up(1)

    assert reads.facts == 1


def test_a_search_that_cannot_be_prepared_is_told_once_and_as_what_it_is(
    told: Memory, reader: Reader, reads: Reads, caplog: pytest.LogCaptureFixture
) -> None:
    found(reader)
    reads.error = StorageFailed("the disk is full")
    for text in ("My sister Eve lives in Oslo.", "My brother Ben lives in Lima."):
        told.add(text, group_id="g", role="Ana")
        assert not reader.keep_up(1)
    said = [record.getMessage() for record in caplog.records if record.name == "asof.service.reader"]
    reads.error = None

    assert said == ["the next search is not prepared: the disk is full"]
    assert any("Oslo" in fact for fact in found(reader))


def test_texts_of_about_one_length_are_embedded_together_behind_the_searches(tmp_path: Path, monkeypatch) -> None:
    names = [f"Ana {'Maria Luisa ' * (number % 2 * 4)}{number}" for number in range(MANY)]  # short and long in turns
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.import_facts([json.dumps(fact(group_id="g", subject=name, object="Rome")) for name in names])
    together: list[bool] = []
    embed = HashingEmbedder.embed

    def noting(self, texts):
        together.append(len({len(text) > 40 for text in texts}) == 1)
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed", noting)
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with Reader(DirectoryLayout(settings.data), settings, clock.system) as reader:
        while reader.keep_up(0.01):
            pass
        assert reader.vectors() == MANY

    assert together.count(True) > together.count(False)


def test_vectors_of_a_few_texts_are_found_as_soon_as_they_are_computed(tmp_path: Path) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.import_facts([json.dumps(fact(group_id="g", subject=name, object="Rome")) for name in ("Ana", "Ben")])
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with Reader(DirectoryLayout(settings.data), settings, clock.system) as reader:
        reader.keep_up(0)  # one portion of texts

        assert reader.vectors() == 2


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("rounds", [2, 3])  # at the last of which memory is given back; the third finds nothing to do
def test_a_reader_that_embedded_for_long_gives_the_system_back_what_was_freed(
    tmp_path: Path, monkeypatch, rounds: int
) -> None:
    monkeypatch.setattr(reader_module, "_LONG", 2)
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.import_facts([json.dumps(fact(group_id="g", subject=name, object="Rome")) for name in ("Ana", "Ben")])
    settings = Settings(data=tmp_path / "data", embedder="hash")
    with Reader(DirectoryLayout(settings.data), settings, clock.system) as reader:
        for _ in range(rounds - 1):
            assert reader.keep_up(0)
        blocks = [bytearray(b"1" * 4_096) for _ in range(20_000)]
        del blocks[:-1]
        freed = private_megabytes()
        reader.keep_up(0)
        assert private_megabytes() < freed - 40


def test_a_search_makes_the_vectors_of_a_few_texts_itself(memory: Memory, gate) -> None:
    gate.set()
    memory.embed()
    memory.add("I moved to Oslo.", role="Ana", group_id="g")

    found = memory.search("Ana Oslo", group_id="g", over="both")

    assert found.vectors_behind == 0
    assert found.episodes[0].scores.meaning is not None


def test_only_what_was_searched_is_counted(memory: Memory) -> None:
    memory.add("I like tea.", role="Kim", group_id="kim")

    assert memory.search("tea", group_id="kim").vectors_behind <= 2
    assert memory.search("tea", group_id="kim", over="episodes").vectors_behind == 0


def test_a_memory_closes_while_vectors_are_made_behind_it(tmp_path: Path, lines, gate) -> None:
    with asof.open(tmp_path / "data", embedder="hash") as memory:
        memory.import_facts(lines)
        memory.search("Ana 7", group_id="g")
        gate.set()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("asof-vectors")]
    with asof.open(tmp_path / "data", embedder="hash") as memory:
        assert memory.embed().vectors >= MANY


def test_questions_and_writes_are_answered_while_vectors_are_made(memory: Memory, gate) -> None:
    memory.search("Ana 7", group_id="g")  # the thread waits at the gate

    memory.add("I moved to Oslo.", role="Ben", group_id="g")
    assert [fact.object for fact in memory.facts(about="Ben", group_id="g")] == ["Oslo"]
    gate.set()


def test_vectors_of_a_group_are_forgotten_also_where_the_graphs_have_forgotten_its_texts(tmp_path: Path) -> None:
    """On Kafka the erasure of what was said comes some rounds before that of what is believed of it."""
    places = DirectoryLayout(tmp_path / "data")
    with asof.open(places.root, embedder="hash") as memory:
        memory.add("I moved to Oslo.", role="Ana", group_id="g")
        memory.add("I like tea.", role="Kim", group_id="kim")
        memory.embed()
    with SqliteGraph(places.episodes, "episodic", writable=True) as episodes:
        at = episodes.position()
        episodes.apply([Record(at, "g", 0, at, 0, 1, 1, GroupErased())])
        episodes.commit(at + 1, b"")

    erase_vectors(places, "g", "main")

    with closing(sqlite3.connect(places.vectors)) as db:
        groups = {group for (group,) in db.execute("SELECT grp FROM vectors")}
    assert groups == {"kim"}


def test_the_command_embed_makes_what_search_says_is_missing(tmp_path: Path, capsys, lines, monkeypatch) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    monkeypatch.setattr(vector_search, "_OWN_SECONDS", 0)
    command = Asof(tmp_path / "data", capsys)
    with Memory(Settings(data=command.data, embedder="none")) as memory:
        memory.import_facts(lines)

    assert command.json("search", "Ana 7", "--group", "g")["vectors_behind"] == MANY
    assert command.json("embed")["vectors"] >= MANY
    assert command.json("search", "Ana 7", "--group", "g")["vectors_behind"] == 0


def test_a_context_says_how_much_was_found_by_words(memory: Memory, gate) -> None:
    assert memory.context("Ana 7", group_id="g").vectors_behind == MANY

    gate.set()
    wait_until(lambda: memory.context("Ana 7", group_id="g").vectors_behind == 0)
