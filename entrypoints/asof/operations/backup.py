"""Backups, and the directories made of them; checkouts: the directory as it was at a known moment."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from asof.operations.operation import operation
from asof.runtime.backup import Backup, back_up
from asof.runtime.backup import restore as restore_directory
from asof.runtime.checkout import Checkout, check_out
from asof.runtime.layout import DirectoryLayout
from asof.service.session import Session
from asof.settings import Settings
from asof_projections.model.queries import Instant, Query


class BackupQuery(Query):
    """Write everything that cannot be made again into one file."""

    file: Path = Field(description="The file to write, whole or not at all.")
    after: Path | None = Field(None, description="An earlier backup: only what came after it is written.")


class CheckoutQuery(Query):
    """Make the directory as it was at a known moment."""

    directory: Path = Field(description="The directory to make: empty, or not there yet.")
    known_at: Instant = Field(description="The moment: what was recorded later is not there.")


@operation()
def backup(session: Session, query: BackupQuery) -> Backup:
    """Write the logs and the files beside them into one file, also while another process writes; return its content.

    DamagedFile: `after` is no backup. InvalidInput: it is of another memory, or the directory is a copy of topics.
    """
    return back_up(session.places, query.file, query.after, session.progress)


def restore(settings: Settings, files: Sequence[Path], snapshots: Path | None = None) -> Backup:
    """Make the settings' directory of a backup and those that continue it, in order; return the last one's content.

    snapshots: a directory with snapshots of its graphs, which are made of these and the rest of their logs, where they
    fit. InvalidInput: there is none, the directory to make is not empty, or a backup does not continue the one before
    it. DamagedFile: one of them is not what was written. Nothing is left of a restore that fails.
    """
    return restore_directory(files, DirectoryLayout(settings.data), settings, snapshots)


@operation()
def checkout(session: Session, query: CheckoutQuery) -> Checkout:
    """Make the directory as it was at a known moment, also while another process writes; return what it holds.

    InvalidInput: there is something in it, or this one is a copy of topics. NotFound: nothing was recorded by then.
    """
    return check_out(session.places, query.known_at, query.directory, session.settings)
