"""Messages read by a language model, from end to end: what is asked, recorded, and asked again by a rebuild."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

import pytest

from asking import records
from asof_agents.engine import Engine
from asof_process import ASOF
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed, ExtractionRefused
from asof_streams.errors import InvalidInput, StorageFailed
from asof_streams.events import Record
from asof_streams.ids import episode_id
from asof_streams.instants import DAY
from asof_streams.messages import Message, TimezoneStatement, WithdrawalRequest
from asof_streams.semantic import EntityAttributed
from asof_streams.sqlite_log import SqliteLog
from model_server import ModelServer, serving
from model_world import facts, opened, say
from patience import wait_until
from world import World

SAID = [
    "I moved to Berlin in March 2024.",
    "I work at Siemens.",
    "My sister Eva lives in Rome.",
    "ok",
    "She loves pizza.",
    "I have a dog named Rex.",
    "I used to live in Madrid until 2023.",
    "My colleague Tom speaks French.",
]
NOTHING = '{"entities": [], "facts": []}'


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


def episodic(world: World) -> list[Record]:
    with SqliteLog(world.memory._session.places.episodic) as log:
        return list(log.read())


def lasting(world: World) -> list[tuple[Any, ...]]:
    """The episodic events but for the measured time, which is no part of what is known."""
    return [
        (r.group, r.cause, r.place, r.size, r.event.type, r.event.model_dump(exclude={"latency_ms"}))
        for r in episodic(world)
    ]


def test_each_message_is_one_call_whose_answer_is_recorded_before_what_is_made_of_it(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)

    assert server.calls == len(SAID)
    assert {"Ana lives in Berlin", "Eva lives in Rome"} <= facts(told)
    batches = Counter(r.cause for r in episodic(told))
    assert len(batches) == len(SAID)
    assert all(isinstance(r.event, ExtractionAnswered) for r in episodic(told) if r.place == 1)
    told.memory.close()


def test_of_what_a_bot_says_in_a_chat_no_model_is_asked(tmp_path, server):
    told = opened(tmp_path / "data", server)
    told.memory.add("I live in Rome.", role="Ana", group_id="g", external_id="1")
    told.memory.add("You moved to Oslo?", role="Bot", role_type="assistant", group_id="g", external_id="2")
    told.memory.rebuild("anew", input="episodes")

    assert server.calls == 1
    assert facts(told) == {"Ana lives in Rome"}
    told.memory.close()


def test_a_rebuild_of_the_same_asks_nothing_and_comes_out_equal(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    before, calls = facts(told), server.calls
    for name in ("one", "two"):
        told.memory.rebuild(name, input="episodes")
    told.memory.switch("two")

    assert facts(told) == before
    assert server.calls == calls
    with (
        SqliteLog(told.memory._session.places.semantic("one")) as one,
        SqliteLog(told.memory._session.places.semantic("two")) as two,
    ):
        assert [r.event.encode() for r in one.read()] == [r.event.encode() for r in two.read()]
    told.memory.close()


def test_graphs_made_anew_from_their_logs_ask_nothing(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    before, calls, places = facts(told), server.calls, told.memory._session.places
    told.memory.close()
    for store in (places.episodes, places.graph("main")):
        for file in store.parent.glob(store.name + "*"):
            file.unlink()
    told.restart()
    say(told, "ok")

    assert facts(told) == before
    assert server.calls == calls + 1
    told.memory.close()


def test_a_rebuild_under_another_ontology_asks_once_and_keeps_the_answers(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    told.memory.rebuild("other", input="episodes", ontology="agent_memory_v1")
    assert server.calls == 2 * len(SAID)

    told.memory.rebuild("again", input="episodes", ontology="agent_memory_v1")
    assert server.calls == 2 * len(SAID)
    told.memory.close()


@pytest.mark.parametrize("extractor", ["model", "both"])
def test_eight_calls_at_once_give_the_events_of_one_after_the_other(tmp_path, server, extractor):
    texts = SAID * 5
    told = [opened(tmp_path / str(n), server, extractor=extractor, model_calls=n) for n in (1, 8)]
    say(told[0], *texts)
    assert (server.calls, server.at_once) == (len(texts), 1)
    server.latency = 0.2
    say(told[1], *texts)

    assert server.calls == 2 * len(texts)
    assert 4 <= server.at_once <= 8
    assert lasting(told[0]) == lasting(told[1])
    assert facts(told[0]) == facts(told[1]) != set()
    for each in told:
        each.memory.close()


def test_a_message_added_later_is_asked_about_with_the_same_words_as_one_asked_ahead(tmp_path, server):
    one, many = opened(tmp_path / "one", server), opened(tmp_path / "many", server)
    for text in SAID:
        say(one, text, timestamp="2024-04-02T09:00:00Z")
    say(many, *SAID, timestamp="2024-04-02T09:00:00Z")

    assert [r.event.request for r in episodic(one) if isinstance(r.event, ExtractionAnswered)] == [
        r.event.request for r in episodic(many) if isinstance(r.event, ExtractionAnswered)
    ]
    assert server.calls == 2 * len(SAID)
    one.memory.close()
    many.memory.close()


def test_what_the_model_fails_to_answer_is_recorded_and_a_rebuild_keeps_that(tmp_path, server):
    told = opened(tmp_path / "data", server, extractor="both", model_calls=1)
    server.says = lambda text: _eats(text) if "pizza" in text else NOTHING
    server.faults = ["no", "no"]
    say(told, "Eva ate pizza, says my diary. I live in Berlin.", "ok")

    (failed,) = [r.event for r in episodic(told) if isinstance(r.event, ExtractionFailed)]
    assert (failed.reason, failed.calls) == ("not JSON", 2)
    assert "Ana lives in Berlin" in facts(told)
    assert not facts(told, relation="eats")

    told.memory.rebuild("same", input="episodes")
    told.memory.switch("same")
    assert not facts(told, relation="eats")
    assert server.calls == 2 + 1
    told.memory.rebuild("other", input="episodes", ontology="agent_memory_v1")
    assert server.calls == 2 * (2 + 1) - 1  # another ontology is another question
    told.memory.close()


def _eats(text: str) -> str:
    eva, pizza = {"id": 1, "text": "Eva", "type": "Person"}, {"id": 2, "text": "pizza", "type": "Food"}
    fact = {"subject": 1, "relation": "eats", "object": 2, "stance": "holds", "quote": text, "confidence": 0.8}
    times = {"valid_from": None, "valid_to": None, "time_words": None}
    return json.dumps({"entities": [eva, pizza], "facts": [{**fact, **times}, {**fact, **times, "object": 7}]})


def test_refused_parts_are_counted_in_an_event_without_their_words(tmp_path, server):
    told = opened(tmp_path / "data", server)
    server.says = _eats
    say(told, "Eva ate pizza.")

    refused = [r.event for r in episodic(told) if isinstance(r.event, ExtractionRefused)]
    assert [(event.part, event.reason, event.count) for event in refused] == [("fact", "id", 1)]
    assert facts(told) == {"Eva eats pizza"}
    told.memory.close()


def test_what_a_model_says_of_a_thing_is_an_attribute_of_the_entity_that_is_meant(tmp_path, server):
    told = opened(tmp_path / "data", server)
    server.says = _describes
    say(told, "My sister Eva is keen on chess.", "My sister Eva is fond of chess.")

    attributed = [r.event for r in records(told.memory) if isinstance(r.event, EntityAttributed)]
    [eva] = [e.uuid for e in told.memory.entities(all_groups=True) if e.name == "Eva"]
    assert [(e.entity_id, e.name, e.value, e.holds) for e in attributed] == [
        (eva, "temper", "keen on", True),
        (eva, "temper", "fond of", False),
    ]
    told.memory.close()


def _describes(text: str) -> str:
    value, confidence = ("keen on", 0.9) if "keen" in text else ("fond of", 0.5)
    given = {"entity": 1, "name": "temper", "value": value, "confidence": confidence}
    return json.dumps({"entities": [{"id": 1, "text": "Eva", "type": "Person"}], "facts": [], "attributes": [given]})


def test_nothing_of_an_erased_group_is_kept_or_sent_again(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    told.memory.erase("g")
    calls = server.calls
    say(told, "ok")

    assert SAID[0] not in server.requests[calls]["messages"][1]["content"]
    assert b"Siemens" not in b"".join(file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())
    told.memory.close()


def test_where_a_part_is_erased_only_the_turns_that_were_read_with_it_are_asked_about_again(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    calls = server.calls

    told.memory.erase("g", phrase="Siemens")

    assert server.calls == calls + 4
    assert b"Siemens" not in b"".join(file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())
    assert not any("Siemens" in request["messages"][1]["content"] for request in server.requests[calls:])
    told.memory.rebuild("again")
    assert server.calls == calls + 4
    assert told.memory.digest("again") == told.digest()
    told.memory.close()


def test_no_model_is_shown_a_withdrawn_episode_with_what_was_said_after_the_withdrawal(tmp_path, server):
    told = opened(tmp_path / "data", server)
    writer = told.memory._session.writer()
    messages = [Message(group_id="g", role="Ana", role_type="user", content=text) for text in SAID[:3]]
    withdrawal = WithdrawalRequest(group_id="g", episode_id=episode_id("g", 0))
    writer.messages.accept([*messages[:2], withdrawal, messages[2]], clock=told.now)
    writer.process(flush=True)

    asked = [request["messages"][1]["content"] for request in server.requests]
    assert [SAID[0] in content for content in asked] == [True, True, False]
    assert SAID[1] in asked[2]
    told.memory.close()


def test_a_model_is_asked_once_about_what_was_said_behind_the_statement_of_a_time_zone(tmp_path, server):
    told = opened(tmp_path / "data", server)
    writer = told.memory._session.writer()
    first, second = (Message(group_id="g", role="Ana", role_type="user", content=text) for text in SAID[:2])
    zone = TimezoneStatement(group_id="g", timezone="Asia/Tokyo")
    writer.messages.accept([first, zone, second], clock=told.now)
    writer.process(flush=True)

    asked = [request["messages"][1]["content"] for request in server.requests]
    assert ["+09:00" in content for content in asked] == [False, True]
    told.memory.close()


def test_one_message_at_a_time_is_asked_ahead_too(tmp_path, server):
    """As the service's worker takes them: each is flushed before the next."""
    server.latency = 0.2
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    others = [*SAID[1:], *SAID]
    writer = told.memory._session.writer()
    messages = [Message(group_id="g", role="Ana", role_type="user", content=text) for text in others]
    start = writer.messages.accept(messages, clock=told.now)[0]
    for position in range(start, start + len(others)):
        writer.process(flush=True, stop=position + 1)

    assert server.at_once >= 4
    assert server.calls == len(SAID) + len(others)
    told.memory.close()


