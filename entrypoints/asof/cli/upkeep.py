"""The commands that look after a memory: embed, verify, repair, compress, snapshot, usage, stats, export, doctor."""

import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from asof.cli import calls, show
from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations import upkeep as operations
from asof.operations import usage as spent
from asof.operations.doctor import doctor as examine
from asof.operations.operation import ExportQuery

_CHECKS: Final = Table(("", "what"), ("state", lambda check: "ok" if check.ok else "DAMAGED"), ("found", "found"))
_COMPRESSED: Final = Table(("log", "log"), ("records", "records"), ("bytes before", "before"), ("bytes after", "after"))
_SNAPSHOTS: Final = Table(("graph of", "log"), ("position", "position"), ("bytes", "size"), ("digest", "digest"))
_FINDINGS: Final = Table(("", "what"), ("state", "state"), ("found", "found"), ("to mend it", "remedy"))
_COUNTED: Final = ("entities", "facts", "open_versions", "merges", "communities", "contradictions", "events", "lag")


@command(operations.embed)
def embed(call: Call) -> None:
    """Make the vectors that facts, names and episodes lack. Until then search finds those by words."""
    with call.existing("embedding") as session:
        answer = operations.embed.ask(session)
    call.answer(
        operations.embed, answer, lambda made: show.line(f"{show.counted(made.vectors, 'vector')}, none is missing")
    )


@command(operations.verify)
def verify(call: Call) -> int:
    """Check every log and every projection. Names the position of damage."""
    with call.existing("verifying") as session:
        checks = operations.verify.ask(session)
    call.answer(operations.verify, checks, _CHECKS)
    return 0 if all(check.ok for check in checks) else calls.FAILED


@command(operations.repair)
def repair(call: Call) -> int:
    """Make again what verify finds damaged, each from the log before it. Says what cannot be."""
    with call.existing("repairing") as session:
        checks = operations.repair.ask(session)
    call.answer(operations.repair, checks, _CHECKS)
    return 0 if all(check.ok for check in checks) else calls.FAILED


@command(operations.compress)
def compress(call: Call) -> None:
    """Compress the older records of the logs. They take a fifth of the space; others may write meanwhile."""
    with call.existing("compressing") as session:
        logs = operations.compress.ask(session)
    call.answer(operations.compress, logs, _COMPRESSED)


@command(operations.snapshot)
def snapshot(call: Call) -> None:
    """Take a snapshot of each graph. One that is lost is made of it, and of the rest of its log."""
    with call.existing("copying") as session:
        graphs = operations.snapshot.ask(session)
    call.answer(operations.snapshot, graphs, _SNAPSHOTS)


usage = question(
    spent.usage,
    Table(
        ("group", "group_id"),
        ("prompt", lambda one: f"{one.prompt} {one.prompt_version}"),
        ("model", "model"),
        ("answers", "answers"),
        ("failures", "failures"),
        ("calls", "calls"),
        ("tokens asked", "prompt_tokens"),
        ("tokens answered", "completion_tokens"),
        ("cost", lambda one: "" if one.cost is None else one.cost),
        nothing="no model was asked",
    ),
)


def _stats(found: Any) -> None:
    sizes, generations, parked = (found.pop(name) for name in ("bytes", "generations", "parked_messages"))
    embedder, fallback = found.pop("embedder"), found.pop("embedder_fallback")
    rows = [(name.replace("_", " "), value) for name, value in found.items()]
    show.table(("", "count"), [*rows, ("bytes on disk", sum(sizes.values()))])
    show.line()
    show.table(
        ("generation", *(column.replace("_", " ") for column in _COUNTED)),
        ([name, *(generation[column] for column in _COUNTED)] for name, generation in generations.items()),
    )
    for name, generation in generations.items():
        if generation["advice"]:
            show.line(f"\ngeneration {name}: {generation['advice']}")
    show.line(f"\nembedder {embedder}" + (f": {fallback}" if fallback else ""))
    if parked:
        show.line()
        show.table(
            ("parked message", "group", "recorded at", "reason"),
            ((one["position"], one["group_id"], _when(one["recorded_at"]), one["reason"]) for one in parked),
        )


def _when(time: str) -> str:
    return show.when(datetime.fromisoformat(time))


stats = question(operations.stats, _stats)


@command(operations.export, parameters=Parameters(ExportQuery))
def export(
    call: Call,
    query: Any,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Write there, whole or not at all. Parquet needs it."),
    ] = None,
) -> None:
    """Write the graph out. What is believed as of a moment, or with --episodic what was recorded.

    With --episodic, --valid-at leaves out what was said later, --known-at what was recorded later.
    Where neither is given, everything is written.
    """
    with call.existing() as session:
        if output is None:
            sys.stdout.writelines(operations.export(session, query))
            return
        _write(output, operations.export_file(session, query))
    if call.as_json:
        show.data({"output": str(output)})
    else:
        show.talk(f"written to {output}")


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("wb") as file:
            file.writelines(pieces)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@command(examine)
def doctor(call: Call) -> int:
    """Look at what asof needs and finds here. Says how to mend what is not there."""
    findings = examine(call.settings)
    if call.as_json:
        show.data([finding.to_json() for finding in findings])
    else:
        _FINDINGS(findings)
    return calls.FAILED if any(finding.state == "broken" for finding in findings) else 0
