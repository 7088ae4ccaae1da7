"""A conversation: each message is on the log, answered once, and learned from behind the answer."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import asof
from asof.service.conversation import Incoming
from asof_streams.instants import SECOND
from conversing import NOW, Platform, platform, settings_of


def run(
    directory: Path, told: Callable[[Platform], Awaitable[None]], *, patience: float = 0.5, **settings: object
) -> None:
    async def main() -> None:
        async with platform(settings_of(directory, **settings), patience=patience) as here:
            await told(here)

    asyncio.run(main())


def said(directory: Path, group: str = "guild") -> list[str]:
    with asof.open(directory) as memory:
        return [episode.content for episode in memory.episodes(group_id=group)]


def test_a_message_is_answered_from_memory_and_learned_from(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        assert "I have kept this." in await here.talk("I live in Rome.")
        await here.learned()
        assert "Rome" in await here.talk("Where do I live?")

    run(tmp_path, told)

    assert said(tmp_path)[0] == "I live in Rome."
    assert len(said(tmp_path)) == 4


@contextmanager
def stopped_worker(directory: Path) -> Iterator[None]:
    """Have nothing learned from for a while; what was said before has to be."""
    worker = int((directory / "writer.lock").read_text())
    os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker, signal.SIGCONT)


@pytest.mark.parametrize(
    ("said", "asked", "known"),
    [("I live in Rome.", "Where do I live?", "Rome"), ("My goal is to run.", "What is my goal?", "a goal: run")],
)
def test_an_answer_by_template_knows_what_was_said_just_before(
    tmp_path: Path, said: str, asked: str, known: str
) -> None:
    async def told(here: Platform) -> None:
        await here.talk("Hello.")
        await here.learned()
        with stopped_worker(tmp_path):
            await here.say(said)
            asking = asyncio.create_task(here.talk(asked))
            await asyncio.wait([asking], timeout=0.5)
        assert known in await asking

    run(tmp_path, told, patience=60.0)


def test_an_answer_by_template_waits_for_a_moment_alone(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        await here.talk("Hello.")
        await here.learned()
        with stopped_worker(tmp_path):
            await here.talk("I live in Rome.")
            assert "I know nothing" in await here.talk("Where do I live?")

    run(tmp_path, told, patience=0.01)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Where do I live?", []),
        ("Where do I work?", ["marco works at Acme"]),
        ("Where does my sister live?", ["Beth lives in Oslo"]),
        ("Where does my sister work?", []),
        ("Do you know where Priya lives? I forgot.", ["Priya lives in Leeds"]),
        ("I live in Leeds too!", ["marco sibling of Beth", "marco works at Acme"]),
        ("What do you know about me?", ["marco sibling of Beth", "marco works at Acme"]),
        ("Who am I?", ["marco sibling of Beth", "marco works at Acme"]),
        ("Hello, and good morning!", []),
        ("Thanks a lot!", []),
        ("🎉", []),
        (" ", []),
        ("?", []),
    ],
)
def test_who_asks_in_the_first_person_is_told_of_himself(tmp_path: Path, asked: str, told: list[str]) -> None:
    with asof.open(tmp_path, embedder="hash") as memory:
        for subject, relation, object_ in (
            ("Priya", "lives_in", "Leeds"),
            ("Priya", "likes", "jazz"),
            ("marco", "works_at", "Acme"),
            ("marco", "sibling_of", "Beth"),
            ("Beth", "lives_in", "Oslo"),
        ):
            memory.state_fact(subject=subject, relation=relation, object=object_, group_id="guild")
        memory.search("Priya", group_id="guild")  # so that all has its vector: else what is found by words is told

    async def ask(here: Platform) -> None:
        [answer] = await here.say(asked, name="marco")
        lines = [line.removeprefix("- ") for line in answer.text.splitlines()[1:]]
        assert sorted(lines) == told, answer.text

    run(tmp_path, ask)


@pytest.mark.parametrize(
    ("asked", "period", "told"),
    [
        (
            "Where did I live in 2012?",
            "In 2012 (2012-01-01 to 2012-12-31): ",
            [
                "marco lives in Oslo, from 2010-01-01, until 2012-06-01",
                "marco lives in Leeds, from 2012-06-01, until 2020-01-01",
            ],
        ),
        (
            "Where does my sister live in July?",
            "In July (2025-07-01 to 2025-07-31): ",
            ["Beth lives in Bath, from 2025-06-01"],
        ),
        (
            "Where did my sister live in 2012?",
            "In 2012 (2012-01-01 to 2012-12-31): ",
            ["Beth lives in Graz, from 2011-01-01, until 2025-06-01"],
        ),
        ("Where did I work in 2012?", "In 2012 (2012-01-01 to 2012-12-31): ", []),
        ("Where do I live?", "", ["marco lives in Rome"]),
        (
            "Where did I live before?",
            "Until now: ",
            [
                "marco lives in Oslo, from 2010-01-01, until 2012-06-01",
                "marco lives in Leeds, from 2012-06-01, until 2020-01-01",
                "marco lives in Rome, from 2020-01-01",
            ],
        ),
        ("Where did I study?", "Until now: ", ["marco studies at MIT, until 2009-01-01"]),
    ],
)
def test_who_asks_about_a_time_is_told_what_was_true_then(
    tmp_path: Path, asked: str, period: str, told: list[str]
) -> None:
    with asof.open(tmp_path, embedder="hash") as memory:
        for subject, relation, object_, *days in (
            ("marco", "lives_in", "Oslo", "2010-01-01", "2012-06-01"),
            ("marco", "lives_in", "Leeds", "2012-06-01", "2020-01-01"),
            ("marco", "lives_in", "Rome", "2020-01-01"),
            ("marco", "works_at", "Acme", "2013-01-01"),
            ("marco", "sibling_of", "Beth", "1990-01-01"),
            ("Beth", "lives_in", "Graz", "2011-01-01", "2025-06-01"),
            ("Beth", "lives_in", "Bath", "2025-06-01"),
        ):
            dates = dict(zip(("valid_at", "invalid_at"), (f"{day}T00:00:00Z" for day in days), strict=False))
            memory.state_fact(subject=subject, relation=relation, object=object_, group_id="guild", **dates)
        memory.add("I used to study at MIT.", role="marco", timestamp="2009-01-01", group_id="guild")

    said = "This is what I remember." if told else "I know nothing about this yet."

    async def main(here: Platform) -> None:
        [answer] = await here.say(asked, name="marco")
        opening, *facts = answer.text.split("\n- ")
        assert opening.removesuffix(" (No language model is set.)").casefold() == (period + said).casefold()
        assert facts == told

    run(tmp_path, main)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("When is my dentist appointment?", "alice attended dentist appointment (planned), on 2025-02-03"),
        ("Do I have a dentist appointment?", "alice attended dentist appointment (planned), on 2025-02-03"),
        ("When did I visit Porto?", "alice visited Porto, on 2025-01-02"),
        ("When did I visit Turin?", "alice visited Turin, in 2019"),
        ("When did I visit Genoa?", "alice visited Genoa, in 2018-06"),
        ("How long have I lived in Rome?", "alice lives in Rome, from 2020-05-01"),
        ("Do I live in Rome?", "alice lives in Rome"),
    ],
)
def test_what_is_planned_or_was_done_is_told_with_its_day_and_who_asks_when_is_told_when(
    tmp_path: Path, asked: str, told: str
) -> None:
    async def ask(here: Platform) -> None:
        await here.say("I have a dentist appointment on 3 February")
        await here.say("I visited Porto on 2 January.")
        await here.say("I visited Turin in 2019. I visited Genoa in June 2018.")
        await here.say("I moved to Rome in May 2020.")
        await here.learned()
        [answer] = await here.say(asked)
        assert f"\n- {told}\n" in f"{answer.text}\n"

    run(tmp_path, ask)


def test_what_the_bot_says_is_a_turn_that_nothing_is_learned_from(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        for words in ("I live in Rome.", "Where do I live?", "I moved to Oslo."):
            await here.talk(words)
            await here.learned()
        rival = here.incoming("Tom lives in Rome.", author="9", name="helper")
        await here.conversation.take(replace(rival, is_bot=True))
        await here.learned()

    run(tmp_path, told)

    with asof.open(tmp_path) as memory:
        turns = [episode.content for episode in memory.episodes(group_id="guild")]
        homes = [fact.object for fact in memory.facts(group_id="guild", relation="lives_in", any_time=True)]
    assert any("alice lives in Rome" in words for words in turns)
    assert "Tom lives in Rome." in turns
    assert homes == ["Rome", "Oslo"]


def test_a_message_that_comes_twice_is_answered_once(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        message = here.incoming("I live in Rome.")
        assert len(await here.conversation.take(message)) == 1
        assert await here.conversation.take(message) == []
        await here.learned()

    run(tmp_path, told)

    assert said(tmp_path) == ["I live in Rome."]


def test_an_answer_that_is_sent_twice_is_one_turn(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        [answer] = await here.say("I live in Rome.")
        await here.conversation.sent(answer, "b1", NOW + 60 * SECOND)
        await here.conversation.sent(answer, "b1", NOW + 60 * SECOND)
        await here.learned()

    run(tmp_path, told)

    assert len(said(tmp_path)) == 2


def test_what_a_bot_says_is_answered_by_none(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        other = Incoming("message", "guild", "x1", "7", "other bot", "I live in Oslo.", NOW, is_bot=True)
        assert await here.conversation.take(other) == []

    run(tmp_path, told)


def test_feedback_gets_a_salute_and_is_no_turn(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        [answer] = await here.say("I live in Rome.")
        bot = await here.send(answer)
        [salute] = await here.say("Shorter, please.", to=bot)
        assert (salute.action, salute.text, salute.to) == ("react", "🫡", f"m{here.number}")
        await here.learned()

    run(tmp_path, told)

    assert "Shorter, please." not in said(tmp_path)


def test_a_goal_is_noted_and_neither_it_nor_its_answer_is_a_turn(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        [noted] = await here.say("My goal is to become a machine learning engineer")
        assert (noted.action, noted.text) == ("reply", "Noted 🌟")
        await here.send(noted)
        await here.learned()

    run(tmp_path, told)

    assert said(tmp_path) == []


def test_feedback_is_undone_by_its_author_alone_and_once(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        [answer] = await here.say("I live in Rome.")
        bot = await here.send(answer)
        await here.say("Shorter, please.", to=bot)
        feedback = f"m{here.number}"
        assert await here.react("🗑️", feedback, author="222") == []
        assert await here.react("🎉", feedback) == []
        undone = await here.react("🗑️", feedback)
        assert [(o.action, o.text, o.to) for o in undone] == [("unreact", "🫡", feedback), ("unreact", "🗑️", feedback)]
        assert await here.react("🗑️", feedback) == []

    run(tmp_path, told)


def test_who_asks_for_his_goals_is_told_his_own_and_of_others_by_whose_they_are(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        for name, goal in (("alice", "run a marathon"), ("Bob", "write a book"), ("alice", "write a book")):
            await here.say(f"My goal is to {goal}", name=name, author=name)
        await here.say("My goal is to learn the piano", name="Bob", author="Bob")
        await here.learned()

        async def answer(asked: str, name: str) -> list[str]:
            [answer] = await here.say(asked, name=name, author=name)
            return sorted(answer.text.split("\n- ")[1:])

        both = ["a goal: run a marathon", "a goal: write a book"]
        assert await answer("What are my goals?", "Alice") == both
        assert await answer("What do you know about me?", "alice") == both
        assert await answer("What is my goal?", "Bob") == ["a goal: learn the piano", "a goal: write a book"]
        assert await answer("What is my goal?", "Cy") == []
        assert await answer("Tell me who wants to learn the piano.", "alice") == ["a goal of Bob: learn the piano"]

    run(tmp_path, told)


def test_who_gives_no_name_is_told_the_goals_of_whoever_gives_none(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        await here.say("My goal is to run a marathon", name="", author="1")
        await here.say("My goal is to write a book", name="Bob", author="2")
        await here.learned()

        async def answer(asked: str, name: str) -> list[str]:
            [answer] = await here.say(asked, name=name)
            return answer.text.split("\n- ")[1:]

        assert await answer("What is my goal?", "") == ["a goal: run a marathon"]
        assert await answer("What is my goal?", "Bob") == ["a goal: write a book"]
        assert await answer("What is my goal?", "Ana") == []

    run(tmp_path, told)


def test_small_talk_is_answered_as_such_and_is_a_turn(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        await here.say("I live in Rome.")
        await here.learned()
        [answer] = await here.say("Hey, how are you?")
        assert "I am well" in answer.text
        assert "Rome" not in answer.text
        await here.learned()

    run(tmp_path, told)
    assert said(tmp_path) == ["I live in Rome.", "Hey, how are you?"]


def test_own_goals_are_found_behind_a_hundred_of_others(tmp_path: Path) -> None:
    said = {"group_id": "guild", "kind": "message", "role_type": "user"}
    names = [*["Bob"] * 110, *["alice"] * 12]
    goals = [
        {**said, "role": name, "external_id": f"g{number}", "content": f"My goal is to build {number} boats"}
        for number, name in enumerate(names)
    ]
    with asof.open(tmp_path, embedder="hash") as memory:
        assert memory.produce(map(json.dumps, goals)).refused == ()

    async def ask(here: Platform) -> None:
        [answer] = await here.say("What are my goals?", name="Alice")
        assert answer.text.split("\n- ")[1:] == [f"a goal: build {number} boats" for number in range(110, 120)]

    run(tmp_path, ask)


def test_who_asks_what_is_known_of_him_is_told_all_of_it(tmp_path: Path) -> None:
    liked = [f"tune {number}" for number in range(12)]
    with asof.open(tmp_path, embedder="hash") as memory:
        memory.import_facts(
            {"subject": "marco", "relation": "likes", "object": one, "group_id": "guild"} for one in liked
        )

    async def ask(here: Platform) -> None:
        [answer] = await here.say("What do you know about me?", name="marco")
        assert answer.text.split("\n- ")[1:] == [f"marco likes {one}" for one in liked]

    run(tmp_path, ask)


def test_what_was_said_before_the_first_conversation_is_answered_to_nobody(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="hash") as memory:
        memory.add("I live in Rome.", group_id="guild", role="alice")

    async def told(here: Platform) -> None:
        assert await here.conversation.resume() == []
        assert "Rome" in await here.talk("Where do I live?")

    run(tmp_path, told)
    run(tmp_path, told)


def test_a_memory_without_a_conversation_has_no_file_of_one(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="hash") as memory:
        memory.add("I live in Rome.", role="alice")

    assert not list(tmp_path.glob("conversation*"))


def test_an_erased_group_is_in_no_file_of_the_conversation(tmp_path: Path) -> None:
    async def told(here: Platform) -> None:
        await here.talk("I live in Canaryville.")
        await here.learned()
        assert "Canaryville" in await here.talk("Where do I live?")
        receipt = await here.conversation.forget("guild")
        assert receipt.erased
        assert await here.conversation.known("guild") == ()

    run(tmp_path, told)

    assert [p.name for p in tmp_path.rglob("*") if p.is_file() and b"Canaryville" in p.read_bytes()] == []
