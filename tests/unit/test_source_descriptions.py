"""Where a statement comes from, in its producer's words: kept with the episode, shown with the evidence."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof import Memory

CLAIM = {"subject": "Ana", "relation": "works_at", "object": "Acme"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path / "data") as memory:
        yield memory


def test_each_statement_says_where_it_comes_from_and_that_makes_no_other_fact(memory: Memory) -> None:
    for source in ("payroll export", "", "a letter"):
        memory.state_fact(**CLAIM, valid_at="2024-01-01", source_description=source)
    memory.state_fact(subject="Ana", relation="works_at", op="end", invalid_at="2024-03-01", source_description="HR")

    [fact] = memory.facts(any_time=True)
    why = memory.why(fact.uuid)
    [ended] = why.consequences
    assert [evidence.source_description for evidence in why.evidence] == ["payroll export", "", "a letter"]
    assert ended.evidence is not None
    assert ended.evidence.source_description == "HR"
    assert [memory.episode(uuid).source_description for uuid in fact.episodes] == ["payroll export", "", "a letter"]
    assert {memory.episode(uuid).source for uuid in fact.episodes} == {"fact"}


def test_evidence_of_a_message_says_where_the_message_comes_from(memory: Memory) -> None:
    memory.add("I live in Rome.", role="Ana", source_description="a chat")

    [fact] = memory.facts()
    assert [evidence.source_description for evidence in memory.why(fact.uuid).evidence] == ["a chat"]


def test_a_source_is_told_in_each_form_of_an_import_and_a_rebuild_keeps_it(memory: Memory) -> None:
    claim = {"subject": "Ana", "relation": "knows", "object": "Ben", "source_description": "line"}
    table = "subject,relation,object,source_description\nAna,knows,Ben,cell\nAna,knows,Ben,\n"
    memory.import_facts([json.dumps(claim)])
    memory.import_facts(csv.DictReader(table.splitlines()))

    memory.rebuild("again")
    memory.switch("again")

    [fact] = memory.facts()
    assert [evidence.source_description for evidence in memory.why(fact.uuid).evidence] == ["line", "cell", ""]
