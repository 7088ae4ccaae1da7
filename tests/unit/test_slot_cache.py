"""Slots that a writer keeps: one that was empty is kept from its first statement on, unless something came between."""

import pytest

from asof_projections import slot_cache
from asof_projections.model.rows import Slot
from asof_projections.slot_cache import SlotCache, assertion_of, ending_of
from asof_projections.versions import Assertion
from asof_streams.events import Event, Record
from asof_streams.semantic import (
    FactAsserted,
    FactAttested,
    FactEnded,
    FactInvalidated,
    FactReinforced,
    FactRestored,
    FactRetracted,
)

WHERE = ("g", "ana", "lives_in")
EMPTY = Slot((), (), {})


def record(position: int, event: Event) -> Record:
    return Record(position, "g", position, position, 0, 1, 0, event)


def asserted(position: int, fact: str = "fact", *, occurrence: bool = False) -> Record:
    return record(
        position,
        FactAsserted(
            fact_id=fact,
            subject="ana",
            relation="lives_in",
            object="rome",
            sentence="Ana lives in Rome",
            confidence=1.0,
            valid_from=position,
            valid_to=position + 1,
            said_at=position,
            episode_id="episode",
            occurrence=occurrence,
            holds=((position, position + 1),),
        ),
    )


def ended(position: int) -> FactEnded:
    return FactEnded(
        ending_id="ending", subject="ana", relation="lives_in", at=position, said_at=position, episode_id="episode"
    )


def kept(cache: SlotCache) -> Slot | None:
    """Return the slot as the cache has it; None: it is to be loaded."""
    loaded: list[Slot] = []

    def load() -> Slot:
        loaded.append(EMPTY)
        return EMPTY

    slot = cache.read(*WHERE, load)
    return None if loaded else slot


def of(record: Record) -> list[Assertion]:
    assert isinstance(record.event, FactAsserted)
    return [assertion_of(record, record.event)]


def test_a_slot_that_was_read_while_it_was_empty_is_kept_from_its_first_statement_on() -> None:
    cache, first = SlotCache(), asserted(1)
    assert kept(cache) is None
    assert cache.keeps(*WHERE)
    cache.apply(first)
    slot = kept(cache)
    assert slot is not None
    assert list(slot.assertions) == of(first)
    assert slot.held == {"fact": ((1, 2),)}


def test_a_slot_that_was_not_read_is_not_kept() -> None:
    cache = SlotCache()
    assert not cache.keeps(*WHERE)
    cache.apply(asserted(1))
    assert kept(cache) is None


def test_a_slot_with_an_ending_alone_is_not_empty() -> None:
    cache = SlotCache()
    cache.read(*WHERE, lambda: Slot((), (ending_of(ended(1)),), {}))
    cache.apply(asserted(2))
    assert kept(cache) is None


def test_a_slot_that_was_ended_since_is_not_empty() -> None:
    cache = SlotCache()
    assert kept(cache) is None
    cache.apply(record(1, ended(1)))
    cache.apply(asserted(2))
    assert kept(cache) is None


def test_a_slot_in_which_something_happened_is_not_kept() -> None:
    cache = SlotCache()
    assert kept(cache) is None
    cache.apply(asserted(1, "visit", occurrence=True))
    cache.apply(asserted(2))
    assert kept(cache) is None


def test_nothing_is_known_of_a_slot_after_all_were_dropped() -> None:
    cache = SlotCache()
    assert kept(cache) is None
    cache.clear()
    cache.apply(asserted(1))
    assert kept(cache) is None


@pytest.mark.parametrize("loading", [False, True])
def test_all_slots_are_dropped_where_there_are_too_many_of_which_a_load_keeps_more(
    loading: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_cache, "_MOST", 1)
    monkeypatch.setattr(slot_cache, "_MOST_DISTANT", 2)
    cache = SlotCache()
    if loading:
        cache.keep_more()
    assert kept(cache) is None
    cache.apply(asserted(1))
    two = Slot(of(asserted(2, "second")), (), {"second": ((2, 3),)})
    cache.read("g", "ben", "lives_in", lambda: two)

    assert (kept(cache) is not None) is loading


def cached(*records: Record) -> SlotCache:
    """Return a cache that has kept a slot from its first statement on."""
    cache = SlotCache()
    assert kept(cache) is None
    for each in records:
        cache.apply(each)
    return cache


def of_two(*, first: bool = False) -> Slot:
    """Return a slot of two statements, the first an occurrence or not."""
    told = [*of(asserted(1, "one", occurrence=first)), *of(asserted(2, "two"))]
    return Slot(told, (), {"one": ((1, 2),), "two": ((2, 3),)})


