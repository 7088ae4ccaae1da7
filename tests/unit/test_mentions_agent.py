"""The mentions agent: both examples of the episodic graph's specification from end to end, and its rules one by one."""

import json
from types import SimpleNamespace

import pytest

from asking import records
from asof_agents.extraction.ports import (
    Extraction,
    ImpliedGoal,
    Mention,
    ModelReply,
    ModelRequest,
    Relationship,
    StatedAttribute,
)
from asof_agents.handlers import mentions
from asof_agents.handlers.objectives import implied_goal_id
from asof_streams.ids import episode_id
from histories import History, Triples
from world import World

BOOKS = [
    {
        "role_type": "user",
        "timestamp": "2024-01-01T10:00:00Z",
        "content": "I'm interested in George Orwell's books, especially Animal Farm.",
    },
    {
        "role_type": "assistant",
        "timestamp": "2024-01-01T10:00:15Z",
        "content": "Animal Farm and 1984 are two of his most famous works. He also wrote Burmese Days, reflecting his"
        " time in British Burma.",
    },
]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def say(world, *turns, **fields):
    lines = [{"group_id": "g", "role_type": "user", **fields, **t} for t in turns]
    produced = world.memory.produce([json.dumps(line) for line in lines])
    assert (produced.refused, produced.parked) == ((), 0)


def graph(world):
    """The episodic graph as exported: nodes and edges with words for ids, and the whole."""
    whole = json.loads("".join(world.memory.export(episodic=True, group_id="g")))
    turns = {episode["id"]: number for number, episode in enumerate(whole["episodes"])}
    words = {n["id"]: n["mention"] for n in whole["nodes"]}
    nodes = {(turns[n["episode_id"]], n["mention"], n["type"].casefold()) for n in whole["nodes"]}
    edges = {
        (turns[e["episode_id"]], words[e["source"]], e["type"].casefold(), words[e["target"]]) for e in whole["edges"]
    }
    return nodes, edges, whole


def test_the_first_example_comes_out_exactly(world):
    say(world, {"content": "George Orwell is a British author"}, {"content": "He is also known as Eric Blair"})

    nodes, edges, _ = graph(world)
    assert nodes == {
        (0, "George Orwell", "person"),
        (0, "British author", "profession"),
        (1, "Eric Blair", "person"),
    }
    assert edges == {
        (0, "George Orwell", "is_a", "British author"),
        (1, "George Orwell", "also_known_as", "Eric Blair"),
    }


def test_the_second_example_comes_out_exactly(world):
    """Its JSON shows two edges; the third is stated by the text as plainly: "He also wrote Burmese Days"."""
    say(world, *BOOKS)

    nodes, edges, _ = graph(world)
    assert nodes == {
        (0, "George Orwell", "person"),
        (0, "Animal Farm", "book"),
        (1, "1984", "book"),
        (1, "Burmese Days", "book"),
        (1, "British Burma", "location"),
    }
    assert edges == {
        (1, "George Orwell", "wrote", "Animal Farm"),
        (1, "George Orwell", "wrote", "1984"),
        (1, "George Orwell", "wrote", "Burmese Days"),
    }


def test_what_was_mentioned_or_stated_is_dated_by_its_turn_never_by_the_world(world):
    say(world, *BOOKS)

    _, _, whole = graph(world)
    times = ["2024-01-01T10:00:00Z", "2024-01-01T10:00:15Z"]
    assert [e["validAt"] for e in whole["episodes"]] == times
    assert [n["validAt"] for n in whole["nodes"]] == [times[0]] * 2 + [times[1]] * 3
    assert {e["validAt"] for e in whole["edges"]} == {times[1]}
    created = {part["createdAt"] for kind in ("nodes", "edges", "episodes") for part in whole[kind]}
    assert all(moment.startswith("2024-01-01T00:00:00") for moment in created)  # the clock of this test


def test_one_entity_mentioned_twice_in_a_turn_is_one_mention(world):
    say(world, {"content": "Berlin is big. Ana lives in Berlin."})

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    assert [e.text for e in observed].count("Berlin") == 1


