"""The command that shows what the rules find in a text: read."""

from typing import Any, Final

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.options import Explain
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations.extraction import read_text
from asof.operations.queries import ReadQuery

_VERBS: Final = {"assert": "holds", "end": "ended", "retract": "was wrong"}
_STATEMENTS: Final = Table(
    ("fact", "fact"),
    ("", lambda stated: _VERBS[stated.op]),
    ("from", "valid_at"),
    ("until", "invalid_at"),
    ("time", "time_words"),
    nothing="nothing understood: --explain says why",
)


@command(read_text, parameters=Parameters(ReadQuery, arguments=("content",), names={"content": "TEXT"}), settings=())
def read(
    call: Call,
    query: Any,
    *,
    explain: Explain = False,
) -> None:
    """Read a text by the rules, and show what is found in it. Nothing is written, and no memory is asked.

    A fact without a time holds from when it was said. With --explain, sentences, mentions, times, cues and near
    misses are shown too; with --json, they are always printed.
    """
    reading = read_text(call.settings, query)
    if call.as_json:
        show.data(reading.to_json())
    elif explain:
        for sentence in reading.sentences:
            _explain(sentence)
    else:
        _STATEMENTS(reading.statements)


def _explain(sentence: Any) -> None:
    show.line(" ".join(sentence.text.split()))
    for mention in sentence.mentions:
        show.line(f"  mention: {mention.text} ({mention.type})")
    for time in sentence.times:
        show.line(f"  time: {time.words} is {_period(time)}")
    for stated in sentence.statements:
        by = f"by the cue {stated.cue}" if stated.cue else "as a correction"
        show.line(f"  {_VERBS[stated.op]}: {stated.fact}{_dated(stated)}, {by}")
    for attribute in sentence.attributes:
        show.line(f"  attribute: {attribute.entity}: {attribute.name} is {attribute.value}")
    for miss in sentence.near_misses:
        cue = f" ({miss.relation}: {miss.cue})" if miss.cue else ""
        show.line(f"  no fact: {' '.join(miss.words.split())}: {miss.reason}{cue}")


def _period(time: Any) -> str:
    if time.start is None:
        return f"until {show.when(time.stop)}"
    return show.period(time.start, time.stop)


def _dated(stated: Any) -> str:
    if stated.valid_at is None:
        return f", until {show.when(stated.invalid_at)}" if stated.invalid_at else ""
    return f", {show.period(stated.valid_at, stated.invalid_at)}"
