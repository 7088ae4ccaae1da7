"""What a rebuild would cost, said before it is begun: calls, tokens and money, against what it then really asks."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime import generations
from commands import Asof
from model_server import ModelServer, serving
from world import World

SAID = [
    "I moved to Berlin in March 2024.",
    "I work at Siemens.",
    "My sister Eva lives in Rome.",
    "ok",
    "I have a dog named Rex.",
    "My colleague Tom speaks French.",
]
OTHER: dict[str, Any] = {"input": "episodes", "ontology": "agent_memory_v1"}
PRICES = {"fake": {"input": 2.0, "output": 8.0}}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def told(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    told = World(tmp_path / "data", extractor="model", model_url=server.url, model_name="fake", model_prices=PRICES)
    produced = told.memory.produce(
        [json.dumps({"group_id": "g", "role": "Ana", "role_type": "user", "content": text}) for text in SAID]
    )
    assert not produced.refused
    yield told
    told.memory.close()


def contents(folder: Path) -> dict[str, str]:
    """Every file with its content, but for those that SQLite uses to take turns."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_rebuild_of_the_same_is_said_to_cost_nothing(told: World, server: ModelServer, source: Any) -> None:
    calls = server.calls

    estimate = told.memory.estimate_rebuild(input=source)

    assert (estimate.calls, estimate.prompt_tokens, estimate.completion_tokens, estimate.cost) == (0, 0, 0, 0.0)
    assert sum(one.held for one in estimate.prompts) == (len(SAID) if source == "episodes" else 0)
    assert server.calls == calls


def test_the_calls_about_texts_are_exact_and_tokens_and_money_near(told: World, server: ModelServer) -> None:
    calls, tokens = server.calls, server.prompt_tokens

    estimate = told.memory.estimate_rebuild("other", **OTHER)
    assert server.calls == calls, "nothing is asked"
    told.memory.rebuild("other", **OTHER)

    [extract] = [one for one in estimate.prompts if one.prompt == "extract"]
    [spent] = told.memory.usage(group_id="g")
    assert (extract.calls, extract.held, extract.estimated) == (server.calls - calls, 0, False)
    assert estimate.cost == pytest.approx((2 * estimate.prompt_tokens + 8 * estimate.completion_tokens) / 1e6)
    assert spent.cost == pytest.approx((2 * server.prompt_tokens + 8 * spent.completion_tokens) / 1e6)
    assert estimate.prompt_tokens == pytest.approx(server.prompt_tokens - tokens, rel=0.5), "by rule alone"
    assert told.memory.estimate_rebuild("again", **OTHER).calls == 0


class Interrupted(Exception):
    pass


def interrupt(done: int, _total: int) -> None:
    if done:
        raise Interrupted


def test_what_a_rebuild_that_stopped_has_recorded_costs_nothing_and_tells_how_tokens_are_counted(
    told: World, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generations, "FLUSH_ASKED", 2)
    with pytest.raises(Interrupted):
        told.memory.rebuild("other", progress=interrupt, **OTHER)
    told.restart()  # what was asked ahead and not recorded is lost with the process

    estimate = told.memory.estimate_rebuild("other", **OTHER)
    before = server.calls, server.prompt_tokens
    told.memory.rebuild("other", **OTHER)

    [extract] = [one for one in estimate.prompts if one.prompt == "extract"]
    assert (extract.held, extract.calls) == (2, len(SAID) - 2)
    assert extract.calls == server.calls - before[0]
    assert extract.prompt_tokens == pytest.approx(server.prompt_tokens - before[1], rel=0.05)


def test_the_estimate_writes_nothing_and_needs_no_writer(told: World, tmp_path: Path) -> None:
    data = tmp_path / "data"
    told.memory.close()
    before = contents(data)
    told.restart()

    estimate = told.memory.estimate_rebuild("other", **OTHER)
    told.memory.close()

    assert contents(data) == before
    told.restart()
    with asof.open(data, embedder="none") as writing:
        writing._session.writer()
        assert told.memory.estimate_rebuild("other", **OTHER).calls == estimate.calls


def test_without_a_model_a_rebuild_asks_nothing_and_takes_some_seconds(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="none") as memory:
        memory.add("I live in Oslo.", role="Ana")

        estimate = memory.estimate_rebuild(input="episodes")

        assert (estimate.calls, estimate.cost, estimate.prompts, estimate.name) == (0, 0.0, (), "build-1")
        assert estimate.seconds > 0
        assert estimate.events > 0
        with pytest.raises(asof.InvalidInput, match="there already"):
            memory.estimate_rebuild("main")


def test_a_model_without_a_price_costs_an_unknown_sum(told: World) -> None:
    told.memory.close()
    told.settings = told.settings.model_copy(update={"model_prices": {"another": PRICES["fake"]}})
    told.restart()

    estimate = told.memory.estimate_rebuild("other", **OTHER)

    assert estimate.calls > 0
    assert estimate.cost is None
    assert all(one.cost is None for one in told.memory.usage(group_id="g"))


def test_the_command_says_it_in_a_table_and_in_json(
    told: World,
    tmp_path: Path,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told.memory.close()
    settings = {"EXTRACTOR": "model", "MODEL_URL": server.url, "MODEL_NAME": "fake", "EMBEDDER": "none"}
    for name, value in (settings | {"MODEL_PRICES": json.dumps(PRICES)}).items():
        monkeypatch.setenv(f"ASOF_{name}", value)
    command, calls = Asof(tmp_path / "data", capsys), server.calls
    asked = ("rebuild", "--dry-run", "--input", "episodes", "--ontology", "agent_memory_v1")

    shown, found = command(*asked), command.json(*asked)

    assert f"{len(SAID)} calls" in shown
    assert found["calls"] == len(SAID)
    assert found["prompts"][0]["cost"] == found["cost"] > 0
    assert server.calls == calls
    assert [info["name"] for info in command.json("generations")["generations"]] == ["main"]
    assert "0 calls" in command("rebuild", "--dry-run")
    told.restart()
