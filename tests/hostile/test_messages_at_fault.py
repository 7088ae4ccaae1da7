"""What one message makes fail at every try parks that message; what fails for every message is waited for."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import OpenLogs
from asof.runtime.writer import Writer
from asof.settings import Settings
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Turn
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import GraphUnavailable, ModelUnavailable, StorageFailed, UnavailableError, WriterBusy
from asof_streams.events import Record
from asof_streams.messages import ErasureRequest, Message, accept

POISON = "poison"
Fault = Callable[[str], Exception | None]
"""Says by a text with which error reading it fails, if it does."""


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fault], None]:
    """Let the rules fail at texts."""
    extract = EnglishExtractor.extract

    def fail(fault: Fault) -> None:
        def extract_or_fail(self: EnglishExtractor, turn: Turn, *given: Any) -> Extraction:
            if error := fault(turn.text):
                raise error
            return extract(self, turn, *given)

        monkeypatch.setattr(EnglishExtractor, "extract", extract_or_fail)

    return fail


def at_poison(error: Exception) -> Fault:
    return lambda text: error if POISON in text else None


def message(group: str, text: str) -> Message:
    return accept(Message, {"group_id": group, "role": "Ana", "role_type": "user", "content": text})


@contextmanager
def writing(folder: Path, *said: tuple[str, str]) -> Iterator[Writer]:
    """Open a directory whose log of messages has these, by group and text, before anything follows from them."""
    logs = OpenLogs(DirectoryLayout(folder), Settings(data=folder, embedder="none"))
    logs.messages.accept([message(*given) for given in said], clock=1)
    writer = Writer(logs)
    yield writer
    writer.close()


def parked(folder: Path) -> list[tuple[int, str]]:
    with asof.open(folder, embedder="none") as memory:
        return [(row.position, row.reason) for group in ("g", "h") for row in memory.parked(group_id=group)]


def liked(folder: Path, group: str) -> list[str | None]:
    with asof.open(folder, embedder="none") as memory:
        return [fact.object for fact in memory.facts(about="Ana", group_id=group)]


SAID = (("h", "I like tea."), ("g", f"I like {POISON}."), ("g", "I like chess."), ("h", "I like jazz."))


@pytest.mark.parametrize("error", [UnavailableError("away"), ModelUnavailable("away"), WriterBusy("busy")])
def test_a_message_that_alone_meets_an_outage_is_parked_and_the_others_are_processed(
    tmp_path: Path, fail: Callable[[Fault], None], error: Exception
) -> None:
    fail(at_poison(error))
    with writing(tmp_path, *SAID) as writer:
        writer.process(flush=True)

    assert parked(tmp_path) == [(1, f"unavailable: {type(error).__name__}")]
    assert (liked(tmp_path, "g"), liked(tmp_path, "h")) == (["chess"], ["tea", "jazz"])


def test_messages_that_meet_an_outage_one_after_the_other_are_each_parked(
    tmp_path: Path, fail: Callable[[Fault], None]
) -> None:
    fail(at_poison(GraphUnavailable("away")))
    with writing(tmp_path, ("g", POISON), ("g", f"{POISON} again"), ("g", "Hm."), ("h", "I like tea.")) as writer:
        writer.process(flush=True)

    assert parked(tmp_path) == [(0, "unavailable: GraphUnavailable"), (1, "unavailable: GraphUnavailable")]
    assert liked(tmp_path, "h") == ["tea"]


def test_what_a_rebuild_makes_of_a_memory_keeps_that_a_message_was_parked(
    tmp_path: Path, fail: Callable[[Fault], None]
) -> None:
    fail(at_poison(ModelUnavailable("away")))
    with writing(tmp_path, *SAID) as writer:
        writer.process(flush=True)
    fail(lambda _: None)

    with asof.open(tmp_path, embedder="none") as memory:
        memory.rebuild("anew")
        assert memory.digest("anew") == memory.digest()
        memory.retry(group_id="g")
        assert memory.parked(group_id="g") == []
    assert sorted(map(str, liked(tmp_path, "g"))) == ["chess", POISON]


def test_while_the_world_is_away_for_every_message_all_wait_and_go_on_when_it_is_back(
    tmp_path: Path, fail: Callable[[Fault], None]
) -> None:
    fail(lambda _: ModelUnavailable("away"))
    with writing(tmp_path, *SAID) as writer:
        for _ in range(4):
            with pytest.raises(ModelUnavailable):
                writer.process(flush=True)
        assert writer.engine.episodic.checkpoint == 0
        fail(lambda _: None)
        writer.process(flush=True)

    assert parked(tmp_path) == []
    assert liked(tmp_path, "h") == ["tea", "jazz"]


def test_a_world_that_comes_back_between_two_tries_parks_nothing(tmp_path: Path, fail: Callable[[Fault], None]) -> None:
    tries: list[str] = []

    def back_after_three(text: str) -> Exception | None:
        tries.append(text)
        return ModelUnavailable("away") if len(tries) <= 3 else None

    fail(back_after_three)
    with writing(tmp_path, *SAID[1:]) as writer:
        while writer.engine.episodic.checkpoint < 3:
            try:
                writer.process(flush=True)
            except ModelUnavailable:
                continue

    assert parked(tmp_path) == []


def test_the_last_message_waits_for_what_is_away_until_another_one_shows_that_it_is_not(
    tmp_path: Path, fail: Callable[[Fault], None]
) -> None:
    fail(at_poison(ModelUnavailable("away")))
    with writing(tmp_path, *SAID[:2]) as writer:
        with pytest.raises(ModelUnavailable):
            writer.process(flush=True)
        writer.messages.accept([message("h", "I like jazz.")], clock=2)
        writer.process(flush=True)

    assert parked(tmp_path) == [(1, "unavailable: ModelUnavailable")]


def test_a_full_disk_is_waited_for_even_where_one_message_alone_finds_it_full(
    tmp_path: Path, fail: Callable[[Fault], None]
) -> None:
    fail(at_poison(StorageFailed("the disk is full")))
    with writing(tmp_path, *SAID) as writer, pytest.raises(StorageFailed):
        writer.process(flush=True)

    fail(lambda _: None)
    assert parked(tmp_path) == []


def test_an_erasure_is_never_parked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with writing(tmp_path, ("g", "I like tea.")) as writer:
        writer.messages.accept([ErasureRequest(group_id="g")], clock=2)
        writer.messages.accept([message("h", "I like jazz.")], clock=3)
        with monkeypatch.context() as broken:

            def refuse(_: str) -> None:
                raise WriterBusy("busy")

            broken.setattr(writer.episodic, "erase", refuse)
            for _ in range(3):
                with pytest.raises(WriterBusy):
                    writer.process(flush=True)
        writer.process(flush=True)

    assert (parked(tmp_path), liked(tmp_path, "g"), liked(tmp_path, "h")) == ([], [], ["jazz"])


@pytest.mark.parametrize("error", [MemoryError(), sqlite3.DataError("string or blob too big")])
def test_a_message_that_asks_for_too_much_is_parked_alone(
    tmp_path: Path, fail: Callable[[Fault], None], error: Exception
) -> None:
    fail(at_poison(error))
    with writing(tmp_path, *SAID[:2]) as writer:
        writer.process(flush=True)

    assert parked(tmp_path) == [(1, f"unexpected: {type(error).__name__}")]


def test_an_end_of_memory_that_every_message_meets_is_waited_for(
    tmp_path: Path, fail: Callable[[Fault], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(lambda _: MemoryError())
    with writing(tmp_path, *SAID) as writer:
        with monkeypatch.context() as exhausted:
            exhausted.setattr("asof_agents.parking._SPARE_BYTES", 1 << 62)
            with pytest.raises(UnavailableError, match="no memory left"):
                writer.process(flush=True)
        fail(lambda _: None)
        writer.process(flush=True)

    assert parked(tmp_path) == []


def test_a_message_whose_events_a_store_fails_at_is_parked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = SqliteGraph.apply

    def apply_or_fail(self: SqliteGraph, records: list[Record]) -> None:
        if any(getattr(record.event, "sentence", "").endswith(f"{POISON}") for record in records):
            raise sqlite3.IntegrityError("UNIQUE constraint failed")
        apply(self, records)

    monkeypatch.setattr(SqliteGraph, "apply", apply_or_fail)
    with writing(tmp_path, *SAID) as writer:
        writer.process(flush=True)

    assert parked(tmp_path) == [(1, "unexpected: IntegrityError")]
    assert (liked(tmp_path, "g"), liked(tmp_path, "h")) == (["chess"], ["tea", "jazz"])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asof.InvalidInput("there is no such ontology", field="schema_id"), "schema_id: there is no such ontology"),
        (asof.NotFound("ref: no fact of this group has it"), "ref: no fact of this group has it"),
    ],
)
def test_what_cannot_stand_parks_its_message_at_the_first_try_with_the_reason(
    tmp_path: Path, fail: Callable[[Fault], None], error: Exception, reason: str
) -> None:
    tried: list[str] = []

    def refuse(text: str) -> Exception | None:
        tried.append(text)
        return error if POISON in text else None

    fail(refuse)
    with writing(tmp_path, *SAID) as writer:
        writer.process(flush=True)

    assert parked(tmp_path) == [(1, reason)]
    assert sum(POISON in text for text in tried) == 1


def test_damage_is_never_the_fault_of_a_message(tmp_path: Path, fail: Callable[[Fault], None]) -> None:
    fail(at_poison(asof.DamagedData("a file is damaged")))
    with writing(tmp_path, *SAID) as writer, pytest.raises(asof.DamagedData):
        writer.process(flush=True)

    fail(lambda _: None)
    assert parked(tmp_path) == []
