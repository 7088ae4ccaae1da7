"""An event goes to Kafka as a CloudEvent in binary mode, and comes back as the record that it was."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_streams import conversation, episodic, semantic
from asof_streams.errors import DecodeError
from asof_streams.events import Draft, Event, Record, decode
from asof_streams.instants import parse
from asof_streams.kafka.envelope import Checkpoint, Claim, Outgoing, Raw, Sent, checkpoint_reached, claim, event, read
from asof_streams.messages import Message

assert conversation
assert episodic
assert semantic
HISTORY = Path(__file__).resolve().parents[1] / "history"
EVENTS = [
    decode(path.name.split(".v")[0], int(path.name.split(".v")[1].split(".")[0]), json.loads(line)["payload"].encode())
    for path in sorted(HISTORY.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
SAID = Message(group_id="g", content="Hello", role_type="user")


def raw(sent: Outgoing, offset: int = 4) -> Raw:
    return Raw(offset, 1_000, *sent)


@pytest.mark.parametrize("happened", EVENTS, ids=lambda happened: happened.type)
def test_every_kind_of_event_comes_back_as_it_went(happened: Event) -> None:
    draft = Draft("a-group", 1_714_555_800_000_001, 17, 1, 3, happened)
    found = read(raw(event("semantic.main", 9, draft, 5, 40)))

    assert isinstance(found, Sent)
    assert found[:7] == (9, *draft[:5], 5)
    assert decode(found.type, found.version, found.payload) == happened
    assert found.encode() == happened.encode()
    assert found.checkpoint == 40


@given(
    st.integers(0, 2**53), st.integers(0, 2**53), st.integers(0, 253_402_300_799_999_999), st.none() | st.integers(0, 9)
)
def test_numbers_and_times_come_back_to_the_microsecond(
    position: int, cause: int, recorded_at: int, checkpoint: int | None
) -> None:
    found = read(raw(event("episodic", position, Draft("", recorded_at, cause, 0, 1, SAID), 1, checkpoint)))

    assert isinstance(found, Sent)
    assert (found.position, found.cause, found.recorded_at) == (position, cause, recorded_at)
    assert (found.group, found.checkpoint) == ("", checkpoint)


def test_other_clients_find_the_attributes_of_cloud_events() -> None:
    draft = Draft("g", 1_500_000, 3, 0, 1, SAID)
    key, value, headers = event("episodic", 12, draft, 2, None)
    found = {name: value.decode() for name, value in headers}

    assert (key, value) == (b"g", SAID.encode())
    assert found["content-type"] == "application/json"
    assert found["ce_specversion"] == "1.0"
    assert found["ce_id"] == Record(12, *draft[:5], 2, SAID).id_in("episodic")
    assert found["ce_source"] == "/asof/episodic"
    assert found["ce_type"] == "message.sent"
    assert parse(found["ce_time"]) == 1_500_000
    assert found["ce_sequence"] == "00000000000000000012"
    assert "ce_checkpoint" not in found


def test_a_claim_comes_back_as_one() -> None:
    assert read(raw(claim("episodic", 3, "who", 1))) == Claim(3, "who", named=True, partitions=1)


def test_a_checkpoint_comes_back_as_one() -> None:
    sent = checkpoint_reached("semantic.main", 41, 3, 18, "who")

    assert read(raw(sent)) == Checkpoint(41, 3, 18, "who")
    assert ("ce_eventversion", b"1") in sent.headers


@pytest.mark.parametrize(("version", "named"), [(b"1", False), (b"2", True), (b"3", True)])
def test_from_its_second_version_on_a_claim_says_that_records_name_their_writer(version: bytes, named: bool) -> None:
    headers = [("ce_type", b"writer.claimed"), ("ce_term", b"3"), ("ce_id", b"who"), ("ce_eventversion", version)]

    assert read(Raw(0, 0, None, b"{}", headers)) == Claim(3, "who", named=named)
    assert ("ce_eventversion", b"2") in claim("episodic", 3, "who", 1).headers


def test_what_an_earlier_version_sent_names_no_writer() -> None:
    key, value, headers = claim("episodic", 3, "who", 1)
    of_before = [
        (name, b"1" if name == "ce_eventversion" else held) for name, held in headers if name != "ce_partitions"
    ]

    assert read(raw(Outgoing(key, value, of_before))) == Claim(3, "who", named=False)
    assert read(raw(checkpoint_reached("semantic.main", 41, 3, 18))) == Checkpoint(41, 3, 18, "")


@pytest.mark.parametrize("name", ["ce_sequence", "ce_cause", "ce_place", "ce_size", "ce_checkpoint"])
def test_a_number_that_no_log_can_hold_is_not_ours(name: str) -> None:
    key, value, headers = event("episodic", 1, Draft("g", 5, 0, 0, 1, SAID), 1, 7, "who")

    def with_number(number: int) -> Raw:
        return raw(Outgoing(key, value, [(h, b"%d" % number if h == name else held) for h, held in headers]))

    assert (read(with_number(10**30)), read(with_number(2**63))) == (None, None)
    assert isinstance(read(with_number(2**63 - 1)), Sent)


def test_a_checkpoint_says_its_offset_where_it_is_known() -> None:
    for offset in (97, 0):
        alone = checkpoint_reached("semantic.main", 41, 3, 18, "who", offset)
        carried = event("episodic", 1, Draft("g", 5, 0, 0, 1, SAID), 1, 7, "who", offset, offset)

        assert read(raw(alone)) == Checkpoint(41, 3, 18, "who", offset)
        found = read(raw(carried))
        assert isinstance(found, Sent)
        assert (found.checkpoint, found.offset, found.checkpoint_offset) == (7, offset, offset)


def test_a_reader_that_does_not_know_checkpoints_finds_no_event_in_one() -> None:
    of_an_event = {name for name, _ in event("episodic", 1, Draft("g", 5, 0, 0, 1, SAID), 1, None).headers}
    of_a_checkpoint = {name for name, _ in checkpoint_reached("episodic", 1, 1, 7).headers}

    assert of_an_event - of_a_checkpoint == {"ce_time", "ce_cause", "ce_size", "ce_place"}


@pytest.mark.parametrize("missing", ["ce_type", "ce_term", "ce_sequence", "ce_time", "ce_cause", "ce_place", "ce_size"])
def test_a_record_that_lacks_a_header_or_its_value_is_not_ours(missing: str) -> None:
    key, value, headers = event("episodic", 1, Draft("g", 5, 0, 0, 1, SAID), 1, None)

    for given_ in ([h for h in headers if h[0] != missing], *([*headers, (missing, v)] for v in (b"\xff", None))):
        assert read(Raw(0, 0, key, value, given_)) is None


def test_an_event_of_a_newer_version_is_ours_and_cannot_be_read() -> None:
    key, value, headers = event("episodic", 1, Draft("g", 5, 0, 0, 1, SAID), 1, None)
    found = read(Raw(0, 0, key, value, [*headers, ("ce_eventversion", b"%d" % (SAID.version + 1))]))

    assert isinstance(found, Sent)
    with pytest.raises(DecodeError, match="upgrade asof"):
        decode(found.type, found.version, found.payload)
