"""The effect of a message, of changes of facts that are made by hand."""

from typing import Any, Final

from asof_projections.model.rows import ChangeRow, FactRow, ParkedRow
from asof_projections.queries.effects import effect_of, reasons_at
from asof_streams.instants import INF

FACT: Final = FactRow("f", "g", "Ana", "likes", "tea", "ana", "tea", "", 5, 10, 1, INF, 1.0, (), "", 3, INF, 0)


def kinds(before: FactRow | None, after: FactRow | None) -> list[str]:
    """Return the lists of an effect that have a fact whose version was closed, opened, or both."""
    changes = [ChangeRow(0, 3, opened, fact) for fact, opened in ((before, False), (after, True)) if fact is not None]
    store: Any = None
    effect = effect_of(store, [], changes, worded=True)
    return [kind for kind in ("began", "ended", "retracted", "restored", "refined") if getattr(effect, kind)]


def test_a_fact_began_if_it_was_believed_for_the_first_time() -> None:
    assert kinds(None, FACT._replace(created_at=3)) == ["began"]
    assert kinds(None, FACT) == ["restored"]
    assert kinds(FACT, FACT._replace(created_at=3)) == ["restored"]


def test_a_fact_is_restored_if_it_holds_over_all_the_time_that_it_did_and_ended_otherwise() -> None:
    assert kinds(FACT, FACT._replace(valid_at=4)) == ["restored"]
    assert kinds(FACT, FACT._replace(invalid_at=11)) == ["restored"]
    assert kinds(FACT, FACT._replace(valid_at=6, invalid_at=12)) == ["ended"]
    assert kinds(FACT, FACT._replace(invalid_at=9)) == ["ended"]
    assert kinds(FACT, None) == ["retracted"]


class Parked:
    """A store of messages that were parked, or failed."""

    def __init__(self, *rows: tuple[int, str, str]) -> None:
        self._rows = [
            ParkedRow._make({"position": at, "state": state, "reason": reason}.get(name) for name in ParkedRow._fields)
            for at, state, reason in rows
        ]

    def parked(self, _group: None, *, after: int = -1, limit: int) -> list[ParkedRow]:
        return [row for row in self._rows if row.position > after][:limit]


def test_the_reasons_of_a_message_are_its_own_however_many_stand_before_it() -> None:
    before = [(6, state, "before") for state in ("parked", "failed") * 3]
    stores: Any = (Parked(*before, (7, "parked", "first"), (8, "failed", "behind")), Parked((7, "parked", "second")))

    assert reasons_at(stores, 7) == {"parked": "first"}
    assert reasons_at(stores, 9) == {}
