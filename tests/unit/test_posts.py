"""Messages of a chat: turns, feedback and goals, and what edits, deletions and reactions make of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import records
from asof_streams.instants import DAY
from asof_streams.messages import Message, RedactionRequest, RetryRequest, WithdrawalRequest
from asof_streams.semantic import FactRetracted
from world import World, on

TOLD = on("2024-03-01")


class Chat:
    """A group's chat, a message a day; ids are those of its platform."""

    def __init__(self, path: Path) -> None:
        self.world = World(path)
        self.world.now = TOLD

    def send(self, content: str, kind: str | None = "message", group: str = "g", **fields: Any) -> int:
        """Send a message; return its position."""
        self.world.now += DAY
        said = {"group_id": group, "role_type": "user", "role": "Ana", "timestamp": self.world.now, **fields}
        self.world.send(Message(content=content, kind=kind, **said))
        return self.world.memory._session.writer().messages.end() - 1

    def bot(self, content: str, external_id: str) -> None:
        self.send(content, role_type="assistant", role="", external_id=external_id)

    def edit(self, external_id: str, content: str, **fields: Any) -> int:
        return self.send(content, "edit", external_id=external_id, **fields)

    def delete(self, external_id: str, **fields: Any) -> int:
        return self.send("", "deletion", external_id=external_id, **{"role": "", **fields})

    def undo(self, external_id: str, **fields: Any) -> int:
        return self.send("🗑️", "reaction", reply_to=external_id, **fields)

    def facts(self, known: int | None = None) -> list[str]:
        memory = self.world.memory
        return sorted(fact.fact for fact in memory.facts(group_id="g", valid_at=on("2025-01-01"), known_at=known))

    def turns(self) -> list[str]:
        return [episode.content for episode in self.world.memory.episodes(group_id="g")]

    def events(self, log: str = "episodic") -> list[str]:
        return [event.type for event in self.world.memory.events(log)]

    def parked(self) -> list[str]:
        return [message["reason"] for message in self.world.memory.stats()["parked_messages"]]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    chat = Chat(tmp_path / "data")
    yield chat
    chat.world.memory.close()


def test_an_edit_retracts_what_only_the_old_text_said_from_then_on(chat: Chat) -> None:
    chat.send("I live in Paris. I like tea.", external_id="1")
    before = chat.world.now
    chat.edit("1", "I live in Rome. I like tea.")

    assert chat.facts() == ["Ana likes tea", "Ana lives in Rome"]
    assert chat.facts(before) == ["Ana likes tea", "Ana lives in Paris"]
    assert chat.turns() == ["I live in Rome. I like tea."]


