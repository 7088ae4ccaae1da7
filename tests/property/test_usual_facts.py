"""A usual fact comes to the same in its short way, and a slot that a writer keeps is as the store has it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from asof_agents.handlers.episodes import episode_of_fact
from asof_agents.handlers.statement_writer import Build
from asof_agents.handlers.structured_facts import state, weighed_events
from asof_agents.handlers.usual_facts import usual_events
from asof_ontologies.model import Ontology
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.instants import DAY
from asof_streams.messages import FactStatement
from asof_streams.semantic import FactAsserted, FactInvalidated, FactReinforced
from effort import tries
from histories import ONTOLOGY, History, on

START: Final = on("2024-01-01")
NAMES: Final = ("Ana", "Ben", "Cleo", "Dora", "Eli")
MORE: Final = (*NAMES, "Finn", "Gus", "Hal", "Ida", "Jo", "Kim", "Lev", "Mia", "Noa", "Oda")
RELATIONS: Final = ("lives_in", "works_at", "likes", "visited", "friend_of", "married_to", "also_known_as", "unheard")
WITHOUT: Final = Ontology.model_validate(  # a relation that it does not know merges entities all the same
    {**ONTOLOGY.model_dump(), "relation_types": [r for r in ONTOLOGY.relation_types if r.name != "also_known_as"]}
)
BUILDS: Final = (
    Build("test", ONTOLOGY, "recency"),
    Build("test", WITHOUT, "graded"),
    Build("test", WITHOUT, "recency"),
    Build("test", ONTOLOGY, "recency", rule=1),
)


def line(random: Random, names: Sequence[str] = NAMES) -> FactStatement | None:
    """Return a statement; None: what was drawn is none."""
    subject, object_ = random.sample(names, 2)
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


@pytest.mark.parametrize("build", BUILDS, ids=["recency", "graded", "unheard", "first rule"])
def test_a_usual_fact_comes_to_what_weighing_it_would_come_to(tmp_path: Path, build: Build) -> None:
    seen = Counter[str]()
    for seed in range(tries(3, nightly=50)):
        (folder := tmp_path / str(seed)).mkdir()
        random, history = Random(seed), History(folder)
        for position in range(150):
            while (stated := line(random, MORE)) is None:
                pass
            first = Record(position, "g", START + position, position, 0, 1, 0, stated)
            episode = episode_of_fact(first, stated, history.episodes)
            first = first._replace(event=episode)
            usual = usual_events(first, episode, build, history.beliefs)
            if usual is not None:
                weighed = outcome(weighed_events, first, episode, build, history.beliefs)
                assert usual == weighed, stated
                assert [event.encode() for event in usual] == [event.encode() for event in weighed]
                assert [list(event.__dict__) for event in usual] == [list(event.__dict__) for event in weighed]
                seen.update(event.type for event in usual)
            seen["other" if usual is None else "usual"] += 1
            history.send_at(START + position, stated)
        history.close()
    assert min(seen["usual"], seen["other"], seen["entity.introduced"]) > 0
    assert (seen["fact.invalidated"] > 0) is (build.policy == "recency")


@pytest.mark.parametrize("relation", ["friend_of", "married_to"])
def test_a_fact_that_holds_both_ways_is_no_first_statement_the_other_way_round(tmp_path: Path, relation: str) -> None:
    history = History(tmp_path)
    fields = {"group_id": "g", "relation": relation, "valid_at": START}
    history.send_at(START, FactStatement.model_validate({**fields, "subject": "Ana", "object": "Ben"}))
    again = FactStatement.model_validate({**fields, "subject": "Ben", "object": "Ana"})
    first = Record(1, "g", START + 1, 1, 0, 1, 0, again)
    episode = episode_of_fact(first, again, history.episodes)
    assert usual_events(first._replace(event=episode), episode, BUILDS[0], history.beliefs) is None
    [event] = state(first._replace(event=episode), episode, BUILDS[0], history.beliefs)
    assert isinstance(event, FactReinforced)
    history.close()


def test_a_fact_whose_ref_is_the_id_of_a_known_fact_is_no_usual_one(tmp_path: Path) -> None:
    history = History(tmp_path)
    fields = {"group_id": "g", "subject": "Ana", "relation": "likes", "valid_at": START}
    history.send_at(START, FactStatement.model_validate({**fields, "object": "tea"}))
    [known] = [r.event.fact_id for r in history.semantic.read() if isinstance(r.event, FactAsserted)]
    for ref, is_usual in ((known, False), ("own", True)):
        stated = FactStatement.model_validate({**fields, "object": "rice", "ref": ref})
        first = Record(1, "g", START + 1, 1, 0, 1, 0, stated)
        episode = episode_of_fact(first, stated, history.episodes)
        events = usual_events(first._replace(event=episode), episode, BUILDS[0], history.beliefs)
        assert (events is not None) is is_usual
    history.close()


@pytest.mark.parametrize(("rule", "supersedes"), [(4, True), (5, False)])
def test_what_is_stated_again_under_another_ref_comes_to_the_same_by_the_rule_of_its_build(
    tmp_path: Path, rule: int, supersedes: bool
) -> None:
    history, build = History(tmp_path), Build("test", ONTOLOGY, "recency", rule=rule)
    fields = {"group_id": "g", "subject": "Ana", "relation": "lives_in", "object": "Berlin"}
    history.send_at(START, FactStatement.model_validate({**fields, "ref": "r0", "valid_at": START}))
    again = FactStatement.model_validate({**fields, "ref": "r1", "valid_at": START + DAY})
    first = Record(1, "g", START + 1, 1, 0, 1, 0, again)
    episode = episode_of_fact(first, again, history.episodes)

    usual = usual_events(first._replace(event=episode), episode, build, history.beliefs)

    assert usual == weighed_events(first._replace(event=episode), episode, build, history.beliefs)
    assert any(isinstance(event, FactInvalidated) for event in usual or ()) is supersedes
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
