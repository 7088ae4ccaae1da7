"""Times as people say them, at every door: seen from now, in the reader's zone, and never a guess between two."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from asof.api.memory import Memory
from asof.http.routes.binding import parameters_of
from asof.http.schemas.v1 import Statements
from asof.operations import facts
from asof.operations.queries import GroupsQuery
from asof.operations.times import in_instants, read_words, zone_of
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.json_lines import as_fact, read_lines
from asof.settings import Settings
from asof_streams.errors import InvalidInput
from asof_streams.instants import DAY, SECOND, parse, render
from commands import Asof

NOW = parse("2024-05-15T10:00:00.25Z")
WORDS = {
    "last May": "2023-05-01T00:00:00Z",
    "yesterday": "2024-05-14T00:00:00Z",
    "2 weeks ago": "2024-05-01T00:00:00Z",
    "next Friday": "2024-05-24T00:00:00Z",
    "3 May 2024": "2024-05-03T00:00:00Z",
    "two hours ago": "2024-05-15T08:00:00Z",
    "half past nine yesterday": "2024-05-14T09:30:00Z",
    "NOW": "2024-05-15T10:00:00.250000Z",
}


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def put(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("words", "meant"), WORDS.items())
def test_words_mean_the_first_instant_of_what_they_name(words: str, meant: str) -> None:
    assert in_instants({"valid_at": words}, lambda: NOW, zone=UTC) == {"valid_at": render(parse(meant))}


def test_a_day_begins_at_midnight_of_the_reader_also_where_the_clocks_were_changed_since(in_zone: Any) -> None:
    in_zone("Europe/Berlin")

    for words, meant in {
        "yesterday": "2024-05-13T22:00:00Z",
        "last January": "2023-12-31T23:00:00Z",
        "two hours ago": "2024-05-15T08:00:00Z",
    }.items():
        assert render(read_words(words, NOW, zone=None) or 0) == meant


def test_a_line_that_comes_later_is_seen_from_later(tmp_path: Path, in_zone: Any) -> None:
    in_zone("UTC")
    now = [NOW]

    def lines() -> Iterator[dict[str, str]]:
        for _ in range(2):
            yield {"subject": "Ana", "relation": "likes", "object": f"Ben {len(now)}", "valid_at": "yesterday"}
            now.append(now[-1] + DAY)

    with Memory(Settings(data=tmp_path / "data", embedder="none"), now=lambda: now[-1]) as memory:
        assert not memory.import_facts(lines()).refused
        began = [str(fact.valid_at) for fact in memory.facts(about="Ana")]

    assert sorted(day[:10] for day in began) == ["2024-05-14", "2024-05-15"]


@pytest.mark.parametrize("words", ["Friday", "in March", "noon", "03/04/2024"])
def test_words_that_may_mean_two_times_are_refused_with_the_field(words: str) -> None:
    with pytest.raises(InvalidInput, match="may") as refused:
        in_instants({"known_at": words}, lambda: NOW)

    assert refused.value.field == "known_at"


@pytest.mark.parametrize("words", ["since 2019", "until May"])
def test_a_period_without_an_end_is_no_time(words: str) -> None:
    with pytest.raises(InvalidInput, match="valid_at: it is a period without"):
        in_instants({"valid_at": words}, lambda: NOW)


def test_a_number_with_a_fraction_is_not_read_as_the_fraction_alone() -> None:
    with pytest.raises(InvalidInput, match="valid_at: a number with a fraction"):
        in_instants({"valid_at": "5 1/2 years ago"}, lambda: NOW)


def test_what_names_no_time_stays_for_the_rule_of_times_to_refuse() -> None:
    given = {"valid_at": "soon", "about": "now", "known_at": "2024-05-01T09:30:00Z", "from": 5, "to": None}

    assert in_instants(given, lambda: NOW) == given


def test_a_reader_says_by_whose_days_a_route_reads_words() -> None:
    now, of = parse("2024-05-15T22:30:00Z"), parameters_of(facts.facts.query)

    assert in_instants({"valid_at": "today"}, lambda: now, zone=zone_of("Europe/Berlin")) == {
        "valid_at": "2024-05-15T22:00:00Z"
    }
    tokyo, utc = (of.model_validate({"valid_at": "2 May 2024", "timezone": zone}) for zone in ("Asia/Tokyo", "UTC"))
    assert utc.valid_at - tokyo.valid_at == 9 * 3_600 * SECOND  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="did you mean Asia/Tokyo"):
        of.model_validate({"valid_at": "yesterday", "timezone": "Asia/Tokio"})
    assert "timezone" not in parameters_of(GroupsQuery).model_fields


def test_points_on_both_clocks_are_read_in_words() -> None:
    given = {"from": "last May,yesterday", "to": ("now", None)}

    assert in_instants(given, lambda: NOW, zone=UTC) == {
        "from": "2023-05-01T00:00:00Z,2024-05-14T00:00:00Z",
        "to": ["2024-05-15T10:00:00.250000Z", None],
    }


def test_python_reads_words_as_of_the_moment_of_the_session(tmp_path: Path) -> None:
    with Memory(Settings(data=tmp_path, embedder="none"), now=lambda: NOW) as memory:
        memory.state_fact(subject="Ana", relation="lives_in", object="Rome", valid_at="five years ago")
        memory.add("I live in Oslo.", role="Ben", timestamp="two hours ago")
        [ana, ben] = memory.facts(valid_at="now")
        memory.end(ana.uuid[:8], at="two hours ago")

        assert ana.valid_at == datetime(2019, 5, 1, tzinfo=UTC)
        assert ben.valid_at == datetime(2024, 5, 15, 8, tzinfo=UTC)
        assert [fact.object for fact in memory.facts(valid_at="now", about="Ana")] == []
        assert [fact.object for fact in memory.facts(valid_at="three hours ago", about="Ana")] == ["Rome"]
        with pytest.raises(InvalidInput, match="valid_at: it may mean"):
            memory.facts(valid_at="Friday")


def test_a_parameter_of_a_route_and_a_structured_fact_are_read_in_words() -> None:
    parameters = parameters_of(facts.facts.query)
    statement = {"subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_at": "the 90s"}
    [stated] = Statements.model_validate({"statements": [statement]}).messages()

    assert parameters.model_validate({"valid_at": "the 90s"}).valid_at == parse("1990-01-01T00:00:00Z")  # type: ignore[attr-defined]
    assert stated.valid_at == parse("1990-01-01T00:00:00Z")
    with pytest.raises(InvalidInput):
        parameters.model_validate({"valid_at": "since 2019"})


def test_a_command_says_as_of_which_instant_it_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Asof(tmp_path / "data", capsys)
    command("assert", "Ana", "lives_in", "Rome", "--valid-at", "the 80s")

    found = json.loads(command("facts", "--valid-at", "spring 1990", "--json"))

    assert [fact["valid_at"] for fact in found] == [found[0]["valid_at"]]
    assert "--valid-at is 1990-03-" in command.err
    command("facts", "--valid-at", "since 2019", code=2)
    assert "--valid-at: it is a period" in command.err


LINE = {"subject": "Ana", "relation": "lives_in", "object": "Rome"}


def test_lines_are_read_in_words_as_of_the_moment_of_the_run_and_the_log_has_instants(tmp_path: Path) -> None:
    lines = [
        json.dumps({**LINE, "valid_at": "five years ago"}),
        {**LINE, "subject": "Ben", "valid_at": "last May", "said_at": "2024-01-02"},
        {**LINE, "subject": "Cy", "valid_at": "Friday"},
    ]
    settings = Settings(data=tmp_path / "data", embedder="none")
    with Memory(settings, now=lambda: NOW) as memory:
        done = memory.import_facts(lines)
        said = memory.produce([{"content": "I live in Oslo.", "role_type": "user", "timestamp": "two hours ago"}])

        assert [(one.line, one.field) for one in done.refused] == [(3, "valid_at")]
        assert (done.accepted, said.accepted) == (2, 1)
        logged = [event.data for event in memory.events(log="messages")]
    with Memory(settings, now=lambda: NOW + 400 * DAY) as memory:  # a year later, nothing is read again
        rome = {fact.subject: fact.valid_at for fact in memory.facts(relation="lives_in") if fact.object == "Rome"}
        memory.rebuild("again")
        assert memory.digest("again") == memory.digest("main")

    assert rome == {"Ana": datetime(2019, 5, 1, tzinfo=UTC), "Ben": datetime(2023, 5, 1, tzinfo=UTC)}
    assert [render(one.get("valid_at", one.get("timestamp"))) for one in logged] == [
        "2019-05-01T00:00:00Z",
        "2023-05-01T00:00:00Z",
        "2024-05-15T08:00:00Z",
    ]


def test_a_line_of_a_history_that_is_moved_in_has_exact_times(tmp_path: Path) -> None:
    moved = {**LINE, "valid_at": "yesterday", "recorded_at": "2020-03-01"}
    with Memory(Settings(data=tmp_path, embedder="none"), now=lambda: NOW) as memory:
        done = memory.import_facts([moved], recorded=True)

    assert [(one.line, one.field) for one in done.refused] == [(1, "valid_at")]


def test_a_dry_run_of_lines_reads_words_as_their_import_does(tmp_path: Path) -> None:
    line = {**LINE, "valid_at": "five years ago"}
    with Memory(Settings(data=tmp_path, embedder="none"), now=lambda: NOW) as memory:
        memory.import_facts([{**LINE, "subject": "Ben"}])
        [foretold] = memory.what_if([line]).after
        memory.import_facts([line])

        assert memory.timeline("Ana") == [foretold]


def test_a_line_whose_time_is_words_goes_to_a_topic_with_the_instant() -> None:
    in_words = b'{"group_id":"g","subject":"Ana","relation":"likes","object":"tea","valid_at":"five years ago"}'
    exact = in_words.replace(b"five years ago", b"2019-05-01")

    read, as_it_came = read_lines(
        [in_words, exact], as_fact(recorded=False, ontology=None), times=lambda fields: in_instants(fields, lambda: NOW)
    )

    assert isinstance(read, InboundMessage)
    assert isinstance(as_it_came, InboundMessage)
    assert json.loads(read.line)["valid_at"] == "2019-05-01T00:00:00Z"
    assert as_it_came.line == exact
