"""The command that shows what asof is for: demo."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from textwrap import fill

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.demo_story import EXPLAINED, GROUP, OPERATIONS, WHO, Story, tell
from asof.cli.facts import explain
from asof.operations.errors import InvalidInput

_WIDTH = 110


@command(*OPERATIONS, settings=())
def demo(call: Call) -> None:
    """Show what it is for: a story of two years. Needs no network, and no directory unless one is given."""
    data = call.settings.data if "data" in call.settings.model_fields_set else None
    with _place(data) as place, show.progress("listening") as heard:
        told = tell(call.settings.model_copy(update={"data": place}), heard)
    if call.as_json:
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


def _tell(told: Story, data: Path | None) -> None:
    *others, last = told.speakers
    show.line(f"{told.messages} messages from {told.first[:10]} to {told.last[:10]}, by {', '.join(others)} and {last}")
    for log, counts in told.events.items():
        listed = ", ".join(f"{count}\xa0{type_}" for type_, count in counts.items())
        first = f"  {log:9}{sum(counts.values()):4} events: "
        wrapped = fill(listed, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
        show.line(wrapped.replace("\xa0", " "))
    show.line(f"\nWhere does {WHO} live? As the world was (valid), as it was known:\n")
    show.table(
        ("valid", "known", "answer", "because"),
        ((a.moment.valid_at, a.moment.known_at, ", ".join(a.objects), a.moment.because) for a in told.answers),
    )
    explained = told.answers[EXPLAINED]
    show.line(f"\nWhy {', '.join(explained.objects)}?\n")
    explain(told.why)
    show.line("\nThe beliefs, built a second time from the episodic log, by their digests:\n")
    for generation, digest in told.digests.items():
        show.line(f"  {generation:6} {digest}")
    show.line("  identical" if told.same else "  DIFFERENT: this is a bug, please report it")
    asof, place = show.program(), quote(str(data or "./demo"))
    again = "" if data else f"{asof} demo --data {place} && "
    show.line(f"\nGo on, with all that {asof} --help lists:\n")
    show.line(f"  {again}{asof} timeline {WHO} --group {GROUP} --data {place}")
