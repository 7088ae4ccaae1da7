"""What the control log comes to, and what a directory's catalogue becomes by it."""

from pathlib import Path

from asof.kafka.control import apply
from asof.runtime.layout import DirectoryLayout
from asof_projections import generations
from asof_projections.control import ControlState, directed
from asof_projections.generations import Catalog, GenerationInfo
from asof_streams.control import GenerationBuilt, GenerationDropped, GenerationSwitched
from asof_streams.events import Event


def info(name: str) -> GenerationInfo:
    return GenerationInfo(name, "default", "00", "rules-2", "recency", "mentions", "11")


def built(name: str) -> Event:
    return GenerationBuilt(generation=name, build="11")


def switched(name: str) -> Event:
    return GenerationSwitched(generation=name)


def dropped(name: str) -> Event:
    return GenerationDropped(generation=name)


MAIN = Catalog("main", (info("main"),))
BOTH = MAIN.with_(info("second"))


def test_the_last_switch_holds_and_what_answers_is_never_dropped() -> None:
    state = ControlState().after([built("second"), switched("second"), dropped("second"), switched("main")])

    assert state == ControlState(4, "main", ("second",), ())
    assert state.after([dropped("second")]) == ControlState(5, "main", (), ("second",))


def test_a_generation_that_was_dropped_neither_answers_nor_comes_back() -> None:
    state = ControlState().after([built("second"), dropped("second"), switched("second"), built("second")])

    assert (state.active, state.built, state.dropped) == (None, (), ("second",))


def test_a_name_that_leads_elsewhere_is_passed_over() -> None:
    state = ControlState().after([dropped("../main"), switched("/"), built(".")])

    assert state == ControlState(3)


def test_a_state_is_the_same_whether_the_log_is_read_at_once_or_bit_by_bit() -> None:
    events = [built("second"), switched("second"), switched("main"), dropped("second")]
    state = ControlState()
    for event in events:
        state = state.after([event])

    assert state == ControlState().after(events)


def test_a_directory_that_has_not_the_generation_yet_switches_once_it_has_it() -> None:
    state = ControlState().after([built("second"), switched("second")])

    behind = state.applied(MAIN)
    assert (behind.active, behind.control) == ("main", 0)
    assert state.applied(BOTH) == Catalog("second", BOTH.generations, 2)


def test_a_directory_that_was_away_while_what_answered_was_dropped_answers_from_the_first_until_it_has_the_next() -> (
    None
):
    state = ControlState().after([switched("second"), switched("third"), dropped("second")])

    behind = state.applied(Catalog("second", BOTH.generations, 1))
    assert (behind.active, [other.name for other in behind.generations], behind.control) == ("main", ["main"], 1)
    assert state.applied(behind.with_(info("third"))).active == "third"


def test_an_older_state_undoes_nothing_and_a_catalogue_without_control_is_written_as_before(tmp_path: Path) -> None:
    places = DirectoryLayout(tmp_path)
    generations.save(tmp_path, BOTH)
    before = places.catalog.read_bytes()
    older = ControlState().after([built("second"), switched("second")])
    newer = older.after([switched("main"), dropped("second")])
    places.generation("second").mkdir(parents=True)
    assert b"control" not in before

    apply(ControlState(), [places])
    assert places.catalog.read_bytes() == before
    apply(newer, [places])
    apply(older, [places])

    assert generations.load(tmp_path) == Catalog("main", MAIN.generations, 4, ("second",))
    assert not places.generation("second").exists()


def test_the_catalogue_of_a_directory_follows_its_own_control_log_whose_names_are_used_again() -> None:
    events = [built("work"), built("gone"), switched("work"), dropped("main"), dropped("work"), switched("none")]
    events.append(built("main"))
    known = {"work": info("work"), "main": info("main")}  # an erasure removed the third

    found = directed(MAIN, events, known.get)

    assert found == Catalog("work", (info("work"), info("main")), len(events))
    by_one = MAIN
    for event in events:
        by_one = directed(by_one, [event], known.get)
    assert by_one == found
