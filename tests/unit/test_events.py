"""Events: stored and read back, brought up to date, refused where they are newer or foreign, silent about content."""

import json
from functools import cache
from types import NoneType
from typing import Annotated, Any, ClassVar, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from asof_streams import episodic, events, messages, semantic
from asof_streams.errors import DecodeError
from asof_streams.events import Event, Record, decode, event_of, register, upcaster
from asof_streams.extraction_options import RelationPair, TypeAttribute, TypeSchema

CONTENT = {
    messages.Message: ("content", "role", "name", "source_description"),
    messages.FactStatement: ("subject", "object", "fact", "source_description"),
    episodic.EpisodeRecorded: ("name", "role", "body", "source_description"),
    episodic.MentionObserved: ("text",),
    episodic.RelationshipStated: ("time_words",),
    episodic.AttributeStated: ("value",),
    episodic.ExtractionAnswered: ("answer",),
    semantic.EntityIntroduced: ("name",),
    semantic.EntityDescribed: ("alias",),
    semantic.EntityAttributed: ("value",),
    semantic.CommunityFormed: ("name",),
    semantic.FactAsserted: ("value", "sentence", "time_words"),
    semantic.FactEnded: ("value",),
}


class Moved(Event):
    """A test's own event, in its third version: `place` was `town`, then `city`; `country` came with version 3."""

    type: ClassVar[str] = "test.moved"
    version: ClassVar[int] = 3

    place: str
    country: str | None = None


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> type[Moved]:
    monkeypatch.setattr(events, "_TYPES", dict(events._TYPES))
    monkeypatch.setattr(events, "_UPCASTERS", dict(events._UPCASTERS))
    register(Moved)
    upcaster(Moved.type, 1)(lambda state: {"city": state["town"]})
    upcaster(Moved.type, 2)(lambda state: {"place": state["city"], "country": "DE"})
    return Moved


def test_a_payload_is_json_in_field_order_without_absent_values() -> None:
    event = messages.FactStatement(object="SAP", subject="Zoë", relation="works_at", group_id="g", confidence=1)

    assert event.encode() == (
        '{"group_id":"g","op":"assert","subject":"Zoë","relation":"works_at","object":"SAP","confidence":1.0}'.encode()
    )


TEXT = st.text(min_size=1).filter(str.strip)
INTEGER = st.integers(-(2**63), 2**63 - 1)
KIND = st.from_regex(r"[A-Z][A-Za-z]{0,9}", fullmatch=True)
RELATION = st.from_regex(r"[a-z][a-z0-9]{0,4}(_[a-z0-9]{1,4}){0,2}", fullmatch=True)
RELATIONS = st.lists(RELATION, min_size=1, max_size=3)
ATTRIBUTE = st.builds(
    TypeAttribute,
    name=RELATION,
    means=TEXT,
    kind=st.just("text"),
    choices=st.lists(TEXT.filter(lambda text: len(text) <= 64), max_size=2),
)
SCHEMA = st.lists(ATTRIBUTE, max_size=2)
NUMBER = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
STRATEGIES = {
    str: TEXT,
    int: INTEGER,
    float: st.floats(allow_nan=False, allow_infinity=False),
    # Where a rule says what fits, within a field or between fields:
    "group_id": st.from_regex(r"[A-Za-z0-9_-]{1,128}", fullmatch=True),
    "confidence": st.floats(0, 1),
    "role_type": st.just("user"),
    "subject": TEXT,
    "relation": TEXT,
    "object": TEXT,
    "qualifiers": st.dictionaries(TEXT.filter(lambda name: len(name) <= 100), TEXT | NUMBER, max_size=3),
    "valid_at": INTEGER.filter(lambda instant: instant < 0),
    "invalid_at": INTEGER.filter(lambda instant: instant >= 0),
    "schema_id": st.none() | st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True),
    "timezone": st.sampled_from(["UTC", "Europe/Berlin", "Etc/GMT+5", "America/North_Dakota/Beulah"]),
    "entity_types": st.none()
    | st.dictionaries(KIND, TEXT | st.builds(TypeSchema, description=TEXT, attributes=SCHEMA)),
    "excluded_entity_types": st.none() | st.lists(KIND),
    "relation_types": st.none() | st.dictionaries(RELATION, TEXT),
    "relation_type_map": st.none() | st.lists(st.builds(RelationPair, source=KIND, target=KIND, relations=RELATIONS)),
    "position": st.integers(0, 2**63 - 1),
    "positions": st.lists(st.integers(0, 2**63 - 1)).map(tuple),
    "previous_episode_ids": st.none() | st.lists(TEXT, max_size=20),
}


def strategy(key: Any) -> st.SearchStrategy[Any]:
    """Return what a field of this name or type may hold."""
    if key in STRATEGIES:
        return STRATEGIES[key]
    if get_origin(key) is Annotated:
        return strategy(get_args(key)[0])
    if NoneType in get_args(key):
        return st.none() | strategy(get_args(key)[0])
    return st.from_type(key)


@cache
def fields(cls: type[Event]) -> st.SearchStrategy[dict[str, Any]]:
    """Return what the fields of an event may hold."""
    named = cls.model_fields.items()
    return st.fixed_dictionaries({name: strategy(name if name in STRATEGIES else of.annotation) for name, of in named})


