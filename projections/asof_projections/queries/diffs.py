"""Diffs: the differences between two points (valid, known), each with one label. Pure.

The path leads through (V1, K2): first knowledge changes, then the world. So a fact that is new at the second point was
*learned* if it holds at V1 as known at K2, otherwise it *began*. A fact that is gone *ended* if it holds at V1 as known
at K2, otherwise it was *retracted*. A claim that holds at both points was *revised* if its period, or the fact that
states it, differs. A fact that holds only in between is no difference.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from asof_projections.model.rows import FactRow

Label = Literal["began", "ended", "learned", "retracted", "revised"]


class DifferenceRow(NamedTuple):
    """One fact that differs between two points: as it was at the first, and as it is at the second."""

    label: Label
    before: FactRow | None
    after: FactRow | None

    @property
    def fact(self) -> FactRow:
        """The fact as last seen."""
        version = self.after or self.before
        assert version is not None, "a difference has a side"
        return version


def differences(before: Iterable[FactRow], between: Iterable[FactRow], after: Iterable[FactRow]) -> list[DifferenceRow]:
    """Return the differences between the facts at (V1, K1) and at (V2, K2), by start. between: those at (V1, K2)."""
    first, middle, last = ({f.uuid: f for f in facts} for facts in (before, between, after))
    return sorted(_paired(_labelled(first, middle, last)), key=lambda c: (c.fact.valid_at, c.fact.uuid))


def _labelled(
    first: dict[str, FactRow], middle: dict[str, FactRow], last: dict[str, FactRow]
) -> Iterator[DifferenceRow]:
    for uuid, fact in last.items():
        was, seen_anew = first.get(uuid), middle.get(uuid)
        if was is None:
            yield DifferenceRow("began" if seen_anew is None else "learned", None, fact)
        elif seen_anew is None or _period(was) != _period(seen_anew):
            yield DifferenceRow("revised", was, fact)
    for uuid, fact in first.items():
        if uuid not in last:
            yield DifferenceRow("ended" if uuid in middle else "retracted", fact, None)


def _paired(changes: Iterable[DifferenceRow]) -> Iterator[DifferenceRow]:
    """Turn the retraction of a claim and its return into one revision, as after a correction of its period."""
    retracted: dict[tuple[str, str, str], list[FactRow]] = {}
    learned: list[FactRow] = []
    for change in changes:
        match change:
            case DifferenceRow("retracted", FactRow() as before, None):
                retracted.setdefault(_claim(before), []).append(before)
            case DifferenceRow("learned", None, FactRow() as after):
                learned.append(after)
            case _:
                yield change
    for after in learned:
        same = retracted.get(_claim(after))
        yield DifferenceRow("revised", same.pop(0), after) if same else DifferenceRow("learned", None, after)
    for unmatched in retracted.values():
        for before in unmatched:
            yield DifferenceRow("retracted", before, None)


def _claim(fact: FactRow) -> tuple[str, str, str]:
    return fact.subject_uuid, fact.relation, fact.object_uuid or f"v:{fact.object}"


def _period(fact: FactRow) -> tuple[int, int]:
    return fact.valid_at, fact.invalid_at
