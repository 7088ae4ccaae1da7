"""The commands that look into a memory: verify, doctor, stats, export."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Group, Json, KnownAt, ValidAt


def doctor(data: Data = None, as_json: Json = False) -> int:
    """Look at what asof needs and finds here. Says how to mend what is not there."""
    from asof.doctor import examine

    chosen = calls.settings(data)
    found = list(examine(chosen.data, chosen.model_dir))
    if as_json:
        show.data([finding.to_json() for finding in found])
    else:
        show.table(("", "state", "found", "to mend it"), ((f.what, f.state, f.found, f.remedy) for f in found))
    return calls.FAILED if any(f.state == "broken" for f in found) else 0


def verify(data: Data = None, as_json: Json = False) -> int:
    """Check every log and every projection. Names the position of damage."""
    with calls.existing(data) as memory, show.progress("verifying") as progress:
        found = [check.to_json() for check in memory.verify(progress=progress)]
    if as_json:
        show.data(found)
    else:
        show.table(("", "state", "found"), ((c["what"], "ok" if c["ok"] else "DAMAGED", c["found"]) for c in found))
    return 0 if all(c["ok"] for c in found) else calls.FAILED


def stats(data: Data = None, as_json: Json = False) -> None:
    """Count what is there, and say what was parked and why."""


def export(
    episodic: Annotated[
        bool, typer.Option("--episodic", help="What was recorded, instead of what is believed.")
    ] = False,
    form: Annotated[Literal["json", "graphml"], typer.Option("--format", help="Of the export.")] = "json",
    group: Group = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write there, whole or not at all.")
    ] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Write the graph out. What is believed as of a moment, or what was recorded."""
