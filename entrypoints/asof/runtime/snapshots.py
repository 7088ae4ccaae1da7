"""Snapshots of the graphs of a directory: taken beside whoever writes to them, and copied to another directory."""

from collections.abc import Mapping
from pathlib import Path

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import Progress, existing, open_log
from asof_projections.graph.sqlite_store.snapshots import GraphSnapshot, copy_snapshot, take_snapshot
from asof_streams.files import locked_file


def take_snapshots(places: DirectoryLayout, progress: Progress | None = None) -> list[GraphSnapshot]:
    """Take a snapshot of each graph of a directory, that of episodes first. WriterBusy: rows are being erased."""
    stores = _stores(places)
    taken: list[GraphSnapshot] = []
    with locked_file(places.root / "snapshot.lock"):  # one process at a time
        for done, (log, path) in enumerate(stores.items(), 1):
            if path.exists():  # of a copy of topics, some may not be there yet
                taken.append(take_snapshot(path, log))
            if progress:
                progress(done, len(stores))
    return taken


def copy_snapshots(places: DirectoryLayout, to: DirectoryLayout) -> None:
    """Copy the snapshots of a directory that has the logs of another one, as far as there are some. StorageFailed.

    None is copied of a log that has records whose keys are destroyed: it may be from before that erasure, too.
    """
    for name, path in _stores(to).items():
        kind, _, generation = name.partition(".")
        with open_log(to, kind, generation or None) as log:
            if not log.is_older_than_an_erasure():
                copy_snapshot(places.root / path.relative_to(to.root), path)


def _stores(places: DirectoryLayout) -> Mapping[str, Path]:
    """Return the graphs of a directory, by the log that each follows."""
    stores = {"episodic": places.episodes}
    return stores | {f"semantic.{info.name}": places.graph(info.name) for info in existing(places).generations}
