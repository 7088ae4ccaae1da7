"""What is believed after any messages, repeats, edits, deletions and reactions is what their last texts say."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asof_streams.instants import DAY
from asof_streams.messages import Message
from world import World, on

IDS = ["1", "2", "3"]
TEXTS = ["", "Hello.", "I like tea.", "I like jazz.", "I like tea. I like jazz.", "I like tea and chess."]
LIKED = {"": set(), "Hello.": set(), TEXTS[2]: {"tea"}, TEXTS[3]: {"jazz"}, TEXTS[4]: {"tea", "jazz"}}
LIKED[TEXTS[5]] = {"tea", "chess"}
CITIES = "Paris Rome Oslo Lima Berlin Madrid Lisbon Vienna Prague Dublin Athens Cairo".split()
START = on("2024-01-01")


class Told(NamedTuple):
    """A message of a chat: which one, of what kind, with which words; `home`: of where its author lives."""

    kind: str
    id: str
    text: str = ""


TOLD = st.one_of(
    st.builds(Told, st.just("message"), st.sampled_from(IDS), st.sampled_from(TEXTS)),
    st.builds(Told, st.just("edit"), st.sampled_from(IDS), st.sampled_from(TEXTS)),
    st.builds(Told, st.just("deletion"), st.sampled_from(IDS)),
    st.builds(Told, st.just("reaction"), st.sampled_from(IDS), st.sampled_from(["🗑️", "👍"])),
)


@st.composite
def chats(draw: st.DrawFn) -> list[Told]:
    """Draw a chat in which some messages come again, at once or later."""
    told = draw(st.lists(TOLD, min_size=1, max_size=12))
    for again in draw(st.lists(st.sampled_from(told), max_size=3)):
        told.insert(draw(st.integers(told.index(again) + 1, len(told))), again)
    return told


def last_texts(chat: list[Told]) -> dict[str, str]:
    """Return the words of each message that stands at the end: the oracle."""
    texts: dict[str, str | None] = {}
    for told in chat:
        if told.kind == "message":
            texts.setdefault(told.id, told.text)
        elif told.kind == "edit" and texts.get(told.id) is not None:
            texts[told.id] = told.text
        elif told.kind == "deletion" and told.id in texts:
            texts[told.id] = None
    return {external_id: text for external_id, text in texts.items() if text is not None}


def home(told: Told) -> str:
    """Return the city that stands in for what a message likes: each message names its own, so none says one again."""
    liked = TEXTS.index(told.text) - 2 if told.text in TEXTS else -1
    return CITIES[4 * IDS.index(told.id) + liked] if liked >= 0 else ""


def tell(world: World, chat: list[Told], words: Callable[[Told], str]) -> None:
    """Tell a chat, a message a day; `words`: returns those of each."""
    for told in chat:
        world.now += DAY
        ids = {"reply_to": told.id} if told.kind == "reaction" else {"external_id": told.id}
        said = {"content": words(told), "kind": told.kind, **ids}
        world.send(Message(group_id="g", role_type="user", role="Ana", **said))


@given(chat=chats())
@settings(max_examples=40, deadline=None)
def test_many_valued_facts_are_those_of_the_last_texts(chat: list[Told]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "data")
        world.now = START
        tell(world, chat, attrgetter("text"))
        texts = last_texts(chat)

        liked = {fact.object for fact in world.memory.facts(group_id="g", valid_at=on("2025-01-01"))}
        assert liked == set[str]().union(*(LIKED[text] for text in texts.values()))
        assert sorted(e.content for e in world.memory.episodes(group_id="g")) == sorted(texts.values())
        digest = world.digest()
        world.memory.rebuild("again")
        assert world.memory.digest(generation="again") == digest
        world.memory.close()


@given(chat=chats())
@settings(max_examples=40, deadline=None)
def test_a_single_valued_fact_is_that_of_the_latest_of_them(chat: list[Told]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "data")
        world.now = START
        tell(world, chat, lambda told: f"I live in {home(told)}." if home(told) else told.text)
        texts, order = last_texts(chat), dict.fromkeys(told.id for told in chat if told.kind == "message")
        lived = [city for id_ in order if id_ in texts and (city := home(Told("", id_, texts[id_])))]

        facts = world.memory.facts(group_id="g", valid_at=on("2025-01-01"))
        assert [fact.object for fact in facts] == lived[-1:]
        world.memory.close()


@pytest.mark.parametrize("text", TEXTS)
def test_the_texts_say_what_the_oracle_takes_from_them(text: str, tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    tell(world, [Told("message", "1", text)], attrgetter("text"))

    assert {fact.object for fact in world.memory.facts(group_id="g")} == LIKED[text]
    world.memory.close()
