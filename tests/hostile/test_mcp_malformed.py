"""Malformed calls of every tool of MCP, by a seeded generator: each is answered, and no word of them is in a log.

Some 500 in every run, 10,000 at night; a failure names the seed and the call, which `made` makes again.
"""

import random
from pathlib import Path
from typing import Any, Final

import pytest

from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.tools import TOOLS
from effort import tries
from mcp_agent import agent_here, expect_text, serving_here

SEED: Final = 20_260_101
CANARY: Final = "Canarywood"
NAMES: Final = sorted({tool.name for tools in PROFILES.values() for tool in tools})
SCHEMAS: Final = {name: TOOLS[name].arguments.model_json_schema(by_alias=True) for name in NAMES}
PIECES: Final = (
    *("last", "next", "May", "Monday", "2024", "02-30", "T", "25:61", "Z", "+99:00", "ago", "in", "weeks", "-5", "1e9"),
    *(
        "Ana",
        "lives_in",
        "\u0000",
        "\ud800",
        "\u202e",
        "'",
        '"',
        "\\",
        "</memory>",
        "<memory>",
        "%s",
        "{}",
        "../",
        "\n",
    ),
    *("OR", "NEAR", "*", "(", "^", ":", "-", "fact", "episode", "known", "valid", "Europe/Nowhere", "é", "\U0010ffff"),
)
PLAIN: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, -0.0, 1e308, [], {}, "", " "),
    *([None], [[[[]]]], {"": {"": {}}}, ["x"] * 2_000, "x" * 20_000, [{}], {"op": "end"}, [0], "[]", "null"),
)
RIGHT: Final = {"since": "2020", "before": "2020", "source": "text", "how": "wrong", "statements": [{}]}


def words(chance: random.Random) -> str:
    """Return a text of odd pieces, of which some have the canary."""
    pieces = [chance.choice((*PIECES, CANARY)) for _ in range(chance.randint(1, 6))]
    return chance.choice(("", " ", "_")).join(pieces)


def key(chance: random.Random) -> str:
    """Return a key; half of a character is none that the client would send."""
    return words(chance).replace("\ud800", "?")


def value(chance: random.Random, depth: int = 0) -> Any:
    """Return a value that hardly any argument takes."""
    kind = chance.randrange(6)
    if kind < 2 or depth > 3:
        return words(chance)
    if kind == 2:
        return [value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    if kind == 3:
        return {key(chance): value(chance, depth + 1) for _ in range(chance.randint(0, 3))}
    if kind == 4:
        return chance.randint(-(10**12), 10**12) * chance.choice((1, 0.001))
    return chance.choice(PLAIN)


def made(number: int) -> tuple[str, dict[str, Any]]:
    """Return the call of a number: the tools take turns, so each has its share."""
    chance = random.Random(SEED + number)
    name = NAMES[number % len(NAMES)]
    schema = SCHEMAS[name]
    given = {one: value(chance) for one in schema["properties"] if chance.random() < 0.4}
    if chance.random() < 0.5:  # nearly right: one argument may be wrong
        wrong = chance.choice([("surplus", 1), *given.items()])
        given = {**{one: RIGHT.get(one, "Ana") for one in schema.get("required", [])}, **dict([wrong])}
        given.pop("surplus", None)
    if chance.random() < 0.2:
        given[key(chance)] = value(chance)
    return name, given


def test_the_calls_are_the_same_in_every_run_and_reach_every_tool_and_argument() -> None:
    calls = [made(number) for number in range(2_000)]

    assert repr(calls) == repr([made(number) for number in range(2_000)])
    assert {name for name, _ in calls} == set(NAMES)
    for name in NAMES:
        given = {key for tool, arguments in calls if tool == name for key in arguments}
        assert given >= SCHEMAS[name]["properties"].keys(), name


def test_every_malformed_call_is_answered_and_nothing_of_it_is_logged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answered = {True: 0, False: 0}
    with (
        serving_here(tmp_path / "data", log_level="debug") as served,
        agent_here(served, ClientScope(group="own")) as agent,
    ):
        for number in range(tries(500, nightly=10_000)):
            name, arguments = made(number)
            result = agent.call(name, **arguments)
            text = result.content[0].text
            told = (SEED, number, name, text[:200])
            assert "internal error" not in text, told
            if result.is_error and result.structured_content is None:
                assert text.endswith("."), told
            else:
                expect_text(name, text, result.structured_content)
            answered[result.is_error] += 1
        assert agent.ask("get_status")["status"] == "ok"

    assert min(answered.values()) > 20  # some are well-formed: they have to be, or they would reach nothing
    logged = "".join(capfd.readouterr()) + caplog.text
    assert CANARY not in logged
