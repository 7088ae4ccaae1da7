"""The control log of a directory: which generations were completed, which one answers, and which were dropped.

It is to a directory what the control topic is to a memory on Kafka. Any process decides, one at a time, also while
another one writes the directory: what it decides is an event on this log first, and then the catalogue is replaced,
which is in one step for every reader. Whoever writes the directory looks at the catalogue when messages have become
visible, and opens and closes generations accordingly. A directory without this log had nothing decided yet; its
catalogue is where it begins from.
"""

import time
from collections.abc import Callable
from typing import Final

from asof.runtime import clock
from asof.runtime.build_file import begun_info
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import existing
from asof_projections.control import directed
from asof_projections.generations import Catalog, save
from asof_streams.control import GenerationDropped, GenerationSwitched
from asof_streams.errors import DamagedLog, InvalidInput
from asof_streams.events import Draft, Event
from asof_streams.files import locked_folder
from asof_streams.polling import looks
from asof_streams.sqlite_log import SqliteLog

_PATIENCE: Final = 5.0  # seconds for whoever follows for a generation, to come to where the log ended when it was asked


def decide(places: DirectoryLayout, decision: Callable[[Catalog], Event | None]) -> Catalog:
    """Write what is decided, knowing all that was, and return the catalogue as it is then; None: it is so already.

    decision: may refuse by raising. It is called under a lock, so that whoever decides next sees it.
    """
    with locked_folder(places.root):
        catalog = _caught_up(places)
        event = decision(catalog)
        if event is None:
            return catalog
        with SqliteLog(places.control, writable=True) as log:
            position = log.end()
            log.append([Draft("", clock.system(), position, 0, 1, event)], checkpoint=position + 1)
        return _caught_up(places)


def catch_up(places: DirectoryLayout) -> Catalog:
    """Let the catalogue have what was decided, where a process died before it had; return it."""
    catalog = existing(places)
    if is_caught_up(places):
        return catalog
    with locked_folder(places.root):
        return _caught_up(places)


def is_caught_up(places: DirectoryLayout) -> bool:
    """Whether the catalogue has all that was decided."""
    if not places.control.exists():
        return True
    with SqliteLog(places.control) as log:
        return existing(places).control >= log.end()


def decided(places: DirectoryLayout, start: int, stop: int | None = None) -> list[Event]:
    """Return what was decided, from a position of the log on, up to another one."""
    if not places.control.exists():
        return []
    with SqliteLog(places.control) as log:
        return [record.event for record in log.read(start, stop)]


def switch(places: DirectoryLayout, name: str) -> None:
    """Let another generation answer, for every reader. NotFound: there is none. InvalidInput: it is behind."""

    def decision(catalog: Catalog) -> Event | None:
        return None if catalog[name].name == catalog.active else GenerationSwitched(generation=name)

    remedy = f"whoever writes {places.root} follows for it with the next message"
    expect_caught_up(places, existing(places)[name].name, remedy)
    decide(places, decision)


def drop(places: DirectoryLayout, name: str) -> None:
    """Drop a generation; whoever writes the directory removes its files. InvalidInput: it is the one that answers."""

    def decision(catalog: Catalog) -> Event | None:
        catalog.without(name)
        return GenerationDropped(generation=name)

    decide(places, decision)


def touch(places: DirectoryLayout) -> None:
    """Replace the catalogue by itself, so that readers open the files of generations anew."""
    with locked_folder(places.root):
        save(places.root, existing(places))


def _caught_up(places: DirectoryLayout) -> Catalog:
    catalog = existing(places)
    expect_control(places, catalog)
    events = decided(places, catalog.control)
    if events:
        catalog = directed(catalog, events, lambda name: begun_info(places, name))
        save(places.root, catalog)
    return catalog


def expect_control(places: DirectoryLayout, catalog: Catalog) -> None:
    """Refuse a control log that was lost, or cut short: the catalogue is ahead of it."""
    end = 0
    if places.control.exists():
        with SqliteLog(places.control) as log:
            end = log.end()
    if end < catalog.control:
        raise DamagedLog(
            f"{places.control} ends at position {end}, yet the catalogue was made from it up to {catalog.control}: "
            "restore it from a newer copy"
        )


def expect_caught_up(places: DirectoryLayout, name: str, remedy: str) -> None:
    """Wait a moment until a generation has read the episodic log as it is now. InvalidInput, with the remedy: not."""
    with SqliteLog(places.episodic) as episodic:
        end = episodic.end()
    with SqliteLog(places.semantic(name)) as log:
        for pause in looks(_PATIENCE):
            behind = end - log.checkpoint()
            if behind <= 0:
                return
            time.sleep(pause)
    raise InvalidInput(f"generation {name} is {behind} episodic events behind: {remedy}", field="name")
