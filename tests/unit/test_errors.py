"""The errors of asof: one tree, whose classes and fields say all that a program decides by."""

import ast
import pickle
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import replica_health, replica_manifest
from asof.runtime.integrity import verify
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import sanitize_error
from asof_ontologies.errors import OntologyError
from asof_projections import generations
from asof_projections.embedding import openai as of_openai
from asof_projections.graph.arango import errors as of_arango
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams import errors
from asof_streams.errors import (
    AsofError,
    DamagedData,
    DamagedFile,
    DamagedLog,
    DamagedView,
    InvalidInput,
    StorageFailed,
)
from asof_streams.kafka.state import State
from asof_streams.sqlite_log import SqliteLog

assert of_arango
assert of_openai
ROOT = Path(__file__).resolve().parents[2]


def classes(root: type[AsofError] = AsofError) -> Iterator[type[AsofError]]:
    """Every class of the tree, in whichever module it is."""
    yield root
    for below in root.__subclasses__():
        yield from classes(below)


EXAMPLES: list[Exception] = [
    *(of("why, and what to do") for of in classes()),
    InvalidInput("it must be one", "relation_type_map.0.source"),
    OntologyError("nothing is left", "excluded_entity_types"),
    StorageFailed("the disk is full", accepted=512),
]


def test_the_tree_is_told_in_the_docstring_of_its_module() -> None:
    assert errors.__doc__ is not None
    told_of = {line.strip("│├└─ ").split()[0] for line in errors.__doc__.splitlines() if "──" in line}

    assert told_of == {of.__name__ for of in classes() if of.__module__ == errors.__name__} - {"AsofError"}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: f"{type(error).__name__}: {error}")
