"""What bench.growth does in processes of their own: write a part of a story to a directory, and ask questions there."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from statistics import mean, median
from typing import Any, Final

import asof
from asof.api.memory import Memory
from bench import story, synthetic
from bench.figures import peak_megabytes, sqlite_megabytes

_TOGETHER: Final = 100  # messages of a call
_LAST: Final = 1_000  # messages that take turns with those of another directory, which has
_BESIDE: Final = 500  # messages before its turns: they end where it has 1,500
_TURN: Final = 200  # messages
_QUIET_SECONDS: Final = 0.1  # in which a thread of the directory copies what was committed
_TOLD_EVERY: Final = 100_000  # messages
_WARMING: Final = 3  # questions of each kind that are not counted


def grow(directory: str, what: str, start: str, stop: str, total: str, model: str) -> dict[str, Any]:
    """Write messages from one on, up to another, of so many; model: the address of one that reads them, or "".

    `us` are microseconds of a message: of the last ones, of those of a new directory in turns with them (`us_beside`),
    and of all that came before (`us_before`). `sqlite_megabytes` are at the end.
    """
    settings: dict[str, Any] = {"embedder": "none"}
    if model:
        settings = {"extractor": "model", "model_name": "fake", "model_url": model}
    first, last, most = int(start), int(stop), int(total)
    turns = min(_LAST, (last - first) // 2)
    beside = min(_BESIDE, turns)
    with asof.open(directory, **settings) as memory:
        us_before = _write(memory, what, range(first, last - turns), most)
        said: dict[str, Any] = {"us_before": us_before, "writer_megabytes": peak_megabytes()}
        with asof.open(f"{directory}-beside-{last}", **settings) as other:
            _write(other, what, range(beside), most)
            times = [
                (
                    _write(memory, what, range(last - turns, last)[at : at + _TURN], most),
                    _write(other, what, range(beside, beside + turns)[at : at + _TURN], most),
                )
                for at in range(0, turns, _TURN)
            ]
        said["us"], said["us_beside"] = map(mean, zip(*times, strict=True))
        said["sqlite_megabytes"] = sqlite_megabytes()
        if model:
            said["calls"] = sum(usage.calls for usage in memory.usage(all_groups=True))
    return said


def _write(memory: Memory, what: str, numbers: range, most: int) -> float:
    """Write messages by their numbers; return how many microseconds of the processor one took."""
    seconds = 0.0
    for at in range(0, len(numbers), _TOGETHER):
        some = numbers[at : at + _TOGETHER]
        lines = list(_lines(what, some, most))
        began = time.process_time()
        done = memory.import_facts(lines) if what == "facts" else memory.produce(lines)
        seconds += time.process_time() - began
        assert not done.refused
        if some.stop % _TOLD_EVERY == 0:
            us = seconds * 1e6 / (some.stop - numbers.start)
            print(f"{what}, {some.stop:,}: {us:.0f} us, {peak_megabytes():.0f} MB", file=sys.stderr, flush=True)
    began = time.process_time()
    time.sleep(_QUIET_SECONDS)
    return (seconds + time.process_time() - began) * 1e6 / len(numbers)


def _lines(what: str, numbers: range, most: int) -> Iterator[bytes]:
    if what == "facts":
        return (json.dumps(synthetic.fact(number, most)).encode() for number in numbers)
    return story.lines(numbers)


def ask(directory: str, size: str, embedder: str, count: str) -> dict[str, Any]:
    """Open the directory of a chat of so many messages, ask so many questions of each kind, and open it for writing.

    `questions` are the median milliseconds of each kind, `open` and `open_to_write` milliseconds too.
    """
    people = [story.speaker(number * 7 % story.speakers(int(size))) for number in range(_WARMING + int(count))]
    began = time.process_time()
    with asof.open(directory, embedder=embedder) as memory:
        memory.facts(about=people[0], group_id=story.GROUP)
        opened = (time.process_time() - began) * 1e3
        medians = {name: _median(kind, memory, people) for name, kind in _QUESTIONS[embedder].items()}
        megabytes = peak_megabytes()
        to_write = _milliseconds(memory.produce, ())
    return {"open": opened, "questions": medians, "reader_megabytes": megabytes, "open_to_write": to_write}


Question = Callable[[Memory, str], object]
_QUESTIONS: Final[dict[str, dict[str, Question]]] = {  # by embedder, each about somebody
    "none": {
        "slot": lambda memory, who: memory.facts(about=who, relation="lives_in", group_id=story.GROUP),
        "facts about": lambda memory, who: memory.facts(about=who, group_id=story.GROUP),
        "search by words": lambda memory, who: memory.search(f"Where does {who} live?", group_id=story.GROUP),
    },
    "minilm": {
        "search by vectors too": lambda memory, who: memory.search(f"Where does {who} live?", group_id=story.GROUP),
        "recall": lambda memory, who: memory.context(f"Where does {who} live?", group_id=story.GROUP),
    },
}


def _median(question: Question, memory: Memory, people: list[str]) -> float:
    return median([_milliseconds(question, memory, who) for who in people][_WARMING:])


def _milliseconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.process_time()
    work(*arguments)
    return (time.process_time() - began) * 1e3
