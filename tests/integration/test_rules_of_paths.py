"""Rules of work are recalled by the path that a question names: those of it, of folders above it, and of no path."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asof.mcp.scope import ClientScope
from mcp_agent import Agent, agent_here, serving_here

OF_API = "In src/api, always use httpx"
OF_SOURCES = "Under src/ never print"
OF_TESTS = "Under specs/ never sleep"
OF_AREA = "For the frontend, use pnpm"
OF_NONE = "Never push directly to main"
RULES = [OF_API, OF_SOURCES, OF_TESTS, OF_AREA, OF_NONE]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    data = tmp_path_factory.mktemp("rules") / "data"
    with (
        serving_here(data, ontology="agent_memory_v1") as served,
        agent_here(served, ClientScope(group="shop")) as agent,
    ):
        agent.tell(*(f"{rule}." for rule in RULES), "Ben owns the billing service.")
        yield agent


def recalled(agent: Agent, query: str, **asked: object) -> list[str]:
    """Return the rules of a recalled text, in its order."""
    text = agent.ask("recall", query=query, kinds=["fact"], **asked)["text"]
    places = {rule: text.find(f': {rule}"') for rule in RULES}
    return sorted((rule for rule in RULES if places[rule] >= 0), key=places.__getitem__)


@pytest.mark.parametrize("query", ["src/api/users.py", "I am about to edit `src/api/users.py`: add a login"])
def test_the_rules_of_a_path_come_first_then_those_of_folders_above_it_and_of_no_path(agent: Agent, query: str) -> None:
    rules = recalled(agent, query)

    assert rules[:2] == [OF_API, OF_SOURCES]
    assert {*rules[2:]} == {OF_AREA, OF_NONE}


def test_another_path_has_other_rules(agent: Agent) -> None:
    assert recalled(agent, "What applies to specs/users.ts?")[0] == OF_TESTS
    assert {*recalled(agent, "What applies to specs/users.ts?")} == {OF_TESTS, OF_AREA, OF_NONE}


def test_a_question_that_names_no_path_is_answered_by_its_words(agent: Agent) -> None:
    assert {*recalled(agent, "Which rules are there?")} == {*RULES}


def test_a_rule_of_a_path_holds_as_of_the_moment_that_is_asked_about(agent: Agent) -> None:
    assert recalled(agent, "src/api/users.py", valid_at="2001-01-01T00:00:00Z") == []
    assert recalled(agent, "src/api/users.py", known_at="2001-01-01T00:00:00Z") == []


def test_a_least_probability_leaves_out_rules_that_the_words_do_not_find(agent: Agent) -> None:
    assert OF_AREA not in recalled(agent, "src/api/users.py", min_probability=1)


def test_the_rules_of_another_group_are_no_ones_else(tmp_path: Path) -> None:
    with serving_here(tmp_path / "data", ontology="agent_memory_v1") as served:
        with agent_here(served, ClientScope(group="shop")) as told:
            told.tell(f"{OF_API}.")
        with agent_here(served, ClientScope(group="other")) as other:
            other.tell("Ben owns the billing service.")

            assert recalled(other, "src/api/users.py") == []