def test_an_error_comes_out_of_a_pickle_with_its_class_its_text_and_its_fields(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert (again.args, vars(again)) == (error.args, vars(error))


def test_an_error_comes_out_of_another_process_with_its_fields() -> None:
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(
        target=Connection.send, args=(theirs, sanitize_error(InvalidInput("it must be one", "name")))
    )
    process.start()
    theirs.close()
    error = ours.recv()
    process.join()

    assert isinstance(error, InvalidInput)
    assert (error.field, error.reason, str(error)) == ("name", "it must be one", "name: it must be one")


def test_the_text_of_invalid_input_is_its_field_and_its_reason() -> None:
    bare = InvalidInput("add Z or +hh:mm")

    assert (str(bare), bare.field) == ("add Z or +hh:mm", None)
    assert (str(bare.within("valid_at")), bare.within("valid_at").field) == ("valid_at: add Z or +hh:mm", "valid_at")
    assert bare.within("source").within("pairs.0").field == "pairs.0.source"


@pytest.mark.parametrize("folder", ["streams", "ontologies", "projections", "agents", "entrypoints"])
def test_no_program_of_ours_reads_the_sentence_of_an_error(folder: str) -> None:
    """A method called on str(error), or a pattern tried on it, would do so."""
    read: list[str] = []
    sources = {path: path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py")}
    for path in (path for path, source in sources.items() if "str(error)" in source):
        for call in (node for node in ast.walk(ast.parse(sources[path])) if isinstance(node, ast.Call)):
            whose = call.func.value if isinstance(call.func, ast.Attribute) else None
            if any(ast.unparse(one) == "str(error)" for one in (whose, *call.args) if one) and (
                ast.unparse(call.func).startswith(("str(error).", "re.")) or call.func == whose
            ):
                read.append(f"{path.relative_to(ROOT)}:{call.lineno}")

    assert read == []


# What reaches a caller.

WRONG_ONTOLOGIES: list[Callable[[Memory, str], Any]] = [
    lambda memory, name: memory.rebuild("other", ontology=name),
    lambda memory, name: memory.import_facts([b"{}"], ontology=name),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I live in Paris.", role="Ana")
    return tmp_path / "data"


UNUSABLE = [
    "no: ontology",
    "\x00",
    "id: [",
    "id: !!timestamp soon",
    "id: !!int one",
    "? [a]\n: b",
    "[" * 10_000,
    None,  # there is no such file
]


@pytest.mark.parametrize("text", UNUSABLE, ids=lambda text: repr(text)[:20])
@pytest.mark.parametrize("number", range(len(WRONG_ONTOLOGIES)))
def test_an_ontology_that_cannot_be_used_is_invalid_input(
    data: Path, tmp_path: Path, text: str | None, number: int
) -> None:
    path = tmp_path / "own.yaml"
    if text is not None:
        path.write_text(text)

    with asof.open(data, embedder="none") as memory, pytest.raises(InvalidInput):
        WRONG_ONTOLOGIES[number](memory, str(path))
    with pytest.raises(InvalidInput), asof.open(tmp_path / "new", embedder="none", ontology=str(path)) as memory:
        memory.add("I live in Paris.")


def test_types_of_a_message_that_fit_no_ontology_park_it_with_the_field(data: Path) -> None:
    with asof.open(data, embedder="none") as memory:
        memory.add("I moved.", excluded_entity_types=["Nobody"])
        [parked] = [event for event in memory.events("episodic") if event.type == "message.parked"]

    assert parked.data["reason"].startswith("excluded_entity_types: it must name an entity type")


def test_a_setting_that_cannot_be_is_the_field(tmp_path: Path) -> None:
    for field, value in {"policy": "guess", "polcy": "graded"}.items():
        with pytest.raises(InvalidInput) as caught:
            asof.open(tmp_path, **{field: value})
        assert caught.value.field == field


def test_a_refused_line_carries_the_field(data: Path) -> None:
    with asof.open(data, embedder="none") as memory:
        done = memory.produce([b'{"group_id": "g", "content": "x", "role": 7}', b"no JSON"])

    assert [refused.to_json()["field"] for refused in done.refused] == ["role", None]
    assert all(refused.reason.startswith(f"{refused.field}: ") for refused in done.refused if refused.field)


# What is damaged.

GARBAGE = b"garbage " * 1_024
DAMAGED: dict[str, tuple[type[DamagedData], Callable[[DirectoryLayout], Path], Callable[[DirectoryLayout], Any]]] = {
    "a log": (DamagedLog, lambda d: d.messages, lambda d: SqliteLog(d.messages)),
    "a graph": (DamagedView, lambda d: d.graph("main"), lambda d: SqliteGraph(d.graph("main"), "semantic.main")),
    "the catalogue": (DamagedFile, lambda d: d.root / generations.FILE, lambda d: generations.load(d.root)),
    "an ontology": (DamagedFile, lambda d: d.ontology, lambda d: kept_ontology(d.ontology)),
    "how far topics are read": (DamagedFile, lambda d: d.root / "kafka.db", lambda d: State(d.root / "kafka.db")),
    "which topics are copied": (
        DamagedFile,
        lambda d: d.root / replica_manifest.FILE,
        lambda d: replica_manifest.copied(d.root),
    ),
    "how far a worker is": (
        DamagedFile,
        lambda d: d.root / replica_health.FILE,
        lambda d: replica_health.ReplicaHealth.read(d.root),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_told_by_a_class_that_says_what_to_do(data: Path, name: str) -> None:
    damage, path, read = DAMAGED[name]
    path(DirectoryLayout(data)).write_bytes(GARBAGE)

    with pytest.raises(DamagedData) as caught:
        read(DirectoryLayout(data))

    assert type(caught.value) is damage


def test_a_graph_that_is_not_what_its_log_says_is_found(data: Path) -> None:
    path = DirectoryLayout(data).graph("main")
    with SqliteGraph(path, "semantic.main", writable=True) as graph:
        graph._db.execute("UPDATE entities SET name = 'Bob'")

    [found] = [check for check in verify(DirectoryLayout(data)) if not check.ok]

    assert found.what == "graph of semantic.main"
    assert "is not what its log says: asof repair" in found.found
