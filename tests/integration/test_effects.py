"""What a message did to what is believed is said when it is added, and the same whenever it is asked for later."""

from pathlib import Path
from typing import Any

import pytest

import asof
from asof_projections.model.answers import Belief, Fact
from asof_projections.model.write_answers import Done
from world import World


@pytest.fixture
def memory(tmp_path: Path) -> asof.Memory:
    return asof.open(tmp_path / "data", embedder="none")


def add(memory: asof.Memory, content: str, day: str = "2024-04-02", **fields: Any) -> Any:
    added = memory.add(content, role="Ana", timestamp=day, **fields)
    assert added.effect is not None
    return added.effect


def told(effect: Any) -> dict[str, list[str]]:
    kinds = ("began", "ended", "retracted", "restored", "refined")
    return {kind: list(map(str, getattr(effect, kind))) for kind in kinds if getattr(effect, kind)}


def test_an_added_message_tells_what_began_and_what_it_ended(memory: asof.Memory) -> None:
    first = add(memory, "I live in Madrid.", "2020-01-01")
    second = add(memory, "I moved to Berlin in March.")

    assert told(first) == {"began": ["Ana lives_in Madrid from 2020-01-01"]}
    assert told(second) == {
        "began": ["Ana lives_in Berlin from 2024-03-01"],
        "ended": ["Ana lives_in Madrid from 2020-01-01 until 2024-03-01"],
    }
    assert second.understood


def test_a_correction_tells_what_is_no_longer_believed(memory: asof.Memory) -> None:
    add(memory, "I moved to Berlin in March.")

    assert told(add(memory, "It was Munich, not Berlin.")) == {
        "began": ["Ana lives_in Munich from 2024-03-01"],
        "retracted": ["Ana lives_in Berlin from 2024-03-01"],
    }


def test_a_visit_that_is_told_more_exactly_is_refined_and_not_ended(memory: asof.Memory) -> None:
    add(memory, "I visited Paris in March.", "2024-04-01")

    again = add(memory, "I visited Paris on March 5.")

    assert told(again) == {"refined": ["Ana visited Paris from 2024-03-05 until 2024-03-06"]}
    assert len(again.reinforced) == 1


def test_a_withdrawn_message_restores_what_it_had_ended(memory: asof.Memory) -> None:
    add(memory, "I live in Madrid.", "2020-01-01")
    moved = memory.add("I moved to Berlin in March.", role="Ana", timestamp="2024-04-02")
    assert moved.episode_id is not None
    withdrawn = memory.withdraw(moved.episode_id)

    [outcome] = [memory.message(withdrawn)]

    assert isinstance(outcome, Done)
    assert told(outcome.effect) == {
        "retracted": ["Ana lives_in Berlin from 2024-03-01"],
        "restored": ["Ana lives_in Madrid from 2020-01-01"],
    }


def test_a_statement_that_is_repeated_names_the_fact_that_it_says_again(memory: asof.Memory) -> None:
    [began] = add(memory, "I live in Madrid.", "2020-01-01").began

    again = add(memory, "I live in Madrid.", "2021-01-01")

    assert (told(again), again.reinforced, again.understood) == ({}, (began.uuid,), True)


@pytest.mark.parametrize("content", ["Hm.", "Ben is nice.", "Where do you live?"])
def test_a_message_of_which_nothing_was_understood_says_so(memory: asof.Memory, content: str) -> None:
    effect = add(memory, content)

    assert (told(effect), effect.reinforced, effect.understood) == ({}, (), False)


def test_an_ending_of_what_nobody_knew_tells_that_it_held_until_then(memory: asof.Memory) -> None:
    effect = add(memory, "I no longer live in Bonn.")

    assert (told(effect), effect.understood) == ({"began": ["Ana lives_in Bonn until 2024-04-02"]}, True)


def test_what_is_denied_and_nobody_knew_was_understood_and_changed_nothing(memory: asof.Memory) -> None:
    effect = add(memory, "I don't work at SAP.")

    assert (told(effect), effect.understood) == ({}, True)


