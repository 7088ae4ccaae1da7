"""What a writer keeps of names and entities: it answers as a reader does who keeps nothing."""

from pathlib import Path
from random import Random

import pytest

from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import EpisodeWithdrawn, GroupErased, MentionObserved
from asof_streams.events import Event, Record
from asof_streams.semantic import EntityIntroduced, MentionResolved

LOG = "semantic.main"
NAMES = ("Ana", "ANA", "Rome", "Kestrel", "Zeta")
TYPES = ("Person", "City", "Organization")


def told(chance: Random, number: int, introduced: list[str], observed: list[str]) -> Event:
    """Return an event at random; what it names was introduced before."""
    kind = chance.random()
    if kind < 0.04:
        return GroupErased()
    if kind < 0.08:
        return EpisodeWithdrawn(episode_id="e")
    if kind < 0.4 or not introduced:
        introduced.append(f"entity-{number}")
        name, type_ = chance.choice(NAMES), chance.choice((*TYPES, None))
        return EntityIntroduced(entity_id=introduced[-1], name=name, entity_type=type_, episode_id="e")
    if kind < 0.7 or not observed:
        observed.append(f"mention-{number}")
        name, type_ = chance.choice(NAMES), chance.choice(TYPES)
        return MentionObserved(mention_id=observed[-1], episode_id="e", entity_type=type_, text=name, start=0)
    who, what = chance.choice(observed), chance.choice(introduced)
    return MentionResolved(mention_id=who, entity_id=what, episode_id="e", reason="name", score=1.0)


@pytest.mark.parametrize("seed", range(6))
def test_a_writer_answers_as_one_that_keeps_nothing(tmp_path: Path, seed: int) -> None:
    chance = Random(seed)
    introduced: list[str] = []
    observed: list[str] = []
    names = list(NAMES)

    def known(store: SqliteGraph) -> tuple[object, ...]:
        return (
            store.types_of_names("g", names),
            [store.entity(f"entity-{number}") for number in range(80)],
            [store.resolved(f"mention-{number}") for number in range(80)],
        )

    with SqliteGraph(tmp_path / "graph.db", LOG, writable=True) as writer:
        for number in range(80):
            event = told(chance, number, introduced, observed)
            if isinstance(event, GroupErased):
                introduced, observed = [], []
            writer.apply([Record(number, "g", number, number, 0, 1, 0, event)])
            seen = known(writer) if chance.random() < 0.7 else None  # or nobody asks before the next event
            if chance.random() < 0.3:
                writer.commit(number + 1, b"")
                with SqliteGraph(tmp_path / "graph.db", LOG) as reader:
                    assert known(reader) == (seen or known(writer))
            elif chance.random() < 0.1:
                writer.rollback()
                with SqliteGraph(tmp_path / "graph.db", LOG) as reader:
                    assert known(reader) == known(writer)
                break
