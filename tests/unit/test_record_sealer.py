"""Sealed records: read as docs/reference/topics.md says, bound to what goes with them, and erased one by one."""

import hmac
import json
import zlib
from itertools import islice
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from asof_streams.errors import KeysUnavailable
from asof_streams.ids import derive
from asof_streams.kafka.envelope import Outgoing, context_of, seal
from asof_streams.key_store import KeyFolder
from asof_streams.record_sealer import RecordSealer, context, is_sealed_record, new_numbers, number_of, runs_of

CONTEXT = context("/asof/messages", "message.sent", 2, "run-1")


@pytest.mark.parametrize("content", ["", "short", "long " * 100])
def test_a_value_can_be_read_by_the_description_alone(tmp_path: Path, content: str) -> None:
    value, number = json.dumps({"content": content}).encode(), next(new_numbers())

    sealed = RecordSealer(KeyFolder(tmp_path)).seal("ana", number, CONTEXT, value)

    [file] = tmp_path.iterdir()
    key = bytes.fromhex(json.loads(file.read_text())["trees"][int.from_bytes(sealed[1:5])][""])
    for digit in format(int.from_bytes(sealed[5:13]), "063b"):
        key = hmac.digest(key, bytes([int(digit)]), "sha256")
    context = b"/asof/messages\0message.sent\x002\0run-1"
    opened = AESGCM(key).decrypt(sealed[13:25], sealed[25:], context)
    assert (opened if opened.startswith(b"{") else zlib.decompress(opened)) == value
    assert is_sealed_record(sealed)
    assert number_of(sealed) == number
    assert len(sealed) <= len(value) + 41


def test_a_value_is_of_its_group_and_of_source_type_version_and_id_of_its_record(
    tmp_path: Path,
) -> None:
    sealer = RecordSealer(KeyFolder(tmp_path))
    sealed = sealer.seal("ana", 3, CONTEXT, b"{}")
    sealer.seal("ben", 3, CONTEXT, b"{}")
    assert sealer.open("ana", CONTEXT, sealed) == b"{}"
    others = [
        context("/asof/episodic", "message.sent", 2, "run-1"),
        context("/asof/messages", "fact.stated", 2, "run-1"),
        context("/asof/messages", "message.sent", 1, "run-1"),
        context("/asof/messages", "message.sent", 2, "run-2"),
    ]

    for group, other in [("ben", CONTEXT), *(("ana", other) for other in others)]:
        with pytest.raises(KeysUnavailable, match="another key"):
            sealer.open(group, other, sealed)


@pytest.mark.parametrize("at", [0, 1, 5, 12, 13, 25, 26])
@pytest.mark.parametrize("change", ["cut", "flip"])
def test_damage_is_never_read(tmp_path: Path, at: int, change: str) -> None:
    sealer = RecordSealer(KeyFolder(tmp_path))
    sealed = sealer.seal("ana", 3, CONTEXT, b"{}")
    damaged = sealed[:at] if change == "cut" else sealed[:at] + bytes([sealed[at] ^ 0x80]) + sealed[at + 1 :]

    if at:
        with pytest.raises(KeysUnavailable):
            sealer.open("ana", CONTEXT, damaged)
    else:
        assert not is_sealed_record(damaged)


def test_what_is_made_of_a_message_while_its_key_is_destroyed_is_read_by_nobody(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path)
    sealer = RecordSealer(keys)
    before = sealer.seal("ana", 3, CONTEXT, b"{}")
    keys.destroy("ana", range(4))

    after = sealer.seal("ana", 3, CONTEXT, b"{}")

    assert sealer.open("ana", CONTEXT, before) is sealer.open("ana", CONTEXT, after) is None
    assert sealer.open("ana", CONTEXT, sealer.seal("ana", 4, CONTEXT, b"{}")) == b"{}"


def test_an_erasure_of_what_some_senders_sent_leaves_what_they_send_later_and_what_others_sent(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path)
    sealer = RecordSealer(keys)
    senders = [new_numbers() for _ in range(5)]
    sent = [[*islice(numbers, 0, 30, 3)] for numbers in senders]
    sealed = {number: sealer.seal("ana", number, CONTEXT, b"{}") for numbers in sent for number in numbers}
    gone = {number for numbers in sent[:4] for number in numbers[:6]}

    runs = runs_of(gone)
    keys.destroy("ana", *runs)

    assert len(runs) == 4
    read = {number for number, value in sealed.items() if sealer.open("ana", CONTEXT, value) is not None}
    assert read == sealed.keys() - gone
    assert all(next(numbers) not in run for numbers in senders for run in runs)
    assert len(json.loads(next(tmp_path.iterdir()).read_text())["trees"][0]) < 4 * 2 * 63


def test_numbers_of_senders_are_no_positions_and_fit_into_a_tree() -> None:
    for numbers in (new_numbers() for _ in range(100)):
        assert 2**62 <= next(numbers) < 2**63 - 2**24
    assert len({next(new_numbers()) >> 24 for _ in range(1_000)}) == 1_000


def test_a_record_says_in_its_headers_in_which_context_it_was_sealed(tmp_path: Path) -> None:
    headers = [
        ("content-type", b"application/json"),
        ("ce_source", b"/asof/episodic"),
        ("ce_type", b"mention.observed"),
        ("ce_eventversion", b"1"),
        ("ce_id", derive("event", "episodic", 3, 0, "mention.observed").encode()),
    ]
    sealer = RecordSealer(KeyFolder(tmp_path))

    sent = seal(Outgoing(b"ana", b"{}", headers), lambda bound, value: sealer.seal("ana", 3, bound, value))

    assert dict(sent.headers) == dict(headers) | {"content-type": b"application/vnd.asof.sealed"}
    own = context("/asof/episodic", "mention.observed", 1, derive("event", "episodic", 3, 0, "mention.observed"))
    assert context_of(dict(sent.headers)) == own
    assert sealer.open("ana", own, sent.value or b"") == b"{}"


def test_a_number_is_read_of_a_whole_header_alone_and_none_that_no_tree_has(tmp_path: Path) -> None:
    sealed = RecordSealer(KeyFolder(tmp_path)).seal("ana", 3, CONTEXT, b"{}")

    assert number_of(sealed[:25]) == 3
    assert number_of(sealed[:24]) == number_of(b"") == -1
    largest = (1 << 63) - 1
    assert number_of(sealed[:5] + largest.to_bytes(8) + sealed[13:]) == largest
    assert number_of(sealed[:5] + (largest + 1).to_bytes(8) + sealed[13:]) == -1


def test_what_a_sender_sent_is_a_run_from_the_first_to_the_last() -> None:
    assert runs_of([7, 5, 3 << 24]) == [range(5, 8), range(3 << 24, (3 << 24) + 1)]


def test_whether_a_record_can_be_opened_is_whether_its_key_is_left(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path)
    sealer = RecordSealer(keys)
    sealed = sealer.seal("ana", 3, CONTEXT, b"{}")
    assert sealer.can_open("ana", sealed)

    keys.destroy("ana", range(3, 4))

    assert not sealer.can_open("ana", sealed)


def test_a_store_with_fewer_trees_than_were_used_is_refused(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path)
    RecordSealer(keys).seal("ana", 3, CONTEXT, b"{}")

    RecordSealer(keys, lambda _: 1).expect("ana")
    with pytest.raises(KeysUnavailable, match="later backup"):
        RecordSealer(keys, lambda _: 2).expect("ana")
