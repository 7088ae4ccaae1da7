"""What is wrong is found: a flipped bit of a derived file is reported and repaired, or it changes no answer."""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime.integrity import verify
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.repair import repair
from asof.runtime.replica_manifest import copied
from asof.settings import Settings
from asof_projections import generations
from asof_streams.errors import AsofError, DamagedFile, StorageFailed
from asof_streams.key_store import key_place
from effort import tries
from full_disk import files_no_larger_than
from old_directories import unpack
from world import World

PLACES = "Berlin", "Oslo", "Rome", "Bonn", "Bern"


def told(path: Path) -> World:
    """Return a memory with some of everything, an erased group, and vectors."""
    world = World(path, embedder="hash")
    for number in range(30):
        world.tell(f"2024-01-{number % 28 + 1:02}", subject=f"Person{number % 7}", object=PLACES[number % 5])
        world.tell(relation="likes", subject=f"Person{number % 7}", object=f"Thing{number}", group_id="h")
    world.memory.add("I moved to Lisbon in March. My sister Eva works at SAP.", group_id="g", role="Ana")
    world.memory.erase("h")
    world.memory.search("Who lives in Berlin?", group_id="g")
    world.memory.entities(like="Person", group_id="g")
    world.restart()
    return world


def answers(world: World) -> Any:
    """Return what is answered to some of every kind of question; an error is an answer that says so."""
    memory = world.open()
    try:
        asked: list[Callable[[], Any]] = [
            lambda: memory.facts(group_id="g"),
            lambda: memory.facts(group_id="g", valid_at="2023-06-01"),
            lambda: memory.search("Berlin", group_id="g"),
            lambda: memory.search("who works at SAP", group_id="g"),
            lambda: memory.entities(group_id="g"),
            lambda: memory.episodes(group_id="g"),
            lambda: memory.timeline("Person1", group_id="g"),
            lambda: memory.changes(group_id="g"),
            lambda: memory.entities(like="Person", group_id="g"),
            lambda: [memory.why(fact.uuid) for fact in memory.facts(group_id="g")[:5]],
        ]
        return [str(question()) for question in asked]
    finally:
        memory.close()


