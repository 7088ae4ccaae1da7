"""Slots that a writer keeps: one that was empty is kept from its first statement on, unless something came between."""

import pytest

from asof_projections import slot_cache
from asof_projections.model.rows import Slot
from asof_projections.slot_cache import SlotCache, assertion_of, ending_of
from asof_projections.versions import Assertion
from asof_streams.events import Event, Record
from asof_streams.semantic import FactAsserted, FactEnded

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
    monkeypatch.setattr(slot_cache, "_MOST_LOADING", 2)
    cache = SlotCache()
    if loading:
        cache.keep_more()
    assert kept(cache) is None
    cache.apply(asserted(1))
    two = Slot(of(asserted(2, "second")), (), {"second": ((2, 3),)})
    cache.read("g", "ben", "lives_in", lambda: two)

    assert (kept(cache) is not None) is loading
