"""No shape of text takes more than its size: extraction is linear, and one message is never more than a budget."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, SupportsIndex

import pytest
from bench.text_shapes import SHAPES

import asof
from asof_agents.extraction.english import context, work
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Extraction, Turn
from asof_ontologies.registry import load
from asof_streams.errors import InvalidInput
from asof_streams.messages import MAX_CONTENT_BYTES
from effort import tries

_SMALL, _LARGE = tries(2, nightly=4) * 1024, tries(16, nightly=64) * 1024
_GROWTH_MAX = 3 * _LARGE / _SMALL  # what is quadratic grows by eight times as much as what is linear, or more
_EXTRACTOR = EnglishExtractor(load("default"), find_times)


def extract(text: str) -> Extraction:
    return _EXTRACTOR.extract(Turn("episode", "Ana", "user", text, 1_700_000_000_000_000), [], lambda _: {})


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "Work", lambda: work.Work(sys.maxsize))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[asof.Memory]:
    with asof.open(tmp_path, embedder="none") as memory:
        yield memory


def seconds(text: str, times: int) -> float:
    """Return the least processor time that the extraction of a text takes."""
    return min(_seconds(text) for _ in range(times))


def _seconds(text: str) -> float:
    began = time.process_time()
    extract(text)
    return time.process_time() - began


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("shape", SHAPES)
def test_extraction_takes_time_in_proportion_to_the_text(shape: str) -> None:
    small = max(seconds(SHAPES[shape](_SMALL), 5), 0.002)

    assert seconds(SHAPES[shape](_LARGE), 1) < _GROWTH_MAX * small or seconds(SHAPES[shape](_LARGE), 3) < (
        _GROWTH_MAX * small
    )


def _document(field: Callable[[int], str], before: str, after: str) -> Callable[[int], str]:
    """Return what makes a JSON document of a size, of many fields or items."""

    def made(size: int) -> str:
        return before + ",".join(field(number) for number in range(size // len(field(1_000)))) + after

    return made


DOCUMENTS: Final = {
    "records": _document(lambda number: f'{{"name":"Ana N{number}","employer":"Acme {number}"}}', "[", "]"),
    "keys of one record": _document(lambda number: f'"is k{number}":1', '{"name":"Ana",', "}"),
    "one key, again and again": _document(lambda number: f'"employer":"Acme {number % 7}"', '{"name":"Ana",', "}"),
    "values of one key": _document(lambda number: f'"tea{number}"', '{"name":"Ana","likes":[', "]}"),
    "objects under a name": _document(lambda number: f'"Ana":{{"age":{number}}}', "{", "}"),
    "empty objects": _document(lambda _: "{}", "[", "]"),
    "a long name": _document(lambda _: "Ana", '{"name":"', '"}'),
}


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("shape", DOCUMENTS)
def test_a_document_takes_steps_in_proportion_to_its_size(shape: str) -> None:
    def steps(size: int) -> int:
        count = 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        turn = Turn("episode", "Ana", "user", DOCUMENTS[shape](size), 0, is_json=True)
        sys.setprofile(note)
        try:
            _EXTRACTOR.extract(turn, [], lambda _: {})
        finally:
            sys.setprofile(None)
        return count

    steps(1_000)

    assert steps(32_000) < 5 * max(steps(8_000), 1_000)


class CopiedText(str):
    """A text that counts the characters that are copied out of it."""

    __slots__ = ("copied",)

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        part = super().__getitem__(at)
        self.copied = getattr(self, "copied", 0) + len(part)
        return part


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("unit", ["Ana is a teacher ", "I went to Rome yesterday and "])
def test_a_sentence_without_end_is_not_copied_for_each_of_its_clauses(unit: str) -> None:
    text = CopiedText(unit * 1_000)
    extract(text)

    assert text.copied < 50 * len(text)


@pytest.mark.usefixtures("unlimited")
@pytest.mark.parametrize("unit", ["Ana is a teacher ", "I went to Rome yesterday and "])
def test_the_steps_of_a_sentence_without_end_are_as_many_as_its_words(unit: str) -> None:
    def steps(units: int) -> int:
        """Return how often something is called, or goes on."""
        count = 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(note)
        try:
            extract(unit * units)
        finally:
            sys.setprofile(None)
        return count

    extract(unit)

    assert steps(1_000) < 4.5 * steps(250)


@pytest.mark.parametrize("shape", ["I like one name", "all like tea", "homes of one person", 'repeated "I\'m "'])
def test_a_message_that_is_too_much_work_is_parked_with_the_reason_and_the_next_is_read(
    shape: str, memory: asof.Memory
) -> None:
    memory.add(SHAPES[shape](MAX_CONTENT_BYTES), role="Ana", group_id="many")
    memory.add("I moved to Berlin.", role="Ana", group_id="few")

    [parked] = memory.parked(group_id="many")
    assert parked.reason.startswith("content: it is more work than one message may be")
    assert [fact.object for fact in memory.facts(group_id="few")] == ["Berlin"]


def test_ordinary_prose_of_the_largest_size_is_far_from_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "Work", lambda: work.Work(work.WORK_MAX * 2 // 3))

    extract(SHAPES["ordinary prose"](MAX_CONTENT_BYTES))


def test_work_is_counted_alike_in_every_run() -> None:
    text = SHAPES["I like one name"](MAX_CONTENT_BYTES)

    for _ in range(2):
        with pytest.raises(InvalidInput) as error:
            extract(text)
        assert error.value.field == "content"


def test_words_after_many_long_turns_are_read_without_reading_those_again() -> None:
    long = Turn("before", "Ana", "user", SHAPES["ordinary prose"](MAX_CONTENT_BYTES), 0)
    turn = Turn("episode", "Ana", "user", "Actually, it was Rome. He likes tea.", 0)
    began = time.process_time()
    extract(long.text)
    whole = time.process_time() - began

    began = time.process_time()
    _EXTRACTOR.extract(turn, [long] * 4, lambda _: {})

    assert time.process_time() - began < whole
