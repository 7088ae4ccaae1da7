"""Recovery before questions: messages that were acknowledged and not processed are, unless a writer is at work."""

from contextlib import ExitStack, suppress
from pathlib import Path

from asof.runtime.control_log import catch_up
from asof.runtime.erasure import owing
from asof.runtime.graph_database import kept_up
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import existing, following_store
from asof.settings import Settings
from asof_projections.generations import load
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import ContractError, StorageFailed, WriterBusy
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock


def process_backlog(places: DirectoryLayout, settings: Settings) -> None:
    """Process messages that were acknowledged and then left, by a crash; a living writer does so itself.

    What a copy of topics has not made of its messages, a worker makes; graphs that it cannot read are built anew.
    """
    if is_copy(places.root):
        _rebuild_unreadable(places)
        return
    with suppress(StorageFailed):
        catch_up(places)
    if places.episodic.exists() and not places.messages.exists():
        return  # it was lost: what was made of it answers, and making an empty one would hide that
    if places.messages.exists() and places.episodic.exists():
        with SqliteLog(places.messages) as messages, SqliteLog(places.episodic) as episodic:
            whole = messages.end() == episodic.checkpoint() and not messages.has_content_keys
            whole = whole and _built(places, episodic.end())
            if whole and _projected(places, settings, episodic) and not owing(places):
                return
    from asof.runtime.writer import open_writer  # with all that derives beliefs: what is whole needs none of it

    with suppress(WriterBusy, StorageFailed):  # a disk that is full can still be read
        open_writer(places, settings).close()


def _rebuild_unreadable(places: DirectoryLayout) -> None:
    """Build the graphs of a copy anew that another version made: its logs have all that they are made from."""
    catalog = load(places.root)
    if catalog is None:
        return
    stores = {places.episodic: places.episodes}
    stores |= {places.semantic(info.name): places.graph(info.name) for info in catalog.generations}
    unreadable = [(log, path) for log, path in stores.items() if path.exists() and not _is_readable(path, log.stem)]
    if unreadable:
        with suppress(WriterBusy, StorageFailed), WriterLock(places.root):
            for log, path in unreadable:
                with SqliteLog(log) as records:
                    following_store(records, path).close()


def _is_readable(path: Path, log: str) -> bool:
    try:
        SqliteGraph(path, log).close()
    except ContractError:
        return False
    return True


def _built(places: DirectoryLayout, end: int) -> bool:
    """Whether every graph stands at the end of its log, and every generation at that of the episodic one.

    False too where this version cannot read one.
    """
    try:
        with SqliteGraph(places.episodes, "episodic") as episodes:
            if episodes.position() < end:  # a power cut takes the last commits of a graph, and leaves its log
                return False
        for info in existing(places).generations:
            name = f"semantic.{info.name}"
            with SqliteLog(places.semantic(info.name)) as log, SqliteGraph(places.graph(info.name), name) as store:
                if log.checkpoint() < end or store.position() < log.end() or store.checkpoint() < end:
                    return False
    except ContractError:  # not there, damaged, or of another schema: the next writer makes it anew
        return False
    return True


def _projected(places: DirectoryLayout, settings: Settings, episodic: SqliteLog) -> bool:
    """Whether the graph database, where the settings name one, has all of every log."""
    with ExitStack() as opened:
        names = [info.name for info in existing(places).generations] if settings.in_arango else []
        logs = [episodic, *(opened.enter_context(SqliteLog(places.semantic(name))) for name in names)]
        return kept_up(settings, places, logs)
