"""Two generations beside each other: the facts in which they differ, through every door."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import asof
from asof.api.memory import Memory
from commands import Asof
from http_server import serving

TOLD = [
    "I live in Rome.",
    "I moved to Berlin in March 2022.",
    "My sister Maria works at Acme.",
    "I work at Initech.",
    "The billing service is written in Go.",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path, embedder="none") as opened:
        for day, words in enumerate(TOLD, 10):
            opened.add(words, role="Ana", timestamp=f"2024-05-{day}T09:00:00Z")
        yield opened


@pytest.fixture
def two_homes(tmp_path: Path) -> str:
    """Return the default ontology with one difference: a person may have several homes."""
    text = (files("asof_ontologies") / "data" / "default.yaml").read_text("utf-8")
    before, relation, after = text.partition("  - name: lives_in\n")
    file = tmp_path / "two_homes.yaml"
    file.write_text(before + relation + after.replace("    cardinality: one\n", "", 1), "utf-8")
    return str(file)


def believed(memory: Memory, generation: str) -> set[tuple[str, ...]]:
    memory.switch(generation)
    return {(f.subject, f.relation, f.object, str(f.valid_at), str(f.invalid_at)) for f in memory.facts(any_time=True)}


def test_two_builds_of_one_kind_differ_in_nothing(memory: Memory) -> None:
    memory.rebuild("second")

    found = memory.generations_diff("main", "second")

    assert found == []
    assert {one.relation: one.same for one in found.summary}["lives_in"] == 2
    assert all((one.gained, one.lost, one.redated, one.merged) == (0, 0, 0, 0) for one in found.summary)


def test_another_ontology_gains_and_loses_facts_and_each_has_its_words(memory: Memory) -> None:
    memory.rebuild("work", input="episodes", ontology="agent_memory_v1")

    found = memory.generations_diff("main", "work")

    changes = {(one.change, (one.base or one.other).fact.relation) for one in found}  # type: ignore[union-attr]
    assert ("lost", "uses") in changes or ("gained", "written_in") in changes, changes
    for one in found:
        side = one.base if one.change == "lost" else one.other
        assert side is not None
        assert side.evidence[0].quote
    assert sum(one.gained for one in found.summary) == sum(one.change == "gained" for one in found)
    assert sum(one.lost for one in found.summary) == sum(one.change == "lost" for one in found)


def test_a_fact_of_the_last_message_is_gained_where_the_one_that_answers_made_nothing_of_it(memory: Memory) -> None:
    memory.add("Team Payments owns the billing service.", role="Ana", timestamp="2024-05-21T09:00:00Z")
    memory.rebuild("work", input="episodes", ontology="agent_memory_v1")

    found = memory.generations_diff("main", "work")

    gained = {one.other.fact.subject for one in found if one.change == "gained" and one.other is not None}
    assert "Team Payments" in gained


def test_what_is_gained_and_lost_is_what_the_answers_of_the_two_differ_in(memory: Memory) -> None:
    memory.rebuild("work", input="episodes", ontology="agent_memory_v1")
    one, two = believed(memory, "main"), believed(memory, "work")

    found = memory.generations_diff("main", "work")

    lost = {(d.base.fact.relation, d.base.fact.object) for d in found if d.change == "lost" and d.base}
    gained = {(d.other.fact.relation, d.other.fact.object) for d in found if d.change == "gained" and d.other}
    assert lost == {claim[1:3] for claim in one - two} - {claim[1:3] for claim in two}
    assert gained == {claim[1:3] for claim in two - one} - {claim[1:3] for claim in one}
    assert sum(r.same + r.redated + r.merged + r.lost for r in found.summary) == len(one)
    assert sum(r.same + r.redated + r.merged + r.gained for r in found.summary) == len(two)


def test_pages_of_one_have_the_differences_of_one_page(memory: Memory) -> None:
    memory.rebuild("work", input="episodes", ontology="agent_memory_v1")
    whole = memory.generations_diff("main", "work")
    paged: list[asof.GenerationDifference] = []
    cursor = None
    while True:
        page = memory.generations_diff("main", "work", limit=1, cursor=cursor)
        assert bool(page.summary) == (cursor is None)
        paged += page
        if (cursor := page.next) is None:
            break

    assert len(whole) > 1
    assert paged == whole


def test_a_fact_that_both_believe_over_other_periods_is_redated(memory: Memory, two_homes: str) -> None:
    memory.rebuild("homes", ontology=two_homes)

    [redated] = memory.generations_diff("main", "homes")
    [turned] = memory.generations_diff("homes", "main")

    assert redated.change == turned.change == "redated"
    assert redated.base is not None
    assert redated.other is not None
    assert str(redated.base.fact) == "Ana lives_in Berlin from 2022-03-01 until 2024-05-10T09:00:00Z"
    assert str(redated.other.fact) == "Ana lives_in Berlin from 2022-03-01"
    assert (turned.base, turned.other) == (redated.other, redated.base)


def test_a_known_moment_hides_what_was_recorded_later(memory: Memory, two_homes: str) -> None:
    first = memory.episodes()[0].created_at
    memory.rebuild("homes", ontology=two_homes)

    found = memory.generations_diff("main", "homes", known_at=first)

    assert found == []
    assert [(one.relation, one.same) for one in found.summary] == [("lives_in", 1)]


def test_a_fact_that_one_side_gave_up_comes_with_what_became_of_it_there(memory: Memory, two_homes: str) -> None:
    for town in ("Oslo", "Bergen"):
        memory.state_fact(subject="Ben", relation="lives_in", object=town, valid_at="2024-06-01")
    memory.rebuild("homes", ontology=two_homes)

    found = memory.generations_diff("main", "homes")

    [gained] = [difference for difference in found if difference.change == "gained"]
    assert gained.base is not None
    assert gained.base.fact.object == "Oslo"
    assert [consequence.kind for consequence in gained.base.consequences] == ["superseded"]


def test_a_generation_that_is_not_there_is_named(memory: Memory) -> None:
    with pytest.raises(asof.NotFound, match="no generation 'third': there are main"):
        memory.generations_diff("main", "third")


def test_the_cursor_of_another_question_is_refused(memory: Memory) -> None:
    memory.rebuild("second")
    cursor = memory.episodes(limit=1).next

    with pytest.raises(asof.InvalidInput, match="cursor"):
        memory.generations_diff("main", "second", cursor=cursor)


def test_the_command_and_the_route_answer_as_python_does(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.rebuild("work", input="episodes", ontology="agent_memory_v1")
    found = memory.generations_diff("main", "work")
    memory.close()
    command = Asof(tmp_path, capsys)

    told = command.json("generations", "diff", "main", "work")

    assert told["differences"] == [difference.to_json() for difference in found]
    assert told["summary"] == [numbers.to_json() for numbers in found.summary]
    with serving(tmp_path) as server:
        answer = server.client.get("/v1/generations/diff", params={"base": "main", "other": "work"})
        assert answer.json() == told
        assert server.client.get("/v1/generations/diff", params={"base": "main", "other": "x"}).status_code == 404

    shown = command("generations", "diff", "main", "work")
    assert "relation" in shown
    assert "gained" in shown
    assert "said" in command("generations", "diff", "main", "work", "--why")
    command("generations", "diff", "main", code=2)
    command("generations", "switch", "work", "--limit", "3", code=2)


def test_no_difference_is_said_of_the_group_that_was_asked_about(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.rebuild("second")
    memory.close()
    command = Asof(tmp_path, capsys)

    command("generations", "diff", "main", "second")
    assert command.err == "no difference in the group default\n"
    command("generations", "diff", "main", "second", "--group", "ana", "--why")
    assert command.err == "no difference in the group ana\n"
    command("generations", "diff", "main", "second", "--all-groups")
    assert command.err == "no difference\n"