FILES = (
    "episodes.db",
    "generations/main/graph.db",
    "generations/main/vectors.index",
    "generations/main/names.index",
    "vectors.db",
    "ontology.json",
    "generations/main/ontology.json",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "data"
    told(path)
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_reported_or_changes_no_answer(whole: Path, tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    expected = answers(World(Path(shutil.copytree(whole, tmp_path / "expected")), embedder="hash"))
    content = (whole / name).read_bytes()
    reported = 0
    for number in range(tries(8, nightly=150)):
        data = tmp_path / str(number)
        shutil.copytree(whole, data)
        at = chance.randrange(len(content))
        flipped = bytes([content[at] ^ 1 << chance.randrange(8)])
        (data / name).write_bytes(content[:at] + flipped + content[at + 1 :])
        world = World(data, embedder="hash")
        checks = world.memory.verify()
        world.restart()
        if all(check.ok for check in checks):
            assert answers(World(data, embedder="hash")) == expected, f"bit {at} of {name}"
        else:
            reported += 1
            assert name.endswith("ontology.json") or [c for c in world.memory.repair() if not c.ok] == []
            world.memory.close()
        shutil.rmtree(data)
    if name.endswith((".index", "ontology.json")):
        assert reported > 0


def test_a_directory_that_is_whole_is_said_to_be_whole(whole: Path) -> None:
    world = World(whole, embedder="hash")

    checks = world.memory.verify()

    assert [check for check in checks if not check.ok] == []
    kinds = {check.what.split()[0] for check in checks}
    assert kinds == {"log", "graph", "vectors", "ontology"}
    assert world.memory.repair() == []
    world.memory.close()


DAMAGE: dict[str, tuple[str, str, str]] = {
    "an index that lost an entry": (
        "generations/main/graph.db",
        """PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, '(s, relation, vf)', '(relation, s, vf)')
            WHERE name = 'now_subject'""",
        "graph of semantic.main",
    ),
    "a word that is not found any more": (
        "generations/main/graph.db",
        """INSERT INTO sentence_words (sentence_words, rowid, sentence, grp)
            SELECT 'delete', n, sentence, grp FROM sentences ORDER BY n DESC LIMIT 1""",
        "graph of semantic.main",
    ),
    "an index that is gone": ("generations/main/graph.db", "DROP INDEX now_subject", "graph of semantic.main"),
    "an index that questions name": ("episodes.db", "DROP INDEX turn", "graph of episodic"),
    "a table that is gone": ("generations/main/graph.db", "DROP TABLE versions", "graph of semantic.main"),
    "the settings of a table of words": (
        "generations/main/graph.db",
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sentence_words_config'",
        "graph of semantic.main",
    ),
    "a fact that is another one": (
        "generations/main/graph.db",
        "UPDATE versions SET vf = vf + 1",
        "graph of semantic.main",
    ),
    "a name in the table of words": ("generations/main/graph.db", "DELETE FROM words", "graph of semantic.main"),
    "an episode that was said otherwise": ("episodes.db", "UPDATE episodes SET body_packed = 'x'", "graph of episodic"),
    "a belief": ("generations/main/semantic.main.sqlite", "DELETE FROM log WHERE position = 3", "log semantic.main"),
    "a record": ("episodic.sqlite", "DELETE FROM log WHERE position = 3", "log episodic"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_reported_and_repaired_from_the_log_before_it(whole: Path, tmp_path: Path, what: str) -> None:
    name, script, reported = DAMAGE[what]
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    expected = answers(World(Path(shutil.copytree(whole, tmp_path / "expected")), embedder="hash"))
    with closing(sqlite3.connect(data / name, isolation_level=None)) as db:
        db.executescript(script)
    world = World(data, embedder="hash")

    assert reported in {check.what for check in world.memory.verify() if not check.ok}
    assert {check.what for check in world.memory.repair() if check.ok} >= {reported}
    assert [check for check in world.memory.verify() if not check.ok] == []
    world.memory.close()
    assert answers(World(data, embedder="hash")) == expected


def test_a_memory_that_was_open_while_another_one_repaired_its_graph_answers_from_the_new_one(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="none") as memory:
        memory.add("I like tea.", role="Ana")
    with asof.open(tmp_path, embedder="none") as reader, asof.open(tmp_path, embedder="none") as other:
        assert [fact.object for fact in reader.facts()] == ["tea"]
        with closing(sqlite3.connect(DirectoryLayout(tmp_path).graph("main"))) as graph, graph:
            graph.execute("DELETE FROM versions")
        assert reader.facts() == []
        assert [check.what for check in other.repair()] == ["graph of semantic.main"]

        assert [fact.object for fact in reader.facts()] == ["tea"]


def test_vectors_in_another_order_are_reported(whole: Path, tmp_path: Path) -> None:
    import numpy as np

    from asof_projections.vectors import snapshot

    data = Path(shutil.copytree(whole, tmp_path / "data"))
    path = data / "generations" / "main" / "vectors.index"
    lines = path.read_bytes().split(b"\n", 2)
    fields = json.loads(lines[1])
    ids = np.frombuffer(lines[2][: 8 * fields["count"]], np.int64)
    codes = np.frombuffer(lines[2][8 * fields["count"] :], np.float16).reshape(fields["count"], -1)[::-1].copy()
    body = [ids.view(np.uint8).data, codes.reshape(-1).view(np.uint8).data]
    header = {name: fields[name] for name in ("model_id", "dimensions", "count", "position")}
    snapshot.write(path, snapshot.Header(**header, sha256=snapshot.digest(body)), body)
    world = World(data, embedder="hash")

    [check] = [check for check in world.memory.verify() if not check.ok]
    assert check.what == "vectors generations/main/vectors.index"
    assert [check.ok for check in world.memory.repair()] == [True]
    world.memory.close()


def test_a_question_to_a_directory_without_its_messages_makes_no_log(whole: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    (data / "messages.sqlite").unlink()
    before = {file.name for file in data.rglob("*.sqlite")}
    world = World(data, embedder="none")

    assert world.memory.facts(group_id="g") != []
    with pytest.raises(AsofError, match=r"messages\.sqlite"):
        world.memory.add("I live in Oslo.", group_id="g")
    world.memory.close()
    assert {file.name for file in data.rglob("*.sqlite")} == before


def test_an_ontology_of_an_earlier_version_is_repaired(tmp_path: Path) -> None:
    data = unpack("chat", tmp_path)
    kept = [data / "ontology.json", *data.glob("generations/*/ontology.json")]
    digests = [kept_ontology(path).digest for path in kept]
    for path in kept:
        path.write_bytes(b"{}")

    checks = repair(DirectoryLayout(data), Settings())

    assert [check for check in checks if not check.ok] == []
    assert [kept_ontology(path).digest for path in kept] == digests != []


UNREPAIRABLE: dict[str, tuple[str, str | None]] = {
    "an episodic log that cannot be opened": ("episodic", None),
    "an episode that is gone": ("episodic", "DELETE FROM log WHERE position = 1"),
    "a messages log that cannot be opened": ("messages", None),
    "a message that is gone": ("messages", "DELETE FROM log WHERE position = 0"),
}


@pytest.mark.parametrize("what", UNREPAIRABLE)
def test_what_is_made_from_a_log_that_cannot_be_repaired_is_never_deleted(tmp_path: Path, what: str) -> None:
    log, script = UNREPAIRABLE[what]
    world = World(tmp_path / "data")
    world.memory.add("I live in Rome.", group_id="g", role="Ana")
    world.memory.add("I like tea.", group_id="g", role="Ana", suppress_content=True)
    believed = str(world.memory.facts(group_id="g"))
    world.memory.close()
    shutil.copytree(world.path, tmp_path / "whole")
    if script is None:
        (world.path / f"{log}.sqlite").write_bytes(b"no database" * 1_000)
    else:
        with closing(sqlite3.connect(world.path / f"{log}.sqlite", isolation_level=None)) as db:
            db.executescript(script)
    places = DirectoryLayout(world.path)

    refused = {check.what: check for check in repair(places, world.settings) if not check.ok}

    assert f"log {log}" in refused
    assert all(path.exists() for path in (places.semantic("main"), places.graph("main"), places.episodes))
    (world.path / f"{log}.sqlite").unlink()
    shutil.copy(tmp_path / "whole" / f"{log}.sqlite", world.path)
    assert [check for check in repair(places, world.settings) if not check.ok] == []
    assert str(world.open().facts(group_id="g")) == believed


@pytest.mark.parametrize("log", ["messages", "episodic"])
def test_all_damage_is_reported_where_a_log_cannot_even_be_opened(whole: Path, tmp_path: Path, log: str) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    (data / f"{log}.sqlite").write_bytes(b"no database" * 1_000)
    (data / "ontology.json").write_bytes(b"{}")
    world = World(data, embedder="hash")

    assert {check.what for check in world.memory.verify() if not check.ok} >= {f"log {log}", "ontology ontology.json"}
    world.memory.close()


@pytest.mark.parametrize("name", ["episodes.db", "generations/main/graph.db", "vectors.db"])
def test_a_format_that_cannot_be_written_is_damage_and_no_want_of_rights(
    whole: Path, tmp_path: Path, name: str
) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    content = bytearray((data / name).read_bytes())
    content[18] ^= 8
    (data / name).write_bytes(content)

    checks = repair(DirectoryLayout(data), Settings(data=data, embedder="none"))

    assert [check for check in checks if not check.ok] == []
    assert [check for check in verify(DirectoryLayout(data)) if not check.ok] == []


def test_what_cannot_be_read_on_a_full_disk_is_reported_and_never_deleted(whole: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    before = {file: file.read_bytes() for file in data.rglob("*") if file.suffix in {".sqlite", ".db", ".index"}}
    places = DirectoryLayout(data)
    with files_no_larger_than(1_000):
        assert {check.what for check in verify(places) if not check.ok} >= {"log episodic", "graph of episodic"}
        with pytest.raises(StorageFailed, match="free space"):
            repair(places, Settings())

    assert {file: file.read_bytes() for file in before if file.exists()} == before
    world = World(data, embedder="hash")
    assert world.memory.repair() == []
    world.memory.close()


DEEP = b"[" * 200_000  # JSON that no reader follows to its end


@pytest.mark.parametrize("name", ["ontology.json", "generations/main/ontology.json"])
def test_an_ontology_that_is_nested_too_deep_is_reported_and_repaired(tmp_path: Path, name: str) -> None:
    world = World(tmp_path / "data")
    world.tell("2024-01-01", object="Berlin")
    world.memory.close()
    whole = (world.path / name).read_bytes()
    (world.path / name).write_bytes(DEEP)
    places = DirectoryLayout(world.path)

    assert [check.what for check in verify(places) if not check.ok] == [f"ontology {name}"]
    with pytest.raises(DamagedFile, match="is missing or damaged"):
        kept_ontology(world.path / name)
    repair(places, world.settings)

    assert (world.path / name).read_bytes() == whole


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("catalog.json", generations.load),
        ("topics.json", copied),
        ("keys.json", lambda folder: key_place(folder / "keys.json")),
        ("one.backup", lambda folder: asof.restore(folder / "one.backup", data=folder / "restored")),
    ],
)
def test_a_file_that_is_nested_too_deep_is_damaged(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    (tmp_path / name).write_bytes(DEEP)

    with pytest.raises(DamagedFile):
        read(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == [name]
