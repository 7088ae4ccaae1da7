"""A data directory that somebody else made, as in a cloned repository: opening it does no harm outside of it."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.cli import app, calls
from asof.settings import read
from asof_projections import generations
from asof_streams.errors import DamagedData, DamagedFile, InvalidInput


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as it is after some use."""
    data = tmp_path_factory.mktemp("made") / "asof-data"
    with asof.open(data, embedder="hash") as memory:
        memory.add("I live in Oslo.", role="Ana")
        memory.search("Oslo")
    return data


@pytest.fixture
def data(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Such a directory in a cloned repository, in which asof is called."""
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.copytree(made, clone / "asof-data")
    monkeypatch.chdir(clone)
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    return clone / "asof-data"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What belongs to the user, and lies elsewhere."""
    folder = tmp_path / "home"
    (folder / "thesis").mkdir(parents=True)
    (folder / "thesis" / "chapter").write_text("years of work")
    (folder / "notes.json").write_text("{}")
    (folder / "notes.json").chmod(0o644)
    return folder


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return modes and contents of all files."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


def of_another_program(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "messages.sqlite")) as db:
        db.execute("CREATE TABLE songs (title)")


def of_no_database(folder: Path) -> None:
    (folder / "messages.sqlite").write_text("a list of what was sent")


def of_a_shop(folder: Path) -> None:
    (folder / "catalog.json").write_text('{"name": "shop", "items": [1]}')


@pytest.mark.parametrize("fill", [of_another_program, of_no_database, of_a_shop])
def test_a_directory_of_something_else_is_refused_and_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fill: Callable[[Path], None]
) -> None:
    folder = tmp_path / "music"
    folder.mkdir()
    folder.chmod(0o755)
    fill(folder)
    before = state(folder)

    for command in (["add", "hello"], ["facts"], ["stats"], ["verify"]):
        assert calls.run(app, [*command, "--data", str(folder)]) in {1, 2}
    assert state(folder) == before
    assert folder.stat().st_mode & 0o777 == 0o755
    assert "Traceback" not in capsys.readouterr().err


def everything(data: Path) -> None:
    """Read, write, rebuild and drop."""
    with asof.open(data, embedder="hash") as memory:
        memory.facts(about="Ana")
        memory.search("Oslo")
        memory.add("I moved to Rome.", role="Ana", suppress_content=True, schema_id="agent_memory_v1")
        memory.rebuild("again")
        memory.switch("again")
        memory.drop("main")
        memory.erase("default")