def test_an_answer_that_was_taken_is_not_asked_for_again_where_the_work_is_done_again(tmp_path, server):
    told = opened(tmp_path / "data", server, model_calls=1)
    say(told, SAID[0])
    writer, flush = told.memory._session.writer(), Engine.flush
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Engine, "flush", _full)
        with pytest.raises(StorageFailed):
            say(told, *SAID[1:4])
    assert server.calls == 4

    assert Engine.flush is flush
    writer.process(flush=True)
    assert server.calls == 4
    told.now += DAY
    assert "Ana works at Siemens" in facts(told)
    told.memory.close()


def _full(_: Engine) -> None:
    raise StorageFailed("no space left")


@pytest.mark.data
@pytest.mark.parametrize("extractor", ["model", "both"])
def test_real_conversations_cost_at_most_one_call_and_a_fifth_a_message_and_few_tokens(
    tmp_path, server, data_dir, extractor
):
    calls, tokens, second = [], [], 0
    for conversation in sorted((data_dir / "locomo-dev").glob("locomo-conv-*.jsonl")):
        server.requests.clear()
        lines = conversation.read_bytes().splitlines()[:150]
        told = opened(tmp_path / conversation.stem, server, extractor=extractor)
        told.memory.produce(lines)

        calls.append(server.calls / len(lines))
        tokens += _tokens_of_messages(told)
        second += server.calls - len(lines)
        told.memory.close()
    assert median(calls) <= 1.2
    assert second > 0  # names in doubt are among them
    assert median(tokens) <= 1_200


