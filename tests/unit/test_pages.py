"""Pages: later pages of a list are as of the moments of the first, whatever is written in between."""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory

Ask = Callable[..., Any]


def tell(memory: Memory, subject: str, object_: str, start: str, **more: Any) -> None:
    memory.state_fact(subject=subject, relation="lives_in", object=object_, valid_at=f"{start}T00:00:00Z", **more)


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with asof.open(tmp_path, embedder="none") as opened:
        for subject, cities in {"Ana": ["Rome", "Oslo", "Bonn"], "Ben": ["Lima", "Kyiv"]}.items():
            for year, city in enumerate(cities, 2015):
                tell(opened, subject, city, f"{year}-01-01")
        opened.add("My sister Eva works at SAP.", role="Zoe", update_communities=True)
        opened.add("My friend Tom works at Bayer.", role="Kim", update_communities=True)
        yield opened


LISTS: dict[str, Callable[[Memory], Ask]] = {
    "facts": lambda memory: memory.facts,
    "facts at any time": lambda memory: lambda **page: memory.facts(any_time=True, **page),
    "overlapping": lambda memory: lambda **page: memory.overlapping("2010", "2100", **page),
    "throughout": lambda memory: lambda **page: memory.throughout("2024-07", "2024-08", **page),
    "entities": lambda memory: memory.entities,
    "communities": lambda memory: memory.communities,
    "timeline": lambda memory: lambda **page: memory.timeline("Ana", **page),
    "history": lambda memory: lambda **page: memory.history("Ana", **page),
    "diff": lambda memory: lambda **page: memory.diff(("2014", None), ("2024", None), **page),
    "episodes": lambda memory: memory.episodes,
}


def rest_of(ask: Ask, page: Any) -> list[Any]:
    found = [*page]
    while page.next is not None:
        page = ask(limit=1, cursor=page.next)
        found += page
    return found


@pytest.mark.parametrize("name", LISTS)
def test_later_pages_know_no_more_than_the_first(memory: Memory, name: str) -> None:
    ask = LISTS[name](memory)
    whole = ask()
    first = ask(limit=1)

    tell(memory, "Ana", "Graz", "2016-06-01")
    tell(memory, "Ana", "Rome", "2014-01-01")
    tell(memory, "Cy", "Rome", "2012-01-01")
    memory.retract(next(fact.uuid for fact in memory.facts(about="Ben", any_time=True)))
    memory.add("My sister Ida works at SAP. I know Eva.", role="Zoe", update_communities=True)

    assert len(whole) > 1
    assert [str(item) for item in rest_of(ask, first)] == [str(item) for item in whole]
    assert rest_of(ask, first) == [*whole]


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_is_taken_by_the_question_that_gave_it_alone(memory: Memory, name: str) -> None:
    ask = LISTS[name](memory)
    memory.add("I live in Rome.", group_id="other", role="Ana")
    cursors = {other: LISTS[other](memory)(limit=1).next for other in LISTS} | {"groups": memory.groups(limit=1).next}
    same = {"facts", "facts at any time"} if name.startswith("facts") else {name}

    assert None not in cursors.values()
    for cursor in (cursors[other] for other in cursors.keys() - same):
        with pytest.raises(asof.InvalidInput, match="the cursor of another question") as caught:
            ask(cursor=cursor)
        assert caught.value.field == "cursor"


def test_a_cursor_that_names_no_question_is_refused(memory: Memory) -> None:
    known = "1719792000000000"
    for ask, key in (memory.entities, "1"), (memory.episodes, "1"), (memory.facts, f"{known}\n1\n{known}"):
        cursor = base64.urlsafe_b64encode(f"\n{known}\n{key}".encode()).decode().rstrip("=")
        with pytest.raises(asof.InvalidInput, match="take the `next` of the page before") as caught:
            ask(cursor=cursor)
        assert caught.value.field == "cursor"


@pytest.mark.parametrize("name", ["facts", "entities", "communities", "timeline", "history", "episodes", "overlapping"])
def test_a_known_moment_beside_a_cursor_is_that_of_the_first_page(memory: Memory, name: str) -> None:
    ask = LISTS[name](memory)
    known = datetime(2100, 1, 1, tzinfo=UTC)
    cursor = ask(limit=1, known_at=known).next

    assert ask(limit=1, known_at=known, cursor=cursor) == ask(limit=1, cursor=cursor)
    with pytest.raises(asof.InvalidInput, match="the cursor keeps that of the first page") as caught:
        ask(cursor=cursor, known_at="2099")
    assert caught.value.field == "known_at"


