"""A memory whose graph is in ArangoDB: all that a user sets is where that is."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import documents
import replay
from arango_server import Server, listening
from asking import facts_at
from asof.api.memory import Memory
from asof.cli import app, calls
from asof.runtime import graph_admin
from asof.runtime.layout import DirectoryLayout
from asof.runtime.writer import Writer
from asof.settings import Settings
from asof_projections.graph.arango.administration import answering, create
from asof_projections.graph.arango.connection import Address
from asof_projections.graph.arango.schema import CHECKPOINTS
from asof_projections.graph.arango.store import ArangoGraph
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_projections.projector import catch_up
from asof_streams.errors import ContractError, GraphUnavailable, InvalidInput
from asof_streams.messages import ErasureRequest
from asof_streams.sqlite_log import SqliteLog
from world import World

SAID = ["I live in Lisbon.", "I moved to Berlin in March 2024.", "My brother Ben works at Acme."]


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def url(server):
    with listening(server) as address:
        yield address


@pytest.fixture
def data(tmp_path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def run(data, url, capsys, monkeypatch):
    """Run commands with the graph in the database; give what they print."""
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    monkeypatch.setenv("ASOF_GRAPH_URL", url)
    monkeypatch.chdir(data.parent)

    def run(*arguments: str, code: int = 0) -> str:
        """Return what a command printed: data, and where it failed what is told instead."""
        ended = calls.run(app, [*arguments, "--data", str(data)])
        out, err = capsys.readouterr()
        assert ended == code, (out, err)
        return out + err if code else out

    return run


def tell(run) -> None:
    for text in SAID:
        run("add", text, "--role", "Ana")


QUESTIONS = [
    ("facts",),
    ("facts", "--about", "Ana", "--relation", "lives_in", "--any-time"),
    ("facts", "--about", "Ana", "--valid-at", "2023-01"),
    ("entities",),
    ("entity", "Ana"),
    ("history", "Ana"),
    ("timeline", "Ana"),
    ("diff", "--from", "2023", "--to", "2025"),
    ("changes", "--after", "-1"),
    ("export",),
]


def test_every_question_has_the_answer_that_the_files_give(run, server) -> None:
    tell(run)

    def asked(*more: str) -> list[str]:
        return [run(*question, "--json", *more) for question in QUESTIONS]

    start = len(server.asked)
    in_arango = asked()
    assert server.asked[start:].count("query") >= len(QUESTIONS)
    start = len(server.asked)
    assert asked("--graph", "sqlite") == in_arango
    assert len(server.asked) == start
    assert "Lisbon" in in_arango[0]


def test_search_compares_the_vectors_in_files_beside_the_database(run, data, server) -> None:
    tell(run)
    run("add", "I live in Rome.", "--role", "Ben", "--group", "other")
    asked = ("search", "who works", "--json")

    found, files = (json.loads(run(*asked, *more)) for more in ((), ("--graph", "sqlite")))

    assert found["facts"][0]["fact"] == "Ben works at Acme"
    assert [hit["uuid"] for hit in found["facts"]] == [hit["uuid"] for hit in files["facts"]]
    assert {file.name for file in data.rglob("*.index")} == {"turns.index", "vectors.index"}
    assert vectors_in(server) == {}
    run("erase", "other", "--yes")
    assert json.loads(run(*asked))["facts"] == found["facts"]


def test_search_compares_the_vectors_in_the_database_where_they_are_wanted_there(
    run, data, server, monkeypatch
) -> None:
    monkeypatch.setenv("ASOF_GRAPH_VECTORS", "database")
    tell(run)
    asked = ("search", "who works", "--json")

    found = json.loads(run(*asked))

    assert found["facts"][0]["fact"] == "Ben works at Acme"
    assert [file.name for file in data.rglob("*.index")] == ["turns.index"]
    kept = vectors_in(server)
    assert len(kept) == len(json.loads(run("facts", "--any-time", "--json")))
    files = {hit["uuid"]: hit["scores"]["meaning"] for hit in json.loads(run(*asked, "--graph", "sqlite"))["facts"]}
    assert {hit["uuid"]: hit["scores"]["meaning"] for hit in found["facts"]} == pytest.approx(files, abs=1e-3)
    start = len(server.asked)
    assert json.loads(run(*asked)) == found
    assert "insert" not in server.asked[start:]  # what has a vector is not given it again
    assert vectors_in(server) == kept


@pytest.mark.parametrize("embedder", ["hash", "none"])
def test_the_retrieval_pipeline_ranks_as_over_the_files(run, monkeypatch, embedder) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", embedder)
    tell(run)
    asked = ("search", "Where does Ann work, and where does Ben?", "--profile", "pipeline", "--explain", "--json")

    found, files = (json.loads(run(*asked, "--valid-at", "2040", *more)) for more in ((), ("--graph", "sqlite")))

    def ranking(answer) -> list[tuple[str, str, Any]]:
        nodes = ((node["uuid"], node["way"], node["score"]) for node in answer["retrieval"]["ranking"])
        return sorted((uuid, way, pytest.approx(score, abs=2e-3)) for uuid, way, score in nodes)

    assert [entity["name"] for entity in found["retrieval"]["entities"]] == ["Ben"]
    assert "Ben works at Acme" in [hit["fact"] for hit in found["facts"]]
    assert ranking(found) == ranking(files)


def vectors_in(server: Server) -> dict[str, str]:
    """The group of every vector of a fact."""
    documents = server.databases["asof"].collections["semantic_main_fact_vectors"].documents
    return {key: document["grp"] for key, document in documents.items()}


def test_nothing_but_its_address_has_to_be_set(run, monkeypatch, url) -> None:
    monkeypatch.setenv("ASOF_GRAPH_PASSWORD", "secret")
    monkeypatch.setenv("ASOF_GRAPH_URL", url.replace(":secret@", "@"))
    tell(run)
    assert json.loads(run("facts", "--about", "Ana", "--relation", "lives_in", "--json"))[0]["object"] == "Lisbon"


def test_the_doctor_asks_the_database_and_says_what_is_wrong(run, server, monkeypatch, url) -> None:
    def found(code: int = 0) -> dict[str, str]:
        return next(row for row in json.loads(run("doctor", "--json", code=code)) if row["what"] == "arangodb")

    absent = found()
    assert (absent["state"], absent["remedy"]) == ("absent", "asof graph create")

    tell(run)
    assert found()["state"] == "ok"
    assert server.version in found()["found"]

    monkeypatch.setenv("ASOF_GRAPH_URL", url.replace(":secret@", ":wrong@"))
    refused = found(code=1)
    assert refused["state"] == "broken"
    assert "ASOF_GRAPH_PASSWORD" in refused["found"]
    assert "wrong" not in refused["found"]


def test_graphs_are_checked_made_and_copied_and_say_whether_they_agree(run, data) -> None:
    tell(run)
    checked = json.loads(run("graph", "--json"))
    assert [(f["log"], f["wrong"]) for f in checked] == [("episodic", None), ("semantic.main", None)]
    assert all(f["position"] == f["end"] > 0 for f in checked)

    run("add", "I moved to Rome in May 2024.", "--role", "Ana", "--graph", "sqlite")
    assert "behind its log" in run("graph", "check", code=1)
    assert "the same as in the directory" in run("graph", "copy")

    assert "episodic in http://127.0.0.1" in run("graph", "create", "--replace")
    assert "behind its log" in run("graph", "check", code=1)
    run("graph", "copy")
    with SqliteGraph(DirectoryLayout(data).graph("main"), "semantic.main") as graph:
        digest = graph.digest()
    DirectoryLayout(data).graph("main").write_bytes(b"lost")
    assert digest[:16] in run("graph", "copy", "--to", "sqlite")
    with SqliteGraph(DirectoryLayout(data).graph("main"), "semantic.main") as graph:
        assert graph.digest() == digest


def test_a_copy_that_was_interrupted_is_gone_on_with(data, server, url) -> None:
    with Memory(Settings(data=data, embedder="none")) as memory:
        for text in SAID:
            memory.add(text, role="Ana")
    settings = Settings(data=data, graph_url=url)
    server.fail("commit", nth=2, down=True)
    with pytest.raises(GraphUnavailable):
        graph_admin.copy(settings, "arango")

    server.down = False
    start = len(server.asked)
    assert [finding.wrong for finding in graph_admin.copy(settings, "arango")] == [None, None]
    assert server.asked[start:].count("commit") == 1  # of the second log alone
    start = len(server.asked)
    graph_admin.copy(settings, "arango")
    assert "commit" not in server.asked[start:]


def test_generations_are_built_switched_and_dropped_there_too(data, url) -> None:
    world, address = World(data, graph_url=url), Address.parse(url)
    world.tell("2024-01-02", object="Berlin", valid_at="2020")
    first = world.digest()
    world.memory.rebuild("second")
    assert answering(address) == "main"
    world.memory.switch("second")
    assert answering(address) == "second"
    assert (world.digest(), world.where("2023")) == (first, ["Berlin"])
    world.memory.switch("main")
    world.memory.drop("second")
    assert (world.where("2023"), answering(address)) == (["Berlin"], "main")
    world.memory.close()


def test_an_erased_group_leaves_nothing_in_the_database(data, server, url) -> None:
    world = World(data, graph_url=url, graph_vectors="database", embedder="hash")
    world.tell("2024-01-02", group_id="kept", object="Berlin")
    world.tell("2024-01-03", group_id="gone", subject="Zxqv", object="Zarquon")
    assert "Zarquon" in server.stored()
    world.memory.search("Berlin", all_groups=True)
    assert sorted(vectors_in(server).values()) == ["gone", "kept"]

    world.memory.erase("gone")

    assert [*vectors_in(server).values()] == ["kept"]
    assert "Zarquon" not in server.stored()
    assert "Zxqv" not in server.stored()
    assert [f.object for f in world.memory.facts(group_id="kept", any_time=True)] == ["Berlin"]
    world.memory.close()


def test_a_part_of_a_group_that_is_erased_leaves_nothing_in_the_database_and_the_rest_stays(data, server, url) -> None:
    world = World(data, graph_url=url, graph_vectors="database", embedder="hash")
    world.tell("2024-01-02", object="Berlin", valid_at="2020")
    world.tell("2024-01-03", object="Zarquon", valid_at="2022")
    world.tell("2024-01-04", relation="works_at", object="Acme")
    world.memory.search("Berlin", all_groups=True)

    world.memory.erase("g", phrase="Zarquon")
    in_arango = world.memory.facts(group_id="g", any_time=True)

    assert "Zarquon" not in server.stored()
    assert world.where("2023-01-01", "2024-01-03") == ["Berlin"]
    world.memory.close()
    files = World(data)
    assert files.memory.facts(group_id="g", any_time=True) == in_arango
    assert sorted(fact.object for fact in in_arango) == ["Acme", "Berlin"]
    files.memory.close()


def test_a_database_that_is_away_loses_no_message(data, server, url) -> None:
    world = World(data, graph_url=url)
    world.tell("2024-01-02", object="Berlin", valid_at="2020")
    server.down = True
    with pytest.raises(GraphUnavailable, match="does not answer"):
        world.tell("2024-02-01", object="Paris", valid_at="2024-02")
    with pytest.raises(GraphUnavailable):
        world.where("2023")
    server.down = False

    world.restart()
    assert (world.where("2023"), world.where("2024-03")) == (["Berlin"], ["Paris"])
    world.memory.close()


def test_the_database_of_another_memory_is_refused_and_left_as_it_is(data, tmp_path, server, url) -> None:
    world = World(data, graph_url=url)
    world.tell("2024-01-02", object="Berlin")
    world.memory.close()
    before = server.stored()

    other = World(tmp_path / "other", graph_url=url)
    with pytest.raises(ContractError, match="name another database"):
        other.tell("2024-01-02", object="Paris")
    other.memory.close()

    assert server.stored() == before


@pytest.mark.parametrize(
    ("spoil", "code", "told"),
    [
        (lambda server: setattr(server, "down", True), 2, "does not answer at http://127.0.0.1"),
        (lambda server: setattr(server, "password", "changed"), 2, "refuses this user"),
        (lambda server: setattr(server, "version", "3.11.0"), 1, "asof needs 3.12.6 or later"),
        (lambda server: setattr(server, "read_only", True), 1, "refuses writes"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(run, data, server, spoil, code, told) -> None:
    spoil(server)

    said = run("add", "I live in Lisbon.", "--role", "Ana", code=code)

    assert told in said
    assert said.count("\n") == 1
    assert "secret" not in said
    with SqliteLog(DirectoryLayout(data).messages) as messages:
        assert messages.end() == 0


def test_a_graph_of_another_version_is_told_and_made_anew_when_that_is_asked_for(run, server) -> None:
    tell(run)
    documents = server.databases["asof"].collections[CHECKPOINTS].documents
    for log in ("episodic", "semantic.main"):
        documents[log] = {**documents[log], "schema": "1-older"}

    for question in (("facts",), ("add", "I live in Rome.", "--role", "Ana")):
        said = run(*question, code=1)
        assert "has graph schema 1-older in ArangoDB, this asof reads" in said
        assert said.count("\n") == 1
    assert "made by another version" in run("graph", "check", code=1)
    run("graph", "create", "--replace")
    run("graph", "copy")
    assert "Lisbon" in run("facts", "--about", "Ana")


def test_an_address_that_is_none_is_told_before_anything_is_written(data) -> None:
    with pytest.raises(InvalidInput, match="http://USER@HOST:PORT/DATABASE"):
        World(data, graph_url="localhost:8529").tell(object="Berlin")
    assert not DirectoryLayout(data).messages.exists()


def test_the_document_about_it_does_what_it_says(url, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "hash")
    monkeypatch.setenv("ASOF_GRAPH_URL", url)
    monkeypatch.chdir(tmp_path)

    documents.run(documents.IN_ARANGODB)


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Iterator[Writer]:
    """Chat and facts of two groups, episodes withdrawn, communities, and one group erased."""
    with closing(replay.write(tmp_path_factory.mktemp("told") / "data")) as writer:
        messages = replay.messages()
        last = max(at for _, at in messages)
        replay.tell(writer, [*messages, (ErasureRequest(group_id="one"), last + 1)])
        writer.process(flush=True)
        yield writer


@pytest.mark.parametrize("step", [1, 7, 5_000])
def test_whatever_is_told_the_database_holds_what_the_files_hold_however_it_came(told, step) -> None:
    server = Server()
    address = Address.parse("http://root:secret@server/asof")
    layer = told.generations["main"].layer
    for log, store in ((told.episodic, told.episodes), (layer.log, layer.store)):
        create(address, log.name, server.http)
        with ArangoGraph(address, log.name, server.http) as graph:
            catch_up(log, graph, step)
            assert graph.counts() == store.counts()
            assert graph.digest() == store.digest()
            for group in ("one", "two", None):
                for known in (None, *sorted({r.recorded_at for r in log.read()})[::40]):
                    at = Moment(None, known)
                    assert facts_at(graph, group, at) == facts_at(store, group, at)
                    assert graph.communities(group, known) == store.communities(group, known)
                    assert graph.entities(group, known) == store.entities(group, known)
                    uuids = [entity.uuid for entity in store.entities(group, known)]
                    assert graph.attributes(uuids, known) == store.attributes(uuids, known)
                    assert graph.links(uuids, known) == store.links(uuids, known)
                    if known is not None:
                        assert graph.latest(uuids, at, 20) == store.latest(uuids, at, 20)
            for uuid in {fact.uuid for fact in facts_at(store, None, Moment(None, None))}:
                assert graph.provenance(uuid) == store.provenance(uuid)
                assert (graph.fact(uuid), graph.versions(uuid)) == (store.fact(uuid), store.versions(uuid))
            assert [*graph.mentions(None)] == [*store.mentions(None)]
            assert [*graph.relationships(None)] == [*store.relationships(None)]
            assert [*graph.episodes(None)] == [*store.episodes(None)]
            assert graph.changes(-1, 10_000) == store.changes(-1, 10_000)
