"""What held in the last window is brought up to the next one, and is what a new cache finds in all versions."""

import random

import pytest

from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.graph.sqlite_store.version_cache import VersionCache
from asof_projections.model.queries import HEAD
from asof_projections.model.rows import Moment
from histories import History, on
from semantic_story import Story, entity, fact, unasserted

DAYS = [f"20{year}-{month:02}-03" for year in range(18, 26) for month in (2, 9)]


def anew(history: History, group: str | None, at: Moment) -> list[int]:
    """Return what holds as a cache finds it that has seen nothing before."""
    kept, history.beliefs._search.versions = history.beliefs._search.versions, VersionCache()
    try:
        return history.beliefs.live(group, at).tolist()
    finally:
        history.beliefs._search.versions = kept


def change(history: History, drawn: random.Random, day: str, said: list[int]) -> None:
    """State a fact that may replace another or be over already; retract one of those said; or erase a group."""
    group, who = drawn.choice(["g", "g", "other"]), drawn.choice(["Ana", "Ben"])
    match drawn.randrange(12):
        case 0:
            history.forget(day, "other")
        case 1 | 2:
            said.append(history.messages.end())
            history.say(day, f"{who} -likes-> Thing{drawn.randrange(9)}")
        case 3 | 4 if said:
            history.withdraw(day, said.pop(drawn.randrange(len(said))))
        case _:
            period = {"valid_at": drawn.choice(DAYS), **({"invalid_at": "2026"} if drawn.random() < 0.3 else {})}
            relation = drawn.choice(["lives_in", "works_at", "likes"])
            history.tell(
                day, group_id=group, subject=who, relation=relation, object=f"Thing{drawn.randrange(9)}", **period
            )


@pytest.mark.parametrize("seed", range(4))
def test_what_holds_is_the_same_however_it_was_asked_for_before(tmp_path, seed: int) -> None:
    history, drawn = History(tmp_path), random.Random(seed)
    said: list[int] = []  # positions
    found = 0
    for number in range(120):
        change(history, drawn, f"2025-{1 + number // 28:02}-{1 + number % 28:02}", said)
        for _ in range(drawn.randrange(4)):
            known = drawn.choice([HEAD, on(f"2025-{drawn.randrange(1, 6):02}-15")])
            valid = drawn.choice([None, on(drawn.choice(DAYS)), on("2025-06")])
            at = Moment(valid, known, ever=valid is None, deeds=drawn.random() < 0.5)
            group = drawn.choice(["g", "other", None])
            holds = history.beliefs.live(group, at).tolist()
            assert holds == anew(history, group, at)
            found += len(holds)
    history.close()

    assert found


@pytest.mark.parametrize("seed", range(3))
def test_what_holds_now_is_brought_up_to_each_change(tmp_path, seed: int) -> None:
    history, drawn = History(tmp_path), random.Random(seed)
    said: list[int] = []  # positions
    came = ended = 0
    before: set[int] = set()
    for number in range(80):
        change(history, drawn, f"2025-{1 + number // 28:02}-{1 + number % 28:02}", said)
        for group in ("g", "other", None):
            for at in (Moment(None, HEAD, ever=True), Moment(on("2025-12") + number, HEAD, deeds=group == "g")):
                holds = history.beliefs.live(group, at).tolist()
                assert holds == anew(history, group, at)
        came, ended = came + len({*holds} - before), ended + len(before - {*holds})
        before = {*holds}
    history.close()

    assert came > ended > 0


def test_what_is_asked_for_again_is_the_same_array_until_it_changes(tmp_path) -> None:
    """A vector index keeps what follows from it."""
    history = History(tmp_path)
    history.tell("2025-01-01", relation="likes", object="Tea", valid_at="2020")

    def holds(valid: str):
        return history.beliefs.live("g", Moment(on(valid), HEAD))

    first = holds("2024")
    assert holds("2024-05") is first
    history.tell("2025-01-02", group_id="other", relation="likes", object="Tea", valid_at="2020")
    assert len(holds("2024-06")) == 1
    history.tell("2025-01-03", relation="likes", object="Milk", valid_at="2023")
    assert len(holds("2024-06")) == 2
    assert len(holds("2021")) == 1
    history.close()


def test_a_fact_holds_from_the_first_instant_of_its_periods_to_the_last(tmp_path) -> None:
    story = Story()
    story.tell(entity("Ana"))
    known = story.tell(
        fact("held", "Ana", "likes", None, (10, 20), value="tea"),
        fact("done", "Ana", "visited", None, (30, 40), value="Rome", occurrence=True),
        fact("plan", "Ana", "visits", None, (50, 60), value="Oslo", planned=True),
    )
    gone = story.tell(*(unasserted(id_) for id_ in ("held", "done", "plan")))

    def holds(valid: int, at: int = known, *, deeds: bool = False) -> list[str]:
        numbers = store.live("g", Moment(valid, at, deeds=deeds)).tolist()
        return [fact_id for number, fact_id in enumerate(("held", "done", "plan"), 1) if number in numbers]

    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        for record in story.records:
            store.apply([record])
            holds(10)
        store.commit(len(story.records), b"")
        assert [holds(valid) for valid in (9, 10, 19, 20)] == [[], ["held"], ["held"], []]
        assert [holds(10, at) for at in (known - 1, known, gone - 1, gone)] == [[], ["held"], ["held"], []]
        assert [holds(valid) for valid in (29, 30, 39, 40)] == [[], ["done"], ["done"], []]
        done, plan = ["done"], ["plan"]
        assert [holds(valid, deeds=True) for valid in (9, 29, 30, 40, 59, 60)] == [
            *(plan, plan, done + plan, done + plan, done + plan, done)
        ]


def test_what_was_asked_for_in_four_ways_is_kept_and_nobody_can_change_it(tmp_path) -> None:
    history = History(tmp_path)
    groups = ["a", "b", "c", "d", "e"]
    for group in groups:
        history.tell("2025-01-01", group_id=group, relation="likes", object="Tea", valid_at="2020")

    def holds(group: str):
        return history.beliefs.live(group, Moment(on("2024"), HEAD))

    first = [holds(group) for group in groups]
    again = [holds(group) for group in reversed(groups)]
    with pytest.raises(ValueError, match="read-only"):
        first[0][0] = 9
    history.close()

    assert [one is other for one, other in zip(reversed(first), again, strict=True)] == [True] * 4 + [False]


def test_what_is_retracted_between_two_searches_holds_no_more_at_the_next_moment(tmp_path) -> None:
    history = History(tmp_path)
    said = history.messages.end()
    history.say("2025-01-01", "Ana -likes-> Rome")
    history.say("2025-01-01", "Ben -likes-> Oslo")
    moments = [Moment(on("2025-06") + second, HEAD) for second in range(4)]
    before = [history.beliefs.live("g", moment).tolist() for moment in moments[:3]]
    history.withdraw("2025-01-02", said)

    assert (before[0], len(before[0])) == (before[2], 2)
    assert history.beliefs.live("g", moments[3]).tolist() == before[0][1:] == anew(history, "g", moments[3])
    history.close()
