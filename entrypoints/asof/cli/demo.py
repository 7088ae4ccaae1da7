"""The command that shows what asof is for: demo."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING

from asof.cli import calls, show
from asof.cli.options import Data, Json
from asof_streams.errors import InvalidInput

if TYPE_CHECKING:
    from asof.cli.demo_story import Story

_WIDTH = 110


def demo(data: Data = None, as_json: Json = False) -> None:
    """Show what it is for: a story of two years. Needs no network, and no directory unless one is given."""
    from asof.cli import demo_story

    with _place(data) as place, show.progress("listening") as heard:
        told = demo_story.tell(place, calls.settings(place, graph="sqlite"), heard)
    if as_json:
        show.data(told.to_json())
    else:
        _tell(told, data)


@contextmanager
def _place(data: Path | None) -> Iterator[Path]:
    """Return where the story is told: a directory of its own, which is gone afterwards unless one was given."""
    if data is None:
        with TemporaryDirectory(prefix="asof-demo-") as directory:
            yield Path(directory)
        return
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise InvalidInput(f"{data} is not empty: the story needs a directory of its own")
    yield data


def _tell(told: "Story", data: Path | None) -> None:
    from asof.cli import demo_story
    from asof.cli.past import explain

    *others, last = told.speakers
    show.line(f"{told.messages} messages from {told.first[:10]} to {told.last[:10]}, by {', '.join(others)} and {last}")
    for log, counts in told.events.items():
        listed = ", ".join(f"{count}\xa0{type_}" for type_, count in counts.items())
        first = f"  {log:9}{sum(counts.values()):4} events: "
        wrapped = fill(listed, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
        show.line(wrapped.replace("\xa0", " "))
    show.line(f"\nWhere does {demo_story.WHO} live? As the world was (valid), as it was known:\n")
    show.table(
        ("valid", "known", "answer", "because"),
        ((a.moment.valid_at, a.moment.known_at, ", ".join(a.objects), a.moment.because) for a in told.answers),
    )
    explained = told.answers[demo_story.EXPLAINED]
    show.line(f"\nWhy {', '.join(explained.objects)}?\n")
    explain(told.why.to_json())
    show.line("\nThe beliefs, built a second time from the episodic log, by their digests:\n")
    for generation, digest in told.digests.items():
        show.line(f"  {generation:6} {digest}")
    show.line("  identical" if told.same else "  DIFFERENT: this is a bug, please report it")
    place = data or "./demo"
    again = "" if data else f"asof demo --data {place}, then "
    show.line(f"\nGo on: {again}asof timeline {demo_story.WHO} --data {place}; asof --help")
