"""A layer knows what the last message caused, without a look into its log."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_agents.layer import Layer, batch_of
from asof_streams.events import Record
from asof_streams.sqlite_log import SqliteLog
from semantic_story import entity


class Store:
    """A store that keeps nothing: a layer's batches do not come from it."""

    def apply(self, records: Any) -> None: ...
    def commit(self, position: int, head: bytes, checkpoint: int) -> None: ...
    def rollback(self) -> None: ...


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Layer]:
    with SqliteLog(tmp_path / "semantic.main.sqlite", writable=True) as log:
        yield Layer(log, Store())


def emit(layer: Layer, cause: int, *names: str) -> None:
    layer.emit("g", 1, cause, [entity(name) for name in names])


def batches(layer: Layer) -> list[list[tuple[int, object]]]:
    return [told(layer.batch(cause)) for cause in range(6)]


def told(records: list[Record]) -> list[tuple[int, object]]:
    return [(record.position, record.event) for record in records]


def test_a_batch_is_what_the_log_has_of_a_message(layer: Layer) -> None:
    for cause, names in ((0, ["Ana", "Bo"]), (2, ["Cy"]), (3, []), (4, ["Di", "Ed"])):
        emit(layer, cause, *names)
        layer.flush()

        assert batches(layer) == [told(batch_of(layer.log, cause)) for cause in range(6)]
    assert [len(batch) for batch in batches(layer)] == [2, 0, 1, 0, 2, 0]


def test_a_message_that_is_told_again_has_its_new_batch_and_the_last_one_keeps_its_own(layer: Layer) -> None:
    emit(layer, 0, "Ana")
    emit(layer, 1, "Bo")
    emit(layer, 0, "Ana")
    layer.flush()

    assert [[at for at, _ in batch] for batch in batches(layer)[:3]] == [[2], [1], []]


def test_what_a_layer_tells_again_first_hides_no_batch_of_a_later_message(layer: Layer) -> None:
    emit(layer, 3, "Ana")
    layer.flush()
    opened_again = Layer(layer.log, Store())
    emit(opened_again, 1, "Bo")
    opened_again.flush()

    assert [len(opened_again.batch(cause)) for cause in (1, 2, 3, 4)] == [1, 0, 1, 0]


def test_what_was_not_appended_is_no_batch(layer: Layer) -> None:
    emit(layer, 0, "Ana")
    layer.flush()
    emit(layer, 1, "Bo")
    layer.roll_back()

    assert [len(batch) for batch in batches(layer)[:2]] == [1, 0]


def test_the_last_batches_are_found_without_the_log(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    emit(layer, 3, "Ana")
    layer.flush()
    monkeypatch.setattr(SqliteLog, "read", None)

    assert [len(layer.batch(cause)) for cause in (3, 4)] == [1, 0]
