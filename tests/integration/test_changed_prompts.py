"""The journal of answers under rebuilds: what did not change is asked of no model, which may be gone."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.runtime import extractors
from asof_ontologies.prompts import Prompt, prompt
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed
from asof_streams.errors import InvalidInput
from model_server import ModelServer, serving
from model_world import events, facts, opened, say
from world import World

SAID = [
    "My colleague George Orwell lives in London.",
    "My colleague George Eliot lives in Leeds.",
    *["hm"] * 4,
    "George works at Acme.",
    "I own a Honda Civic.",
    "The Civic finally died, so I ditched the Honda.",
]
HEADINGS = {"resolve": "Mentions", "end": "Facts"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def told(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    world = opened(tmp_path / "data", server)
    say(world, *SAID)
    yield world
    world.memory.close()


def asked_by(server: ModelServer, calls: int) -> Counter[str]:
    """Return how many of the calls after some were by each prompt."""
    later = server.requests[calls:]
    texts = [request["messages"][1]["content"] for request in later]
    found = Counter(
        next((key for key, word in HEADINGS.items() if f"\n{word}:\n" in text), "extract") for text in texts
    )
    assert found.total() == len(later)
    return found


def change(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Let a prompt have other words, under its next version."""

    def changed(asked: str) -> Prompt:
        found = prompt(asked)
        if asked != key:
            return found
        return found.model_copy(update={"version": found.version + 1, "system": f"{found.system}\nBe exact."})

    monkeypatch.setattr(extractors, "prompt", changed)


@pytest.mark.parametrize("key", ["extract", "resolve", "end"])
def test_a_rebuild_under_one_changed_prompt_asks_its_requests_and_no_other(
    told: World, server: ModelServer, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    first, calls, before = asked_by(server, 0), server.calls, facts(told)
    assert min(first[one] for one in ("extract", "resolve", "end")) > 0
    change(monkeypatch, key)
    told.memory.rebuild("changed", input="episodes")

    assert asked_by(server, calls) == {key: first[key]}
    told.memory.switch("changed")
    assert facts(told) == before
    calls = server.calls
    told.memory.rebuild("again", input="episodes")
    assert server.calls == calls
    assert told.memory.digest("again") == told.memory.digest("changed")


def test_without_the_model_a_replay_and_rebuilds_of_what_did_not_change_come_out_equal(tmp_path: Path) -> None:
    with serving() as server:
        told = opened(tmp_path / "data", server)
        say(told, *SAID)
        before, places = told.memory.digest(), told.memory._session.places
        told.memory.close()
    for store in (places.episodes, places.graph("main")):
        for file in store.parent.glob(store.name + "*"):
            file.unlink()
    told.restart()  # the model is gone

    assert told.memory.digest() == before
    told.memory.rebuild("mentions")
    assert told.memory.digest("mentions") == before
    for name in ("episodes", "again"):
        told.memory.rebuild(name, input="episodes")
    assert told.memory.digest("episodes") == told.memory.digest("again")
    told.memory.switch("again")
    answered, failed = events(told, ExtractionAnswered), events(told, ExtractionFailed)
    assert (len(answered), failed, told.memory._session.writer().usage()) == (server.calls, [], {})
    told.memory.close()


class Interrupted(Exception):
    pass


def interrupt(done: int, _total: int) -> None:
    if done:
        raise Interrupted


def test_a_build_that_was_begun_by_other_prompts_or_without_its_model_is_not_gone_on_with(
    told: World, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(told, *SAID * 4)
    with pytest.raises(Interrupted):
        told.memory.rebuild("build", progress=interrupt)
    change(monkeypatch, "end")

    with pytest.raises(InvalidInput, match=r"was begun with model-1, fake@.*, end-1, norm_v1, belief-5"):
        told.memory.resume_build("build")
    monkeypatch.undo()
    told.memory.resume_build("build")
    assert told.memory.digest("build") == told.memory.digest("main")
    with pytest.raises(Interrupted):
        told.memory.rebuild("build-2", progress=interrupt)
    calls = server.calls
    told.memory.close()
    other = opened(told.path, server, extractor="rules", model_name=None)
    with pytest.raises(InvalidInput, match="was begun with"):
        other.memory.resume_build("build-2")
    other.memory.close()
    assert server.calls == calls


def test_a_generation_says_what_made_it(told: World) -> None:
    [main] = told.memory.generations()

    made: Any = main.made_by
    assert made.extractors == ("model-1",)
    assert made.model.startswith("fake@")
    assert made.prompts == tuple(prompt(key).version_id for key in ("extract", "resolve", "end"))
    assert (made.embedder, made.names, made.belief) == (None, "norm_v1", 5)