def test_an_edit_stands_at_the_time_of_what_it_edits(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    said = chat.world.now
    chat.send("I like tea.", external_id="2")
    chat.edit("1", "I live in Rome.")

    [rome] = [fact for fact in chat.world.memory.facts(group_id="g") if fact.relation == "lives_in"]
    assert rome.valid_at is not None
    assert rome.valid_at.timestamp() * 1_000_000 == said
    first, second = chat.world.memory.episodes(group_id="g")
    assert [second.content, second.valid_at] == ["I live in Rome.", rome.valid_at]
    assert first.content == "I like tea."


def test_what_an_edit_takes_back_and_what_its_words_deny_are_two_retractions(chat: Chat) -> None:
    chat.send("I live in Rome.", external_id="1")
    chat.send("I like tea.", external_id="2")
    chat.edit("2", "I never lived in Rome.")

    retracted = [r.event for r in records(chat.world.memory) if isinstance(r.event, FactRetracted)]
    assert len({event.retraction_id for event in retracted}) == len(retracted) == 2
    assert chat.facts() == []


def test_an_edit_of_an_edit_leaves_the_last_text_alone(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.edit("1", "I live in Rome.")
    chat.edit("1", "I live in Oslo.")
    chat.edit("1", "I live in Lima.")

    assert chat.facts() == ["Ana lives in Lima"]
    assert chat.turns() == ["I live in Lima."]


def test_of_two_edits_of_one_time_the_one_that_is_told_last_stands(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    for place in ("Rome", "Oslo"):
        chat.edit("1", f"I live in {place}.", timestamp=TOLD + 9 * DAY)

    assert chat.facts() == ["Ana lives in Oslo"]


def test_an_edit_back_to_the_first_text_says_again_what_it_said(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.edit("1", "I live in Rome.")
    chat.edit("1", "I live in Paris.")

    assert chat.facts() == ["Ana lives in Paris"]


def test_a_fact_that_another_message_states_as_well_outlives_the_edit(chat: Chat) -> None:
    chat.send("I like tea.", external_id="1")
    chat.send("I like tea.", external_id="2")
    chat.edit("1", "I like jazz.")

    assert chat.facts() == ["Ana likes jazz", "Ana likes tea"]
    chat.edit("2", "I like chess.")
    assert chat.facts() == ["Ana likes chess", "Ana likes jazz"]


def test_what_comes_twice_adds_nothing(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.edit("1", "I live in Rome.")
    events, beliefs = chat.events(), chat.events("semantic")

    chat.send("I live in Paris.", external_id="1")
    chat.send("I live in Lima.", external_id="1")  # only an edit changes it
    chat.send("I live in Lima.", kind=None, external_id="1")
    chat.edit("1", "I live in Rome.")
    chat.edit("1", "I live in Oslo.", timestamp=TOLD)  # made before the last edit, told late

    assert (chat.events(), chat.events("semantic")) == (events, beliefs)


def test_a_deleted_message_stays_deleted(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.delete("1")
    events = chat.events()
    chat.delete("1")
    chat.edit("1", "I live in Rome.")
    chat.send("I live in Paris.", external_id="1")

    assert (chat.facts(), chat.turns(), chat.parked()) == ([], [], [])
    assert chat.events() == events


@pytest.mark.parametrize("group", ["g", "other"])
def test_what_names_an_id_that_the_group_has_not_is_parked(chat: Chat, group: str) -> None:
    chat.send("I live in Paris.", external_id="1")
    unknown = "1" if group == "other" else "2"
    chat.edit(unknown, "SECRET", group=group)
    chat.delete(unknown, group=group)
    chat.undo(unknown, group=group)

    first, second, third = chat.parked()
    assert first == second == "external_id: no message of this group has it; send that message, then retry this one"
    assert third == "reply_to: no message of this group has it; send that message, then retry this one"
    assert chat.facts() == ["Ana lives in Paris"]


def test_a_retry_applies_an_edit_or_a_deletion_that_came_before_its_message(chat: Chat) -> None:
    edit, deletion = chat.edit("1", "I live in Rome."), chat.delete("2")
    chat.send("I live in Paris.", external_id="1")
    chat.send("I like tea.", external_id="2")
    assert chat.facts() == ["Ana likes tea", "Ana lives in Paris"]

    chat.world.send(RetryRequest(group_id="g", position=edit), RetryRequest(group_id="g", position=deletion))

    assert chat.facts() == ["Ana lives in Rome"]
    assert chat.parked() == []
    chat.edit("1", "I live in Oslo.")
    assert chat.facts() == ["Ana lives in Oslo"]


def test_an_edit_to_nothing_says_nothing_and_can_be_edited_again(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.edit("1", "")
    assert (chat.facts(), chat.turns()) == ([], [""])

    chat.edit("1", "I live in Rome.")
    assert chat.facts() == ["Ana lives in Rome"]


def test_feedback_is_no_turn_and_says_nothing(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("I live in Paris.", external_id="2", reply_to="1")
    chat.send("I live in Rome.", kind="feedback", external_id="3")
    chat.send("I live in Oslo.", external_id="4", reply_to="2")  # of feedback, which is no message of the bot
    chat.send("I like tea.", external_id="5", reply_to="unknown")

    assert chat.turns() == ["Hello.", "I live in Oslo.", "I like tea."]
    assert chat.facts() == ["Ana likes tea", "Ana lives in Oslo"]
    assert chat.events().count("feedback.received") == 2


def test_feedback_is_undone_by_its_author_alone(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("Too short.", external_id="2", reply_to="1", author_id="111")
    chat.undo("2", author_id="222")
    chat.undo("2", author_id="222", role="Ben")
    assert "feedback.withdrawn" not in chat.events()

    chat.undo("2", author_id="111", role="Ana B.")
    chat.undo("2", author_id="111")
    chat.edit("2", "Too long.")
    assert chat.events().count("feedback.withdrawn") == 1
    assert chat.events().count("feedback.received") == 1


def test_without_ids_of_people_their_names_say_whose_feedback_it_is(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("Too short.", external_id="2", reply_to="1")
    chat.undo("2", role="Ben")
    chat.undo("2", role="Ben", author_id="111")  # one id alone says nothing
    assert "feedback.withdrawn" not in chat.events()

    chat.undo("2", role="Ana", author_id="111")
    assert "feedback.withdrawn" in chat.events()


def test_a_reaction_changes_no_turn(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    events = chat.events()
    chat.undo("1")
    chat.send("👍", "reaction", reply_to="1")
    chat.send("👍", "reaction", reply_to="unknown")

    assert (chat.events(), chat.facts()) == (events, ["Ana lives in Paris"])


def test_edited_feedback_is_received_anew_and_deleted_feedback_is_gone(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("Too short.", external_id="2", reply_to="1")
    chat.edit("2", "I live in Rome.")
    assert chat.events()[-2:] == ["feedback.withdrawn", "feedback.received"]
    assert (chat.turns(), chat.facts()) == (["Hello."], [])

    chat.delete("2")
    assert chat.events()[-1] == "feedback.withdrawn"


def test_a_goal_becomes_a_turn_by_an_edit_and_a_turn_a_goal(chat: Chat) -> None:
    chat.send("My goal is to run a marathon", external_id="1")
    assert (chat.turns(), chat.events("semantic")[-1]) == ([], "objective.raised")

    chat.edit("1", "I live in Rome.")
    assert (chat.turns(), chat.facts()) == (["I live in Rome."], ["Ana lives in Rome"])
    assert "objective.withdrawn" in chat.events("semantic")

    chat.edit("1", "My goal is to swim")
    assert (chat.turns(), chat.facts()) == ([], [])
    assert chat.events("semantic")[-1] == "objective.raised"


def test_content_is_suppressed_in_every_text_of_a_message_or_the_edit_is_parked(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1", suppress_content=True)
    chat.edit("1", "I live in Rome.")
    assert chat.parked() == [
        "suppress_content: the content of the message that it edits is suppressed; send the edit with this set, too"
    ]
    chat.edit("1", "I live in Oslo.", suppress_content=True)
    events = chat.events()
    chat.edit("1", "I live in Oslo.", suppress_content=True, timestamp=chat.world.now)

    assert chat.facts() == ["Ana lives in Oslo"]
    assert chat.events()[len(events) :] == []
    assert chat.turns() == [""]


def test_a_turn_withdrawn_by_its_episode_is_edited_no_more(chat: Chat) -> None:
    chat.send("I live in Paris.", external_id="1")
    [episode] = chat.world.memory.episodes(group_id="g")
    chat.world.send(WithdrawalRequest(group_id="g", episode_id=episode.uuid))
    chat.edit("1", "I live in Rome.")

    assert (chat.facts(), chat.turns()) == ([], [])


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_rebuild_believes_the_same(chat: Chat, source: str) -> None:
    chat.bot("Hello.", "0")
    chat.send("I live in Paris. I like tea.", external_id="1")
    chat.send("I like tea.", external_id="2")
    chat.edit("1", "I live in Rome.")
    chat.send("My goal is to run", external_id="3")
    chat.send("my priority is  RUN.", external_id="4")
    chat.send("Nice.", external_id="5", reply_to="0")
    chat.edit("5", "Not nice.")
    chat.delete("3")
    chat.edit("4", "I like chess.")
    chat.undo("5")
    memory = chat.world.memory
    beliefs, digest = chat.facts(), chat.world.digest()

    memory.rebuild("again", input=source)
    if source == "mentions":
        assert memory.digest(generation="again") == digest
    memory.switch("again")
    assert chat.facts() == beliefs == ["Ana likes chess", "Ana likes tea", "Ana lives in Rome"]


@pytest.mark.parametrize("erased", [[0], [0, 1], [1], [0, 1, 2]])
def test_a_redaction_leaves_what_the_other_messages_of_a_post_say(chat: Chat, erased: list[int]) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.edit("1", "I live in Rome.")
    chat.edit("1", "I live in Oslo.")
    chat.world.send(RedactionRequest(group_id="g", positions=tuple(erased)))

    assert chat.facts() == ([] if 2 in erased else ["Ana lives in Oslo"])
    assert chat.turns() == ([] if 2 in erased else ["I live in Oslo."])
    assert chat.parked() == []


def test_a_redaction_leaves_the_withdrawals_of_what_is_left_and_no_others(chat: Chat) -> None:
    chat.bot("Hello.", "0")
    paris = chat.send("I live in Paris.", external_id="1")
    chat.send("I like tea.", external_id="2")
    chat.send("Too short.", external_id="3", reply_to="0")
    for withdrawn in ("1", "2", "3"):
        chat.delete(withdrawn)
    chat.world.send(RedactionRequest(group_id="g", positions=(paris,)))

    assert (chat.turns(), chat.facts(), chat.parked()) == (["Hello."], [], [])
    assert [name for name in chat.events() if name.endswith("withdrawn")] == ["episode.withdrawn", "feedback.withdrawn"]


@pytest.mark.parametrize("erased", [0, 1])
def test_what_a_retry_made_of_a_message_goes_with_it_alone(chat: Chat, erased: int) -> None:
    chat.edit("1", "I live in Rome.")
    chat.send("Hello.", external_id="2")
    chat.send("I live in Paris.", external_id="1")
    chat.world.send(RetryRequest(group_id="g", position=0))
    assert chat.facts() == ["Ana lives in Rome"]
    chat.world.send(RedactionRequest(group_id="g", positions=(erased,)))

    assert chat.facts() == ["Ana lives in Rome" if erased else "Ana lives in Paris"]
    assert chat.parked() == []


def test_objectives_are_what_goals_declare_the_most_salient_first(chat: Chat) -> None:
    chat.send("I want to focus on running", external_id="1")
    chat.send("My goal is to swim", external_id="2")
    before = chat.world.now
    chat.send("my priority is  Running!", external_id="3")
    memory = chat.world.memory

    swim, run = memory.objectives(group_id="g")
    assert [(o.description, o.saliency, o.status, len(o.goals)) for o in (swim, run)] == [
        ("swim", 1.0, "pending", 1),
        ("running", 0.9, "pending", 2),
    ]
    assert [o.saliency for o in memory.objectives(group_id="g", known_at=before)] == [1.0, 0.8]
    assert memory.objectives(group_id="g", limit=1) == [swim]
    assert memory.objectives(group_id="other") == []
    assert [o.description for o in memory.objectives(all_groups=True)] == ["swim", "running"]


def test_an_objective_keeps_the_saliency_of_the_goals_that_stand_until_none_does(chat: Chat) -> None:
    chat.send("I want to focus on running", external_id="1")
    chat.send("My goal is running", external_id="2")
    memory = chat.world.memory
    first, second = memory.objectives(group_id="g")[0].goals

    chat.undo("2")
    [left] = memory.objectives(group_id="g")
    assert (left.saliency, left.goals) == (0.8, (first,))
    at = chat.world.now
    chat.delete("1")
    assert memory.objectives(group_id="g") == []
    assert [o.goals for o in memory.objectives(group_id="g", known_at=at)] == [(first,)]
    assert [o.goals for o in memory.objectives(group_id="g", known_at=at - DAY)] == [(first, second)]
    chat.send("My goal is running", external_id="3")
    assert [o.saliency for o in memory.objectives(group_id="g")] == [1.0]


def test_feedback_is_listed_as_it_came_with_what_it_is_about(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("Too short.", external_id="2", reply_to="1", author_id="111")
    chat.send("Fine.", kind="feedback")
    chat.undo("2", author_id="111")
    memory = chat.world.memory
    [turn] = memory.episodes(group_id="g")

    short, fine = memory.feedback(group_id="g", withdrawn=True)
    assert (short.content, short.reply_to, short.episode_id, short.author_id) == ("Too short.", "1", turn.uuid, "111")
    assert (fine.content, fine.reply_to, fine.episode_id) == ("Fine.", None, None)
    assert short.withdrawn_at is not None
    assert fine.withdrawn_at is None
    assert memory.feedback(group_id="g") == [fine]
    [then] = memory.feedback(group_id="g", known_at=short.recorded_at)
    assert (then.uuid, then.withdrawn_at) == (short.uuid, None)
    assert memory.feedback(group_id="other") == []


def test_an_erased_group_leaves_nothing_of_its_chat(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("Too short.", external_id="2", reply_to="1")
    chat.send("My goal is to swim", external_id="3")
    memory = chat.world.memory
    memory.erase("g")

    assert (memory.feedback(group_id="g", withdrawn=True), memory.objectives(group_id="g")) == ([], [])
    chat.send("I live in Oslo.", external_id="2")
    assert chat.facts() == ["Ana lives in Oslo"]


def test_adding_tells_the_episode_of_a_turn_alone(chat: Chat) -> None:
    add, fields = chat.world.memory.add, {"group_id": "g", "role": "Ana", "kind": "message"}
    turn = add("I live in Paris.", external_id="1", **fields)
    goal = add("My goal is to swim", external_id="2", **fields)
    again = add("I live in Paris.", external_id="1", **fields)
    edit = add("I live in Rome.", **{**fields, "external_id": "1", "kind": "edit"})

    [episode] = chat.world.memory.episodes(group_id="g")
    assert turn.episode_id is not None
    assert (goal.episode_id, again.episode_id, edit.episode_id) == (None, None, episode.uuid)
    assert goal.effect is not None
    assert goal.effect.understood


@pytest.mark.parametrize("phrase", ["Paris", "Rome", "Oslo"])
def test_an_erasure_by_words_takes_every_text_of_a_message_and_what_is_about_it(chat: Chat, phrase: str) -> None:
    chat.send("I live in Paris.", external_id="1")
    chat.send("I like tea.", external_id="2")
    chat.edit("1", "I live in Rome.")
    chat.edit("1", "I live in Oslo.")
    chat.undo("1")
    chat.send("I like jazz.", external_id="3", reply_to="1")
    memory = chat.world.memory
    memory.erase("g", phrase=phrase)

    assert chat.facts() == ["Ana likes jazz", "Ana likes tea"]
    assert [event.position for event in memory.events("messages") if event.type == "message.sent"] == [1, 5]
    assert chat.parked() == []


def test_an_erasure_by_words_takes_feedback_and_goals(chat: Chat) -> None:
    chat.bot("Hello.", "1")
    chat.send("Quorl is better.", external_id="2", reply_to="1")
    chat.send("My goal is to see Quorl", external_id="3")
    chat.send("My goal is to swim", external_id="4")
    memory = chat.world.memory
    memory.erase("g", phrase="Quorl")

    assert memory.feedback(group_id="g", withdrawn=True) == []
    assert [objective.description for objective in memory.objectives(group_id="g")] == ["swim"]
    digest = memory.digest()
    memory.rebuild("again")
    assert memory.digest(generation="again") == digest


AGAIN = [
    ("I want to learn the piano.", "I want to learn piano.", "Ana wants to learn the piano"),
    ("I like to hike in the mountains.", "I like to hike in mountains.", "Ana likes to hike in the mountains"),
    ("I love working with Python for AI projects", "I love working with Python for the AI projects.", None),
]
OTHERS = [
    ("I like tea.", "I like green tea."),
    ("I love cooking with wine.", "I love cooking without wine."),
    ("I love working on the frontend.", "I love working on the backend."),
    ("I want to learn 2 songs.", "I want to learn 3 songs."),
    ("I want to learn the piano.", "I want to learn the guitar."),
    ("I want to meet Anna.", "I want to meet Maria."),
]


@pytest.mark.parametrize(("first", "again", "fact"), AGAIN, ids=[pair[1] for pair in AGAIN])
def test_what_is_told_again_in_the_same_words_is_one_fact_with_two_sources(
    chat: Chat, first: str, again: str, fact: str | None
) -> None:
    chat.send(first, external_id="1")
    known = chat.facts()
    assert fact is None or known == [fact]
    chat.send(again, external_id="2")
    assert chat.facts() == known
    assert chat.events("semantic").count("fact.asserted") == chat.events("semantic").count("fact.reinforced") == 1
    memory = chat.world.memory
    memory.rebuild("anew")
    assert memory.digest("anew") == memory.digest("main")


@pytest.mark.parametrize(("first", "other"), OTHERS, ids=[pair[1] for pair in OTHERS])
def test_what_is_told_in_other_words_numbers_or_names_is_another_fact(chat: Chat, first: str, other: str) -> None:
    chat.send(first, external_id="1")
    chat.send(other, external_id="2")
    assert "fact.reinforced" not in chat.events("semantic")
    assert chat.events("semantic").count("fact.asserted") >= 2


def test_what_no_chat_tells_is_read_as_ever(chat: Chat) -> None:
    chat.send("I want to learn the piano.", kind=None)
    chat.send("I want to learn piano.", kind=None)
    assert chat.facts() == ["Ana wants to learn piano", "Ana wants to learn the piano"]


@pytest.mark.parametrize("deleted", ["1", "2"])
def test_a_fact_of_two_sources_outlives_the_deletion_of_either(chat: Chat, deleted: str) -> None:
    chat.send("I want to learn the piano.", external_id="1")
    chat.send("I want to learn piano.", external_id="2")
    chat.delete(deleted)
    assert chat.facts() == ["Ana wants to learn the piano"]
    chat.delete({"1": "2", "2": "1"}[deleted])
    assert chat.facts() == []


def test_a_goal_in_the_same_words_is_one_objective(chat: Chat) -> None:
    chat.send("I want to focus on building AI projects.", external_id="1")
    chat.send("My goal is to build the AI projects", external_id="2")
    chat.send("My goal is to build 2 AI projects", external_id="3")
    objectives = chat.world.memory.objectives(group_id="g")
    assert [(one.description, one.saliency, len(one.goals)) for one in objectives] == [
        ("building AI projects", 1.0, 2),
        ("build 2 AI projects", 1.0, 1),
    ]
