"""Accepting what producers send: every refusal names the field and the reason, never the content."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_streams.errors import NOT_UNICODE, DecodeError, InvalidInput
from asof_streams.instants import FIRST, INF, LAST, NEG
from asof_streams.messages import (
    MAX_CONTENT_BYTES,
    MAX_GROUP_CHARACTERS,
    MAX_NAME_CHARACTERS,
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RedactionRequest,
    RetryRequest,
    TimezoneStatement,
    accept,
    check_group,
    in_database,
    in_scope,
    takes_back,
    validate,
)

MESSAGE = {"group_id": "ana-1", "content": "I moved to Berlin.", "role_type": "user"}
FACT = {"group_id": "yago", "subject": "Ana", "relation": "works_at", "object": "SAP"}


def test_a_message_of_the_fewest_fields_is_accepted() -> None:
    assert accept(Message, MESSAGE) == Message(group_id="ana-1", content="I moved to Berlin.", role_type="user")


def test_times_are_read_from_text_with_their_offset() -> None:
    message = accept(Message, {**MESSAGE, "timestamp": "1970-01-01T01:00:00+01:00"})
    fact = accept(FactStatement, {**FACT, "valid_at": "1970-01-01T00:00:01Z", "invalid_at": None, "said_at": None})

    assert (message.timestamp, fact.valid_at, fact.invalid_at) == (0, 1_000_000, None)


def test_times_in_microseconds_are_taken_as_they_are() -> None:
    given_ = "2024-05-01T09:30:00.25+02:00", 1_714_548_600_250_000

    assert validate(Message, {**MESSAGE, "timestamp": given_[1]}) == accept(
        Message, {**MESSAGE, "timestamp": given_[0]}
    )
    assert [validate(Message, {**MESSAGE, "timestamp": at}).timestamp for at in (FIRST, LAST)] == [FIRST, LAST]


@pytest.mark.parametrize("time", [NEG, FIRST - 1, LAST + 1, INF])
def test_a_time_that_cannot_be_written_is_refused(time: int) -> None:
    with pytest.raises(InvalidInput, match="timestamp: it is outside of the years 1 to 9999"):
        validate(Message, {**MESSAGE, "timestamp": time})


def test_what_was_given_is_left_as_it_was() -> None:
    given_ = {**MESSAGE, "timestamp": "1970-01-01T00:00:00Z"}
    accept(Message, given_)

    assert given_["timestamp"] == "1970-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "fields",
    [
        {"op": "end", "subject": "Ana", "relation": "works_at"},
        {"op": "retract", "ref": "f1"},
        {"op": "end", "ref": "f1", "invalid_at": "2024-01-01T00:00:00Z"},
        {"op": "correct", "ref": "f1", "subject": "Ana", "relation": "works_at", "object": "SAP"},
    ],
)
def test_a_fact_says_only_what_its_operation_needs(fields: dict[str, Any]) -> None:
    assert accept(FactStatement, {"group_id": "g", **fields}).op == fields["op"]


SECRET = "s3cret-w0rds"
WHOLE = "a whole number lies between -2^53 and 2^53: state a longer one as a text"
QUALIFIERS = (
    "qualifiers: it must be an object of at most 32 names, each with a text or a number: a name has 1 to 100 "
    "characters, a text 1 to 1000"
)
WRONG_QUALIFIERS = [
    *([], SECRET, {SECRET: None}, {SECRET: True}, {SECRET: [1]}, {SECRET: ""}, {SECRET: "x" * 1_001}),
    *({" ": 1}, {"x" * 101: 1}, {1: 1}, {f"{SECRET}{n}": n for n in range(33)}),
]
FIELDS = ", ".join(Message.model_fields)
TOO_LONG = SECRET + "x" * MAX_CONTENT_BYTES


def field_of(text: str) -> str | None:
    """The field that a text names first, by its form alone; None where it speaks of several or of none."""
    first = text.partition(": ")[0]
    return None if " " in first and first != "(a name)" else first


MESSAGE_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"group_id": None}, "group_id: Input should be a valid string"),
    ({"group_id": ""}, "group_id: a group id has 1 to 200 characters, and no control character"),
    ({"group_id": SECRET + "\x1f"}, "group_id: a group id has 1 to 200 characters, and no control character"),
    ({"group_id": SECRET + "\x85"}, "group_id: a group id has 1 to 200 characters, and no control character"),
    ({"group_id": SECRET + "\ud800"}, "group_id: text must be valid Unicode (it has half of a surrogate pair)"),
    ({"group_id": "g" * 201}, "group_id: a group id has 1 to 200 characters, and no control character"),
    ({"group_id": "g\n"}, "group_id: a group id has 1 to 200 characters, and no control character"),
    ({"content": None}, "content: Input should be a valid string"),
    ({"content": [SECRET]}, "content: Input should be a valid string"),
    ({"content": SECRET + "\ud800"}, "content: text must be valid Unicode (it has half of a surrogate pair)"),
    (
        {"content": TOO_LONG},
        f"content: it has {len(TOO_LONG)} bytes, the limit is {MAX_CONTENT_BYTES}: split it into several messages",
    ),
    ({"role_type": SECRET}, "role_type: Input should be 'user', 'assistant' or 'system'"),
    ({"role_type": None}, "role_type is missing: one of user, assistant, system"),
    ({"role": SECRET * 1_000}, f"role: it is too long, the limit is {MAX_NAME_CHARACTERS} characters"),
    ({"name": "n" * 1_001}, f"name: it is too long, the limit is {MAX_NAME_CHARACTERS} characters"),
    (
        {"source_description": "n" * 1_001},
        f"source_description: it is too long, the limit is {MAX_NAME_CHARACTERS} characters",
    ),
    ({"uuid": " "}, "uuid: it must not be empty"),
    ({"source": SECRET}, "source: Input should be 'message', 'text' or 'json'"),
    ({"timestamp": SECRET}, "timestamp: not a time: write it as 2024-05-01T09:30:00Z"),
    ({"timestamp": "2024-05-01T09:30:00"}, "timestamp: a time needs its offset: add Z or +hh:mm"),
    ({"timestamp": "2024-02-30T09:30:00Z"}, "timestamp: no such day or hour: write it as 2024-05-01T09:30:00Z"),
    ({"timestamp": 1_714_555_800}, "timestamp: a time is a string such as 2024-05-01T09:30:00Z"),
    ({"timestamp": True}, "timestamp: a time is a string such as 2024-05-01T09:30:00Z"),
    ({"schema_id": SECRET}, "schema_id: it must be letters, digits and _, in lower case, as agent_memory_v1"),
    ({"entity_types": {SECRET: "a thing"}}, "entity_types: it must be letters and begin with a capital, as Person"),
    ({"entity_types": {"Vendor": " "}}, "entity_types: it must not be empty"),
    (
        {
            "entity_types": {
                "Vendor": {"description": "One.", "attributes": [{"name": "x", "means": "y", "kind": SECRET}]}
            }
        },
        "entity_types.attributes.0.kind: Input should be 'text', 'number' or 'date'",
    ),
    (
        {"entity_types": {"Vendor": {"description": "One.", "attributes": [{"name": "x", SECRET: "y", "means": "y"}]}}},
        "entity_types.attributes.0: no such field; known are name, means, kind, choices",
    ),
    ({"entity_types": {"Vendor": {"description": "One."}}}, "entity_types.attributes: Field required"),
    ({"entity_types": {"Vendor": 7}}, "entity_types: Input should be a valid dictionary or instance of TypeSchema"),
    ({"entity_types": [SECRET]}, "entity_types: Input should be a valid dictionary"),
    (
        {"entity_types": {"Vendor": "\ud800"}},
        "entity_types: text must be valid Unicode (it has half of a surrogate pair)",
    ),
    (
        {"excluded_entity_types": ["Person", SECRET]},
        "excluded_entity_types.1: it must be letters and begin with a capital, as Person",
    ),
    (
        {"excluded_entity_types": ["A"] * 101},
        "excluded_entity_types: List should have at most 100 items after validation, not 101",
    ),
    ({"relation_types": {"x" * 65: "m"}}, "relation_types: String should have at most 64 characters"),
    (
        {"relation_types": {SECRET: "m"}},
        "relation_types: it must be letters and digits in lower case with _ between them, as lives_in",
    ),
    ({"relation_type_map": [{"source": "A", "target": "B"}]}, "relation_type_map.0.relations: Field required"),
    (
        {"relation_type_map": [{"source": "A", "target": "B", "relations": ["r"], SECRET: 1}]},
        "relation_type_map.0: no such field; known are source, target, relations",
    ),
    ({"previous_episode_ids": [SECRET, ""]}, "previous_episode_ids.1: it must not be empty"),
    ({"suppress_content": "yes"}, "suppress_content: Input should be a valid boolean"),
    (
        {"text": SECRET},
        f"text: no such field; known are {FIELDS}",
    ),
    ({"tiemstamp": SECRET}, "tiemstamp: no such field; did you mean timestamp?"),
    (
        {SECRET: 1},
        f"(a name): no such field; known are {FIELDS}",
    ),
]


@pytest.mark.parametrize(("change", "reason"), MESSAGE_REFUSALS, ids=[reason[:40] for _, reason in MESSAGE_REFUSALS])
def test_a_refused_message_names_field_and_reason_and_no_content(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        accept(Message, {**MESSAGE, "content": SECRET, **change})

    assert str(caught.value) == reason
    assert caught.value.field == field_of(reason)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("field", ["group_id", "content"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}: Field required$"):
        accept(Message, {name: value for name, value in MESSAGE.items() if name != field})


OPTIONS = {
    "schema_id": "agent_memory_v1",
    "entity_types": {"Vendor": "A company that we buy from."},
    "excluded_entity_types": ["Environment"],
    "relation_types": {"supplied_by": "Who delivers the source."},
    "relation_type_map": [{"source": "Component", "target": "Vendor", "relations": ["supplied_by"]}],
    "previous_episode_ids": ["00000001-0000-5000-8000-000000000001"],
    "suppress_content": True,
    "update_communities": True,
}


def test_what_is_said_of_the_reading_is_kept_as_it_was_said() -> None:
    message = accept(Message, {**MESSAGE, **OPTIONS})

    assert {name: message.model_dump(mode="json")[name] for name in OPTIONS} == OPTIONS


def test_a_message_of_which_nothing_is_said_is_written_as_it_always_was() -> None:
    assert accept(Message, MESSAGE).encode() == (
        b'{"group_id":"ana-1","content":"I moved to Berlin.","role_type":"user","role":"","name":"",'
        b'"source":"message","source_description":""}'
    )


def test_a_document_needs_no_role() -> None:
    assert accept(Message, {"group_id": "g", "content": "{}", "source": "json"}).role_type is None


FACT_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"op": SECRET}, "op: Input should be 'assert', 'end', 'correct' or 'retract'"),
    ({"subject": None}, "assert needs subject"),
    ({"subject": None, "object": None, "ref": "f1"}, "assert needs subject and object"),
    ({"op": "correct", "ref": "f1", "relation": None}, "correct needs relation"),
    ({"op": "end", "subject": None}, "end needs subject"),
    ({"op": "retract", "object": None}, "retract needs object"),
    ({"subject": "  "}, "subject: it must not be empty"),
    ({"ref": ""}, "ref: it must not be empty"),
    ({"object": SECRET * 1_000}, f"object: it is too long, the limit is {MAX_NAME_CHARACTERS} characters"),
    (
        {"fact": TOO_LONG},
        f"fact: it has {len(TOO_LONG)} bytes, the limit is {MAX_CONTENT_BYTES}: split it into several messages",
    ),
    (
        {"valid_at": "2024-01-01T00:00:00Z", "invalid_at": "2024-01-01T00:00:00Z"},
        "valid_at must be before invalid_at",
    ),
    ({"valid_at": "2024-01-01T00:00:00"}, "valid_at: a time needs its offset: add Z or +hh:mm"),
    ({"said_at": 5}, "said_at: a time is a string such as 2024-05-01T09:30:00Z"),
    ({"object": True}, "object: it must be a name or a number"),
    ({"object": float("inf")}, "object: it must be a finite number"),
    ({"object": 2**53 + 1}, f"object: {WHOLE}"),
    ({"object": 5, "object_type": "City"}, "object_type is of an entity, and a number is none: leave it out"),
    ({"op": "end", "qualifiers": {"by": 1}}, "qualifiers are of what is asserted: end takes none"),
    *(({"qualifiers": wrong}, QUALIFIERS) for wrong in WRONG_QUALIFIERS),
    ({"qualifiers": {SECRET: 2**60}}, f"qualifiers: {WHOLE}"),
    ({"qualifiers": {SECRET: "\ud800"}}, f"qualifiers: {NOT_UNICODE}"),
    ({"confidence": 1.01}, "confidence: Input should be less than or equal to 1"),
    ({"confidence": -0.01}, "confidence: Input should be greater than or equal to 0"),
    ({"confidence": float("nan")}, "confidence: Input should be less than or equal to 1"),
    ({"confidence": None}, "confidence: Input should be a valid number"),
    ({"confidence": "0.9"}, "confidence: Input should be a valid number"),
    ({"confidence": True}, "confidence: Input should be a valid number"),
]


@pytest.mark.parametrize(("change", "reason"), FACT_REFUSALS, ids=[reason[:40] for _, reason in FACT_REFUSALS])
def test_a_refused_fact_names_field_and_reason_and_no_content(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        accept(FactStatement, {**FACT, **change})

    assert str(caught.value) == reason
    assert caught.value.field == field_of(reason)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("line", [None, [], "text", 7, True])
def test_a_line_that_is_no_object_is_refused(line: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^a line must be one JSON object$"):
        accept(Message, line)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*Message.model_fields, *FactStatement.model_fields]) | st.text(), json_values))
def test_whatever_is_given_is_accepted_whole_or_refused_as_invalid_input(fields: dict[str, Any]) -> None:
    for kind, valid in ((Message, MESSAGE), (FactStatement, FACT)):
        for given_ in (fields, {**valid, **fields}):
            try:
                accepted = accept(kind, given_)
            except InvalidInput:
                continue
            assert kind.model_validate_json(accepted.encode()) == accepted


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=200))
def test_a_group_id_is_any_text_of_up_to_200_characters(group: str) -> None:
    assert check_group(group) == group
    assert Message(group_id=group, content="", role_type="user").group_id == group


@pytest.mark.parametrize("bad", ["", "x" * 201, "a\n", "a\x00b", "\x7f", "a\x85", "a\ud800b", "a\udfff"])
def test_what_is_empty_too_long_or_no_text_is_no_group_id(bad: str) -> None:
    with pytest.raises(InvalidInput):
        check_group(bad)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "message", "source": "text"}, "kind is of a message"),
        ({"kind": "message", "uuid": "e"}, "uuid names an episode"),
        ({"kind": "edit"}, "external_id is missing"),
        ({"kind": "deletion"}, "external_id is missing"),
        ({"kind": "reaction"}, "reply_to is missing"),
    ],
)
def test_a_kind_of_message_without_what_it_needs_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        accept(Message, {**MESSAGE, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "message"},
        {"kind": "edit", "external_id": "7"},
        {"kind": "deletion", "external_id": "7"},
        {"kind": "reaction", "reply_to": "7"},
    ],
)
def test_a_kind_of_message_with_what_it_needs_is_accepted(fields: dict[str, Any]) -> None:
    assert accept(Message, {**MESSAGE, **fields}).kind == fields["kind"]


def test_the_id_of_an_entity_may_have_its_group_before_it_and_is_no_longer_than_both() -> None:
    longest = "x" * (MAX_GROUP_CHARACTERS + 1 + MAX_NAME_CHARACTERS)
    given_ = {"group_id": "g", "name": "Ana"}

    assert accept(EntityStatement, {**given_, "entity_id": longest}).entity_id == longest
    with pytest.raises(InvalidInput):
        accept(EntityStatement, {**given_, "entity_id": f"{longest}x"})


@pytest.mark.parametrize("bad", ["europe/berlin", "Europe Berlin", "", "Z" * 65])
def test_a_time_zone_has_a_name_that_means_the_same_on_every_machine(bad: str) -> None:
    with pytest.raises(InvalidInput):
        accept(TimezoneStatement, {"group_id": "g", "timezone": bad})


def test_what_people_say_is_in_no_representation() -> None:
    message = Message(
        group_id="g",
        content="SECRET",
        role="SECRET",
        name="SECRET",
        source_description="SECRET",
        role_type="user",
    )
    fact = FactStatement(
        group_id="g", subject="SECRET", relation="r", object="SECRET", fact="SECRET", qualifiers={"SECRET": "SECRET"}
    )
    entity = EntityStatement(group_id="g", entity_id="e", name="SECRET", summary="SECRET")
    merge = IdentityStatement(group_id="g", op="merge", entity="SECRET", into="SECRET 2")
    alias = IdentityStatement(group_id="g", op="alias", entity="SECRET", name="SECRET 2")

    for event in (message, fact, entity, merge, alias, ErasureRequest(group_id="g")):
        assert "SECRET" not in f"{event!r}{event!s}"


def test_types_that_a_message_brings_are_in_no_representation() -> None:
    message = accept(
        Message,
        {
            **MESSAGE,
            "entity_types": {"Vendor": "SECRET"},
            "excluded_entity_types": ["Secretary"],
            "relation_types": {"supplied_by": "SECRET"},
            "relation_type_map": [{"source": "Secretary", "target": "Vendor", "relations": ["supplied_by"]}],
        },
    )

    assert "secret" not in f"{message!r}{message!s}".lower()


def test_content_may_have_as_many_bytes_as_the_limit_whatever_its_characters() -> None:
    widest = "\U0001f600" * (MAX_CONTENT_BYTES // 4)

    assert accept(Message, {**MESSAGE, "content": "x" * MAX_CONTENT_BYTES}).content == "x" * MAX_CONTENT_BYTES
    assert accept(Message, {**MESSAGE, "content": widest}).content == widest
    with pytest.raises(InvalidInput, match=f"^content: it has {MAX_CONTENT_BYTES + 1} bytes, "):
        accept(Message, {**MESSAGE, "content": widest + "x"})


def test_a_retry_names_a_position_of_the_log_which_none_before_its_begin_is() -> None:
    assert accept(RetryRequest, {"group_id": "g", "position": 0}).position == 0
    with pytest.raises(InvalidInput, match=r"^position: "):
        accept(RetryRequest, {"group_id": "g", "position": -1})


def test_an_id_of_a_producers_own_has_a_thousand_characters_at_most_and_one_that_can_be_seen() -> None:
    def stated(entity_id: str) -> EntityStatement:
        return in_scope(accept(EntityStatement, {"group_id": "g", "entity_id": entity_id, "name": "Ana"}))

    assert stated("e" * MAX_NAME_CHARACTERS).entity_id == "g\x1f" + "e" * MAX_NAME_CHARACTERS
    with pytest.raises(InvalidInput, match=r"^entity_id: it is too long"):
        stated("e" * (MAX_NAME_CHARACTERS + 1))
    with pytest.raises(InvalidInput, match=r"^entity_id: it must not be empty$"):
        stated(" ")


def test_a_redaction_names_positions_of_the_log_which_none_before_its_begin_is() -> None:
    assert accept(RedactionRequest, {"group_id": "g", "positions": [0, 7]}).positions == (0, 7)
    with pytest.raises(InvalidInput, match=r"^positions\.1: "):
        accept(RedactionRequest, {"group_id": "g", "positions": [7, -1]})


def test_a_time_zone_that_this_machine_does_not_know_is_refused() -> None:
    def stated(name: str) -> TimezoneStatement:
        return in_database(accept(TimezoneStatement, {"group_id": "g", "timezone": name}))

    assert stated("Europe/Berlin").timezone == "Europe/Berlin"
    with pytest.raises(InvalidInput, match=r"^timezone: "):
        stated("Europe/Nowhere")


def test_an_edit_and_a_deletion_take_back_what_was_said_and_nothing_else_does() -> None:
    def of_kind(kind: str | None) -> Message:
        return accept(Message, {**MESSAGE, "kind": kind, "external_id": "2", "reply_to": "1"})

    kinds = ("edit", "deletion", "reaction", "feedback", "message", None)
    assert [takes_back(of_kind(kind)) for kind in kinds] == [True, True, False, False, False, False]
    assert not takes_back(ErasureRequest(group_id="g"))


FACT_READ = {"group_id": "g", "subject": "Ana", "relation": "owns", "object": "boat"}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"valid_at": "2024-01-01", "grain": "day", "confidence": 0.5, "ref": "r"},
        {"object": 7},
        {"object": 7.5, "qualifiers": {"unit": "m", "count": 2}},
        {"op": "end", "object": None},
    ],
)
def test_a_statement_that_is_read_again_is_what_was_written_however_often_that_is(more: dict[str, Any]) -> None:
    stated = accept(FactStatement, FACT_READ | more)

    for _ in range(3):
        again = FactStatement.read(stated.encode(), FactStatement.version)
        assert (again, again.encode()) == (stated, stated.encode())


def test_of_statements_of_one_shape_that_of_a_newer_version_stops_the_reader() -> None:
    written = accept(FactStatement, FACT_READ).encode()
    FactStatement.read(written, FactStatement.version)

    with pytest.raises(DecodeError, match="upgrade"):
        FactStatement.read(written, FactStatement.version + 1)


@pytest.mark.parametrize(
    "written",
    [b"[]", b"{", b'"x"', b'{"group_id":7,"op":"retract","ref":"r"}'],  # of no shape that was ever validated
)
def test_a_statement_that_could_not_have_been_written_is_not_read(written: bytes) -> None:
    with pytest.raises(DecodeError):
        FactStatement.read(written, FactStatement.version)


def test_qualifiers_are_looked_at_in_each_statement_that_is_read() -> None:
    written = accept(FactStatement, {**FACT_READ, "qualifiers": {"unit": "m"}}).encode()
    FactStatement.read(written, FactStatement.version)

    with pytest.raises(DecodeError):
        FactStatement.read(written.replace(b'"m"', b'["m"]'), FactStatement.version)


def test_a_large_text_that_is_no_unicode_is_refused_as_a_small_one_is() -> None:
    with pytest.raises(InvalidInput, match=re.escape(NOT_UNICODE)):
        accept(Message, {**MESSAGE, "content": "\ud800" * (MAX_CONTENT_BYTES // 4 + 1)})