LINKS: dict[str, Callable[[Path], Path]] = {
    "generations": lambda home: home,
    "generations/thesis": lambda home: home / "thesis",
    "generations/main/graph.db": lambda home: home / "notes.json",
    "messages.keys": lambda home: home,
    "messages.sqlite": lambda home: home / "notes.json",
    "messages.sqlite-wal": lambda home: home / "notes.json",
    "ontologies": lambda home: home,
    "notes.json": lambda home: home / "notes.json",
    "writer.lock": lambda home: home / "new",
    "vectors.db": lambda home: home / "new",
    "partition-0": lambda home: home,
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_in_a_directory_is_refused_and_what_it_leads_to_is_left_as_it_is(
    data: Path, outside: Path, name: str
) -> None:
    path = data / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(LINKS[name](outside))
    before = state(outside)

    with pytest.raises(DamagedFile, match="leads elsewhere"):
        everything(data)
    assert calls.run(app, ["facts"]) == calls.run(app, ["add", "I like tea.", "--role", "Ana"]) == 1
    assert state(outside) == before


@pytest.mark.parametrize("name", ["../../../home", "..", "", ".", "a/b", "/tmp", "Main", "x" * 64, "main\n"])
def test_a_generation_in_a_catalogue_has_a_name_that_is_no_path(data: Path, outside: Path, name: str) -> None:
    info = json.loads((data / "catalog.json").read_text())["generations"][0]
    catalog = generations.Catalog(
        "main", tuple(generations.GenerationInfo.of(info | {"name": n}) for n in ("main", name))
    )
    generations.save(data, catalog)
    before = state(outside)

    with pytest.raises(DamagedFile, match="catalog"):
        generations.load(data)
    assert calls.run(app, ["drop", name]) == 2
    assert state(outside) == before


STATEMENTS = {
    "messages.sqlite": "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM groups; END",
    "episodic.sqlite": "CREATE VIEW endless AS SELECT 1",
    "generations/main/semantic.main.sqlite": "CREATE VIRTUAL TABLE words USING fts5 (x)",
    "generations/main/graph.db": "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM versions; END",
    "episodes.db": "CREATE VIEW more AS SELECT * FROM episodes",
    "vectors.db": "CREATE TRIGGER t AFTER INSERT ON vectors BEGIN DELETE FROM models; END",
}
ENDLESS = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n, '' AS sentence, '' AS grp FROM r"


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_that_a_stranger_put_into_a_file_never_runs(data: Path, name: str) -> None:
    with closing(sqlite3.connect(data / name)) as file:
        file.execute(STATEMENTS[name])

    def tried() -> list[str]:
        with asof.open(data, embedder="hash") as memory:
            memory.add("I moved to Rome.", role="Ana")
            memory.search("Rome")
            return [str(fact.object) for fact in memory.facts(about="Ana", relation="lives_in")]

    if name.endswith(".sqlite") or name == "vectors.db":
        with pytest.raises(DamagedData, match=name.rpartition("/")[2]):
            tried()
    else:
        assert tried() == ["Rome"], "it is made anew from its log"
        with closing(sqlite3.connect(data / name)) as file:
            assert not file.execute("SELECT * FROM sqlite_schema WHERE type = 'trigger' OR name = 'more'").fetchall()


def test_a_view_that_never_ends_is_not_asked(data: Path) -> None:
    with closing(sqlite3.connect(data / "generations/main/graph.db")) as file:
        file.execute("DROP VIEW sentences")
        file.execute(f"CREATE VIEW sentences AS {ENDLESS}")

    with asof.open(data, embedder="hash") as memory:
        assert [fact.object for fact in memory.facts(about="Ana")] == ["Oslo"]
        memory.add("I moved to Rome.", role="Ana")
        assert [fact.object for fact in memory.facts(about="Ana")] == ["Rome"]


def test_a_journal_that_names_another_file_to_be_deleted_is_refused(data: Path) -> None:
    (data / "messages.sqlite-journal").write_bytes(b"\0" * 512 + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")

    with pytest.raises(DamagedFile, match="journal"):
        everything(data)


def test_only_what_a_build_left_is_removed_and_no_file_of_the_same_ending(data: Path) -> None:
    notes = data / "projects" / "house.building.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    (data / "generations" / "main" / "graph.db.building-7").write_bytes(b"")

    everything(data)

    assert notes.read_text() == "mine"
    assert not list(data.rglob("*.building-*"))


def test_a_directory_that_nobody_named_is_not_taken_from_others(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data.chmod(0o777)
    with pytest.raises(InvalidInput, match="--data asof-data") as refused:
        read()
    assert refused.value.field == "data"
    assert read(data=data).data == data, "it was named"

    data.chmod(0o755)
    assert read().data == Path("asof-data")
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(InvalidInput, match="another user"):
        read()
    monkeypatch.setenv("ASOF_DATA", "asof-data")
    assert read().data == Path("asof-data")


def test_a_directory_that_nobody_named_does_not_lead_out_of_where_it_is(data: Path, outside: Path) -> None:
    shutil.rmtree(data)
    data.symlink_to(outside)

    with pytest.raises(InvalidInput, match="outside") as refused:
        read()
    assert refused.value.field == "data"
    assert read(data=data).data == data