def test_a_message_that_names_an_older_episode_did_nothing_and_one_that_is_parked_has_no_effect(
    memory: asof.Memory,
) -> None:
    known = memory.add("I live in Madrid.", role="Ana")

    same = add(memory, "I live in Rome.", uuid=known.episode_id)
    parked = memory.add("I live in Rome.", role="Ana", uuid="nobody")

    assert (told(same), same.understood) == ({}, True)
    assert parked.effect is None
    assert memory.message(parked.position).state == "parked"


def test_an_effect_never_changes_whatever_comes_later(tmp_path: Path) -> None:
    """Of each message it is what differs between the moment before and its own, also when it is asked at the end."""
    world = World(tmp_path)
    story = [
        {"object": "Rome", "valid_at": "2019"},
        {"object": "Oslo", "valid_at": "2021"},
        {"object": "Oslo", "valid_at": "2022"},
        {"object": "Bonn", "valid_at": "2020"},
        {"op": "retract", "object": "Oslo"},
        {"op": "end", "object": "Bonn", "invalid_at": "2023"},
        {"object": "Rome", "valid_at": "2023"},
        {"relation": "likes", "object": "tea"},
        {"op": "retract", "object": "Bonn"},
    ]
    moments = [world.tell(f"2024-02-{day:02}", **line) for day, line in enumerate(story, 1)]

    def believed(known: int) -> dict[str, set[tuple[Any, Any]]]:
        periods: dict[str, set[tuple[Any, Any]]] = {}
        for fact in world.memory.facts(group_id="g", any_time=True, known_at=known):
            periods.setdefault(fact.uuid, set()).add((fact.valid_at, fact.invalid_at))
        return periods

    def periods(beliefs: tuple[Belief, ...]) -> dict[str, set[tuple[Any, Any]]]:
        found: dict[str, set[tuple[Any, Any]]] = {}
        for belief in beliefs:
            found.setdefault(belief.uuid, set()).add((belief.valid_at, belief.invalid_at))
        return found

    kinds: set[str] = set()
    for position, known in enumerate(moments):
        before, after = believed(known - 1), believed(known)
        outcome = world.memory.message(position)
        assert isinstance(outcome, Done)
        effect = outcome.effect
        changed = {uuid: after[uuid] for uuid in after if after[uuid] != before.get(uuid)}
        kept = (effect.began, effect.ended, effect.restored, effect.refined)
        assert {uuid: spans for beliefs in kept for uuid, spans in periods(beliefs).items()} == changed
        assert periods(effect.retracted) == {uuid: before[uuid] for uuid in before if uuid not in after}
        assert set(periods(effect.began)) == {
            uuid for uuid in after if uuid not in before and _is_new(world, uuid, known)
        }
        kinds |= {kind for kind in ("began", "ended", "retracted", "restored", "reinforced") if getattr(effect, kind)}
    assert kinds == {"began", "ended", "retracted", "restored", "reinforced"}


def _is_new(world: World, uuid: str, known: int) -> bool:
    fact: Fact = world.memory.why(uuid).fact
    return int(fact.created_at.timestamp() * 1_000_000) == known


def test_an_episode_lists_what_it_invalidated_and_its_duplicate_links(memory: asof.Memory) -> None:
    add(memory, "I live in Madrid.", "2020-01-01")
    moved = memory.add("I moved to Berlin in March.", role="Ana", timestamp="2024-04-02")
    alias = memory.add("George Orwell is also known as Eric Blair.", role="Ana", timestamp="2024-04-03")
    assert moved.episode_id is not None
    assert alias.episode_id is not None

    told_then = memory.episode(moved.episode_id)
    linked = memory.episode(alias.episode_id)

    assert told_then.effect == moved.effect
    assert [str(belief) for belief in told_then.effect.ended] == [
        "Ana lives_in Madrid from 2020-01-01 until 2024-03-01"
    ]
    [link] = linked.effect.duplicates
    assert {link.duplicate_name, link.into_name} == {"George Orwell", "Eric Blair"}
    assert (link.reason, link.known_to) == ("also known as", None)
    assert linked.effect == alias.effect