def test_so_is_a_moment_of_validity(memory: Memory) -> None:
    at, ever = memory.facts(limit=1, valid_at="2024-07").next, memory.facts(limit=1, any_time=True).next

    assert memory.facts(limit=1, valid_at="2024-07", cursor=at) == memory.facts(limit=1, cursor=at)
    assert memory.facts(limit=1, any_time=True, cursor=ever) == memory.facts(limit=1, cursor=ever)
    for other, field in ({"valid_at": "2023"}, "valid_at"), ({"any_time": True}, "any_time"):
        with pytest.raises(asof.InvalidInput, match="the cursor keeps that of the first page") as caught:
            memory.facts(cursor=at, **other)
        assert caught.value.field == field
    with pytest.raises(asof.InvalidInput, match="the cursor keeps that of the first page"):
        memory.facts(cursor=ever, valid_at="2023")


@pytest.mark.parametrize("name", ["facts", "entities", "timeline", "history", "episodes"])
def test_a_history_moved_in_later_makes_no_page_shorter(memory: Memory, name: str) -> None:
    ask = LISTS[name](memory)
    whole = ask()

    line = {"group_id": "old", "subject": "Old", "relation": "knows", "object": "Older", "valid_at": "2001"}
    memory.import_facts([json.dumps({**line, "recorded_at": "2001-01-01T00:00:00Z"})], recorded=True)

    assert rest_of(ask, ask(limit=1)) == [*whole]
    assert len(memory.facts(all_groups=True, limit=100)) == len(memory.facts(all_groups=True))


def test_a_history_as_of_a_known_moment_shows_nothing_that_was_recorded_later(memory: Memory) -> None:
    before = memory.history("Ben")
    known = memory.facts(about="Ben")[0].created_at

    tell(memory, "Ben", "Graz", "2016-06-01")
    tell(memory, "Ben", "Kyiv", "2015-06-01")

    assert memory.history("Ben") != before
    assert memory.history("Ben", known_at=known) == before


@pytest.mark.parametrize("name", LISTS)
def test_a_limit_counts_what_is_returned(memory: Memory, name: str) -> None:
    ask = LISTS[name](memory)
    whole = ask()

    for limit in range(1, len(whole) + 2):
        assert ask(limit=limit) == whole[:limit]


@pytest.mark.parametrize("verb", ["parked", "contradictions", "groups"])
def test_so_it_does_where_there_are_no_pages(tmp_path: Path, verb: str) -> None:
    everywhere = {} if verb == "groups" else {"all_groups": True}
    with asof.open(tmp_path, embedder="none") as memory:
        for number in range(3):
            for city in ("Rome", "Oslo"):
                born = {"subject": "Ana", "relation": "born_in", "object": city, "valid_at": "1990-01-01"}
                memory.state_fact(**born, confidence=0.9, group_id=f"g{number}")
            memory.retract("none", group_id=f"g{number}")
        memory.rebuild("careful", policy="graded")
        memory.switch("careful")
        ask = getattr(memory, verb)
        whole = ask(**everywhere)

        assert len(whole) == 3
        for limit in range(1, 5):
            assert ask(limit=limit, **everywhere) == whole[:limit]


def test_the_facts_of_each_step_are_as_many_as_the_limit_lets_though_some_were_in_the_step_before(
    tmp_path: Path,
) -> None:
    with asof.open(tmp_path, embedder="none") as memory:
        for subject, relation, object_ in (
            ("Ben", "knows", "Ana"),
            ("Cy", "knows", "Ana"),
            ("Ben", "knows", "Cy"),
            ("Ben", "lives_in", "Oslo"),
            ("Cy", "lives_in", "Bonn"),
        ):
            memory.state_fact(subject=subject, relation=relation, object=object_, valid_at="2020-01-01")
        whole = [[str(fact) for fact in hop.facts] for hop in memory.neighbourhood("Ana", hops=2)]

        assert [len(facts) for facts in whole] == [2, 3]
        for limit in range(1, 5):
            hops = memory.neighbourhood("Ana", hops=2, limit=limit)
            assert len(hops[0].facts) == min(limit, 2)
            if limit > 1:  # else the step begins with one end alone
                assert len(hops[1].facts) == min(limit, 3)
        [[_], second] = [hop.facts for hop in memory.neighbourhood("Ana", hops=2, limit=1)]
        assert len(second) == 1
