"""What is kept of a log's events is what the graph answers that follows it."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from asof_projections.belief_cache import BeliefCache
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import EntityRow, Slot, Statement
from asof_streams.instants import DAY
from asof_streams.messages import FactStatement
from effort import tries
from histories import History, on

START: Final = on("2024-01-01")
NAMES: Final = ("Ana", "Ben", "Cleo", "Dora", "Eli")
RELATIONS: Final = ("lives_in", "works_at", "likes", "visited", "friend_of", "also_known_as", "unheard")


def statement(random: Random) -> FactStatement | None:
    """Return a statement; None: what was drawn is none."""
    subject, object_ = random.sample(NAMES, 2)
    fields: dict[str, Any] = {
        "group_id": random.choice("gh"),
        "op": random.choice(["assert"] * 5 + ["end", "retract", "correct"]),
        "subject": subject,
        "relation": random.choice(RELATIONS),
        "object": random.choice([object_, object_, object_, 7, None]),
        "ref": random.choice([None, None, None, "r0", "r1"]),
    }
    for name in ("valid_at", "invalid_at"):
        fields[name] = random.choice([None, START + random.randrange(9) * DAY])
    try:
        return FactStatement.model_validate(fields)
    except ValueError:
        return None


class Asked:
    """The graph, and how often it was asked."""

    def __init__(self, graph: SqliteGraph) -> None:
        self.graph = graph
        self.times = Counter[str]()

    def named(self, group: str, name: str) -> list[EntityRow]:
        self.times["names"] += 1
        return self.graph.entities_named(group, name)

    def ref(self, group: str, ref: str) -> Statement | None:
        self.times["refs"] += 1
        return self.graph.fact_with_ref(group, ref)

    def statement(self, uuid: str) -> Statement | None:
        self.times["statements"] += 1
        return self.graph.statement(uuid)

    def slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        self.times["slots"] += 1
        return self.graph.read_slot(group, subject, relation, value)


def alike(one: Slot, other: Slot) -> bool:
    return (list(one.assertions), list(one.endings), dict(one.held)) == (
        list(other.assertions),
        list(other.endings),
        dict(other.held),
    )


@pytest.mark.parametrize("seed", range(tries(8, nightly=200)))
def test_what_is_kept_is_what_the_graph_has(tmp_path: Path, seed: int) -> None:
    random, history, kept, at, looks = Random(seed), History(tmp_path), BeliefCache(), 0, 0
    with SqliteGraph(tmp_path / "graph.db", "semantic.main") as graph:
        asked, ids = Asked(graph), set[str]()
        for position in range(60):
            while (stated := statement(random)) is None:
                pass
            history.send_at(START + position, stated)
            for record in history.semantic.read(at):
                kept.apply(record)
                at = record.position + 1
                ids.update(value for name, value in record.event.__dict__.items() if name.endswith("_id"))
            for uuid in ids:
                assert kept.statement(uuid, asked.statement) == graph.statement(uuid)
            for ref in ("r0", "r1", "r2"):
                found = graph.fact_with_ref(stated.group_id, ref)
                assert kept.fact_with_ref(stated.group_id, ref, asked.ref) == found
            for name, relation in [(name, relation) for name in NAMES for relation in RELATIONS]:
                entities = kept.entities_named(stated.group_id, name, asked.named)
                assert entities == graph.entities_named(stated.group_id, name), stated
                assert kept.single(stated.group_id, relation) == graph.single(stated.group_id, relation)
                values = ("v:7", *(f"e:{each.uuid}" for each in graph.entities_named(stated.group_id, "Ana")))
                for entity in entities:
                    for value in (None, *values):
                        where = stated.group_id, entity.uuid, relation, value
                        assert alike(kept.slot(*where, asked.slot), graph.read_slot(*where)), stated
                        looks += 1
    history.close()
    assert 0 < asked.times["slots"] < looks / 2
