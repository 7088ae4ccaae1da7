"""A memory to which nothing was written: lists are empty, and what has an id is not there."""

from dataclasses import astuple
from datetime import UTC, datetime

import pytest

import asof
from asof.api.memory import Memory
from asof.settings import Settings
from asof_streams.instants import from_datetime

LISTS = {
    "facts": {"about": "Ana"},
    "overlapping": {"start": "2024", "stop": "2025"},
    "throughout": {"start": "2024", "stop": "2025"},
    "search": {"query": "Ana"},
    "entities": {},
    "entity": {"name": "Ana"},
    "communities": {},
    "neighbourhood": {"name": "Ana"},
    "timeline": {"name": "Ana"},
    "history": {"id": "Ana"},
    "diff": {"start": ("2024", None), "stop": ("2025", None)},
    "episodes": {},
    "groups": {},
    "parked": {},
    "contradictions": {},
    "objectives": {},
    "feedback": {},
    "usage": {},
}


@pytest.mark.parametrize("verb", LISTS)
def test_a_list_asked_of_a_memory_to_which_nothing_was_written_is_empty(tmp_path, verb):
    with asof.open(tmp_path / "none", embedder="none") as memory:
        assert getattr(memory, verb)(**LISTS[verb]) == []
        assert memory.changes(after=3) == asof.Changes((), 3)

    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("embedder", ["none", "hash"])
@pytest.mark.parametrize(
    "asked", [{}, {"profile": "pipeline"}, {"profile": "pipeline", "mindset": "divergent", "over": "facts"}]
)
def test_what_it_answers_is_answered_again_as_of_then_once_something_was_written(tmp_path, asked, embedder):
    then, now = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 3, 2, tzinfo=UTC)
    at = {"valid_at": then, "known_at": then}
    settings = Settings(data=tmp_path / "none", embedder=embedder)
    with Memory(settings, now=lambda: from_datetime(now)) as memory:

        def answers():
            hits = memory.search("Exactly where does Ana live?", **at, **asked)
            return [*hits], hits.episodes, hits.retrieval, memory.context("Where does Ana live?", **at)

        given_then = answers()
        memory.add("I moved to Berlin.", role="Ana")

        assert answers() == given_then
        assert (given_then[2] is None) == ("profile" not in asked)


def test_a_search_of_it_tells_on_request_that_no_step_took_any_time(tmp_path):
    with asof.open(tmp_path / "none", embedder="none") as memory:
        retrieval = memory.search("Ana", profile="pipeline", explain=True).retrieval

    assert retrieval is not None
    assert retrieval.metrics is not None
    assert set(astuple(retrieval.metrics)) == {0}


def test_it_has_no_vectors(tmp_path):
    with asof.open(tmp_path / "none", embedder="hash") as memory:
        assert memory.embed() == asof.Embedded(0)

    assert not (tmp_path / "none").exists()


def test_what_has_an_id_is_not_found_in_it_and_it_cannot_be_verified(tmp_path):
    with asof.open(tmp_path / "none", embedder="none") as memory:
        for ask in (
            lambda: memory.fact("x"),
            lambda: memory.known_history("x"),
            lambda: memory.message(0),
            memory.verify,
            memory.stats,
        ):
            with pytest.raises(asof.EmptyMemory):
                ask()


def test_facts_and_messages_may_be_given_as_dicts_and_a_bad_one_is_refused_by_its_number(tmp_path):
    began = datetime(2024, 3, 1, tzinfo=UTC)
    with asof.open(tmp_path, embedder="none") as memory:
        stated = memory.import_facts(
            [
                {"group_id": "default", "subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_at": began},
                '{"group_id": "default", "subject": "Ana", "relation": "works_at", "object": "Acme"}',
                {"group_id": "default", "subject": "Ana", "relation": "lives_in", "valid_at": "soon"},
                {
                    "group_id": "default",
                    "subject": "Ana",
                    "relation": "lives_in",
                    "valid_at": began.replace(tzinfo=None),
                },
            ]
        )
        told = memory.produce([{"group_id": "default", "role_type": "user", "role": "Ana", "content": "I like jazz."}])
        [rome] = memory.facts(about="Ana", object="Rome")

    assert (stated.accepted, [(bad.line, bad.field) for bad in stated.refused]) == (
        2,
        [(3, "valid_at"), (4, "valid_at")],
    )
    assert told.accepted == 1
    assert rome.valid_at == began