def _tokens_of_messages(told: World) -> list[int]:
    """What models read for each message, by their server's count: with schemas, and with what a second call takes."""
    read: Counter[str] = Counter()
    for record in (*episodic(told), *records(told.memory)):
        if isinstance(record.event, ExtractionAnswered):
            read[record.event.episode_id] += record.event.prompt_tokens
    return list(read.values())


def test_structured_facts_ask_no_model(tmp_path, server):
    told = opened(tmp_path / "data", server)
    told.tell(object="Rome", valid_at="2020")

    assert told.where("2021") == ["Rome"]
    assert server.calls == 0
    told.memory.close()


def test_a_generation_that_a_model_read_goes_on_with_no_other(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, SAID[0])
    told.memory.rebuild("model", input="episodes")
    told.memory.close()
    other = opened(tmp_path / "data", server, model_name="another")

    with pytest.raises(InvalidInput, match="ASOF_MODEL_NAME as they were"):
        say(other, SAID[1])
    other.memory.close()


def test_a_model_without_a_name_is_refused_before_anything_is_made(tmp_path, server):
    told = opened(tmp_path / "data", server, model_name=None)
    with pytest.raises(InvalidInput, match="ASOF_MODEL_NAME"):
        say(told, SAID[0])
    told.memory.close()


