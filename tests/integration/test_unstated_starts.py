"""A start that nobody stated gives way to what is told later: "I live in Oslo" does not say since when."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asking import records
from asof.api.memory import Memory
from asof_streams.instants import parse_moment
from old_directories import ask, expected, unpack

FIRST, SECOND, NOW = "2026-11-23T10:00:00Z", "2026-11-23T10:00:05Z", "2026-11-24"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with asof.open(tmp_path, embedder="none") as opened:
        yield opened


def tell(memory: Memory, words: str, at: str = FIRST, role: str = "Ana") -> asof.Added:
    return memory.add(words, role=role, timestamp=at)


def held(memory: Memory, at: str = NOW, **asked: str) -> list[str]:
    return [str(fact) for fact in memory.facts(about="Ana", valid_at=at, **asked)]


@pytest.mark.parametrize(
    ("known", "told", "holds"),
    [
        ("I live in Oslo.", "I moved to Berlin last month.", "Ana lives_in Berlin from 2026-10-01"),
        ("I live in Oslo.", "I moved to Berlin today.", "Ana lives_in Berlin from 2026-11-23"),
        ("I live in Oslo.", "I moved to Berlin in March.", "Ana lives_in Berlin from 2026-03-01"),
        ("I live in Oslo.", "I have lived in Berlin since May.", "Ana lives_in Berlin from 2026-05-01"),
        ("I live in Oslo.", "I moved to Berlin last year.", "Ana lives_in Berlin from 2025-01-01"),
        ("I work at Acme.", "I started working at Initech last week.", "Ana works_at Initech from 2026-11-16"),
    ],
)
def test_who_tells_of_a_change_of_late_is_where_it_led(memory: Memory, known: str, told: str, holds: str) -> None:
    tell(memory, known)
    tell(memory, told, SECOND)

    assert held(memory) == held(memory, FIRST) == [holds]
    before, after = sorted(memory.facts(about="Ana", any_time=True), key=lambda fact: str(fact.valid_at))
    assert f"{after.subject} {after.relation} {after.object} from" in holds
    assert (before.object in known, before.invalid_at) == (True, after.valid_at)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ("I live in Oslo.", "I moved to Berlin in 2010."),
        ("I live in Oslo.", "I lived in Berlin last month."),
        ("I have lived in Oslo since November 20.", "I moved to Berlin on November 10."),
    ],
)
def test_what_was_long_ago_or_over_or_before_a_stated_start_displaces_nothing(
    memory: Memory, known: str, told: str
) -> None:
    tell(memory, known)
    tell(memory, told, SECOND)

    [home] = held(memory)
    assert home.startswith("Ana lives_in Oslo")


@pytest.mark.parametrize(
    ("told", "holds"),
    [("2026-11-24T00:00:00Z", "Berlin"), ("2026-11-24T00:00:01Z", "Oslo")],  # a leap year after that day ended
)
def test_a_change_of_a_year_ago_is_of_now_and_one_of_before_is_not(memory: Memory, told: str, holds: str) -> None:
    tell(memory, "I live in Oslo.")
    tell(memory, "I moved to Berlin on November 22, 2025.", told)

    assert [fact.object for fact in memory.facts(about="Ana", valid_at="2026-11-25")] == [holds]


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ("2026-11-01T10:00:00Z", " from 2026-11-01T10:00:00Z"),
        ("2026-11-16", ""),  # at the very instant of the ending
        (FIRST, ""),  # with the same timestamp as the ending
    ],
)
def test_a_start_gives_way_to_an_ending_only_where_it_is_not_before_it(memory: Memory, said: str, start: str) -> None:
    tell(memory, "I live in Oslo.", said)
    tell(memory, "I left Oslo last week.", FIRST)

    assert [str(f) for f in memory.facts(any_time=True)] == [f"Ana lives_in Oslo{start} until 2026-11-16"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("2026-11-23", "I moved to Berlin today."),  # the day alone, which is when the change begins
        ("2026-10-01", "I moved to Berlin last month."),
        (FIRST, "I moved to Berlin last month."),  # with the same timestamp as the change
    ],
)
def test_what_was_said_at_the_very_instant_of_a_change_held_until_it(memory: Memory, said: str, told: str) -> None:
    tell(memory, "I live in Oslo.", said)
    tell(memory, told, FIRST)

    oslo, berlin = sorted(memory.facts(about="Ana", any_time=True), key=lambda fact: str(fact.invalid_at))
    assert (oslo.object, berlin.object) == ("Oslo", "Berlin")
    assert (oslo.invalid_at, berlin.invalid_at) == (berlin.valid_at, None)


def test_what_was_to_end_ends_then_also_where_its_start_gave_way_to_a_change_that_was_denied(memory: Memory) -> None:
    tell(memory, "I live in Oslo until May 2027.")
    [before] = memory.facts(about="Ana")
    tell(memory, "I moved to Berlin last month.", SECOND)
    tell(memory, "I never lived in Berlin.", "2026-11-23T10:00:09Z")

    [home] = memory.facts(about="Ana", valid_at=NOW)
    assert (home.object, home.invalid_at) == ("Oslo", before.invalid_at)


def test_what_gave_way_was_said_when_it_was_said(memory: Memory) -> None:
    tell(memory, "I live in Oslo.")
    tell(memory, "I moved to Berlin last month.", SECOND)

    said = [r.event.said_at for r in records(memory) if r.event.type == "fact.asserted"]
    assert said == [parse_moment(FIRST), parse_moment(FIRST), parse_moment(SECOND)]


def test_a_change_of_long_ago_is_one_fact_however_often_it_is_told(memory: Memory) -> None:
    for at in (FIRST, SECOND):
        tell(memory, "I moved to Berlin in 2010.", at)

    kinds = [r.event.type for r in records(memory) if r.event.type in {"fact.asserted", "fact.reinforced"}]
    assert kinds == ["fact.asserted", "fact.reinforced"]


def test_what_was_said_later_than_the_change_was_told_stands(memory: Memory) -> None:
    tell(memory, "I live in Oslo.", SECOND)
    tell(memory, "I moved to Berlin last month.", FIRST)  # arrives late

    assert held(memory) == [f"Ana lives_in Oslo from {SECOND}"]


def test_all_that_was_said_since_a_change_gives_way_to_it(memory: Memory) -> None:
    tell(memory, "I live in Oslo.", "2026-11-01T10:00:00Z")
    tell(memory, "I live in Bergen.", "2026-11-10T10:00:00Z")
    tell(memory, "I still live in Bergen.", "2026-11-12T10:00:00Z")
    tell(memory, "I moved to Berlin last month.")

    assert held(memory) == ["Ana lives_in Berlin from 2026-10-01"]
    assert held(memory, "2026-11-11") == ["Ana lives_in Berlin from 2026-10-01"]


def test_who_moved_back_lives_where_they_did(memory: Memory) -> None:
    tell(memory, "I live in Berlin.", "2026-01-01T10:00:00Z")
    tell(memory, "I live in Oslo.", "2026-11-20T10:00:00Z")
    tell(memory, "I moved back to Berlin last week.")

    assert held(memory) == ["Ana lives_in Berlin from 2026-11-16"]
    assert [fact.object for fact in memory.facts(about="Ana", any_time=True)] == ["Berlin", "Oslo", "Berlin"]


def test_what_ended_before_it_was_said_to_hold_held_until_then(memory: Memory) -> None:
    tell(memory, "I work at Acme.")
    tell(memory, "I left Acme last week.", SECOND)

    assert held(memory) == []
    [job] = [fact for fact in memory.facts(about="Ana", any_time=True) if fact.relation == "works_at"]
    assert (job.object, str(job.invalid_at)) == ("Acme", "2026-11-16 00:00:00+00:00")


def test_a_job_that_was_left_and_one_that_was_begun_in_a_sentence_are_both_believed(memory: Memory) -> None:
    tell(memory, "I work at Acme.")
    tell(memory, "I quit Acme yesterday and started at Initech today.", SECOND)

    assert held(memory) == ["Ana works_at Initech from 2026-11-23"]


def test_a_change_that_is_withdrawn_leaves_what_was_said_before(memory: Memory) -> None:
    tell(memory, "I live in Oslo.")
    moved = tell(memory, "I moved to Berlin last month.", SECOND)
    memory.withdraw(moved.episode_id)

    assert held(memory) == [f"Ana lives_in Oslo from {FIRST}"]


def test_what_gave_way_goes_with_the_message_that_stated_it(memory: Memory) -> None:
    lived = tell(memory, "I live in Oslo.")
    worked = tell(memory, "I work at Acme.")
    tell(memory, "I moved to Berlin last month.", SECOND)
    tell(memory, "I left Acme last week.", SECOND)
    memory.withdraw(lived.episode_id)
    memory.withdraw(worked.episode_id)

    assert [str(f) for f in memory.facts(about="Ana", any_time=True)] == ["Ana lives_in Berlin from 2026-10-01"]


def test_what_was_denied_again_leaves_what_it_displaced(memory: Memory) -> None:
    tell(memory, "I live in Oslo.")
    tell(memory, "I moved to Berlin last month.", SECOND)
    tell(memory, "I never lived in Berlin.", "2026-11-23T10:00:09Z")

    [home] = memory.facts(about="Ana", valid_at=NOW)
    assert home.object == "Oslo"


def test_the_history_of_what_gave_way_shows_when_it_was_believed_and_what_ended_that(memory: Memory) -> None:
    tell(memory, "I live in Oslo.")
    [oslo] = memory.facts(about="Ana")
    tell(memory, "I moved to Berlin last month.", SECOND)

    [version] = memory.history(oslo.uuid)
    assert version.known_to is not None
    assert [consequence.kind for consequence in memory.why(oslo.uuid).consequences] == ["corrected"]


def test_a_rebuild_believes_the_same(memory: Memory) -> None:
    tell(memory, "I live in Oslo.")
    tell(memory, "I work at Acme.")
    tell(memory, "I moved to Berlin last month.", SECOND)
    tell(memory, "I left Acme last week.", SECOND)

    before = [str(fact) for fact in memory.facts(any_time=True)]
    memory.rebuild("again")
    memory.switch("again")

    assert [str(fact) for fact in memory.facts(any_time=True)] == before


def test_a_directory_of_before_goes_on_as_it_was_and_a_rebuild_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, value in expected("chat")["settings"].items():
        monkeypatch.setenv(setting, value)
    data = unpack("chat", tmp_path)
    for words, at in (("I live in Oslo.", FIRST), ("I moved to Berlin last month.", SECOND)):
        ask(data, {"ask": ["add", words, "--role", "Zoe", "--group", "new", "--timestamp", at, "--json"]})

    def home() -> list[str]:
        asked = ["facts", "--about", "Zoe", "--group", "new", "--valid-at", NOW, "--json"]
        return [fact["object"] for fact in ask(data, {"ask": asked})["answer"]]

    before = home()
    ask(data, {"ask": ["rebuild", "--name", "anew", "--switch", "--json"]})

    assert (before, home()) == (["Oslo"], ["Berlin"])


@pytest.mark.parametrize(("homes", "holds"), [(100, "Berlin"), (101, "T100")])
def test_more_than_a_hundred_starts_are_no_life_and_stay(memory: Memory, homes: int, holds: str) -> None:
    for n in range(homes):
        tell(memory, f"I live in T{n}.", f"2026-11-20T10:{n // 60:02}:{n % 60:02}Z")
    tell(memory, "I moved to Berlin last week.")

    assert [fact.object for fact in memory.facts(about="Ana", valid_at=NOW)] == [holds]
