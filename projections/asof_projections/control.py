"""The state that a control log comes to, and the catalogue of a directory as a projection of it. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self

from asof_projections.generations import Catalog, GenerationInfo, is_name
from asof_streams.control import (
    EncryptionChosen,
    GenerationBuilt,
    GenerationDropped,
    GenerationSwitched,
    RewriteAnnounced,
    RewriteBegun,
    RewriteFinished,
)
from asof_streams.events import Event


@dataclass(frozen=True, slots=True)
class ControlState:
    """What was decided up to a position of the control log; `active` None: nobody switched yet."""

    position: int = 0
    active: str | None = None
    built: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    memory: str | None = None  # what the store of keys calls the memory; None: its content is not encrypted
    begun: RewriteBegun | None = None  # by which the topics are made of others
    marks: tuple[int, ...] | None = None  # of that rewrite, by partition of the messages topic; None: there are none

    replaced: str | None = None  # by topics of which prefix, as a rewrite said last

    @property
    def is_incomplete(self) -> bool:
        """Whether the topics are being made of others, and that is not done yet."""
        return self.begun is not None and self.marks is None

    def mark(self, partition: int) -> int:
        """Return the offset of the messages topic below which records were rewritten."""
        marks = self.marks or ()
        return marks[partition] if partition < len(marks) else 0

    def after(self, events: Iterable[Event]) -> Self:
        """Return the state after more events of the log."""
        state = self
        for event in events:
            state = replace(state._after(event), position=state.position + 1)
        return state

    def _after(self, event: Event) -> Self:
        if isinstance(event, RewriteBegun):
            return replace(self, begun=event) if not self.position else self
        if isinstance(event, RewriteFinished):
            return replace(self, marks=event.marks) if self.is_incomplete else self
        if isinstance(event, RewriteAnnounced):
            return replace(self, replaced=event.prefix)
        if isinstance(event, EncryptionChosen):
            return replace(self, memory=event.memory) if self.memory is None and is_name(event.memory) else self
        if not is_name(getattr(event, "generation", "")):  # nobody of ours wrote it, and a name becomes a path
            return self
        match event:
            case GenerationBuilt(generation=name) if name not in self.built and name not in self.dropped:
                return replace(self, built=(*self.built, name))
            case GenerationSwitched(generation=name) if name not in self.dropped:
                return replace(self, active=name)
            case GenerationDropped(generation=name) if name not in self.dropped and name != self.active:
                built = tuple(other for other in self.built if other != name)
                return replace(self, built=built, dropped=(*self.dropped, name))
            case _:
                return self

    def applied(self, catalog: Catalog) -> Catalog:
        """Return the catalogue of a directory as the log has it.

        Where the generation that is to answer is not in the directory yet, the one before it does, or the first; and
        `control` stays behind until it is.
        """
        left = tuple(info for info in catalog.generations if info.name not in self.dropped)
        names = {info.name for info in left}
        assert left, "the first generation is never dropped"
        active = next(name for name in (self.active, catalog.active, left[0].name) if name in names)
        position = self.position if self.active in (None, active) else catalog.control
        return Catalog(active, left, position, self.dropped)


def directed(catalog: Catalog, events: Iterable[Event], built: Callable[[str], GenerationInfo | None]) -> Catalog:
    """Return the catalogue of a directory after more events of its own control log.

    built: returns what a completed build is of; None: an erasure removed it. A name may be used again here, after a
    drop: unlike a topic, a folder that is gone leaves no reader behind.
    """
    for event in events:
        names = {info.name for info in catalog.generations}
        match event:
            case GenerationBuilt(generation=name) if name not in names:
                info = built(name)
                catalog = catalog if info is None else catalog.with_(info)
            case GenerationSwitched(generation=name) if name in names:
                catalog = catalog.switched(name)
            case GenerationDropped(generation=name) if name in names and name != catalog.active:
                catalog = catalog.without(name)
        catalog = replace(catalog, control=catalog.control + 1)
    return catalog
