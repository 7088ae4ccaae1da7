"""Snapshots of the graphs of a directory, beside whoever writes to them."""

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import Progress, existing
from asof_projections.graph.sqlite_store.snapshots import GraphSnapshot, take_snapshot
from asof_streams.files import locked_file


def take_snapshots(places: DirectoryLayout, progress: Progress | None = None) -> list[GraphSnapshot]:
    """Take a snapshot of each graph of a directory, that of episodes first. WriterBusy: rows are being erased."""
    stores = {"episodic": places.episodes}
    stores |= {f"semantic.{info.name}": places.graph(info.name) for info in existing(places).generations}
    taken: list[GraphSnapshot] = []
    with locked_file(places.root / "snapshot.lock"):  # one process at a time
        for done, (log, path) in enumerate(stores.items(), 1):
            if path.exists():  # of a copy of topics, some may not be there yet
                taken.append(take_snapshot(path, log))
            if progress:
                progress(done, len(stores))
    return taken
