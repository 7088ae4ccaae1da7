"""A JSON document is read by its string values, each at its place."""

import json
from pathlib import Path

import pytest

from asof_agents.extraction.documents import words
from world import World


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ('{"city": "Berlin"}', ["Berlin"]),
        ('["I like tea.", {"Ana": "I moved to Oslo."}, 7, null]', ["I like tea.", "I moved to Oslo."]),
        (r'{"a": "say \"hi\" to\nAna \u00e9"}', ["say   hi   to  Ana"]),
        ('"Ana lives in Rome."', ["Ana lives in Rome."]),
        ('{"a": "I like tea."}\n\n{"b": "I moved to Oslo."}\n', ["I like tea.", "I moved to Oslo."]),
        ("{}", []),
        ("12", []),
    ],
)
def test_only_string_values_are_read_each_where_it_stands(content: str, read: list[str]) -> None:
    found = words(content)

    assert len(found) == len(content)
    assert [part.strip() for part in found.split("\n") if part.strip()] == read
    assert all(a == b or a.isspace() for a, b in zip(found, content, strict=True))


@pytest.mark.parametrize(
    "content",
    [
        "I like tea.",
        "I like tea.\nI live in Oslo.",
        '{"a": "b"}\nI like tea.',
        '{"a": "b"',
        "[" * 100_000 + "]" * 100_000,
        "",
    ],
)
def test_what_is_no_json_is_text(content: str) -> None:
    assert words(content) == content


def test_names_of_fields_state_nothing_and_sentences_in_values_do(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    document = {"Ana lives in Rome. Ben lives in Oslo. ": 1, "note": "Cem lives in Kigali."}

    world.memory.add(json.dumps(document), group_id="g", source="json")

    assert [(fact.subject, fact.object) for fact in world.memory.facts(group_id="g")] == [("Cem", "Kigali")]
    world.memory.close()
