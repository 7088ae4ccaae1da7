"""The first statement of a slot is believed as it is stated, and is kept as the store has it."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from asof_agents.handlers.episodes import episode_of_fact
from asof_agents.handlers.statement_writer import Build, Triple
from asof_agents.handlers.structured_facts import StructuredStatements, state
from asof_agents.ports import FactView
from asof_agents.resolution.exact import ExactNames
from asof_ontologies.model import Ontology
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.instants import DAY
from asof_streams.messages import FactStatement
from asof_streams.semantic import FactReinforced
from effort import tries
from histories import ONTOLOGY, History, on

START: Final = on("2024-01-01")
NAMES: Final = ("Ana", "Ben", "Cleo", "Dora", "Eli")
RELATIONS: Final = ("lives_in", "works_at", "likes", "visited", "friend_of", "married_to", "also_known_as", "unheard")
WITHOUT: Final = Ontology.model_validate(  # a relation that it does not know merges entities all the same
    {**ONTOLOGY.model_dump(), "relation_types": [r for r in ONTOLOGY.relation_types if r.name != "also_known_as"]}
)
BUILDS: Final = (Build("test", ONTOLOGY, "recency"), Build("test", WITHOUT, "graded"))


class Weighed(StructuredStatements):
    """Weighs each assertion against its slot, also where that is empty."""

    def is_first(self, triple: Triple) -> bool:
        del triple
        return False


def weighed(first: Record, episode: EpisodeRecorded, build: Build, known: FactView) -> list[Event]:
    statements = Weighed(ExactNames(known, build.digest, first.group, first.recorded_at, episode), build, first.cause)
    statements.state(episode.statement)
    return statements.events()


def line(random: Random) -> FactStatement | None:
    """Return a statement; None: what was drawn is none."""
    subject, object_ = random.sample(NAMES, 2)
    fields: dict[str, Any] = {
        "group_id": "g",
        "op": random.choice(["assert"] * 4 + ["end", "end", "retract", "correct"]),
        "subject": subject,
        "relation": random.choice(RELATIONS),
        "object": random.choice([object_, object_, object_, 7, None]),
        "ref": random.choice([None, None, None, "r0", "r1"]),
        "grain": random.choice([None, None, "day", "month"]),
        "qualifiers": random.choice([None, None, None, {"how": "well"}]),
    }
    for name in ("valid_at", "invalid_at", "said_at"):
        fields[name] = random.choice([None, START + random.randrange(9) * DAY])
    try:
        return FactStatement.model_validate(fields)
    except ValueError:
        return None


def outcome(events: Any, *given: Any) -> list[Event] | str:
    try:
        return events(*given)
    except (InvalidInput, NotFound) as error:
        return repr(error)


@pytest.mark.parametrize("seed", range(tries(6, nightly=200)))
def test_the_first_statement_of_a_slot_says_what_weighing_it_would_say(tmp_path: Path, seed: int) -> None:
    random, history, build, seen = Random(seed), History(tmp_path), BUILDS[seed % 2], Counter[bool]()
    for position in range(120):
        while (stated := line(random)) is None:
            pass
        first = Record(position, "g", START + position, position, 0, 1, 0, stated)
        episode = episode_of_fact(first, stated, history.episodes)
        first = first._replace(event=episode)
        said = outcome(state, first, episode, build, history.beliefs)
        assert said == outcome(weighed, first, episode, build, history.beliefs), stated
        seen[isinstance(said, list)] += 1
        history.send_at(START + position, stated)
    assert min(seen[True], seen[False]) > 0
    history.close()


@pytest.mark.parametrize("relation", ["friend_of", "married_to"])
def test_a_fact_that_holds_both_ways_is_no_first_statement_the_other_way_round(tmp_path: Path, relation: str) -> None:
    history = History(tmp_path)
    fields = {"group_id": "g", "relation": relation, "valid_at": START}
    history.send_at(START, FactStatement.model_validate({**fields, "subject": "Ana", "object": "Ben"}))
    again = FactStatement.model_validate({**fields, "subject": "Ben", "object": "Ana"})
    first = Record(1, "g", START + 1, 1, 0, 1, 0, again)
    episode = episode_of_fact(first, again, history.episodes)
    [event] = state(first._replace(event=episode), episode, BUILDS[0], history.beliefs)
    assert isinstance(event, FactReinforced)
    history.close()


@pytest.mark.parametrize("seed", range(tries(6, nightly=200)))
def test_a_slot_that_a_writer_keeps_is_as_the_store_has_it(tmp_path: Path, seed: int) -> None:
    random, history, found = Random(seed), History(tmp_path), 0
    with SqliteGraph(tmp_path / "graph.db", "semantic.main") as reader:
        for position in range(80):
            while (stated := line(random)) is None:
                pass
            history.send_at(START + position, stated)
            for name in NAMES:
                for entity in reader.entities_named("g", name):
                    for relation in RELATIONS[:2]:
                        kept = history.beliefs.slot("g", entity.uuid, relation, None)
                        there = reader.slot("g", entity.uuid, relation, None)
                        assert list(kept.assertions) == list(there.assertions), stated
                        assert list(kept.endings) == list(there.endings), stated
                        assert dict(kept.held) == dict(there.held), stated
                        found += len(there.assertions)
    assert found > 0
    history.close()
