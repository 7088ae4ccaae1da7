"""The examples of an ontology are its tests: the rules find exactly their facts, or the difference is said."""

from datetime import date

import pytest

from asof_agents.extraction.english.examples import run_examples
from asof_ontologies.model import Example, ExampleFact
from asof_ontologies.registry import load, names, read_file

MOVED = "I moved to Berlin in March."


def result(text: str, *facts: ExampleFact, said_at: date = date(2024, 4, 2)) -> tuple[tuple[str, ...], tuple[str, ...]]:
    example = Example(text=text, said_at=said_at, facts=facts)
    [found] = run_examples(load("default").model_copy(update={"examples": (example,)}), [7])
    assert found.line == 7
    assert found.holds == (found.missing == found.unexpected == ())
    return found.missing, found.unexpected


def lives(where: str, valid_at: date | None = None) -> ExampleFact:
    return ExampleFact(subject="I", relation="lives_in", object=where, valid_at=valid_at)


@pytest.mark.parametrize("name", names())
def test_the_examples_of_the_ontologies_that_come_with_asof_hold(name: str) -> None:
    file = read_file(name)
    assert file.ontology is not None

    results = run_examples(file.ontology, file.example_lines)

    assert len(results) >= 5
    assert [(one.line, one.missing, one.unexpected) for one in results if not one.holds] == []
    assert any(not example.facts for example in file.ontology.examples)


def test_an_example_holds_if_exactly_its_facts_are_found() -> None:
    assert result(MOVED, lives("Berlin")) == ((), ())
    assert result(MOVED, lives("Berlin", date(2024, 3, 1))) == ((), ())
    assert result("Do you live in Berlin?") == ((), ())


def test_facts_that_are_not_found_and_those_that_are_not_expected_are_both_said() -> None:
    found = "assert I lives_in Berlin from 2024-03-01"

    assert result(MOVED) == ((), (found,))
    assert result(MOVED, lives("Rome")) == (("assert I lives_in Rome",), (found,))
    assert result(MOVED, lives("Berlin", date(2024, 3, 2))) == (("assert I lives_in Berlin from 2024-03-02",), (found,))
    assert result(MOVED, lives("Berlin"), lives("Berlin")) == (("assert I lives_in Berlin",), ())


def test_an_ending_is_no_assertion() -> None:
    ended = ExampleFact(op="end", subject="I", relation="works_at", object="Siemens")

    assert result("I used to work at Siemens.", ended) == ((), ())
    missing, unexpected = result("I used to work at Siemens.", ended.model_copy(update={"op": "assert"}))
    assert (missing, unexpected) == (("assert I works_at Siemens",), ("end I works_at Siemens",))
