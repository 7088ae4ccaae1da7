"""A graph that another process writes is the one that this process would have written, whoever asks how much."""

import gc
import os
import re
import signal
import sqlite3
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Literal

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import distant_graph, generation_build, generations, graph_process, read_ahead
from asof.runtime.build_file import BuildFile
from asof.runtime.distant_graph import DistantGraph
from asof.runtime.graph_process import GraphProcess, QuestionFailed, start_process
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import BuildStopped, DamagedLog, StorageFailed
from asof_streams.events import Event, Record
from asof_streams.semantic import EntityIntroduced, FactAsserted, FactInvalidated
from asof_streams.sqlite_log import SqliteLog

TOLD = ["I live in Rome.", "I work at Initech.", "My sister Maria works at Acme.", "I moved to Berlin in March 2024."]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory of chat and of structured facts, whose builds fill their graphs in bulk."""
    monkeypatch.setattr(generation_build, "IN_BULK", 0)
    monkeypatch.setattr(read_ahead, "_FIRST", 3)  # so that another process reads the rest
    with asof.open(tmp_path / "memory", embedder="none") as opened:
        for day in range(10, 28):
            opened.add(TOLD[day % 4], role="Ana", timestamp=f"2024-05-{day}T09:00:00Z")
            opened.state_fact(subject="Ben", relation="lives_in", object=f"Town {day}", valid_at=f"2024-05-{day}")
            opened.state_fact(subject="Ben", relation="likes", object=f"Game {day % 5}", valid_at=f"2024-05-{day}")
        opened.state_fact(op="end", ref="chess", invalid_at="2024-06-01")  # parked: there is no such fact yet
        opened.state_fact(ref="chess", subject="Ben", relation="plays", object="chess", valid_at="2024-05-01")
        opened.retry()
        yield opened


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(tmp_path / "semantic.some.sqlite", writable=True) as opened:
        yield opened


@pytest.fixture
def process(log: SqliteLog, tmp_path: Path) -> Iterator[GraphProcess]:
    started = GraphProcess(log, tmp_path / "some.db")
    yield started
    started.kill()


def record(position: int, event: Event) -> Record:
    return Record(position, "g", position, position, 0, 1, 0, event)


ANA = EntityIntroduced(entity_id="ana", name="Ana", entity_type=None, episode_id="said")


OTHERS = re.compile(r'INSERT INTO "(meta|\w+_words_(data|idx))"')  # in which segments words are depends on the flushes


def content(memory: Memory, name: str) -> list[str]:
    with closing(sqlite3.connect(memory._session.places.graph(name))) as db:
        for words in ("sentence_words", "turn_words"):  # against the rows that they are of
            db.execute(f"INSERT INTO {words} ({words}, rank) VALUES ('integrity-check', 1)")
        return sorted(line for line in db.iterdump() if not OTHERS.match(line))  # indexes were made in another order


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each graph that another process began was taken over by the end."""
    noted: list[bool] = []
    finish = DistantGraph.finish

    def note(self: DistantGraph) -> None:
        noted.append(not self.is_elsewhere)
        finish(self)

    monkeypatch.setattr(DistantGraph, "finish", note)
    return noted


@pytest.mark.parametrize("source", ["mentions", "episodes"])
@pytest.mark.parametrize("few", [0, 60, 1_000_000], ids=["taken over", "taken over later", "left"])
def test_a_graph_is_the_same_whether_another_process_writes_all_of_it_or_less(
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
    taken: list[bool],
    few: int,
    source: Literal["mentions", "episodes"],
) -> None:
    monkeypatch.setattr(distant_graph, "_FEW", few)
    monkeypatch.setattr(distant_graph, "_RECORDS", 1_000)
    memory.rebuild("elsewhere", input=source)
    monkeypatch.setattr(generation_build, "start_process", lambda *_: None)
    memory.rebuild("here", input=source)

    assert taken == [few < 1_000_000]
    assert memory.digest("elsewhere") == memory.digest("here")
    assert source == "episodes" or memory.digest("elsewhere") == memory.digest("main")
    assert content(memory, "elsewhere") == content(memory, "here")
    assert [check for check in memory.verify() if not check.ok] == []


def test_an_edited_message_is_taken_over_since_its_events_are_applied_before_they_are_whole(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, taken: list[bool]
) -> None:
    at = "2024-06-01T09:00:00Z"
    memory.add("I live in Oslo.", role="Ana", timestamp=at, external_id="1", author_id="4")
    memory.add("I live in Turin.", role="Ana", timestamp=at, external_id="1", author_id="4", kind="edit")
    memory.state_fact(subject="Ben", relation="lives_in", object="Town 10", valid_at="2024-06-02")
    monkeypatch.setattr(distant_graph, "_FEW", 1_000_000)
    memory.rebuild("elsewhere")

    assert taken == [True]
    assert memory.digest("elsewhere") == memory.digest("main")
    assert [check for check in memory.verify() if not check.ok] == []


def test_structured_facts_ask_the_other_process_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, taken: list[bool]
) -> None:
    asked: list[str] = []
    ask = GraphProcess.ask

    def note(self: GraphProcess, name: str, values: Sequence[object], named: Mapping[str, object]) -> object:
        asked.append(name)
        return ask(self, name, values, named)

    monkeypatch.setattr(GraphProcess, "ask", note)
    places = memory._session.places.root.with_name("facts")
    with asof.open(places, embedder="none") as facts:
        for day in range(10, 28):
            facts.state_fact(subject="Ben", relation="lives_in", object=f"Town {day}", valid_at=f"2024-05-{day}")
            facts.state_fact(subject="Ben", relation="likes", object=f"Game {day}", valid_at=f"2024-05-{day}")
            facts.state_fact(
                ref=f"r{day}", subject="Ben", relation="owns", object=f"Bike {day}", valid_at=f"2024-05-{day}"
            )
        facts.rebuild("elsewhere")
        assert facts.digest("elsewhere") == facts.digest("main")
    assert (asked, taken) == ([], [False])


