"""Names that rules leave open, decided by a language model: what is asked, recorded, joined, and taken apart again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import records
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed, ExtractionRefused
from asof_streams.instants import DAY
from asof_streams.messages import WithdrawalRequest
from asof_streams.semantic import EntityDescribed, EntityMerged, MentionResolved
from model_server import ModelServer, serving
from model_world import events, facts, opened, prompts, say
from world import World

HM = ["Hm."] * 4  # a name in the last turns would be repeated, not resolved


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    told = opened(tmp_path / "data", server)
    yield told
    told.memory.close()


def answering(**answer: Any) -> Any:
    return lambda *_: json.dumps({"meant": [], "same": [], **answer})


def test_a_name_that_rules_leave_open_is_asked_about_and_known_from_then_on(world, server):
    say(world, "My colleague George Orwell lives in London.", "My colleague George Eliot lives in Leeds.", *HM)
    server.decides = lambda mentions, known: json.dumps(
        {
            "meant": [
                {"mention": n, "known": m, "confidence": 0.9}
                for n in mentions
                for m, name in known.items()
                if name == "George Orwell"
            ],
            "same": [],
        }
    )
    say(world, "George works at Acme.", *HM, "George likes tea.")

    assert {"George Orwell works at Acme", "George Orwell likes tea"} <= facts(world)
    [shown] = prompts(server, "Known")
    assert "1. George (Person): " in shown
    assert "George Eliot: " in shown
    assert "George Orwell lives in London" in shown
    reasons = [event.reason for event in events(world, MentionResolved)]
    assert reasons.count("model") == 1
    [answered] = events(world, ExtractionAnswered)
    assert answered.prompt == "resolve"


def test_all_doubts_of_a_message_are_one_question(world, server):
    say(world, "George Orwell lives in London.", "George Eliot lives in Leeds.", "I work at Acme Works.", *HM)
    calls = server.calls
    say(world, "George works at Acme.")

    [shown] = prompts(server, "Known")
    assert "1. George (Person): " in shown
    assert "2. Acme (Organization): " in shown
    assert server.calls == calls + 2


def test_without_a_likely_candidate_nothing_is_asked(world, server):
    say(world, "Ben lives in Oslo.", *HM, "Eva works at Siemens.")

    assert prompts(server, "Known") == []


def test_none_of_them_is_someone_new(world, server):
    say(world, "George Orwell lives in London.", "George Eliot lives in Leeds.", *HM)
    server.decides = answering(meant=[{"mention": 1, "known": 0, "confidence": 1.0}])
    say(world, "George works at Acme.", *HM, "George likes tea.")

    assert {"George works at Acme", "George likes tea"} <= facts(world)
    assert len(prompts(server, "Known")) == 1


def test_an_answer_about_names_is_recorded_before_it_is_used_and_no_replay_asks_again(world, server):
    say(world, "George Orwell lives in London.", "George Eliot lives in Leeds.", *HM, "George works at Acme.")
    events = [r.event for r in records(world.memory)]
    answered = next(i for i, event in enumerate(events) if isinstance(event, ExtractionAnswered))
    batch = [r for r in records(world.memory) if r.cause == 6]
    assert isinstance(batch[0].event, ExtractionAnswered)
    assert answered >= 0

    before, calls, places = facts(world), server.calls, world.memory._session.places
    world.memory.close()
    for store in (places.episodes, places.graph("main")):
        for file in store.parent.glob(store.name + "*"):
            file.unlink()
    world.restart()
    say(world, "ok")
    assert facts(world) == before
    assert server.calls == calls + 1  # of what was said last


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_rebuild_asks_of_names_only_what_was_never_answered(world, server, source):
    say(world, "George Orwell lives in London.", "George Eliot lives in Leeds.", *HM, "George works at Acme.")
    before, calls = facts(world), server.calls
    world.memory.rebuild("again", input=source)
    world.memory.switch("again")

    assert facts(world) == before
    assert server.calls == calls
    assert len(events(world, ExtractionAnswered)) >= 1


def test_what_cannot_be_answered_stays_new_and_a_retry_repairs_it(world, server):
    say(world, "I work at Acme Works.", *HM)
    server.decides = lambda *_: "no"
    say(world, "My colleague Tom works at Acme.")
    server.decides = None

    [failed] = events(world, ExtractionFailed)
    assert (failed.prompt, failed.reason, failed.calls) == ("resolve", "not JSON", 2)
    assert "Tom works at Acme" in facts(world)
    world.memory.rebuild("kept")
    world.memory.switch("kept")
    assert "Tom works at Acme" in facts(world)

    world.memory.retry(group_id="g")
    assert "Tom works at Acme" in {fact.fact for fact in world.memory.facts(group_id="g", object="Acme Works")}


def test_a_retry_asks_again_about_none_but_the_names_that_were_taken_to_be_new(world, server):
    server.decides = answering()
    say(world, "I work at Acme Works.", "I live in New York City.", *HM, "My colleague Eva works at Acme.", *HM)
    server.decides = lambda *_: "no"
    say(world, "My colleague Tom works at Acme. Tom lives in NYC.")
    server.decides = answering(meant=[{"mention": 1, "known": 1, "confidence": 0.9}])
    asked = len(prompts(server, "Known"))
    world.memory.retry(group_id="g")

    [shown] = prompts(server, "Known")[asked:]
    assert "1. NYC (Location): " in shown
    assert "Acme (Organization)" not in shown
    assert {fact.subject for fact in world.memory.facts(group_id="g", object="New York City")} == {"Ana", "Tom"}


def test_what_structure_decides_is_asked_of_no_model_and_what_it_leaves_open_is(tmp_path, server):
    told = opened(tmp_path / "other", server, ingestion={"enable_structural_similarity": True})
    say(told, "Rivertown Bakery employs Tom Berg. Tom Berg works at Rivertown Bakery.", *HM)
    say(told, "Tom Berg works at Bakery of Rivertown.", *HM)
    resolved = events(told, MentionResolved)
    assert "structure" in {event.reason for event in resolved}
    assert len({event.mention_id for event in resolved}) == len(resolved)
    assert "Bakery of Rivertown" in {event.alias for event in events(told, EntityDescribed)}
    assert prompts(server, "Known") == []
    say(told, "I work at Acme Works.", *HM, "My colleague Eva works at Acme.")

    [shown] = prompts(server, "Known")
    assert "1. Acme (Organization): " in shown
    told.memory.close()


def test_a_retry_asks_of_no_name_where_names_are_not_resolved(tmp_path, server, monkeypatch):
    monkeypatch.setattr("asof_agents.extraction.llm.chat_model.time.sleep", lambda _: None)
    told = opened(tmp_path / "other", server, ingestion={"enable_entity_resolution": False})
    say(told, "I work at Acme Works.", *HM)
    server.faults = [(503, "{}")] * 9
    say(told, "My colleague Tom works at Acme.")
    server.faults = []
    told.memory.retry(group_id="g")

    assert prompts(server, "Known") == []
    assert told.memory.stats()["failed"] == 0
    told.memory.close()


def test_bad_pieces_of_an_answer_are_counted_and_the_rest_is_taken(world, server):
    say(world, "I work at Acme Works.", *HM)
    server.decides = answering(
        meant=[
            {"mention": 1, "known": 1, "confidence": 1.0},
            {"mention": 7, "known": 1, "confidence": 1.0},
            {"mention": 8, "known": 1, "confidence": 1.0},
        ],
        same=[{"one": 1, "other": 5, "confidence": 1.0}],
    )
    say(world, "My colleague Tom works at Acme.")

    refused = events(world, ExtractionRefused)
    assert [(event.part, event.reason, event.count) for event in refused] == [("mention", "id", 2), ("pair", "id", 1)]
    assert "Tom works at Acme Works" in facts(world)


def test_two_known_things_that_are_one_get_a_duplicate_link_that_can_be_taken_back(world, server):
    say(world, "George Orwell lives in London.", "George Eliot works at Acme.", *HM)
    server.decides = answering(
        meant=[{"mention": 1, "known": 1, "confidence": 1.0}], same=[{"one": 2, "other": 1, "confidence": 0.9}]
    )
    say(world, "George likes tea.")

    [merged] = events(world, EntityMerged)
    assert merged.reason == "model"
    [portrait] = world.memory.entity("George Eliot", group_id="g")
    assert {fact.relation for fact in portrait.facts} == {"lives_in", "works_at", "likes"}

    world.tell(op="retract", ref=merged.merge_id, subject=None, relation=None)
    [portrait] = world.memory.entity("George Eliot", group_id="g")
    assert {fact.relation for fact in portrait.facts} == {"works_at"}
    asked = len(prompts(server, "Known"))
    say(world, "My colleague Georg lives in Bonn.")
    assert len(prompts(server, "Known")) == asked + 1  # and answered as before, yet
    assert len(events(world, EntityMerged)) == 1  # what was taken apart stays apart


def test_rules_alone_ask_nobody(tmp_path, server):
    told = opened(tmp_path / "rules", server, extractor="rules")
    say(told, "George Orwell lives in London.", "George Eliot lives in Leeds.", *HM, "George works at Acme.")

    assert server.calls == 0
    assert "George works at Acme" in facts(told)
    told.memory.close()


def test_what_came_of_asking_is_logged_in_numbers_without_a_word_of_content(world, server, monkeypatch, caplog):
    monkeypatch.setattr("asof_agents.extraction.llm.chat_model.time.sleep", lambda _: None)
    say(world, "I work at Acme Works.", "I live in Rome.", *HM)
    server.faults = [(500, "{}")]
    server.decides = answering(meant=[{"mention": 1, "known": 9, "confidence": 1.0}])
    with caplog.at_level("INFO", "asof_agents"):
        say(world, "My colleague Tom works at Acme, and I moved to Oslo.")

    episode = [r.event.episode_id for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"][-1]
    assert [record.getMessage() for record in caplog.records if record.name == "asof_agents.outcomes"] == [
        f"episode {episode}, episodic: calls 2, retries 1, refused 0, mentions 4, relationships 3",
        (
            f"episode {episode}, semantic.main: calls 1, retries 0, refused 1, "
            "new entities 3, facts accepted 3, facts invalidated 1"
        ),
    ]
    assert not any(word in caplog.text for word in ("Acme", "Tom", "Oslo", "Rome"))


def test_eight_calls_at_once_decide_names_as_one_after_the_other_does(tmp_path, server):
    texts = [
        *("George Orwell lives in London.", "George Eliot lives in Leeds.", "I work at Acme Works.", *HM),
        *(
            "George works at Acme.",
            *HM,
            "My colleague Georg likes tea.",
            "I live in New York City.",
            *HM,
            "I love NYC.",
        ),
    ]
    told = [opened(tmp_path / str(n), server, model_calls=n) for n in (1, 8)]
    for each in told:
        server.latency = 0.1 * (each is told[1])
        say(each, *texts)

    lasting = [
        [(r.position, r.cause, r.place, r.event.model_dump(exclude={"latency_ms"})) for r in records(each.memory)]
        for each in told
    ]
    assert lasting[0] == lasting[1]
    assert len(prompts(server, "Known")) == 2 * len(events(told[0], ExtractionAnswered)) > 4
    assert server.at_once > 2
    for each in told:
        each.memory.close()


@pytest.mark.parametrize(
    ("known", "said", "asked"),
    [
        ("My colleague Jon lives in Oslo.", "John likes tea.", True),  # a slip
        ("I work at Acme Works.", "My colleague Tom works at Acme.", True),  # most of its words
        ("I live in New York City.", "My colleague Tom lives in NYC.", True),  # its initials
        ("My colleague Tom lives in NYC.", "I live in New York City.", True),
        ("My colleague Georg likes tea.", "My colleague Gerda likes tea.", True),  # somewhat alike, and both Ana's
        ("Georg likes rice.", "Gerda likes tea.", False),  # somewhat alike, and nothing in common
        ("My colleague Tom lives in Oslo.", "My colleague Eva lives in Rome.", False),
        ("I live in Paris.", "My colleague Pariss likes tea.", False),  # a place and a person
        ("My friend is 30 years old.", "My friend is 31 years old.", False),  # values
    ],
)
def test_what_is_called_nearly_so_is_in_doubt_and_nothing_else(world, server, known, said, asked):
    say(world, known, *HM)
    say(world, said)

    assert len(prompts(server, "Known")) == asked


def test_what_is_a_value_is_for_the_ontology_that_the_message_names_to_say(tmp_path, server):
    world = opened(tmp_path / "data", server, extractor="both")
    for text in ('"Gate" means the check before a release.', '"Lock" means the checks before a release.'):
        world.memory.add(text, group_id="g", role="Ana", schema_id="agent_memory_v1")
        world.now += DAY
    said = facts(world)
    world.memory.close()

    assert said == {"Gate means the check before a release", "Lock means the checks before a release"}
    assert prompts(server, "Known") == []


def test_the_likeliest_four_are_shown_first_of_them_what_is_most_alike_and_shares_a_fact(world, server):
    for name in ("Martin", "Marvin", "Marlin", "Maroun", "Marten", "Marta"):
        world.tell(subject=name, subject_type="Person", relation="lives_in", object="Oslo", object_type="Location")
    world.tell(subject="Ana", subject_type="Person", relation="knows", object="Marten", object_type="Person")
    say(world, "My friend Marton likes tea.")

    [shown] = prompts(server, "Known")
    [listed] = [line for line in shown.splitlines() if line.startswith("1. Marton")]
    assert listed == "1. Marton (Person): 1, 2, 3, 4"
    known = shown.partition("Known:\n")[2].splitlines()
    assert [line.partition(":")[0] for line in known] == ["1. Marten", "2. Martin", "3. Maroun", "4. Marta"]
    assert "Ana knows Marten" in known[0]


def test_what_was_joined_for_an_episode_is_two_again_when_that_is_withdrawn(world, server):
    say(world, "George Orwell lives in London.", "George Eliot works at Acme.", *HM)
    server.decides = answering(
        meant=[{"mention": 1, "known": 1, "confidence": 1.0}], same=[{"one": 2, "other": 1, "confidence": 0.9}]
    )
    say(world, "George likes tea.")
    episode = [r.event.episode_id for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"][-1]
    writer = world.memory._session.writer()
    writer.messages.accept([WithdrawalRequest(group_id="g", episode_id=episode)], clock=world.now)
    writer.process(flush=True)

    [portrait] = world.memory.entity("George Eliot", group_id="g")
    assert {fact.relation for fact in portrait.facts} == {"works_at"}
    [link] = portrait.duplicate_of
    assert link.known_to is not None
