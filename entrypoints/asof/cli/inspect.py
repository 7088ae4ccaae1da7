"""The commands that look into a memory: verify, doctor, stats, export."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Group, Json, Kafka, KnownAt, ValidAt


def doctor(data: Data = None, as_json: Json = False) -> int:
    """Look at what asof needs and finds here. Says how to mend what is not there."""
    from asof.runtime.doctor import examine

    chosen = calls.settings(data)
    found = list(examine(chosen.data, chosen.model_dir))
    if as_json:
        show.data([finding.to_json() for finding in found])
    else:
        show.table(("", "state", "found", "to mend it"), ((f.what, f.state, f.found, f.remedy) for f in found))
    return calls.FAILED if any(f.state == "broken" for f in found) else 0


def verify(kafka: Kafka = None, data: Data = None, as_json: Json = False) -> int:
    """Check every log and every projection. Names the position of damage."""
    with calls.existing(data, kafka) as memory, show.progress("verifying") as progress:
        found = [check.to_json() for check in memory.verify(progress=progress)]
    if as_json:
        show.data(found)
    else:
        show.table(("", "state", "found"), ((c["what"], "ok" if c["ok"] else "DAMAGED", c["found"]) for c in found))
    return 0 if all(c["ok"] for c in found) else calls.FAILED


def stats(kafka: Kafka = None, data: Data = None, as_json: Json = False) -> None:
    """Count what is there, and say what was parked and why."""
    with calls.existing(data, kafka) as memory:
        found = memory.stats()
    if as_json:
        show.data(found)
        return
    sizes, generations, parked = (found.pop(name) for name in ("bytes", "generations", "parked_messages"))
    rows = [(name.replace("_", " "), value) for name, value in found.items()]
    show.table(("", "count"), [*rows, ("bytes on disk", sum(sizes.values()))])
    columns = ("entities", "facts", "open_versions", "merges", "communities", "contradictions", "events", "lag")
    show.line()
    show.table(
        ("generation", *(column.replace("_", " ") for column in columns)),
        ([name, *(generation[column] for column in columns)] for name, generation in generations.items()),
    )
    if parked:
        show.line()
        show.table(
            ("parked message", "group", "recorded at", "reason"),
            ((p["position"], p["group_id"], show.when(p["recorded_at"]), p["reason"]) for p in parked),
        )


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
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Write the graph out. What is believed as of a moment, or with --episodic what was recorded.

    With --episodic, --valid-at leaves out what was said later, --known-at what was recorded later.
    Where neither is given, everything is written.
    """
    with calls.existing(data, kafka) as memory:
        pieces = memory.export(form, episodic=episodic, group_id=group, valid_at=valid_at, known_at=known_at)
        if output is None:
            sys.stdout.writelines(pieces)
            return
        _write(output, pieces)
    if as_json:
        show.data({"output": str(output)})
    else:
        show.talk(f"written to {output}")


def _write(path: Path, pieces: Iterable[str]) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.writelines(pieces)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
