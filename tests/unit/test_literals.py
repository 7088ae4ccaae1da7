"""Numbers as objects of structured facts, and qualifiers: what becomes of them, at once and in a rebuild."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

import asof
from asof import Memory
from asof_streams.errors import InvalidInput
from asof_streams.literals import MAX_WHOLE, Qualifiers, one_form, text_of

DAYS = ("2024-01-01", "2024-02-01", "2024-03-01")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path / "data") as memory:
        yield memory


def state(memory: Memory, object_: Any, **more: Any) -> None:
    memory.state_fact(**{"subject": "Ana", "relation": "age", "object": object_, "valid_at": DAYS[0], **more})


def held(memory: Memory, **asked: Any) -> list[Any]:
    return [fact.value if fact.value is not None else fact.object for fact in memory.facts(valid_at=DAYS[2], **asked)]


@pytest.mark.parametrize(
    ("given", "kept", "text"),
    [
        (1, 1, "1"),
        (1.0, 1, "1"),
        (-0.0, 0, "0"),
        (1.620, 1.62, "1.62"),
        (0.1, 0.1, "0.1"),
        (1e15, 10**15, "1000000000000000"),
        (2.0**53, 2**53, "9007199254740992"),
        (2**53, 2**53, "9007199254740992"),
        (1e300, 1e300, "1e+300"),
        (-1e-7, -1e-7, "-1e-07"),
    ],
)
def test_a_number_has_one_form_and_one_text(given: float, kept: float, text: str) -> None:
    assert (one_form(given), type(one_form(given)), text_of(given)) == (kept, type(kept), text)


@given(st.integers(-MAX_WHOLE, MAX_WHOLE) | st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_means_the_number_and_equal_numbers_have_one_text(number: float) -> None:
    text = text_of(number)

    assert json.loads(text) == number
    assert text_of(float(number)) == text == text_of(json.loads(text))


@pytest.mark.parametrize(
    ("qualifiers", "fits"),
    [
        ({f"q{number}": number for number in range(32)}, True),
        ({f"q{number}": number for number in range(33)}, False),
        ({"q" * 100: "v" * 1_000}, True),
        ({"q" * 101: 1}, False),
        ({"q": "v" * 1_001}, False),
        ({" ": 1}, False),
        ({"q": " "}, False),
        ({"q": 1.0}, True),
        ({"q": 2**53 + 1}, False),
    ],
)
def test_qualifiers_are_few_and_short_and_say_something(qualifiers: dict[str, Any], fits: bool) -> None:
    adapter = TypeAdapter[dict[str, Any]](Qualifiers)

    if fits:
        assert adapter.validate_python(qualifiers) == qualifiers
    else:
        with pytest.raises(ValidationError):
            adapter.validate_python(qualifiers)


def test_the_schema_of_qualifiers_knows_no_other_names() -> None:
    schema = TypeAdapter[dict[str, Any]](Qualifiers).json_schema()

    assert (schema["additionalProperties"], list(schema["patternProperties"])) == (False, [r"\S"])


def test_a_number_stays_a_number_and_a_text_the_name_of_an_entity(memory: Memory) -> None:
    state(memory, 42.0)
    state(memory, "42")

    number, name = memory.facts(valid_at=DAYS[2])
    assert (number.value, number.object, number.object_uuid, number.fact) == (42, "42", None, "Ana age 42")
    assert (name.value, name.object, name.object_uuid is None) == (None, "42", False)
    assert type(memory.facts()[0].to_json()["value"]) is int


def test_one_number_in_two_forms_is_one_fact_and_another_number_another_one(memory: Memory) -> None:
    for number in (1, 1.0, 1.5):
        state(memory, number)

    assert held(memory) == [1, 1.5]
    assert [len(fact.episodes) for fact in memory.facts()] == [2, 1]


def test_a_number_is_ended_corrected_and_retracted_by_its_value(memory: Memory) -> None:
    for number in (1, 2.5, 3):
        state(memory, number, ref=f"r{number}")
    state(memory, 1.0, op="end", invalid_at=DAYS[1], valid_at=None)
    state(memory, 2.5, op="retract", valid_at=None)
    state(memory, 4, op="correct", ref="r3", valid_at=None)

    assert held(memory) == [4]
    assert [fact.value for fact in memory.facts(valid_at=DAYS[0])] == [1, 4]


def test_a_single_valued_relation_has_one_number_at_a_time(memory: Memory) -> None:
    state(memory, 900, relation="has_age")
    state(memory, 950, relation="has_age", valid_at=DAYS[1])

    assert held(memory) == [950]
    assert [segment.object for segment in memory.timeline("Ana")] == ["900", "950"]


def test_what_was_read_in_words_and_stated_as_a_number_is_one_fact(memory: Memory) -> None:
    memory.add("My rent is 900.", role="Ana", timestamp=DAYS[0])
    [said] = memory.facts()
    assert (said.object, said.value) == ("900", None)

    state(memory, 900, relation=said.relation)

    [stated] = memory.facts()
    assert (stated.uuid, stated.value, len(stated.episodes)) == (said.uuid, 900, 2)


def test_other_qualifiers_make_no_other_fact_and_each_statement_keeps_its_own(memory: Memory) -> None:
    first, second = {"role": "cook", "hours": 37.5}, {"role": "chef"}
    for qualifiers in (first, second, None):
        state(memory, "Acme", relation="works_at", qualifiers=qualifiers)

    [fact] = memory.facts()
    assert fact.qualifiers == {"role": "chef", "hours": 37.5}
    assert [evidence.qualifiers for evidence in memory.why(fact.uuid).evidence] == [first, second, {}]
    assert hash(fact) == hash(memory.facts()[0])


def test_qualifiers_are_as_they_were_known_and_go_with_their_statement(memory: Memory) -> None:
    memory.state_fact(subject="Ana", relation="works_at", object="Acme", qualifiers={"role": "cook"})
    before = memory.facts()[0].created_at
    memory.state_fact(subject="Ana", relation="works_at", object="Acme", qualifiers={"role": "chef"})
    [fact] = memory.facts()
    assert fact.qualifiers == {"role": "chef"}

    memory.withdraw(fact.episodes[1])

    assert memory.facts()[0].qualifiers == {"role": "cook"}
    assert memory.facts(known_at=before)[0].qualifiers == {"role": "cook"}


def test_a_fact_with_a_ref_may_come_again_with_other_qualifiers_and_a_correction_has_its_own(memory: Memory) -> None:
    state(memory, "Acme", relation="works_at", ref="j", qualifiers={"role": "cook"})
    state(memory, "Acme", relation="works_at", ref="j", qualifiers={"role": "chef"})
    assert memory.facts()[0].qualifiers == {"role": "chef"}

    state(memory, "Acme", relation="works_at", ref="j", op="correct", qualifiers={"page": 7})

    assert memory.facts()[0].qualifiers == {"page": 7}


def test_lines_that_are_imported_are_refused_one_by_one_with_the_field(memory: Memory) -> None:
    claim = {"subject": "Ana", "relation": "age"}
    lines = [
        {**claim, "object": 42, "qualifiers": {"by": "passport"}},
        {**claim, "object": True},
        {**claim, "object": 1, "qualifiers": []},
    ]

    produced = memory.import_facts(json.dumps(line) for line in lines)

    assert [(refused.line, refused.field) for refused in produced.refused] == [(2, "object"), (3, "qualifiers")]
    assert [fact.value for fact in memory.facts()] == [42]


def test_exports_have_the_number_and_the_qualifiers(memory: Memory) -> None:
    state(memory, 42, qualifiers={"by": "passport", "page": 2})

    [edge] = json.loads("".join(memory.export()))["edges"]
    assert (edge["value"], edge["qualifiers"]) == (42, {"by": "passport", "page": 2})
    graphml = "".join(memory.export(format="graphml"))
    assert '<data key="edge.value">42</data>' in graphml
    assert '<data key="edge.qualifiers">{"by": "passport", "page": 2}</data>' in graphml


def test_a_rebuild_has_the_same_numbers_and_qualifiers(memory: Memory) -> None:
    for number, by in ((42, "Ana"), (42.0, "Ben"), (1.5, "Ana")):
        state(memory, number, qualifiers={"by": by})
    before = [fact.to_json() for fact in memory.facts()]

    memory.rebuild("again")
    memory.switch("again")

    told = ("value", "qualifiers", "object", "episodes", "valid_at", "created_at")
    assert [[fact.to_json()[name] for name in told] for fact in memory.facts()] == [
        [f[name] for name in told] for f in before
    ]


def test_refused_numbers_and_qualifiers_change_nothing(memory: Memory) -> None:
    for wrong in ({"object": 10**400}, {"object": float("nan")}, {"object": 1, "qualifiers": {"a": {}}}):
        with pytest.raises(InvalidInput):
            memory.state_fact(**{"subject": "Ana", "relation": "age", **wrong})

    assert memory.facts() == []