class Interrupted(Exception):
    pass


def interrupt(done: int, total: int) -> None:
    assert 0 < done < total
    raise Interrupted


@pytest.mark.parametrize("restarted", [False, True])
def test_a_rebuild_that_was_interrupted_goes_on_with_the_answers_it_paid_for(tmp_path, server, restarted):
    told, ahead = opened(tmp_path / "data", server, model_calls=1), 4
    texts = SAID * 6
    say(told, *texts)
    asked = {"input": "episodes", "ontology": "agent_memory_v1"}
    with pytest.raises(Interrupted):
        told.memory.rebuild("other", progress=interrupt, **asked)
    if restarted:
        told.restart()
    assert {g.name for g in told.memory.generations()} == {"main"}
    told.memory.rebuild("other", **asked)

    assert server.calls <= 2 * len(texts) + ahead  # which were not recorded yet
    calls = server.calls
    told.memory.rebuild("again", **asked)
    assert server.calls == calls
    with (
        SqliteLog(told.memory._session.places.semantic("other")) as one,
        SqliteLog(told.memory._session.places.semantic("again")) as two,
    ):
        assert [r.event.encode() for r in one.read()] == [r.event.encode() for r in two.read()]
    told.memory.close()


def test_a_rebuild_that_was_killed_goes_on_with_what_it_has_recorded(tmp_path, server):
    told = opened(tmp_path / "data", server)
    texts = SAID * 12
    say(told, *texts)
    told.memory.close()
    given = {"ASOF_EXTRACTOR": "model", "ASOF_MODEL_NAME": "fake", "ASOF_MODEL_URL": server.url}
    asked = "rebuild --name other --input episodes --ontology agent_memory_v1 --data"
    command = [ASOF, *asked.split(), tmp_path / "data"]
    server.latency = 0.1
    with subprocess.Popen(command, env={**os.environ, **given}) as killed:
        wait_until(lambda: server.calls > len(texts) + 70)  # in flight at that time: 32 at most
        killed.kill()
    subprocess.run(command, env={**os.environ, **given}, check=True)

    assert server.calls <= 2 * len(texts) + 32 + 20  # which were not recorded yet
    told.restart()
    assert {g.name for g in told.memory.generations()} == {"main", "other"}
    told.memory.close()


def test_what_an_interrupted_rebuild_left_is_of_no_use_to_another_build_and_erased_with_its_group(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID * 6)
    folder = told.memory._session.places.generation("other")
    with pytest.raises(Interrupted):
        told.memory.rebuild("other", input="episodes", ontology="agent_memory_v1", progress=interrupt)
    assert b"Siemens" in b"".join(file.read_bytes() for file in folder.iterdir())
    told.memory.erase("g")
    assert not folder.exists()

    say(told, *SAID * 6)
    with pytest.raises(Interrupted):
        told.memory.rebuild("other", input="episodes", ontology="agent_memory_v1", progress=interrupt)
    told.memory.rebuild("other")
    told.memory.switch("other")
    assert "Ana works at Siemens" in facts(told)
    told.memory.close()


def test_the_ledger_has_each_call_once_however_many_generations_use_its_answer(tmp_path, server):
    told = opened(tmp_path / "data", server)
    say(told, *SAID)
    say(told, "I live in Oslo.", group_id="other")
    asked = {"input": "episodes", "ontology": "agent_memory_v1"}
    told.memory.rebuild("one", **asked)
    told.memory.rebuild("two", **asked)

    own, others = told.memory.usage(group_id="g"), told.memory.usage(group_id="other")

    assert {one.model.partition("@")[0] for one in own} == {"fake"}
    assert sum(one.calls for one in [*own, *others]) == server.calls
    assert sum(one.answers for one in others) == 2  # for the memory's ontology and for the other one
    assert told.memory.usage(all_groups=True) == sorted([*own, *others], key=lambda one: (one.group_id, one.prompt))
    assert all(one.prompt_tokens > 0 for one in own)
    told.memory.erase("other")
    assert told.memory.usage(group_id="other") == []
    told.memory.close()