@pytest.mark.parametrize(("between", "repeats"), [(0, True), (3, True), (4, False)])
def test_a_mention_repeats_one_of_the_last_four_messages(world, between, repeats):
    say(
        world,
        {"content": "Ana lives in Berlin."},
        *[{"content": "Hm."}] * between,
        {"content": "Berlin is where Ana lives."},
    )

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    first, *_, last = [e for e in observed if e.text == "Berlin"]
    assert last.repeats == (first.mention_id if repeats else None)


@pytest.mark.parametrize("other", [{"group_id": "h"}, {"source": "text"}, {"timestamp": "2030-01-01T00:00:00Z"}])
def test_context_is_of_the_same_group_and_source_and_was_said_before(world, other):
    first = {"content": "Ana lives in Berlin.", "timestamp": "2024-01-01T00:00:00Z"} | other
    say(world, first, {"content": "Ana lives in Berlin.", "timestamp": "2024-01-02T00:00:00Z"})

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    assert len(observed) == 4
    assert {e.repeats for e in observed} == {None}


def test_the_context_of_a_message_is_of_the_episodes_that_it_names_however_long_ago(world):
    say(world, {"content": "Ana lives in Berlin."}, *[{"content": "Hm."}] * 5)
    say(world, {"content": "Berlin is where Ana lives.", "previous_episode_ids": [episode_id("g", 0)]})

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    first, last = [e for e in observed if e.text == "Berlin"]
    assert last.repeats == first.mention_id


class Episodes:
    """A view of episodes that were said in another order than that of their ids."""

    def episode(self, uuid):
        return SimpleNamespace(uuid=uuid, valid_at={"a": 3, "b": 1, "c": 2}[uuid])


def test_the_episodes_that_a_message_names_are_its_context_in_the_order_in_which_they_were_said():
    naming = SimpleNamespace(previous_episode_ids=("a", "b", "c", "a"))

    assert [turn.uuid for turn in mentions.context("g", naming, 9, Episodes())] == ["b", "c", "a"]


def test_turns_of_the_same_moment_are_context_in_the_order_in_which_they_came(world):
    at = "2024-01-01T00:00:00Z"
    say(
        world,
        {"content": "George Orwell is a writer.", "timestamp": at},
        {"content": "He lives in London.", "timestamp": at},
    )

    assert (1, "George Orwell", "lives_in", "London") in graph(world)[1]


class Fixed:
    """An extractor that finds that Ana lives in Rome, and remembers the answers that it was given."""

    version = "fixed-1"

    def __init__(self, request=None):
        self._request, self.answers = request, []

    def request(self, *_):
        return self._request

    def extract(self, turn, *given):
        self.answers.append(given[2])
        ana, rome = (Mention(turn.episode_id, type_, text, 0) for type_, text in (("Person", "Ana"), ("City", "Rome")))
        home = Relationship(ana, "lives_in", rome, valid_from=1, valid_to=2, planned=True, span=(3, 9))
        role = StatedAttribute(ana, "role", "cook", span=(1, 5))
        goal = ImpliedGoal("to cook", 0.5, span=(2, 7))
        return Extraction((ana, rome), (home,), attributes=(role,), goals=(goal,))


class Answering:
    """Answers of a model; remembers what was asked."""

    def __init__(self, answer="{}"):
        self.asked, self._answer = [], answer

    def reply(self, *given):
        self.asked.append(given[1])
        return ModelReply(self._answer)


REQUEST = ModelRequest("extract", 1, "model", 0.0, "system", "user", "{}")


@pytest.mark.parametrize(
    ("request_", "has_answers", "asked"), [(None, True, []), (REQUEST, False, []), (REQUEST, True, [REQUEST])]
)
def test_answers_are_asked_for_only_if_there_is_a_request_and_something_that_answers(
    world, request_, has_answers, asked
):
    say(world, {"content": "I live in Rome."})
    [recorded] = [r for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]
    extractor, answers, store = Fixed(request_), Answering(), world.memory._session.writer().episodes

    mentions.extract(recorded, extractor, answers if has_answers else None, store, store, "")

    assert answers.asked == asked
    assert extractor.answers == (["{}"] if asked else [None])