def test_a_build_that_stopped_and_goes_on_is_the_same_words_included(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.rebuild("whole")
    asked = iter([False, True])
    with monkeypatch.context() as stopping:
        stopping.setattr(BuildFile, "is_to_stop", lambda _: next(asked))
        with pytest.raises(BuildStopped):
            memory.rebuild("stopped")
    with SqliteLog(memory._session.places.semantic("stopped")) as log:
        assert any(isinstance(record.event, FactAsserted) for record in log.read())
    assert not list(memory._session.places.graph("stopped").parent.glob("*.building*"))
    memory.rebuild("stopped")

    assert memory.digest("stopped") == memory.digest("whole")
    assert [check for check in memory.verify() if not check.ok] == []


def test_what_was_sent_is_in_graph_and_log_once_it_is_finished(
    process: GraphProcess, log: SqliteLog, tmp_path: Path
) -> None:
    process.apply([record(0, ANA)])
    process.append(7)
    process.settle()
    assert (log.end(), log.checkpoint()) == (1, 7)
    assert [row.uuid for row in process.ask("entities_named", ("g", "Ana"), {})] == ["ana"]
    process.finish()
    with SqliteGraph(tmp_path / "some.db", "semantic.some") as graph:
        assert (graph.position(), graph.checkpoint(), graph.head()) == (1, 7, log.head(1))
        assert [row.uuid for row in graph.entities_named("g", "Ana")] == ["ana"]


def test_what_the_log_has_already_is_not_appended_again(process: GraphProcess, log: SqliteLog) -> None:
    process.apply([record(0, ANA)])
    process.skip()
    process.append(7)
    process.settle()
    assert (log.end(), log.checkpoint()) == (0, 7)


def test_a_question_that_fails_there_is_said_to_fail_and_the_process_goes_on(process: GraphProcess) -> None:
    with pytest.raises(QuestionFailed):
        process.ask("entities_named", ("g",), {})
    assert process.ask("entities_named", ("g", "Ana"), {}) == []


def test_an_answer_may_be_any_text(tmp_path: Path) -> None:
    with SqliteLog(tmp_path / "semantic.failed.sqlite", writable=True) as log:
        process = GraphProcess(log, tmp_path / "some.db")
        try:
            assert process.ask("__getattribute__", ("generation",), {}) == "failed"
        finally:
            process.kill()


def test_an_answer_that_cannot_be_sent_is_said_to_fail_and_the_process_goes_on(process: GraphProcess) -> None:
    with pytest.raises(QuestionFailed):
        process.ask("answers", (None,), {})  # one after the other
    assert process.ask("entities_named", ("g", "Ana"), {}) == []


def test_an_error_of_what_was_sent_is_raised_once_somebody_waits_for_it(process: GraphProcess) -> None:
    process.apply([record(0, FactInvalidated(fact_id="none", kind="ended", cause="none", holds=()))])
    with pytest.raises(DamagedLog, match="names fact none"):
        process.settle()


def test_a_process_that_was_killed_is_told_of(process: GraphProcess) -> None:
    process.settle()
    os.kill(process._child.pid, signal.SIGKILL)
    with pytest.raises(StorageFailed, match=r"some\.db: the process that writes it has ended"):
        process.settle()


def test_what_cannot_be_sent_ends_the_process_instead_of_being_left_out(process: GraphProcess) -> None:
    process._outbox.put((lambda: None,))  # which no process can be sent
    with pytest.raises(StorageFailed, match=r"some\.db: the process that writes it has ended"):
        process.settle()


def test_a_process_that_was_ended_here_takes_nothing_more(process: GraphProcess) -> None:
    process.kill()
    with pytest.raises(StorageFailed, match="has ended"):
        process.append(7)


@pytest.mark.parametrize("appends", [1, 3])
def test_a_build_whose_process_was_killed_goes_on_in_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, taken: list[bool], appends: int
) -> None:
    """As where there is no memory left for both."""
    monkeypatch.setattr(distant_graph, "_FEW", 1_000_000)
    monkeypatch.setattr(generations, "FLUSH_EVERY", 10)
    append, left = GraphProcess.append, [None] * appends

    def killed(self: GraphProcess, checkpoint: int) -> None:
        append(self, checkpoint)
        left.pop()
        if not left:
            self.settle()
            os.kill(self._child.pid, signal.SIGKILL)

    monkeypatch.setattr(GraphProcess, "append", killed)
    memory.rebuild("elsewhere")

    assert (left, taken) == ([], [])
    assert memory.digest("elsewhere") == memory.digest("main")
    monkeypatch.setattr(generation_build, "start_process", lambda *_: None)
    memory.rebuild("here")
    assert content(memory, "elsewhere") == content(memory, "here")
    assert [check for check in memory.verify() if not check.ok] == []
    assert not list(memory._session.places.graph("elsewhere").parent.glob("*.building*"))
    assert "the process that writes it has ended" in caplog.text


def test_what_was_kept_of_beliefs_is_dropped_once_this_process_takes_over(
    log: SqliteLog, process: GraphProcess, tmp_path: Path
) -> None:
    with ExitStack() as opened:
        graph = DistantGraph(process, log, tmp_path / "some.db", opened)
        graph.apply([record(0, ANA)])
        kept = weakref.ref(graph._beliefs)
        graph.take_over()
        gc.collect()
        assert kept() is None


def test_a_process_that_cannot_be_started_is_none(
    log: SqliteLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(graph_process, "ChildProcess", refuse)
    assert start_process(log, tmp_path / "some.db") is None
