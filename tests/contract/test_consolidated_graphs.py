"""What a pass of consolidation made, and what undoing it took back, is answered alike by every graph store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asof_streams.episodic import MessageParked
from asof_streams.messages import ConsolidationRequest
from graph_stores import ArangoStores, SqliteStores
from histories import History, on

DAYS = ("2024-05-01", "2024-06-01", "2024-06-03", "2024-06-05", "2024-06-07", "2024-06-09")


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = History(tmp_path)
    yield history
    history.close()


@pytest.fixture(params=["sqlite", "arango"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteStores | ArangoStores:
    if request.param == "arango":
        return ArangoStores()
    (folder := tmp_path / "copy").mkdir()
    return SqliteStores(folder)


def test_a_graph_that_follows_the_log_has_what_passes_made_and_what_undoing_left(history, stores):
    for subject, other in (("Ana", "Ben"), ("Ben", "Cleo"), ("ACME Corp", "Dan"), ("Acme corp.", "Eve")):
        history.tell("2024-05-01", subject=subject, relation="knows", object=other)
    history.send("2024-06-01", ConsolidationRequest(group_id="g"))
    history.tell("2024-06-02", subject="Fay", relation="knows", object="Ana")
    history.send("2024-06-03", ConsolidationRequest(group_id="g"))
    history.withdraw("2024-06-04", 5)
    for day in ("2024-06-05", "2024-06-07", "2024-06-09"):
        history.send(day, ConsolidationRequest(group_id="g", undo=True))
    assert sum(isinstance(record.event, MessageParked) for record in history.semantic.read()) == 1

    with stores.writing() as store:
        store.apply(list(history.semantic.read()))
        store.commit(history.semantic.end(), history.semantic.head(history.semantic.end()))

        everybody = [entity.uuid for entity in history.beliefs.entities("g", None)]
        for day in DAYS:
            known = on(day) + 1
            assert store.communities("g", known) == history.beliefs.communities("g", known)
            assert store.links(everybody, known) == history.beliefs.links(everybody, known)
            assert store.identity(everybody[:1], known) == history.beliefs.identity(everybody[:1], known)
        assert len(store.communities("g", on("2024-06-03") + 1)) == 3
        assert store.communities("g", None) == []
        assert store.digest() == history.beliefs.digest()