def retracted(*dead: str, live: tuple[str, ...] = ()) -> FactRetracted:
    return FactRetracted(
        retraction_id="r", target=dead[0], dead=dead, live=live, episode_id="episode", reason="retracted"
    )


def test_a_slot_has_indexes_from_its_second_statement_on_and_none_where_something_happened() -> None:
    def read(slot: Slot) -> Slot:
        return SlotCache().read(*WHERE, lambda: slot)

    assert read(Slot(of(asserted(1)), (), {})).long is None
    assert read(of_two()).long is not None
    assert read(of_two(first=True)).long is None


@pytest.mark.parametrize("length", [1, 2])
def test_a_kept_slot_is_as_the_events_say(length: int) -> None:
    """Each event is applied after the slot was read, so that a copy of what it was would show."""
    told = [asserted(n, f"fact{n}") for n in range(1, length + 1)]
    cache = cached(*told)
    first = kept(cache)
    assert first is not None
    [*assertions] = first.assertions

    cache.apply(record(5, FactReinforced(fact_id="fact1", said_at=9, episode_id="e")))
    cache.apply(record(6, FactInvalidated(fact_id="fact1", kind="superseded", cause="c", holds=((1, 7),))))
    cache.apply(record(7, ended(7)))
    slot = kept(cache)
    assert slot is not None
    assert [a.attested for a in slot.assertions] == [9, *(a.attested for a in assertions[1:])]
    assert slot.held["fact1"] == ((1, 7),)
    assert list(slot.endings) == [ending_of(ended(7))]

    cache.apply(record(8, FactAttested(fact_id="fact1", attested=4)))
    cache.apply(record(9, FactRestored(fact_id="fact1", cause="c", holds=((1, 2),))))
    cache.apply(record(10, retracted("ending")))
    slot = kept(cache)
    assert slot is not None
    assert next(iter(slot.assertions)).attested == 4
    assert slot.held["fact1"] == ((1, 2),)
    assert list(slot.endings) == []

    cache.apply(record(11, retracted("fact1")))
    slot = kept(cache)
    assert slot is not None
    assert [a.fact_id for a in slot.assertions] == [f"fact{n}" for n in range(2, length + 1)]
    assert "fact1" not in slot.held


def test_what_is_planned_again_is_not_done() -> None:
    planned = record(2, FactReinforced(fact_id="one", said_at=9, episode_id="e", granule=(3, 4), planned=True))
    cache = SlotCache()
    cache.read(*WHERE, lambda: Slot([a._replace(done=False) for a in of_two(first=True).assertions], (), {}))
    cache.apply(planned)
    slot = kept(cache)
    assert slot is not None
    assert next(iter(slot.assertions)).done is False

    cache.apply(record(3, FactReinforced(fact_id="one", said_at=9, episode_id="e", granule=(3, 4))))
    slot = kept(cache)
    assert slot is not None
    assert next(iter(slot.assertions)).done is True


def test_events_of_facts_that_are_not_kept_change_nothing() -> None:
    cache = cached(asserted(1))
    before = kept(cache)
    cache.apply(record(2, FactReinforced(fact_id="other", said_at=9, episode_id="e")))
    cache.apply(record(3, FactInvalidated(fact_id="other", kind="superseded", cause="c", holds=())))
    cache.apply(record(4, FactAttested(fact_id="other", attested=9)))
    cache.apply(record(5, retracted("other")))

    assert kept(cache) == before


def test_a_slot_in_which_something_happens_later_is_dropped() -> None:
    cache = cached(asserted(1), asserted(2, "visit", occurrence=True))
    assert kept(cache) is None


def test_all_slots_are_dropped_where_statements_count_again() -> None:
    cache = cached(asserted(1), record(2, retracted("other", live=("gone",))))
    assert kept(cache) is None


def test_what_is_retracted_after_all_were_dropped_is_not_looked_for() -> None:
    cache = cached(asserted(1))
    cache.clear()
    cache.read("g", "ben", "lives_in", of_two)
    cache.apply(record(2, retracted("fact")))
    cache.apply(record(3, FactReinforced(fact_id="fact", said_at=9, episode_id="e")))

    assert [a.fact_id for a in cache.read("g", "ben", "lives_in", of_two).assertions] == ["one", "two"]


def test_what_was_dropped_counts_no_more_towards_how_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_cache, "_MOST", 2)
    cache = cached(asserted(1))
    cache.clear()
    for who in ("ben", "cleo"):
        cache.read("g", who, "lives_in", lambda who=who: Slot(of(asserted(2, who)), (), {}))  # type: ignore[misc]

    assert cache.keeps("g", "ben", "lives_in")
    assert cache.keeps("g", "cleo", "lives_in")
