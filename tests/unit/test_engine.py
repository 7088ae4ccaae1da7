"""What the engine leaves on its logs where a message is given up, or some are erased; over real logs and stores."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from asof_projections.graph.sqlite_store.inspection import content_of
from asof_projections.projector import rebuild
from asof_streams.episodic import EpisodeRecorded, MessageParked, MessageRetried
from asof_streams.errors import UnavailableError
from asof_streams.events import Draft, Record
from asof_streams.ids import episode_id
from asof_streams.messages import AnyMessage, ErasureRequest, Message, RedactionRequest, RetryRequest, WithdrawalRequest
from asof_streams.semantic import EntityIntroduced, FactRetracted
from asof_streams.sqlite_log import SqliteLog
from histories import History, Triples, on


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    history = History(tmp_path)
    yield history
    history.close()


def said(content: str) -> Message:
    return Message(group_id="g", content=content, role="ana", role_type="user")


def record(history: History, message: AnyMessage) -> Record:
    """Put a message on the log, and return its record, which the engine has not ingested."""
    [position] = history.messages.accept([message], clock=on("2024-02-01"))
    return next(history.messages.read(position))


def bodies(history: History) -> list[str]:
    return [r.event.body for r in history.engine.episodic.log.read() if isinstance(r.event, EpisodeRecorded)]


def test_a_retry_that_is_given_up_parks_the_message_that_it_names_with_that_reason(history: History) -> None:
    history.say("2024-01-01", "Hello", uuid="nothing")
    history.say("2024-01-01", "Hello", uuid="nothing")
    [named] = [r.position for r in history.messages.read(1)]
    retry = record(history, RetryRequest(group_id="g", position=named))
    history.engine.park(retry, "overdue")
    history.engine.flush()

    given_up = [r.event for r in history.engine.episodic.log.read() if r.cause == retry.position]
    assert given_up == [MessageRetried(position=named), MessageParked(reason="overdue", position=named)]


def test_an_erasure_erases_what_was_ingested_and_not_made_durable_yet(history: History) -> None:
    for message in (record(history, said("Ana -owns-> Boat")), record(history, ErasureRequest(group_id="g"))):
        history.engine.ingest(message)
    history.engine.flush()

    assert bodies(history) == []


def test_an_erasure_leaves_messages_of_which_nothing_was_read_and_none_that_comes_after_it(history: History) -> None:
    history.say("2024-01-01", "Hello")
    history.say("2024-01-02", "Ana -owns-> Boat")
    erasure = record(history, RedactionRequest(group_id="g", positions=(1, 2)))
    history.engine.ingest(erasure)
    history.engine.flush()

    assert bodies(history) == ["ana(user): Hello"]
    assert next(history.messages.read(erasure.position)).event == erasure.event


def test_an_erasure_is_answered_on_the_log_before_the_next_message_is_ingested(history: History) -> None:
    history.say("2024-01-01", "Ana -owns-> Boat")
    erasure = record(history, RedactionRequest(group_id="g", positions=(0,)))
    history.engine.ingest(erasure)

    assert history.engine.episodic.log.checkpoint() == erasure.position + 1


def test_an_erasure_that_ends_once_what_was_told_before_is_gone_is_done_again_from_what_was_told_last(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.say("2024-01-01", "Ana -owns-> Boat")
    history.say("2024-01-02", "Ana -owns-> Car")
    erasure = record(history, RedactionRequest(group_id="g", positions=(0,)))

    def erase_and_fail(group: str, before: int) -> None:
        SqliteLog.erase(log, group, before=before)
        raise UnavailableError("the process ends here")

    log = history.engine.episodic.log
    assert isinstance(log, SqliteLog)
    with monkeypatch.context() as context:
        context.setattr(log, "erase", erase_and_fail)
        with pytest.raises(UnavailableError):
            history.engine.ingest(erasure)
    history.engine.roll_back()
    history.engine.ingest(erasure)

    assert bodies(history) == ["ana(user): Ana -owns-> Car"]


def names(history: History) -> list[str]:
    return [r.event.name for r in history.semantic.read() if isinstance(r.event, EntityIntroduced)]


@pytest.fixture
def missed(history: History, monkeypatch: pytest.MonkeyPatch) -> History:
    """A history of which the generation has missed the one message."""

    def fail(_drafts: Sequence[Draft], *, checkpoint: int) -> int:
        raise UnavailableError(f"the disk is full at {checkpoint}")

    history.engine.ingest(record(history, said("Ana -owns-> Boat")))
    with monkeypatch.context() as context:
        context.setattr(history.semantic, "append", fail)
        with pytest.raises(UnavailableError):
            history.engine.flush()
    history.engine.roll_back()
    return history


def test_a_generation_that_missed_a_message_has_it_before_the_next_one(missed: History) -> None:
    missed.engine.ingest(record(missed, said("Ana -owns-> Car")))
    missed.engine.flush()

    assert names(missed) == ["Ana", "Boat", "Car"]


def test_a_generation_that_missed_a_message_has_it_after_the_next_flush(missed: History) -> None:
    missed.engine.flush()

    assert names(missed) == ["Ana", "Boat"]


@pytest.fixture(params=["episodes", "beliefs"])
def full(request: pytest.FixtureRequest, history: History, monkeypatch: pytest.MonkeyPatch) -> History:
    """A history of which a store had no room for the one message when its log had it already."""

    def fail(_position: int, _head: bytes, _checkpoint: int | None = None) -> None:
        raise UnavailableError("the disk is full")

    history.engine.ingest(record(history, said("Ana -owns-> Boat")))
    with monkeypatch.context() as context:
        context.setattr(getattr(history, request.param), "commit", fail)
        with pytest.raises(UnavailableError):
            history.engine.flush()
    history.engine.roll_back()
    return history


def expect_all_of(history: History) -> None:
    """Hold that each store is what one made anew of its log would be."""
    for log, store in ((history.engine.episodic.log, history.episodes), (history.semantic, history.beliefs)):
        anew = store.path.with_suffix(".anew")
        rebuild(log, anew)
        assert content_of(store.path, store.path) == content_of(anew, anew)


def test_a_store_that_missed_a_message_has_it_before_the_next_one(full: History) -> None:
    full.engine.ingest(record(full, said("Ana -owns-> Car")))
    full.engine.flush()

    expect_all_of(full)
    assert names(full) == ["Ana", "Boat", "Car"]


def test_a_store_that_missed_a_message_has_it_after_the_next_flush(full: History) -> None:
    full.engine.flush()

    expect_all_of(full)
    assert names(full) == ["Ana", "Boat"]


def test_what_is_parked_in_a_generation_is_warned_of_with_its_log(
    history: History, caplog: pytest.LogCaptureFixture
) -> None:
    history.tell("2024-01-01", relation="owns", op="retract", object="Boat")

    assert caplog.messages == ["message 0 is parked in semantic.main: subject or object"]


def test_what_a_retry_recorded_a_moment_ago_can_be_withdrawn(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    parked = record(history, said("Ana -owns-> Boat"))
    with monkeypatch.context() as context:
        context.setattr(Triples, "extract", None)
        history.engine.ingest(parked)
    retry = RetryRequest(group_id="g", position=parked.position)
    withdrawal = WithdrawalRequest(group_id="g", episode_id=episode_id("g", parked.position))
    for message in (record(history, retry), record(history, withdrawal)):
        history.engine.ingest(message)
    history.engine.flush()

    assert FactRetracted in {type(r.event) for r in history.semantic.read()}