def test_an_extraction_again_adds_what_was_not_found_before_and_its_statements_under_ids_of_their_own(world):
    say(world, {"content": "I live in Rome."})
    [recorded] = [r for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]
    store = world.memory._session.writer().episodes

    def found(stated=None):
        return mentions.extract(recorded, Fixed(), None, store, store, "", stated=stated)

    ana, rome, home, role, goal = first = found()
    assert [(said.start, said.end) for said in (home, role, goal)] == [(3, 9), (1, 5), (2, 7)]
    assert (home.valid_from, home.valid_to, home.planned) == (1, 2, True)
    episode = recorded.event.episode_id
    assert (goal.goal_id, goal.episode_id) == (implied_goal_id(episode, 0), episode)
    assert (goal.description, goal.saliency) == ("to cook", 0.5)

    assert [type(event) for event in found(first)] == [type(role)]
    assert found([]) == [ana, rome, *found([ana, rome])]
    assert found([ana, home]) == [rome, *found(first), goal]
    [again, role_again, goal_again] = found([ana, rome])
    assert goal_again == goal
    assert again.model_copy(update={"relationship_id": home.relationship_id}) == home
    assert again.relationship_id != home.relationship_id
    assert role_again.attribute_id != role.attribute_id


@pytest.mark.parametrize("suppressed", [True, False])
def test_an_answer_that_quotes_suppressed_content_is_not_kept(world, suppressed):
    say(world, {"content": "I live in Rome.", "suppress_content": suppressed})
    [recorded] = [r for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]
    store = world.memory._session.writer().episodes
    answers = Answering('{"facts": ["I live in Rome."]}')

    [answered, *_] = mentions.extract(recorded, Fixed(REQUEST), answers, store, store, "", "I live in Rome.")

    assert ("Rome" in answered.model_dump_json()) is not suppressed


class _Noting(Triples):
    """Keeps the turns that it is given to extract from, each with those before it."""

    def __init__(self) -> None:
        self.given = []

    def extract(self, turn, before, known, answer=None):
        self.given.append((turn, before))
        return super().extract(turn, before, known, answer)


@pytest.fixture
def noting(tmp_path):
    history = History(tmp_path)
    history.extractor = _Noting()
    yield history
    history.close()


def test_a_turn_of_a_chat_is_one_that_a_person_sent_over_a_platform(noting):
    for fields in ({"external_id": "7"}, {"external_id": "8", "role_type": "system"}, {}):
        noting.say("2024-01-01", "I want to run a marathon.", **fields)

    assert [turn.chat for turn, _ in noting.extractor.given] == [True, False, False]


def test_earlier_turns_of_a_document_are_documents_and_those_of_a_text_are_none(noting):
    for source in ("json", "text"):
        for city in ("Berlin", "Oslo"):
            noting.say("2024-01-01", json.dumps({"city": city}), source=source)

    found = [[each.is_json for each in (*before, turn)] for turn, before in noting.extractor.given]
    assert found == [[True], [True, True], [False], [False, False]]


def test_the_context_of_an_edit_is_as_long_as_that_of_what_it_edits(noting):
    for number in range(6):
        noting.say(f"2024-01-0{number + 1}", f"Turn {number}.", external_id=str(number))
    noting.say("2024-01-07", "Turn five.", said="2024-01-06", external_id="5", kind="edit")

    was, edited = ([each.text for each in before] for _, before in noting.extractor.given[-2:])
    assert was == edited == ["Turn 1.", "Turn 2.", "Turn 3.", "Turn 4."]


def test_an_episode_has_what_the_platform_says_of_its_message(world):
    said = {"content": "Hi.", "external_id": "7", "reply_to": "6", "author_id": "u1"}
    say(world, said, {**said, "role_type": "assistant", "is_proactive": True, "external_id": "8"})

    found = [r.event for r in records(world.memory, "episodic") if r.event.type == "episode.recorded"]
    assert [(e.external_id, e.reply_to, e.author_id, e.is_proactive) for e in found] == [
        ("7", "6", "u1", False),
        ("8", "6", "u1", True),
    ]
