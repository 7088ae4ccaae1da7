"""What one message changes in a slot with very many statements, beside the slot, which stays as it is."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TypeVar

from asof_projections.long_slot import LongSlot
from asof_projections.versions import Assertion, Interval

V = TypeVar("V")


class Patch(MutableMapping[str, V]):
    """A mapping with changes to it, which reads as if they were made there."""

    def __init__(self, known: Mapping[str, V]) -> None:
        self.changes: dict[str, V | None] = {}  # None: it is removed
        self._known = known

    def __getitem__(self, key: str) -> V:
        value = self.changes[key] if key in self.changes else self._known[key]
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: V) -> None:
        self.changes[key] = value

    def __delitem__(self, key: str) -> None:
        if key in self._known:
            self.changes[key] = None
        else:
            del self.changes[key]

    def __iter__(self) -> Iterator[str]:
        yield from (key for key in self._known if self.changes.get(key, key) is not None)
        yield from (key for key in self.changes if key not in self._known)

    def __len__(self) -> int:
        """Also asked where it is only to be said whether there is anything: so nothing walks through a long slot."""
        changed = sum((value is not None) - (key in self._known) for key, value in self.changes.items())
        return len(self._known) + changed


class LongChanges:
    """The statements that one message adds to a long slot, replaces or removes."""

    def __init__(self, known: LongSlot) -> None:
        self.assertions = Patch(known.assertions)
        self.endings = Patch(known.endings)
        self._known = known

    def of(self, value: str) -> list[Assertion]:
        """Return the assertions of a value as changed: those that were known first, in their order."""
        facts = dict.fromkeys([*self._known.of(value), *self.assertions.changes])
        return [a for fact in facts if (a := self.assertions.get(fact)) is not None and a.value == value]

    def believed(self, value: str, at: int) -> list[Assertion]:
        """Return the assertions of a value as changed that were believed of an instant, in the order of the log."""
        found = (self.assertions.get(assertion.fact_id) for assertion in self._known.believed(at, at + 1))
        return [assertion for assertion in found if assertion is not None and assertion.value == value]

    def begun(self, low: int, high: int, limit: int) -> list[Assertion]:
        """Return the assertions known before that start within a period; none, where more than a limit do."""
        found = (self.assertions.get(fact) for fact in self._known.begun(low, high, limit))
        return [assertion for assertion in found if assertion is not None]

    def belief(self, rule: int) -> dict[str, tuple[Interval, ...]]:
        """Return what is believed of every fact that the changes may touch, by a version of the rule of belief.

        InvalidInput: they touch too many.
        """
        return self._known.belief(self.assertions.changes, self.endings.changes, rule)
