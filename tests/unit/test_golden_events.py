"""Every event ever stored can still be read: one file of stored payloads for each type and version, which only grows.

A line has `payload`, the bytes as they were stored, and `decoded`, what they mean to today's code; that of a structured
fact's episode also `statement`, what the fact in it means. A new type or version needs a new file; a file that is there
is never changed but for `decoded` and `statement`, when a version is added.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import asof_streams
from asof_streams import control, conversation, episodic, events, messages, semantic
from asof_streams.plain_records import pack, unpack

HISTORY = Path(__file__).resolve().parents[1] / "history"
FILES = sorted(HISTORY.glob("*.jsonl"))
TYPES = {name: cls for name, cls in events.types().items() if cls.__module__.startswith(f"{asof_streams.__name__}.")}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def type_and_version(path: Path) -> tuple[str, int]:
    named = re.fullmatch(r"(.+)\.v(\d+)\.jsonl", path.name)
    assert named, f"{path.name} is not <type>.v<number>.jsonl"
    return named[1], int(named[2])


def test_the_types_are_those_of_the_three_layers_and_of_the_logs_beside_them() -> None:
    layers = {messages.__name__, episodic.__name__, semantic.__name__}
    assert {cls.__module__ for cls in TYPES.values()} == layers | {control.__name__, conversation.__name__}


@pytest.mark.parametrize("name", TYPES)
def test_every_version_of_every_type_has_a_file(name: str) -> None:
    versions = sorted(version for type_, version in map(type_and_version, FILES) if type_ == name)

    assert versions == list(range(1, TYPES[name].version + 1)), f"write tests/history/{name}.v<number>.jsonl"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_stored_payloads_mean_today_what_the_file_says(path: Path) -> None:
    type_, version = type_and_version(path)
    kept = lines(path)

    assert kept
    for line in kept:
        assert events.decode(type_, version, line["payload"].encode()).model_dump(mode="json") == line["decoded"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_stored_payloads_come_from_another_process_as_they_are_read_here(path: Path) -> None:
    type_, version = type_and_version(path)
    payloads = [line["payload"].encode() for line in lines(path)]

    def read() -> list[events.Record]:
        decoded = (events.decode(type_, version, payload) for payload in payloads)
        return [
            events.Record(at, "Zoë's", 1_714_555_800_000_000, 5, 1, 3, 2, event) for at, event in enumerate(decoded)
        ]

    made = list(unpack(pack(read())))

    assert made == read()
    assert {type(record) for record in made} == {events.Record}
    for record, known in zip(made, read(), strict=True):
        assert record.event.encode() == known.event.encode()
        assert [name for name in record.event.__dict__ if name != "statement"] == [*known.event.__dict__]


@pytest.mark.parametrize("version", range(1, episodic.EpisodeRecorded.version + 1))
def test_structured_facts_in_stored_episodes_mean_today_what_the_file_says(version: int) -> None:
    type_ = episodic.EpisodeRecorded.type
    stated = [line for line in lines(HISTORY / f"{type_}.v{version}.jsonl") if "statement" in line]

    assert stated
    for line in stated:
        episode = events.decode(type_, version, line["payload"].encode())
        assert isinstance(episode, episodic.EpisodeRecorded)
        assert episode.statement.model_dump(mode="json") == line["statement"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_payloads_of_the_present_version_are_written_byte_for_byte_as_they_were(path: Path) -> None:
    type_, version = type_and_version(path)
    for line in lines(path):
        event = events.decode(type_, version, line["payload"].encode())
        if version == TYPES[type_].version:
            assert event.encode() == line["payload"].encode()
        else:
            assert events.decode(type_, event.version, event.encode()) == event


@pytest.mark.parametrize("name", TYPES)
def test_the_present_version_shows_every_field_given_and_every_optional_one_left_out(name: str) -> None:
    cls = TYPES[name]
    payloads = [json.loads(line["payload"]) for line in lines(HISTORY / f"{name}.v{cls.version}.jsonl")]
    optional = {name for name, field in cls.model_fields.items() if not field.is_required() and field.default is None}

    assert {field for payload in payloads for field in payload} == set(cls.model_fields)
    assert [field for field in optional if all(field in payload for payload in payloads)] == []
