"""The offset up to which the messages of a replica can be queried: reads of one's own writes wait for it."""

from contextlib import ExitStack, closing

from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import open_reader
from asof.settings import Settings
from asof_projections.generations import load
from asof_streams.errors import ContractError, NotFound
from asof_streams.sqlite_log import SqliteLog


def visible_offset(places: DirectoryLayout, settings: Settings, since: int = -1) -> int:
    """Return the offset of the messages topic before which every message is believed and visible to readers here.

    settings: without Kafka. since: an offset that it returned before, which it returns again if it is not further.
    Another process may keep the directory up meanwhile, so how far a log is derived is asked before where its source
    ends.
    """
    catalog = load(places.root)
    if catalog is None:  # no worker has begun
        return since
    with ExitStack() as stack:
        try:
            beliefs = stack.enter_context(SqliteLog(places.semantic(catalog.active)))
            episodic = stack.enter_context(SqliteLog(places.episodic))
            messages = stack.enter_context(SqliteLog(places.messages))
        except NotFound:  # not all of them are there yet
            return since
        followed = beliefs.checkpoint()
        believed = beliefs.end()
        recorded = episodic.checkpoint()
        known = recorded if followed >= episodic.end() else episodic.cause_of(followed)
        read = messages.checkpoint()
        reached = messages.cause_of(known) if known < messages.end() else read
        is_further = reached > since and _shows(places, settings, believed, followed, episodic.end())
        return reached if is_further else since


def _shows(places: DirectoryLayout, settings: Settings, believed: int, followed: int, recorded: int) -> bool:
    """Whether the graphs that answer have followed their logs so far."""
    try:
        with closing(open_reader(places, settings)) as opened:
            whole = opened.beliefs.position() >= believed and opened.beliefs.checkpoint() >= followed
            return whole and opened.episodes.position() >= recorded
    except ContractError:  # they are not there yet, or are made anew by a version with another schema
        return False
