"""The commands that write: add, produce, import, erase."""

import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json, Kafka, moment
from asof_streams.errors import InvalidInput

if TYPE_CHECKING:
    from asof.runtime.results import Produced

_SHOWN_REFUSALS = 20
_READ_BYTES = 65_536  # of a pipe, at once
_MOMENT_SECONDS = 0.1  # without a line, until what has come is taken

File = Annotated[str, typer.Argument(metavar="FILE", help="One JSON object a line; - is standard input.")]
Strict = Annotated[bool, typer.Option("--strict", help="Take no line if any is refused.")]


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was said.")],
    group: Annotated[str, typer.Option("--group", metavar="ID", help="Whose memory it belongs to.")] = "default",
    role: Annotated[str, typer.Option("--role", metavar="NAME", help="Who said it, by name.")] = "",
    role_type: Annotated[
        Literal["user", "assistant", "system"], typer.Option("--role-type", help="What speaks.")
    ] = "user",
    timestamp: Annotated[
        int | None,
        typer.Option("--timestamp", metavar="TIME", parser=moment, help="When it was said. Now, if not given."),
    ] = None,
    source: Annotated[Literal["message", "text", "json"], typer.Option("--source", help="What TEXT is.")] = "message",
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The producer's own name for it.")] = "",
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Add one message. It is on disk, or with Kafka on the topic, when the command returns."""
    with calls.memory(data, kafka) as memory:
        added = memory.add(
            text, group_id=group, role=role, role_type=role_type, timestamp=timestamp, source=source, name=name
        )
    if as_json:
        show.data(added.to_json())
    else:
        known = (
            f"at offset {added.position}"
            if added.episode_id is None
            else f"{added.position}, episode {added.episode_id}"
        )
        show.line(f"message {known}")


def produce(file: File, strict: Strict = False, kafka: Kafka = None, data: Data = None, as_json: Json = False) -> int:
    """Add messages given as JSON lines. Their fields are Graphiti's, and group_id."""
    with calls.memory(data, kafka) as memory, _acknowledging() as acknowledged, lines_of(file) as lines:
        done = memory.produce(lines, strict=strict, acknowledged=acknowledged)
    return _tell(done, strict=strict, as_json=as_json)


def import_(
    file: File,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Keep each line's recorded_at: moves a history in.")
    ] = False,
    ontology: Annotated[
        str | None,
        typer.Option("--ontology", metavar="NAME", help="Check relations against it: its id, or a YAML file."),
    ] = None,
    strict: Strict = False,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> int:
    """Add structured facts given as JSON lines. Names are exact; nothing is extracted."""
    with calls.memory(data, kafka) as memory, _acknowledging() as acknowledged, lines_of(file) as lines:
        done = memory.import_facts(
            lines, recorded=recorded, ontology=ontology, strict=strict, acknowledged=acknowledged
        )
    return _tell(done, strict=strict, as_json=as_json)


def erase(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The group to forget.")],
    yes: Annotated[bool, typer.Option("--yes", help="Yes, for ever.")] = False,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Make everything of a group gone, for ever. At every moment of both clocks, as if it had never been.

    With Kafka a worker does it when it takes the request, in what answers; the records on the topics stay.
    """
    if not yes:
        raise InvalidInput("nothing was erased: it cannot be undone, so it needs --yes")
    with calls.existing(data, kafka) as memory:
        position = memory.erase(group)
    if as_json:
        show.data({"group_id": group, "position": position})
    else:
        on_kafka = calls.settings(data, kafka=kafka).kafka is not None
        show.line(f"asked for at offset {position}" if on_kafka else f"erased; the request is message {position}")


@contextmanager
def lines_of(file: str) -> Iterator[Iterable[bytes]]:
    """Open the lines to read, with a bar that says how far they are read."""
    if file == "-":
        if sys.stdin is None:
            raise InvalidInput("standard input is closed: give a FILE, or lines on standard input")
        yield _arriving(sys.stdin)
        return
    path = Path(file)
    try:
        opened = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    with opened, show.reading(opened, path.stat().st_size) as lines:
        yield lines


def _arriving(stream: TextIO) -> Iterator[bytes]:
    """Yield the lines of a pipe as they come, and nothing (b"") whenever it has none for a moment."""
    file, begun = stream.fileno(), bytearray()
    while True:
        if not select.select([file], [], [], _MOMENT_SECONDS)[0]:
            yield b""
            continue
        read = os.read(file, _READ_BYTES)
        *ends, rest = read.split(b"\n")
        for end in ends:
            yield bytes(begun) + end + b"\n"
            begun.clear()
        begun += rest
        if not read:
            break
    if begun:
        yield bytes(begun)


@contextmanager
def _acknowledging() -> Iterator[Callable[[int, int], None]]:
    """Count what is acknowledged, to say so where the work is interrupted."""
    taken = 0

    def acknowledged(accepted: int, seen: int) -> None:
        nonlocal taken
        del seen
        taken = accepted

    try:
        yield acknowledged
    except KeyboardInterrupt:
        show.talk(f"interrupted: the first {taken} good lines, at least, are on the log and stay")
        raise


def _tell(done: "Produced", *, strict: bool, as_json: bool) -> int:
    if as_json:
        show.data(done.to_json())
    else:
        for refused in done.refused[:_SHOWN_REFUSALS]:
            show.talk(f"line {refused.line}: {refused.reason}")
        if (more := len(done.refused) - _SHOWN_REFUSALS) > 0:
            show.talk(f"and {more} more")
        if done.parked:
            show.talk(f"{done.parked} of the accepted could not be read into facts: asof stats says why")
        kept = " (--strict: so none was taken)" if strict and done.refused else ""
        show.line(f"accepted {done.accepted}, refused {len(done.refused)}{kept}")
    return calls.FAILED if done.refused or done.parked else 0
