"""A model or an embedder that does not answer stops nothing: what failed is known, kept by rebuilds, and retried."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from asking import records
from asof_streams.episodic import EpisodeRecorded, ExtractionAnswered, ExtractionFailed, MessageParked, MessageRetried
from asof_streams.errors import NotFound
from asof_streams.ids import episode_id
from asof_streams.instants import DAY
from asof_streams.messages import AnyMessage, FactStatement, Message, RetryRequest, WithdrawalRequest, accept
from asof_streams.sqlite_log import SqliteLog
from embedding_server import serving as serving_vectors
from model_server import ModelServer, serving
from model_world import events, facts, opened, say
from world import World

AWAY = (503, "{}")
CALLS = 5  # of a first request that fails; the next ones are one call each
REFUSED = (401, "{}")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asof_agents.extraction.llm.chat_model.time.sleep", lambda _: None)


@pytest.fixture
def world(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    world = opened(tmp_path / "data", server, model_calls=1)
    yield world
    world.memory.close()


def waiting(world: World) -> list[tuple[int, str, str]]:
    return [(row.position, row.state, row.reason) for row in world.memory.parked(group_id="g")]


def same_when_built_anew(world: World, **how: Any) -> bool:
    """Whether a rebuild has the events of the generation that answers."""
    world.memory.rebuild("anew", **how)
    places = world.memory._session.places
    with SqliteLog(places.semantic(world.memory.active())) as live, SqliteLog(places.semantic("anew")) as anew:
        equal = [(*r[1:5], r.event) for r in live.read()][1:] == [(*r[1:5], r.event) for r in anew.read()][1:]
    world.memory.drop("anew")
    return equal


def test_a_refused_key_lets_every_message_be_recorded_and_read_by_the_rules(world: World, server: ModelServer) -> None:
    server.faults = [REFUSED] * 9
    say(world, "I live in Berlin.", "I work at Siemens.")

    assert {"Ana lives in Berlin", "Ana works at Siemens"} <= facts(world)
    assert [event.reason for event in events(world, ExtractionFailed, "episodic")] == ["status 401"] * 2
    assert waiting(world) == [(0, "failed", "status 401"), (1, "failed", "status 401")]
    assert getattr(world.memory.message(0), "failed", None) == "status 401"
    assert (world.memory.stats()["failed"], world.parked()) == (2, 0)


def test_what_failed_is_retried_and_its_facts_are_known_from_the_retry_on(world: World, server: ModelServer) -> None:
    server.says = _eats
    server.faults = [AWAY] * CALLS
    say(world, "With Eva it is always pizza.", timestamp="2024-01-01T09:00:00Z")
    before = world.now
    assert facts(world) == set()
    world.now += DAY
    [retried] = world.memory.retry(group_id="g")

    assert (retried.position, retried.request) == (0, 1)
    assert facts(world, known_at=before) == set()
    [fact] = world.memory.facts(group_id="g")
    assert (fact.fact, fact.valid_at) == ("Eva eats pizza", datetime(2024, 1, 1, 9, tzinfo=UTC))
    assert waiting(world) == []
    assert len(events(world, EpisodeRecorded, "episodic")) == 1
    assert world.memory.retry(group_id="g") == []


def test_what_the_rules_found_is_not_found_again_by_a_retry(world: World, server: ModelServer) -> None:
    server.faults = [AWAY] * CALLS
    say(world, "I live in Berlin.")
    world.memory.retry(group_id="g")

    [fact] = world.memory.facts(group_id="g")
    assert world.memory.why(fact.uuid).fact.fact == "Ana lives in Berlin"
    mentions = [row.uuid for row in world.memory._session.writer().episodes.mentions("g")]
    assert len(mentions) == len(set(mentions)) == 2


def test_a_retry_that_fails_again_can_be_retried(world: World, server: ModelServer) -> None:
    server.says = _eats
    server.faults = [AWAY] * (CALLS + 1)
    say(world, "With Eva it is always pizza.")
    world.memory.retry([0], group_id="g")
    assert waiting(world) == [(0, "failed", "status 503")]
    world.now += DAY
    world.memory.retry([0], group_id="g")

    assert facts(world) == {"Eva eats pizza"}
    assert waiting(world) == []


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_rebuilds_keep_what_failed_and_what_was_retried_and_ask_nothing(
    world: World, server: ModelServer, source: str
) -> None:
    server.says = lambda text: _eats(text) if "pizza" in text else json.dumps({"entities": [], "facts": []})
    say(world, "ok")
    server.faults = [AWAY] * (CALLS + 2)
    say(world, "With Eva it is always pizza.", "I live in Berlin.", "With Eva it is always pizza.")
    world.now += DAY
    world.memory.retry([1], group_id="g")
    world.now += DAY
    calls = server.calls
    if source == "episodes":
        world.memory.rebuild("main-anew", input="episodes")
        world.memory.switch("main-anew")

    assert waiting(world) == [(2, "failed", "status 503"), (3, "failed", "status 503")]
    assert same_when_built_anew(world, input=source)
    assert server.calls == calls


def test_graphs_made_anew_from_their_logs_know_what_was_retried(world: World, server: ModelServer) -> None:
    server.faults = [AWAY] * (CALLS + 1)
    say(world, "I live in Berlin.", "I work at Siemens.")
    world.memory.retry([0], group_id="g")
    before, places = (waiting(world), world.digest()), world.memory._session.places
    world.memory.close()
    for store in (places.episodes, places.graph("main")):
        for file in store.parent.glob(store.name + "*"):
            file.unlink()
    world.restart()
    say(world, "ok")

    assert waiting(world) == before[0] == [(1, "failed", "status 503")]
    world.memory.verify()


def test_names_that_no_model_decided_are_two_until_a_retry_joins_them(world: World, server: ModelServer) -> None:
    say(world, "I work at Acme Works.", *["ok"] * 4)
    server.decides = lambda *_: "no"
    say(world, "My colleague Tom works at Acme.")
    server.decides = None
    assert "Tom works at Acme" in facts(world)
    assert [state for _, state, _ in waiting(world)] == ["failed"]
    assert same_when_built_anew(world)
    world.memory.retry(group_id="g")

    assert waiting(world) == []
    assert facts(world, object="Acme Works") == {"Ana works at Acme Works", "Tom works at Acme"}
    assert same_when_built_anew(world)


def test_names_are_resolved_without_their_embedder_and_a_rebuild_agrees(tmp_path: Path, server: ModelServer) -> None:
    with serving_vectors() as vectors:
        given = {"embedder": "openai", "embedding_url": vectors.url}
        world = opened(tmp_path / "data", server, **given)
        vectors.refuses = {"Gotham"}
        say(world, "I love New York City.", "Tom lives in Gotham.")
        [failed] = events(world, ExtractionFailed)
        assert (failed.prompt, failed.calls, failed.prompt_tokens, failed.completion_tokens) == ("names", 1, 0, 0)
        vectors.refuses = set()

        assert same_when_built_anew(world)
        assert "Tom lives in Gotham" in facts(world)
        world.memory.retry(group_id="g")
        assert waiting(world) == []
        assert same_when_built_anew(world)
        world.memory.close()


def test_a_parked_message_is_recorded_by_a_retry_once_it_can_be(world: World) -> None:
    say(world, "I live in Berlin.", uuid="nobody", timestamp="2024-01-01T09:00:00Z")
    assert [(at, state) for at, state, _ in waiting(world)] == [(0, "parked")]
    world.memory.retry([0], group_id="g")

    assert [(at, state) for at, state, _ in waiting(world)] == [(0, "parked")]  # nothing was mended
    assert [event.position for event in events(world, MessageParked, "episodic")] == [None, 0]
    assert len(events(world, MessageRetried, "episodic")) == 1


def test_a_statement_that_was_parked_stands_once_what_it_names_is_there(world: World) -> None:
    end = {"op": "end", "subject": None, "relation": None, "ref": "berlin", "invalid_at": "2025"}
    world.tell(**end)
    world.tell(object="Berlin", ref="berlin", valid_at="2020")
    assert world.parked() == 1
    world.now += DAY
    before = world.now
    world.memory.retry(group_id="g")

    assert world.parked() == 0
    assert world.where("2026") == []
    assert world.where("2026", known=before - 1) == ["Berlin"]
    assert same_when_built_anew(world)


def test_a_retry_of_what_is_neither_parked_nor_failed_changes_nothing(world: World) -> None:
    say(world, "I live in Berlin.")
    before = world.digest()
    world.memory.retry([0], group_id="g")

    assert world.digest() == before
    with pytest.raises(NotFound):
        world.memory.retry([9], group_id="g")
    with pytest.raises(NotFound):
        world.memory.retry([0], group_id="other")


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_retry_of_an_erased_or_withdrawn_message_makes_nothing(
    world: World, server: ModelServer, source: Literal["mentions", "episodes"]
) -> None:
    world.memory.rebuild("read", input=source)
    world.memory.switch("read")
    server.faults = [AWAY] * (CALLS + 1)
    say(world, "I live in Berlin.", "I work at Siemens.")
    [first, _] = world.memory.episodes(group_id="g")
    world.memory.withdraw(first.uuid, group_id="g")
    calls = server.calls
    world.memory.retry([0], group_id="g")
    assert (facts(world), server.calls) == ({"Ana works at Siemens"}, calls)
    world.memory.erase("g")
    world.memory.retry([1], all_groups=True)
    assert facts(world) == set()


def test_what_was_suppressed_is_there_for_no_retry(world: World, server: ModelServer) -> None:
    server.faults = [AWAY] * CALLS
    say(world, "I live in Berlin.", suppress_content=True)
    calls = server.calls
    world.memory.retry([0], group_id="g")

    assert (facts(world), server.calls) == ({"Ana lives in Berlin"}, calls)
    assert waiting(world) == [(0, "failed", "status 503")]
    assert events(world, MessageRetried, "episodic") == []


def test_without_a_model_what_failed_waits_for_one(tmp_path: Path, server: ModelServer) -> None:
    server.says = _eats
    server.faults = [AWAY] * CALLS
    failed = opened(tmp_path, server, model_calls=1)
    say(failed, "With Eva it is always pizza.")
    failed.restart()
    without = World(tmp_path)
    without.memory.retry([0], group_id="g")
    assert (facts(without), waiting(without)) == (set(), [(0, "failed", "status 503")])
    without.memory.close()
    again = opened(tmp_path, server, model_calls=1)
    again.now += 3 * DAY
    again.memory.retry([0], group_id="g")

    assert (facts(again), waiting(again)) == ({"Eva eats pizza"}, [])
    again.memory.close()


def test_a_statement_that_was_parked_and_withdrawn_is_not_made_by_a_retry(world: World) -> None:
    line = {"group_id": "g", "subject": "Ana", "relation": "lives_in"}
    said = [{**line, "op": "correct", "ref": "home", "object": "Rome"}, {**line, "ref": "home", "object": "Oslo"}]
    world.memory.import_facts([json.dumps(said[0])])
    [episode] = world.memory.episodes(group_id="g")
    world.memory.withdraw(episode.uuid, group_id="g")
    world.memory.import_facts([json.dumps(said[1])])
    world.memory.retry(group_id="g")

    assert facts(world, any_time=True) == {"Ana lives in Oslo"}
    assert waiting(world) == []
    assert same_when_built_anew(world)


def test_a_withdrawal_takes_back_what_a_retry_had_made_of_a_statement(world: World) -> None:
    line = {"group_id": "g", "subject": "Ana", "relation": "lives_in"}
    world.memory.import_facts([json.dumps({**line, "op": "correct", "ref": "home", "object": "Rome"})])
    [episode] = world.memory.episodes(group_id="g")
    world.memory.import_facts([json.dumps({**line, "ref": "home", "object": "Oslo"})])
    world.memory.retry(group_id="g")
    world.now += DAY
    assert facts(world) == {"Ana lives in Rome"}
    world.memory.withdraw(episode.uuid, group_id="g")

    assert facts(world, any_time=True) == {"Ana lives in Oslo"}
    assert same_when_built_anew(world)


def test_a_withdrawal_takes_back_what_a_retry_had_made_of_a_parked_message(world: World, server: ModelServer) -> None:
    server.says = _eats
    say(world, "With Eva it is always pizza.", previous_episode_ids=[episode_id("g", 1)])
    say(world, "ok")
    server.faults = [AWAY] * CALLS
    for state in ("parked", "failed"):
        assert [state for _, state, _ in waiting(world)] == [state]
        world.memory.retry([0], group_id="g")
        world.now += DAY
    assert facts(world) == {"Eva eats pizza"}
    eaten = world.memory.episodes(group_id="g")[-1]
    world.memory.withdraw(eaten.uuid, group_id="g")

    assert facts(world) == set()
    assert same_when_built_anew(world)


@pytest.mark.parametrize("source", ["mentions", "episodes"])
@pytest.mark.parametrize("at_once", [False, True])
def test_messages_their_retries_and_withdrawals_may_be_committed_at_once(
    world: World, server: ModelServer, at_once: bool, source: Literal["mentions", "episodes"]
) -> None:
    world.memory.rebuild("read", input=source)
    world.memory.switch("read")
    server.says = _eats
    server.faults = [AWAY] * CALLS
    text = "I work at Siemens. It is pizza with Eva."
    said = accept(Message, {"group_id": "g", "role": "Ana", "role_type": "user", "content": text})
    home = FactStatement(group_id="g", subject="Ana", relation="lives_in", object="Oslo", ref="home", valid_at=0)
    sent: list[AnyMessage] = [
        said,
        home.model_copy(update={"op": "correct", "object": "Rome"}),
        home,
        *(RetryRequest(group_id="g", position=at) for at in (0, 1)),
        *(WithdrawalRequest(group_id="g", episode_id=episode_id("g", at)) for at in (0, 1)),
        said,
    ]
    for batch in [sent] if at_once else [[message] for message in sent]:
        world.send(*batch)
    retried = [record.recorded_at for record in records(world.memory) if isinstance(record.event, MessageRetried)]
    world.now += DAY

    before = {"Eva eats pizza", "Ana works at Siemens", "Ana lives in Rome"}
    assert facts(world, any_time=True, known_at=retried[-1]) == before
    assert facts(world, any_time=True) == {"Eva eats pizza", "Ana lives in Oslo"}
    [pizza] = world.memory.facts(about="Eva", group_id="g")
    assert (len(pizza.episodes), waiting(world)) == (1, [])
    assert same_when_built_anew(world, input=source)


def test_a_rebuild_has_what_a_retry_found_of_a_message_that_was_withdrawn_later(
    world: World, server: ModelServer
) -> None:
    server.says = _eats
    server.faults = [AWAY] * CALLS
    say(world, "With Eva it is always pizza.")
    world.memory.retry(group_id="g")
    known = world.now
    world.now += DAY
    [episode] = world.memory.episodes(group_id="g")
    world.memory.withdraw(episode.uuid, group_id="g")
    assert (facts(world), facts(world, known_at=known)) == (set(), {"Eva eats pizza"})

    assert same_when_built_anew(world)
    world.memory.rebuild("later")
    world.memory.switch("later")
    assert (facts(world), facts(world, known_at=known)) == (set(), {"Eva eats pizza"})


def test_what_was_answered_before_is_not_asked_for_again_by_a_retry(world: World, server: ModelServer) -> None:
    server.faults = [AWAY] * CALLS
    say(world, "I live in Berlin.")
    world.memory.retry(group_id="g")
    calls = server.calls
    say(world, "ok")

    assert server.calls == calls + 1
    assert len(events(world, ExtractionAnswered, "episodic")) == 2


def test_each_parking_and_each_failure_is_a_warning_without_content(
    world: World, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.faults = [REFUSED] * CALLS
    say(world, "I live in Berlin, says a secret.", "ok")
    say(world, "Another secret.", uuid="nobody")

    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    failed, parked = "message 0, episodic: extract failed: status 401", "message 2 is parked in episodic: uuid"
    assert said == [failed, parked]

    caplog.clear()
    server.faults = [REFUSED] * CALLS
    world.memory.retry([0, 2], group_id="g")
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [failed, parked]


def _eats(text: str) -> str:
    eva, pizza = {"id": 1, "text": "Eva", "type": "Person"}, {"id": 2, "text": "pizza", "type": "Food"}
    fact = {"subject": 1, "relation": "eats", "object": 2, "stance": "holds", "quote": text, "confidence": 0.8}
    times = {"valid_from": None, "valid_to": None, "time_words": None}
    return json.dumps({"entities": [eva, pizza], "facts": [{**fact, **times}]})
