"""What is kept of the events of a log: what each group declared."""

from pathlib import Path

from asof_projections.belief_cache import BeliefCache
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import GroupErased
from asof_streams.events import Event
from asof_streams.semantic import RelationDeclared
from semantic_story import Story


def test_what_a_group_declared_is_forgotten_with_the_group_as_in_the_graph(tmp_path: Path) -> None:
    story, kept = Story(), BeliefCache()
    asked = [(group, relation) for group in ("g", "h") for relation in ("lives_in", "rents")]

    def told(*events: Event, group: str) -> list[bool]:
        start = len(story.records)
        story.tell(*events, group=group)
        graph.apply(story.records[start:])
        for record in story.records[start:]:
            kept.apply(record)
        found = [kept.single(*at) for at in asked]
        assert found == [graph.single(*at) for at in asked]
        return found

    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as graph:
        everywhere = RelationDeclared(relation="lives_in", cardinality="one")
        assert told(everywhere, group="") == [True, False, True, False]
        own = [
            RelationDeclared(relation="rents", cardinality="one"),
            everywhere.model_copy(update={"cardinality": "many"}),
        ]
        assert told(*own, group="g") == [False, True, True, False]
        assert told(GroupErased(), group="g") == [True, False, True, False]