@pytest.mark.parametrize("cls", events.types().values(), ids=lambda cls: cls.type)
@given(data=st.data())
def test_what_is_stored_is_read_back_as_it_was(cls: type[Event], data: st.DataObject) -> None:
    drawn = data.draw(fields(cls))
    if cls is messages.IdentityStatement:  # each op takes some of the fields
        taken = data.draw(st.sampled_from(messages.IDENTITY_FIELDS[drawn["op"]]))
        drawn = {"group_id": drawn["group_id"], "op": drawn["op"], **dict.fromkeys(taken, "Ana")}
    if cls is messages.FactStatement and data.draw(st.booleans()):
        drawn |= {"object": data.draw(NUMBER), "object_type": None}
    if drawn.get("op") in ("end", "retract"):
        drawn.pop("qualifiers", None)
    if cls is messages.Message and drawn["kind"] is not None:  # each kind needs some of the fields
        drawn |= {"source": "message", "uuid": None, "external_id": "7", "reply_to": "6"}
    event = cls(**drawn)

    assert decode(cls.type, cls.version, event.encode()) == event


def test_a_time_at_the_epoch_is_no_absent_one() -> None:
    counts = dict.fromkeys(
        ["communities_detected", "communities_changed_nodes", "entity_duplicates_found", "entity_merges_performed"], 0
    )
    event = semantic.MemoryConsolidated(
        consolidation_id="c", until=1, complete=True, nodes_decayed=0, begin=0, **counts
    )

    assert decode(event.type, event.version, event.encode()) == event


def test_an_event_cannot_be_changed_and_has_no_field_that_nobody_declared() -> None:
    event = episodic.MessageParked(reason="r")

    with pytest.raises(ValidationError):
        event.reason = "other"
    with pytest.raises(ValidationError):
        episodic.MessageParked(reason="r", more="m")  # type: ignore[call-arg]


def test_an_event_of_values_is_the_validated_one_and_a_copy_of_it_changes_no_other() -> None:
    said = semantic.EntityIntroduced(entity_id="e", name="Ana", entity_type=None, episode_id="p")
    one, other = (event_of(semantic.EntityIntroduced, dict(said.__dict__)) for _ in range(2))
    copy = one.model_copy(update={"name": "Ben"})

    assert one == other == said
    assert one.encode() == said.encode()
    assert (copy.name, copy.model_fields_set, one.model_fields_set) == ("Ben", {"name"}, set())
    with pytest.raises(ValidationError):
        one.name = "Ben"


def test_an_unknown_type_stops_the_reader() -> None:
    with pytest.raises(DecodeError, match=r"unknown event type fact\.dreamt: a newer asof wrote it; upgrade this one"):
        decode("fact.dreamt", 1, b"{}")


def test_a_newer_version_stops_the_reader() -> None:
    with pytest.raises(DecodeError, match=r"message\.parked version 3 is newer than 2: upgrade asof"):
        decode("message.parked", 3, b'{"reason":"r"}')


@pytest.mark.parametrize(
    ("version", "payload", "country"),
    [(1, {"town": "Berlin"}, "DE"), (2, {"city": "Berlin"}, "DE"), (3, {"place": "Berlin"}, None)],
)
def test_an_older_version_is_brought_up_to_date_step_by_step(
    moved: type[Moved], version: int, payload: dict[str, str], country: str | None
) -> None:
    assert decode("test.moved", version, json.dumps(payload).encode()) == moved(place="Berlin", country=country)


def test_a_version_to_which_only_optional_fields_were_added_is_read_as_it_is(moved: type[Moved]) -> None:
    grown = type("Grown", (moved,), {"type": "test.grown", "since": 2, "__annotations__": {}})
    register(grown)

    assert decode("test.grown", 2, b'{"place":"Berlin"}') == grown(place="Berlin")
    with pytest.raises(DecodeError, match=r"test\.grown version 1 cannot be brought up to version 3"):
        decode("test.grown", 1, b'{"place":"Berlin"}')


@pytest.mark.parametrize(
    ("version", "payload"),
    [(0, b"{}"), (1, b'{"village":"SECRET"}'), (2, b"SECRET"), (3, b'{"place":["SECRET"]}'), (3, b'{"place":"SECRET')],
)
@pytest.mark.usefixtures("moved")
def test_what_cannot_be_read_is_a_decode_error_without_content(version: int, payload: bytes) -> None:
    with pytest.raises(DecodeError, match=rf"test\.moved version {version}") as caught:
        decode("test.moved", version, payload)

    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_two_classes_cannot_have_one_type_name(moved: type[Moved]) -> None:
    with pytest.raises(AssertionError, match=r"two classes for test\.moved"):
        register(type("Other", (Event,), {"type": moved.type, "__annotations__": {"type": ClassVar[str]}}))


@pytest.mark.parametrize("cls", CONTENT, ids=lambda cls: cls.type)
def test_no_representation_shows_content(cls: type[Event]) -> None:
    event = cls.model_construct(**dict.fromkeys(CONTENT[cls], "SECRET"))
    record = Record(0, "g", 0, 0, 0, 1, 1, event)

    assert "SECRET" not in f"{event!r} {event!s} {record!r}"
    assert "SECRET" in event.encode().decode()


def test_no_validation_error_shows_content() -> None:
    with pytest.raises(ValidationError) as caught:
        messages.Message(group_id="g", content="SECRET", role_type="SECRET")

    assert "SECRET" not in str(caught.value)


def test_an_event_has_an_id_made_from_log_cause_place_and_type() -> None:
    record = Record(9, "g", 0, 7, 2, 3, 1, episodic.MessageParked(reason="r"))

    assert record.id_in("episodic") == record._replace(position=10, recorded_at=5, term=2).id_in("episodic")
    assert len({record.id_in("episodic"), record.id_in("messages"), record._replace(place=1).id_in("episodic")}) == 3
