"""What handlers ask for nearly every structured fact, as it follows from the events of a log from its first one on.

So that who derives need not ask whoever writes the graph: it answers alone that there is nothing of a slot yet, what a
single-valued slot has, and whom a name means. For the rest it is given what reads the graph.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from asof_projections.key_set import KeySet
from asof_projections.model.rows import EntityRow, Slot, Statement
from asof_projections.slot_cache import OF_SLOTS, SlotCache, value_of
from asof_streams.episodic import EpisodeWithdrawn, GroupErased
from asof_streams.events import Event, Record
from asof_streams.semantic import (
    EntityDescribed,
    EntityIntroduced,
    EntityUndescribed,
    FactAsserted,
    FactEnded,
    FactRetracted,
    RelationDeclared,
)

_NAMES: Final = 600_000  # names that are kept, half a kilobyte each
_NOTHING: Final = Slot((), (), {})
_ENDED: Final = "ended"
_REF: Final = "ref"
_SlotKey = tuple[str, str, str]  # group, subject, relation
ReadSlot = Callable[[str, str, str, str | None], Slot]
"""Reads a slot, given its group, subject and relation; with a value, what is told of that value alone."""


class BeliefCache:
    """Names, cardinalities and slots as of the last event that was applied: all events of one log, in their order."""

    def __init__(self) -> None:
        self._slots = SlotCache()
        self._slots.keep_more()
        self._entities: dict[tuple[str, str], list[EntityRow]] = {}  # by group and name
        self._single: dict[str, dict[str, bool]] = {"": {}}  # as declared, by group ("": all groups) and relation
        self._told = KeySet()  # names, slots of single-valued relations, values in slots of others, ids, refs
        self._has_facts = self._has_endings = False
        self._is_sure = True  # no relation was declared once there were facts
        self._changes: dict[type[Event], Callable[[Record], None]] = {
            EntityIntroduced: self._introduce,
            EntityDescribed: self._describe,
            EntityUndescribed: self._forget_names,
            EpisodeWithdrawn: self._forget_names,
            GroupErased: self._forget,
            RelationDeclared: self._declare,
        }

    def apply(self, record: Record) -> None:
        """Take the next event of the log."""
        kind = type(record.event)
        if kind in OF_SLOTS:
            if kind is FactAsserted:
                self._assert(record)
            elif kind is FactEnded:
                self._end(record)
            elif kind is FactRetracted:
                self._retract(record)
            self._slots.apply(record)
        elif (change := self._changes.get(kind)) is not None:
            change(record)

    def entities_named(self, group: str, name: str, read: Callable[[str, str], list[EntityRow]]) -> list[EntityRow]:
        """Return the entities with exactly this name or alias, first introduced first; read: asks the graph."""
        key = group, name
        entities = self._entities.get(key)
        if entities is None:
            entities = self._keep(key, read(group, name) if key in self._told else [])
        return entities

    def single(self, group: str, relation: str) -> bool:
        """Whether the relation was declared single-valued: in this group, or else in every one."""
        own = self._single.get(group)
        if own is not None and relation in own:
            return own[relation]
        return self._single[""].get(relation, False)

    def slot(self, group: str, subject: str, relation: str, value: str | None, read: ReadSlot) -> Slot:
        """Return the live statements of a slot, as a FactView does; read: asks the graph.

        It is good until the next event is applied.
        """
        if value is None:
            load = partial(self._load, group, subject, relation, None, read)
            return self._slots.read(group, subject, relation, load)
        return self._load(group, subject, relation, value, read)

    def fact_with_ref(self, group: str, ref: str, read: Callable[[str, str], Statement | None]) -> Statement | None:
        """Return the latest assertion made under a producer's ref; read: asks the graph."""
        return read(group, ref) if (_REF, group, ref) in self._told else None

    def statement(self, uuid: str, read: Callable[[str], Statement | None]) -> Statement | None:
        """Return a statement by its id; read: asks the graph."""
        return read(uuid) if uuid in self._told else None

    def _load(self, group: str, subject: str, relation: str, value: str | None, read: ReadSlot) -> Slot:
        if self._is_empty((group, subject, relation), value):
            return _NOTHING
        return read(group, subject, relation, value)

    def _is_empty(self, slot: _SlotKey, value: str | None) -> bool:
        """Whether certainly nothing is told of a slot, or of a value in it."""
        is_whole = value is None
        if not self._is_sure or is_whole != self.single(slot[0], slot[2]):
            return False
        if (slot if is_whole else (*slot, value)) in self._told:
            return False
        return not self._has_endings or (_ENDED, *slot) not in self._told

    def _assert(self, record: Record) -> None:
        event: Any = record.event
        slot = record.group, event.subject, event.relation
        self._has_facts = True
        self._told.add(event.fact_id)
        if event.ref is not None:
            self._told.add((_REF, record.group, event.ref))
        self._told.add(slot if self.single(record.group, event.relation) else (*slot, value_of(event)))

    def _end(self, record: Record) -> None:
        event: Any = record.event
        self._has_endings = True
        self._told.add(event.ending_id)
        self._told.add((_ENDED, record.group, event.subject, event.relation))

    def _retract(self, record: Record) -> None:
        event: Any = record.event
        self._told.add(event.retraction_id)

    def _introduce(self, record: Record) -> None:
        event: Any = record.event
        key, uuid = (record.group, event.name), event.entity_id
        entities = self._entities.get(key)
        if uuid in self._told:  # perhaps of another group: the graph says under which id it stands here
            self._entities.pop(key, None)
        elif entities is not None:
            row = EntityRow(uuid, record.group, event.name, event.entity_type, record.recorded_at)
            self._entities[key] = [*entities, row]
        self._told.add(uuid)
        self._told.add(key)

    def _describe(self, record: Record) -> None:
        event: Any = record.event
        key = record.group, event.alias
        self._entities.pop(key, None)
        self._told.add(key)

    def _declare(self, record: Record) -> None:
        event: Any = record.event
        self._single.setdefault(record.group, {})[event.relation] = event.cardinality == "one"
        self._is_sure = not self._has_facts

    def _forget_names(self, _: Record) -> None:
        self._entities.clear()

    def _forget(self, record: Record) -> None:
        self._entities.clear()
        self._slots.clear()
        self._single.pop(record.group, None)

    def _keep(self, key: tuple[str, str], entities: list[EntityRow]) -> list[EntityRow]:
        if len(self._entities) >= _NAMES:
            self._entities.clear()
        self._entities[key] = entities
        return entities
