"""The commands that back a memory up and make directories of others: backup, restore, checkout."""

from pathlib import Path
from typing import Annotated

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations import backup as operations

_LOGS = Table(("log", "log"), ("from", "start"), ("to", "end"))


@command(operations.backup, parameters=Parameters(operations.BackupQuery, arguments=("file",)), settings=())
def backup(call: Call, query: operations.BackupQuery) -> None:
    """Write everything that cannot be made again into one file. Others may write meanwhile.

    With --after, only what came after an earlier backup: asof restore takes both.
    """
    with call.existing("backing up") as session:
        written = operations.backup(session, query)
    call.answer(operations.backup, written, lambda made: _LOGS(made.logs))
    if not call.as_json:
        show.talk(f"written to {written.file}, sha256 {written.digest}")


@command(operations.restore, settings=())
def restore(
    call: Call,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="A whole backup, then those that continue it, in order.")
    ],
    *,
    snapshots: Annotated[
        Path | None,
        typer.Option("--snapshots", metavar="DIR", help="Make graphs of the snapshots there, where they fit."),
    ] = None,
) -> None:
    """Make a directory of a backup, with all that follows from it. The directory must be empty or absent."""
    restored = operations.restore(call.settings, files, snapshots)
    call.answer(operations.backup, restored, lambda made: _LOGS(made.logs))
    if not call.as_json:
        show.talk(f"restored to {call.settings.data}")


@command(operations.checkout, parameters=Parameters(operations.CheckoutQuery, arguments=("directory",)), settings=())
def checkout(call: Call, query: operations.CheckoutQuery) -> None:
    """Make the directory as it was at a known moment. It is a memory of its own, and may be changed.

    Its logs are the first records of this one's, bit for bit; what was erased since is not there.
    """
    with call.existing("checking out") as session:
        made = operations.checkout(session, query)
    call.answer(operations.checkout, made, lambda one: show.line(f"messages in {one.directory}: {one.messages}"))
