"""What the ArangoDB adapter sends, how often, and what comes of it when the server or the network fails."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arango_server import Database
from asking import Asker, facts_at, facts_during, search_of
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.graph.arango import administration
from asof_projections.graph.arango.connection import Address
from asof_projections.graph.arango.schema import CHECKPOINTS, COLLECTIONS, INDEXES, prefix
from asof_projections.graph.arango.store import CHUNK, ArangoGraph
from asof_projections.graph.arango.wire import OPEN
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_projections.queries.temporal import TemporalQueries
from asof_projections.retrieval.search import Search
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.late_selection import LateSelectionIndex
from asof_projections.vectors.ports import LiveFacts
from asof_projections.vectors.projection import VectorProjection, facts_of
from asof_streams.episodic import GroupErased
from asof_streams.errors import (
    AccessDenied,
    ContractError,
    GraphUnavailable,
    InvalidInput,
    NotFound,
    PositionConflict,
    StorageFailed,
)
from asof_streams.instants import INF
from asof_streams.semantic import CommunityFormed, EntityMerged, EntityUnmerged, FactReinforced, MentionResolved
from asof_streams.sqlite_log import SqliteLog
from graph_stores import LOG, ArangoStores
from semantic_story import Story, entity, fact, unasserted

NOW = Moment(9, None)


@pytest.fixture
def stores() -> ArangoStores:
    return ArangoStores()


@pytest.fixture
def store(stores):
    with stores.writing() as opened:
        yield opened


@pytest.fixture
def story() -> Story:
    told = Story()
    told.tell(entity("Ana"), entity("Rome"), entity("Oslo"))
    told.tell(fact("f", "Ana", "lives_in", "Rome"))
    return told


def commit(store, story: Story, stop: int | None = None) -> None:
    store.apply(story.records[:stop])
    store.commit(len(story.records[:stop]), b"x")


def shown(store) -> list[str]:
    return [f.uuid for f in facts_at(store, "g", NOW)]


# How many requests.


def many(count: int) -> Story:
    """A story that touches every kind of document."""
    told = Story()
    told.tell(entity("Ana"), entity("Rome"))
    for n in range(count):
        told.tell(entity(f"e{n}"), fact(f"f{n}", "Ana", "knows", f"e{n}"), FactReinforced(fact_id=f"f{n}", said_at=1,
                                                                                       episode_id="x"))  # fmt: skip
        told.tell(unasserted(f"f{n}", (0, 5)))
    return told


@pytest.mark.parametrize("count", [1, 30, 300])
def test_a_batch_of_any_size_costs_the_same_requests_but_for_chunks_of_a_thousand(stores, count) -> None:
    told = many(count)
    with stores.writing() as store:
        cost = stores.server.counted(lambda: commit(store, told))

    kinds = len(COLLECTIONS)
    chunks = sum(len(c.documents) // CHUNK for c in stores.server.databases["graph"].collections.values())
    assert (cost["begin"], cost["commit"], cost["get"]) == (1, 1, 2)  # and where it stands, before and within
    assert cost["get_many"] <= 2  # what is named: entities and assertions
    assert cost["insert"] <= kinds + 1 + chunks
    assert cost["query"] == cost["delete_many"] == 0
    assert cost.total() <= 6 + kinds + chunks


def test_a_traversal_of_two_steps_costs_four_requests_with_one_state_of_the_graph(store, story, stores) -> None:
    story.tell(entity("Anna"), EntityMerged(merge_id="m", duplicate="id-Anna", into="id-Ana", reason="same"))
    story.tell(entity("Bob"), fact("b", "Bob", "lives_in", "Rome"), fact("a", "Anna", "likes", "Oslo"))
    commit(store, story)
    ask = Asker(TemporalQueries(store, store))

    levels = []
    cost = stores.server.counted(lambda: levels.extend(ask.neighbourhood("Ana", 2, NOW, "g")))

    assert [[f.uuid for f in level.facts] for level in levels] == [["f", "a"], ["b"]]
    assert cost == {"begin": 1, "query": 2, "abort": 1}


def test_a_search_costs_two_requests_and_two_for_a_relation_of_which_it_finds_many_claims(store, stores) -> None:
    told = many(30)
    told.tell(*(fact(f"r{n}", "Ana", "likes", "Rome", sentence=f"Ana likes Rome {n}") for n in range(9)))
    commit(store, told)

    found = []
    cost = stores.server.counted(lambda: found.extend(Search(store).search(search_of("Rome", "g", limit=7), NOW)))

    assert len(found) == 7
    assert cost == {"query": 2, "get": 2, "begin": 1, "abort": 1}  # got: whether the relation is single-valued


def test_a_search_with_vectors_costs_two_more_and_asks_in_one_for_what_held_and_is_near(
    store, story, stores, tmp_path
) -> None:
    story.tell(fact("past", "Ana", "likes", "Oslo", (0, 5)))
    story.tell(entity("Bob"), entity("Bergen"), fact("theirs", "Bob", "likes", "Bergen"), group="other")
    commit(store, story)
    cached = CachedEmbedder(HashingEmbedder(), tmp_path / "vectors.db")
    index = store.vectors("fact", cached.model_id, cached.dimensions)
    vectors = VectorProjection(facts_of(store), cached, index)
    vectors.catch_up()
    vectors.save()
    assert stores.server.counted(vectors.catch_up) == {"query": 2, "count": 2}
    assert stores.server.counted(lambda: vectors.unsaved).total() <= 3
    search, found = Search(store, cached, index).search, []

    cost = stores.server.counted(lambda: found.append(search(search_of("Ana likes Rome", "g"), NOW)))

    assert cost["query"] <= 4
    assert cost.total() <= 6
    assert [hit.uuid for hit in found[0]] == ["f"]
    assert {hit.uuid for hit in search(search_of("Oslo", "g"), Moment(3, None))} == {"f", "past"}
    assert {hit.uuid for hit in search(search_of("likes"), NOW)} == {"f", "theirs"}
    [query] = cached.embed(["likes Oslo"])
    among = LiveFacts("g", NOW, lambda: pytest.fail("the numbers are the database's to know"))
    assert stores.server.counted(lambda: index.search(query, 9, among)) == {"query": 1}
    another = store.vectors("fact", "another-model@1", cached.dimensions)
    assert len(another) == 0
    another.add([3], query[None], ["g"])
    assert index.search(query, 9) == index.search(query, 9, among) == []
    assert [number for number, _ in another.search(query, 9, among)] == [3]
    cached.close()


def test_a_search_with_vectors_in_files_asks_about_the_nearest_alone_where_most_hold(store, stores, tmp_path) -> None:
    told = many(40)
    told.tell(
        entity("Oslo"),
        *(fact(f"past{n}", "Ana", "likes", "Oslo", (0, 5), sentence=f"Ana likes Oslo {n}") for n in range(9)),
    )
    told.tell(entity("Bob"), entity("Bergen"), fact("theirs", "Bob", "likes", "Bergen"), group="other")
    commit(store, told)
    cached = CachedEmbedder(HashingEmbedder(), tmp_path / "vectors.db")
    index = LateSelectionIndex.open(tmp_path / "late.index", cached.model_id, cached.dimensions)
    plain = FaissVectorIndex.open(tmp_path / "plain.index", cached.model_id, cached.dimensions)
    index.graph = store
    for each in (index, plain):
        VectorProjection(facts_of(store), cached, each).catch_up()
    [rome, oslo] = cached.embed(["likes Rome", "Ana likes Oslo"])
    live = LiveFacts("g", NOW, lambda: store.live("g", NOW))
    few = LiveFacts("g", NOW, lambda: pytest.fail("the nearest are enough"))

    assert stores.server.counted(lambda: index.search(rome, 5, few)) == {"query": 1}
    for query in (rome, oslo):
        for k in (1, 2, 5, 60):
            assert index.search(query, k, live) == plain.search(query, k, live)
    assert index.search(rome, 3) == plain.search(rome, 3)
    cached.close()


def test_vectors_that_are_written_or_removed_twice_are_there_once_or_not_at_all(store, stores) -> None:
    index, rows = store.vectors("fact", "a-model", 8), np.eye(8, dtype=np.float32)
    for how in ({"after": True}, {"before": True}, {"status": 503, "number": 503}):
        stores.server.fail("insert", **how)
        index.add(range(8), rows, ["g"] * 8)
        assert len(index) == 8
        stores.server.fail("delete_many", **how)
        index.remove([7, 9])
        assert len(index) == 7
    stores.server.fail("delete_many", each=True, status=409, number=1200)
    index.remove([1])
    assert len(index) == 6
    assert not stores.server.faults


READY: dict[str, Any] = {
    "type": "vector",
    "fields": ["vector"],
    "params": {"metric": "cosine", "dimension": 8, "nLists": 5},
}


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (None, ["exactly"]),
        (READY, ["nearly"]),
        (READY | {"trainingState": "ready"}, ["nearly"]),
        (READY | {"trainingState": "unusable"}, ["exactly"]),
        (READY | {"params": READY["params"] | {"dimension": 16}}, ["exactly"]),
        (READY | {"params": READY["params"] | {"metric": "l2"}}, ["exactly"]),
        (READY | {"params": READY["params"] | {"nLists": 1_000}}, ["nearly", "exactly"]),  # error 1555
    ],
    ids=str,
)
def test_a_vector_index_is_asked_only_where_one_fits_and_is_ready(store, stores, made, asked) -> None:
    told = Story()
    told.tell(entity("Ana"), *(fact(f"f{n}", "Ana", "knows", value=str(n)) for n in range(40)))
    commit(store, told)
    numbers, rows = store.live("g", NOW), np.random.default_rng(1).standard_normal((40, 8)).astype(np.float32)
    store.vectors("fact", "a-model", 8).add(numbers, rows, ["g"] * 40)
    if made is not None:
        stores.server.databases["graph"].collections["semantic_main_fact_vectors"].indexes["made"] = made
    index, holding = store.vectors("fact", "a-model", 8), LiveFacts("g", NOW, lambda: numbers)
    [missed] = np.flatnonzero(numbers == 19)  # by the stand-in's index

    found = []
    cost = stores.server.counted(lambda: found.extend(index.search(rows[missed], 5, holding)))

    assert cost == {"query": len(asked)}
    assert (found[0][0] == 19) == (asked[-1] == "exactly")
    assert len(found) == 5
    assert index.search(rows[missed], 40, holding) == index.search(rows[missed], 40, numbers)  # it finds too little
    assert index.search(rows[missed], 5, LiveFacts("other", NOW, lambda: numbers)) == []
    gone = {"status": 400, "number": 1554}  # since it was opened
    stores.server.fail("query", **gone)
    if made == READY:
        assert index.search(rows[missed], 5, holding)[0][0] == 19


def test_each_question_of_the_store_is_one_request(store, story, stores) -> None:
    commit(store, story)
    at = Moment(9, None)
    questions = {
        "facts": lambda: facts_at(store, "g", at, subjects=["id-Ana"], relation="lives_in"),
        "overlapping": lambda: facts_during(store, "g", 0, 9, None),
        "numbered": lambda: store.facts_numbered([3], at),
        "live": lambda: store.live("g", at),
        "text": lambda: store.text("Rome", "g", at, 5),
        "fact": lambda: store.fact("f"),
        "provenance": lambda: store.provenance("f"),
        "changes": lambda: store.changes(-1, 9),
        "reach": lambda: store.reach("g", "Ana", at, 9),
        "called": lambda: store.called("g", "Ana", None),
        "meant": lambda: store.meant("g", "Ana", None),
        "identity": lambda: store.identity(["id-Ana"], None),
        "links": lambda: store.links(["id-Ana"], None),
        "attributes": lambda: store.attributes(["id-Ana"], None),
        "communities": lambda: store.communities("g", None),
        "counts": store.counts,
        "position": store.position,
    }

    assert {name: stores.server.counted(ask).total() for name, ask in questions.items()} == dict.fromkeys(questions, 1)


def test_words_vectors_and_facts_of_one_search_are_of_one_state(store, story, stores) -> None:
    index, [vector] = store.vectors("fact", "a-model", 8), np.eye(1, 8, dtype=np.float32)
    index.add([3], vector[None], ["g"])
    commit(store, story)
    assert store.begin_read()
    assert shown(store) == ["f"]
    story.tell(fact("later", "Ana", "likes", "Rome"))
    with stores.reading() as other:
        commit(other, story)
        other.vectors("fact", "a-model", 8).add([4], vector[None], ["g"])

    holding = LiveFacts("g", NOW, lambda: pytest.fail("the numbers are the database's to know"))
    assert [n for n, _ in store.text("Rome", "g", NOW, 5)] == [3]
    assert [n for n, _ in index.search(vector, 5, holding)] == [3]
    store.end_read()
    assert {n for n, _ in store.text("Rome", "g", NOW, 5)} == {3, 4}
    assert {n for n, _ in index.search(vector, 5, holding)} == {3, 4}


def test_the_words_of_other_groups_and_of_later_show_in_no_score(store, story) -> None:
    story.tell(fact("r", "Ana", "likes", "Rome"))
    commit(store, story)
    known = Moment(9, story.records[-1].recorded_at)
    before = store.text("Ana lives in Rome", "g", known, 5)
    story.tell(entity("Bob"), entity("Lima"), fact("theirs", "Bob", "lives_in", "Lima"), group="other")
    story.tell(entity("Eve"), *(fact(f"e{n}", "Eve", "lives_in", "Oslo") for n in range(9)))
    commit(store, story)

    assert store.text("Ana lives in Rome", "g", known, 5) == before != []


def test_a_circle_of_duplicates_and_a_chain_of_them_are_found_in_few_requests(store, story, stores) -> None:
    names = [f"n{number}" for number in range(12)]
    story.tell(*map(entity, names))
    for one, other in pairwise(names):
        story.tell(EntityMerged(merge_id=f"m{one}", duplicate=f"id-{one}", into=f"id-{other}", reason="same"))
    for one in names[:6]:
        for other in names[6:]:
            story.tell(
                EntityMerged(merge_id=f"m{one}{other}", duplicate=f"id-{one}", into=f"id-{other}", reason="same")
            )
    commit(store, story)
    alike = []

    cost = stores.server.counted(lambda: alike.append(store.identity(["id-n0"], None)))

    assert alike == [{f"id-{name}" for name in names}]
    assert cost.total() <= 2


def test_duplicates_far_along_a_chain_are_found(store, story, stores) -> None:
    names = [f"n{number}" for number in range(12)]
    story.tell(*map(entity, names))
    for one, other in pairwise(names):
        story.tell(EntityMerged(merge_id=f"m{one}", duplicate=f"id-{one}", into=f"id-{other}", reason="same"))
    story.tell(fact("far", "n11", "likes", "Rome"))
    commit(store, story)
    steps = []

    cost = stores.server.counted(lambda: steps.append(store.reach("g", "n0", NOW, 9)))

    assert [f.uuid for f in steps[0].outward] == ["far"]
    assert cost == {"query": 4}


def test_a_large_group_is_erased_in_transactions_of_some_documents_each(stores, monkeypatch) -> None:
    monkeypatch.setattr("asof_projections.graph.arango.store.ERASED", 40)
    told = many(30)
    told.tell(entity("Bob"), group="other")
    with stores.writing() as store:
        commit(store, told)
        told.tell(GroupErased())
        cost = stores.server.counted(lambda: commit(store, told))

        assert cost["commit"] > 3
        assert [e.uuid for e in store.each_entity(None, INF)] == ["id-Bob"]
        assert store.position() == len(told.records)
    assert "Ana" not in stores.server.stored()


def test_an_erasure_that_another_process_overtakes_stops(stores, monkeypatch) -> None:
    monkeypatch.setattr("asof_projections.graph.arango.store.ERASED", 5)
    told = many(3)
    with stores.writing() as store, stores.reading() as other:
        commit(store, told)
        told.tell(GroupErased())
        told.tell(entity("Ana"))
        store.apply(told.records[:-1])
        commit(other, told)

        with pytest.raises(PositionConflict):
            store.commit(len(told.records) - 1, b"y")
        assert [e.uuid for e in store.each_entity("g", INF)] == ["id-Ana"]


def test_no_answer_of_the_server_has_more_than_a_thousand_rows(store, stores) -> None:
    told = Story()
    told.tell(entity("Ana"), *(fact(f"f{n}", "Ana", "knows", value=str(n)) for n in range(1_500)))
    commit(store, told)

    assert len(facts_at(store, "g", NOW)) == 1_500
    assert len(list(store.sentences())) == 1_500
    index = store.vectors("fact", "a-model", 8)
    index.add(range(1_500), np.ones((1_500, 8), np.float32), ["g"] * 1_500)
    whole = FaissVectorIndex(Path("none.index"), "a-model", 8)
    whole.add(range(1_500), np.ones((1_500, 8), np.float32))
    assert index.digest() == whole.digest()
    assert stores.server.most_rows <= 1_000


def test_every_query_has_the_memory_limit_of_the_settings(stores, story) -> None:
    address = Address.parse(f"http://root:{stores.server.password}@server/graph", None, 7 << 20)
    administration.create(address, LOG, stores.server.http)
    with ArangoGraph(address, LOG, stores.server.http) as store:
        commit(store, story)
        store.text("Rome", "g", NOW, 5)
        store.vectors("fact", "a-model", 8).digest()
        story.tell(GroupErased())
        commit(store, story)

    assert stores.server.memory == {7 << 20}


def test_a_document_that_could_not_be_removed_is_not_passed_over(store, story, stores) -> None:
    commit(store, story)
    story.tell(fact("g", "Ana", "likes", "Oslo"), unasserted("g", (0, 5)), EntityMerged(
        merge_id="m", duplicate="id-Rome", into="id-Oslo", reason="same"))  # fmt: skip
    commit(store, story)
    story.tell(EntityUnmerged(merge_id="m"))
    stores.server.fail("delete_many", each=True, status=409, number=1200)
    commit(store, story)

    assert not stores.server.faults
    assert store.identity(["id-Rome"], None) == {"id-Rome"}


# Failures.

LOST = [
    {"on": "insert", "status": 409, "number": 1200},
    {"on": "insert", "nth": 2, "status": 503, "number": 503},
    {"on": "insert", "nth": 3, "before": True},
    {"on": "insert", "nth": 2, "after": True},
    {"on": "insert", "status": 404, "number": 1655},
    {"on": "insert", "nth": 2, "idle": 61.0},
    {"on": "commit", "idle": 61.0},
    {"on": "commit", "before": True},
    {"on": "commit", "after": True},
    {"on": "commit", "status": 409, "number": 1200},
    {"on": "begin", "before": True},
    {"on": "begin", "after": True},
    {"on": "begin", "status": 503, "number": 503},
    {"on": "begin", "status": 409, "number": 18},
    {"on": "get", "nth": 2, "before": True},
]


@pytest.mark.parametrize("fault", LOST, ids=str)
def test_whatever_is_lost_once_the_batch_is_there_once(stores, story, fault) -> None:
    with stores.writing("whole") as whole:
        commit(whole, story)
        expected = whole.digest()
    with stores.writing() as store:
        stores.server.fail(**fault)
        commit(store, story)

        assert not stores.server.faults
        assert store.digest() == expected
        assert store.position() == len(story.records)
        assert [t.state for t in stores.server.databases["graph"].transactions.values()].count("running") == 0


def test_a_commit_whose_answer_is_lost_is_not_done_again(store, story, stores) -> None:
    stores.server.fail("commit", after=True)

    cost = stores.server.counted(lambda: commit(store, story))

    assert cost["begin"] == 2
    assert cost["insert"] == len([1 for c in ("entities", "names", "facts", "assertions")]) + 1
    assert shown(store) == ["f"]


def test_a_server_that_stays_away_leaves_nothing_half_written_and_the_next_try_goes_on(store, story, stores) -> None:
    commit(store, story, 3)
    before = store.digest()
    store.apply(story.records)
    stores.server.down = True

    with pytest.raises(GraphUnavailable, match="does not answer at http://server:8529/graph"):
        store.commit(len(story.records), b"x")

    stores.server.down = False
    assert store.digest() == before
    store.commit(len(story.records), b"x")
    assert shown(store) == ["f"]


def test_a_question_is_put_again_where_the_server_is_busy(store, story, stores) -> None:
    commit(store, story)
    stores.server.fail("query", status=503, number=503)
    stores.server.fail("query", nth=1, before=True)

    assert shown(store) == ["f"]


def test_a_question_whose_state_is_gone_is_not_answered_from_two(store, story, stores) -> None:
    commit(store, story)
    assert store.begin_read()
    shown(store)
    stores.server.now += 61

    with pytest.raises(GraphUnavailable):
        shown(store)
    store.end_read()
    assert shown(store) == ["f"]


def test_two_who_write_one_graph_do_not_mix(store, story, stores) -> None:
    with stores.reading() as other:
        other.apply(story.records[:2])
        commit(store, story)

        with pytest.raises(PositionConflict, match="stands at 4, not at 0"):
            other.commit(2, b"y")

    assert (store.position(), shown(store)) == (4, ["f"])


def test_what_is_older_than_what_is_there_is_not_written(store, story, stores) -> None:
    commit(store, story)
    story.tell(unasserted("f", (0, 5)))
    commit(store, story)
    collection = stores.server.databases["graph"].collections["semantic_main_assertions"]
    [key] = collection.documents
    newest = collection.documents[key]

    stale = [{**newest, "seq": newest["seq"] - 1, "sentence": "stale"}]
    store._db.collection("semantic_main_assertions").insert_many(
        stale, overwrite_mode="replace", version_attribute="seq", raise_on_document_error=True
    )

    assert collection.documents[key] == newest


# Replays.


@pytest.fixture(scope="module")
def merged(tmp_path_factory):
    """A history with a merge, and the digest of its graph."""
    told = many(3)
    told.tell(EntityMerged(merge_id="m", duplicate="id-e0", into="id-e1", reason="same"))
    with SqliteGraph(tmp_path_factory.mktemp("known") / "graph.db", LOG, writable=True) as known:
        commit(known, told)
        return told.records, known.digest()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each has a store of its own
@given(st.data())
def test_any_suffix_can_be_applied_again_in_any_split_and_changes_nothing(stores, merged, data) -> None:
    records, expected = merged
    end = len(records)
    cuts = sorted(data.draw(st.sets(st.integers(1, end - 1), max_size=5)))
    with stores.writing(stores.fresh()) as store:
        for start, stop in zip([0, *cuts], [*cuts, end], strict=True):
            store.apply(records[data.draw(st.integers(0, start)) : stop])
            store.commit(stop, b"%d" % stop)
        assert store.digest() == expected
        for _ in range(2):
            store.apply(records[data.draw(st.integers(0, end)) :])
            store.commit(end, b"%d" % end)
        assert store.digest() == expected


def test_a_second_route_is_found_where_the_first_no_longer_holds(store, story) -> None:
    """The walk that prunes edges with vertices unique for all of it would miss it (see facts of traversals)."""
    story.tell(entity("Far"), fact("near", "Rome", "near", "Far", (0, 5)), fact("to", "Ana", "knows", "Oslo"))
    story.tell(fact("far", "Oslo", "near", "Far"), fact("dead", "Ana", "knows", "Far", (0, 2)))
    commit(store, story)

    levels = Asker(TemporalQueries(store, store)).neighbourhood("Ana", 2, NOW, "g")

    assert [[f.uuid for f in level.facts] for level in levels] == [["f", "to"], ["far"]]


# What is stored.


def test_open_ends_are_integers_and_times_also_stand_as_text(store, story, stores) -> None:
    commit(store, story)
    [edge] = stores.server.databases["graph"].collections["semantic_main_facts"].documents.values()

    assert (edge["vf"], edge["vt"], edge["kt"]) == (0, OPEN, OPEN)
    assert (edge["valid_at"], edge["invalid_at"], edge["expired_at"]) == ("1970-01-01T00:00:00Z", None, None)
    assert str(INF) not in stores.server.stored()
    entities = stores.server.databases["graph"].collections["semantic_main_entities"].documents
    assert {edge["_from"], edge["_to"]} <= {e["_id"] for e in entities.values()}


def test_what_is_installed_twice_is_as_it_was_and_has_every_index(stores) -> None:
    administration.create(stores.address(), LOG, stores.server.http)
    once = repr(stores.server.databases["graph"].__dict__)
    administration.create(stores.address(), LOG, stores.server.http)

    assert repr(stores.server.databases["graph"].__dict__) == once
    for kind, indexes in INDEXES.items():
        assert stores.server.databases["graph"].collections[prefix(LOG) + kind].indexes.keys() == indexes.keys()
    [status] = administration.statuses(stores.address(), [LOG, "episodic"], stores.server.http)
    assert (status.log, status.position, status.fit) == (LOG, 0, True)


def test_generations_live_side_by_side_and_one_document_says_which_answers(stores, story) -> None:
    address, http = stores.address(), stores.server.http
    for name in ("main", "second"):
        administration.create(address, f"semantic.{name}", http)
    with ArangoGraph(address, "semantic.second", http) as second, ArangoGraph(address, LOG, http) as first:
        commit(second, story)
        assert (shown(first), shown(second)) == ([], ["f"])

    assert administration.answering(address, http) is None
    cost = stores.server.counted(lambda: administration.switch(address, "second", http))
    assert cost == {"insert": 1}
    assert administration.answering(address, http) == "second"
    administration.drop(address, "semantic.second", http)
    with pytest.raises(NotFound):
        ArangoGraph(address, "semantic.second", http)
    ArangoGraph(address, LOG, http).close()


def test_all_collections_of_a_log_are_made_by_one_request(stores) -> None:
    cost = stores.server.counted(lambda: administration.create(stores.address(), LOG, stores.server.http))

    assert (cost["create_graph"], cost["create_collection"]) == (1, 1)  # and the one of all logs' checkpoints
    assert cost["create_index"] == sum(map(len, INDEXES.values()))
    assert cost.total() - cost["create_index"] <= 10


def test_the_named_graph_has_the_collections_at_both_ends_of_every_edge(stores, story) -> None:
    story.tell(
        MentionResolved(mention_id="m1", entity_id="id-Ana", episode_id="x", reason="name", score=1.0),
        EntityMerged(merge_id="m", duplicate="id-Rome", into="id-Oslo", reason="same"),
    )
    story.tell(fact("value", "Ana", "likes", value="tea"), CommunityFormed(
        community_id="c", name="Friends", members=("id-Ana",), episode_id="x"))  # fmt: skip
    with stores.writing() as store:
        commit(store, story)
    database = stores.server.databases["graph"]
    [graph] = database.graphs.values()
    ends = {(e["collection"], side): set(e[side]) for e in graph["edgeDefinitions"] for side in ("from", "to")}
    seen = 0
    for name, collection in database.collections.items():
        for document in collection.documents.values() if collection.edge else ():
            seen += 1
            for side in ("from", "to"):
                assert document[f"_{side}"].partition("/")[0] in ends[name, side]
    assert seen >= 5


def test_a_log_can_be_replaced_while_graphs_of_other_logs_name_its_collections(stores, story) -> None:
    address, http = stores.address(), stores.server.http
    for log in ("episodic", LOG):
        administration.create(address, log, http)
    with ArangoGraph(address, LOG, http) as store:
        commit(store, story)

    for log in ("episodic", LOG):
        administration.create(address, log, http, replace=True)

    assert {"episodic_graph", "semantic_main_graph"} == stores.server.databases["graph"].graphs.keys()
    with ArangoGraph(address, LOG, http) as store:
        commit(store, story)
        assert shown(store) == ["f"]


# Rights.


def test_a_user_of_one_database_alone_makes_writes_and_asks_a_graph_there(stores, story) -> None:
    stores.server.databases["graph"] = Database()
    stores.server.rights = {"graph": "rw"}  # none on _system
    with stores.writing() as store:
        commit(store, story)
        assert shown(store) == ["f"]

    stores.server.rights = {"graph": "ro"}
    with stores.reading() as store:
        assert shown(store) == ["f"]
        assert [n for n, _ in store.text("Rome", "g", NOW, 5)] == [3]
        with pytest.raises(AccessDenied, match="ro to ask, rw to write"):
            commit(store, story)


def test_a_user_who_may_not_create_the_database_is_told_which_right_that_takes(stores) -> None:
    stores.server.rights = {}
    refused(stores, AccessDenied, "rw on _system")


# Bad input.


def refused(stores, kind: type[Exception], match: str, address: Address | None = None) -> None:
    with pytest.raises(kind, match=match) as caught:
        administration.create(address or stores.address(), LOG, stores.server.http)
    told = str(caught.value)
    assert "\n" not in told
    assert stores.server.password not in told
    assert "with content" not in told


def test_a_server_that_is_not_there_is_named(stores) -> None:
    stores.server.down = True
    refused(stores, GraphUnavailable, "http://server:8529/graph")


def test_a_wrong_password_is_told_without_it(stores) -> None:
    refused(stores, AccessDenied, "ASOF_GRAPH_PASSWORD", Address.parse("http://root:wrong@server/graph"))


def test_an_old_server_is_refused(stores) -> None:
    stores.server.version = "3.11.14"
    refused(stores, ContractError, r"version 3\.11\.14, asof needs 3\.12\.6")
    stores.server.version = "3.12.10-devel"
    administration.create(stores.address(), LOG, stores.server.http)


def test_a_database_that_does_not_exist_is_named_with_the_remedy(stores) -> None:
    with pytest.raises(NotFound, match="asof graph create"):
        stores.reading()


def test_a_server_that_only_reads_says_why(stores) -> None:
    stores.server.read_only = True
    refused(stores, StorageFailed, "licence")


def test_a_document_that_is_too_large_is_refused_and_nothing_of_its_batch_is_there(store, story, stores) -> None:
    empty = store.digest()
    stores.server.largest = 4_000
    story.tell(fact("g", "Ana", "likes", "Oslo", sentence="x" * 5_000))

    with pytest.raises(InvalidInput, match="error 1216") as caught:
        commit(store, story)

    assert "xxx" not in str(caught.value)
    assert (store.digest(), store.position()) == (empty, 0)


@pytest.mark.parametrize("url", ["server/db", "ftp://server/db", "http://server", "http://server/a/b", "http://s:x/db"])
def test_an_address_that_is_none_is_refused(url) -> None:
    with pytest.raises(InvalidInput, match="http://USER@HOST:PORT/DATABASE"):
        Address.parse(url)


def test_an_address_never_shows_its_password() -> None:
    address = Address.parse("https://ana:p%40ss@[::1]:8530/db")

    assert (address.server, address.user, address.password) == ("https://[::1]:8530", "ana", "p@ss")
    assert "p@ss" not in f"{address!r} {address.where}"


def test_the_checkpoint_is_the_only_document_that_says_where_a_graph_stands(store, story, stores) -> None:
    commit(store, story)

    [stands] = stores.server.databases["graph"].collections[CHECKPOINTS].documents.values()
    assert (stands["_key"], stands["position"]) == (LOG, len(story.records))


# Following a log.


def log_of(path, story: Story) -> SqliteLog:
    """A copy of the log that a story is: each salts its chain, so each has a head of its own."""
    log = SqliteLog(path / LOG, writable=True, durable=False)
    log.append(story.drafts[log.end() :], checkpoint=story.messages)
    return log


def test_copies_of_one_log_are_followed_by_turns_and_another_log_is_refused(stores, story, tmp_path) -> None:
    address, http = stores.address(), stores.server.http
    paths = [tmp_path / name for name in ("one", "two", "other")]
    for path in paths:
        path.mkdir()
    with log_of(paths[0], story) as one, administration.follow(one, address, http) as first:
        story.tell(fact("late", "Ana", "likes", "Oslo"))
        with log_of(paths[1], story) as two, administration.follow(two, address, http) as second:
            assert one.head(4) != two.head(4)
            assert shown(first) == shown(second) == ["f", "late"]
            administration.go_on(one, first, shared=True)  # it knows less than the graph
            with pytest.raises(ContractError, match="stands at 5"):
                administration.go_on(one, first)
            log_of(paths[0], story).close()
            administration.go_on(one, first)
    other = Story()
    other.tell(entity("Ana"), entity("Rome"), entity("Oslo"))
    other.tell(fact("f", "Ana", "lives_in", "Rome"))
    other.tell(fact("late", "Ana", "likes", "Rome"))
    before = stores.server.stored()
    with log_of(paths[2], other) as log, pytest.raises(ContractError, match="name another database"):
        administration.follow(log, address, http, shared=True)
    assert stores.server.stored() == before


def test_who_was_overtaken_goes_on_from_where_the_other_came_to(store, story, stores, tmp_path) -> None:
    with log_of(tmp_path, story) as log, stores.reading() as other:
        store.apply(story.records[:2])
        administration.go_on(log, other)
        with pytest.raises(PositionConflict):
            store.commit(2, b"x")

        administration.go_on(log, store)
        assert shown(store) == ["f"]


def test_what_the_last_record_of_an_erased_group_was_is_not_asked_of(store, story, tmp_path) -> None:
    with log_of(tmp_path, story) as log:
        administration.go_on(log, store)
        log.erase("g")
        assert store.follows(log)
