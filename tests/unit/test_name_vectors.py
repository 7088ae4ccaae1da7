"""Names near in meaning, as a writer finds them: what an answer takes does not grow with the names that are known."""

from contextlib import closing
from pathlib import Path

from asof.runtime.name_vectors import NameVectorIndex
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.graph.sqlite_store.store import SqliteGraph
from semantic_story import Story, entity


def steps_of_an_answer(folder: Path, names: int) -> int:
    """How many steps SQLite takes to say what is near, among so many names, once their vectors are in memory."""
    story, steps = Story(), 0
    story.tell(*(entity(f"Place {number}", "Location") for number in range(names)))

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    with (
        SqliteGraph(folder / f"{names}.db", "semantic.main", writable=True) as graph,
        closing(CachedEmbedder(HashingEmbedder(), folder / f"vectors-{names}.db")) as embedder,
    ):
        graph.apply(story.records)
        graph.commit(len(story.records), b"")
        index = NameVectorIndex(graph, embedder.model_id, lambda: embedder)
        index.nearest("g", ["Place 7"], 0.75)
        graph._db.set_progress_handler(step, 1)
        near = index.nearest("g", ["Place 7"], 0.75)
    assert near["Place 7"][0][0].name == "Place 7"
    return steps


def test_an_answer_takes_no_more_steps_among_ten_times_the_names(tmp_path: Path) -> None:
    assert steps_of_an_answer(tmp_path, 1_000) < 2 * steps_of_an_answer(tmp_path, 100)  # a few more names are near
