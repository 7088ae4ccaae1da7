"""Messages that the trained reader reads beside the rules: what is recorded, and what needs the weights again."""

import logging
from pathlib import Path

import pytest

from asof.runtime import extractors
from asof_agents.extraction.reader.head import version
from asof_streams.episodic import ExtractionAnswered
from asof_streams.errors import InvalidInput
from model_world import events, facts, say
from world import World

SAID = (
    "I adopted a greyhound from a shelter in Leeds last month and built her a ramp for the porch.",
    "Haha, that is so sweet! I am so happy for you.",
    "My sister fixes antique clocks in a workshop behind our house.",
    "I moved to Berlin in March.",
)
READ = "Ana says that Ana's sister fixes antique clocks in a workshop behind their house"


def opened(path: Path, **settings: object) -> World:
    return World(path, **{"extractor": "rules+reader", **settings})


def told(world: World) -> set[str]:
    """The facts of the days before and after the messages: some tell what happened at an unknown time before them."""
    return facts(world, valid_at="2023-12-31T12:00:00Z") | facts(world, valid_at="2024-01-02T12:00:00Z")


@pytest.fixture
def without_weights(tmp_path: Path) -> Path:
    """A directory for weights that has none."""
    extractors._warn.cache_clear()
    folder = tmp_path / "no weights"
    folder.mkdir()
    return folder


def test_the_reader_finds_what_the_rules_leave_and_nothing_in_praise(tmp_path: Path) -> None:
    alone, both = opened(tmp_path / "alone", extractor="rules"), opened(tmp_path / "both")
    for world in (alone, both):
        say(world, *SAID)

    assert told(alone) < told(both)
    assert READ in told(both) - told(alone)
    assert not any("happy" in fact for fact in told(both))
    alone.memory.close()
    both.memory.close()


def test_each_answer_is_recorded_without_a_word_of_the_message(tmp_path: Path) -> None:
    world = opened(tmp_path / "data")
    say(world, *SAID)

    answers = events(world, ExtractionAnswered, "episodic")
    assert len(answers) == len(SAID)
    assert {(answer.prompt, answer.model.split("/")[0]) for answer in answers} == {("read", version())}
    assert not any("clock" in answer.answer or "greyhound" in answer.answer for answer in answers)
    assert version() in world.memory.generations()[0].extractor
    world.memory.close()


def test_a_rebuild_without_the_weights_believes_the_same(tmp_path: Path, without_weights: Path) -> None:
    world = opened(tmp_path / "data")
    say(world, *SAID)
    before = told(world)
    world.memory.close()

    again = opened(tmp_path / "data", model_dir=without_weights)
    again.memory.rebuild("again")
    again.memory.switch("again")
    assert told(again) == before
    again.memory.close()


def test_a_generation_that_extracts_anew_finds_the_same(tmp_path: Path) -> None:
    world = opened(tmp_path / "data")
    say(world, *SAID)
    before = told(world)
    world.memory.rebuild("again", input="episodes")
    world.memory.switch("again")

    assert told(world) == before
    assert version() in world.memory.generations()[-1].extractor
    world.memory.close()


def test_a_generation_of_the_reader_goes_on_with_nothing_else(tmp_path: Path) -> None:
    world = opened(tmp_path / "data")
    say(world, *SAID)
    world.memory.rebuild("again", input="episodes")
    world.memory.close()

    with pytest.raises(InvalidInput, match="ASOF_EXTRACTOR"):
        opened(tmp_path / "data", extractor="rules").memory.add("I live in Rome.", group_id="g", role="Ana")


def test_without_the_weights_the_rules_read_alone_and_say_so_once(
    tmp_path: Path, without_weights: Path, caplog: pytest.LogCaptureFixture
) -> None:
    alone = opened(tmp_path / "alone", extractor="rules")
    with caplog.at_level(logging.WARNING):
        worlds = [opened(tmp_path / name, model_dir=without_weights) for name in ("first", "second")]
    for world in (alone, *worlds):
        say(world, *SAID)

    assert told(worlds[0]) == told(worlds[1]) == told(alone)
    warnings = [record.message for record in caplog.records if "reader" in record.message]
    assert len(warnings) == 1
    assert "rules read alone" in warnings[0]
    assert worlds[0].memory.generations()[0].extractor == alone.memory.generations()[0].extractor
    for world in (alone, *worlds):
        world.memory.close()


def test_a_message_that_is_suppressed_leaves_no_clause(tmp_path: Path) -> None:
    world = opened(tmp_path / "data")
    say(world, SAID[2], suppress_content=True)

    assert all(answer.answer == "" for answer in events(world, ExtractionAnswered, "episodic"))
    world.memory.close()
