"""Coding sessions of thirty turns, told and recalled through the tools of MCP: as of now and as of their middle."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asof.mcp.scope import ClientScope
from coding_sessions import FIRST, SECOND, Asked, Session
from mcp_agent import Agent, agent_here, serving_here

ANYWHERE = ClientScope()
MIDDLE = 15  # turns
CORRECTED = re.compile(r'; it was wrong that "[^"]*"')
RIGHT_OF_SECOND = 20  # of thirty questions, when it was first measured; more is welcome
RULES = [
    "Always run make lint before committing",
    "Never edit the lock file",
    "Don't push directly to main",
    "Run the migrations before the tests",
    "Make sure to update the changelog when you fix a bug",
]
LONG = "Never release without " + ", ".join(f"the check {number} of the list" for number in range(1, 60))


class Told:
    """A session as an agent told it, and what the memory knew in its middle."""

    def __init__(self, agent: Agent, session: Session) -> None:
        self.agent = agent
        self._session = session
        self._tell(session.turns[:MIDDLE])
        self._known_at = agent.ask("get_status")["as_of"]["known_at"]
        self._tell(session.turns[MIDDLE:])

    def _tell(self, turns: tuple[tuple[str, str], ...]) -> None:
        for day, text in turns:
            self.agent.tell(text, speaker="Mia", reference_time=f"{day}T09:00:00Z")

    def recalled(self, asked: Asked, **moments: str) -> str:
        text: str = self.agent.ask("recall", query=asked.query, kinds=["fact"], **moments)["text"]
        return CORRECTED.sub("", text)

    def misses(self, asked: Asked) -> list[str]:
        """Return what is wrong with the facts that are recalled, as of the question's moment.

        What a fact is said to correct is not recalled as so.
        """
        middle = {"valid_at": self._session.middle}
        moments = [middle, {**middle, "known_at": self._known_at}] if asked.in_middle else [{}]
        wrong = list[str]()
        for moment in moments:
            text = self.recalled(asked, **moment)
            wrong += [f"without {words!r}" for words in asked.expected if words not in text]
            wrong += [f"with {words!r}" for words in asked.absent if words in text]
        return wrong


@contextmanager
def telling(session: Session, data: Path) -> Iterator[Told]:
    with (
        serving_here(data, ontology="agent_memory_v1") as served,
        agent_here(served, ClientScope(group="project")) as agent,
    ):
        yield Told(agent, session)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with telling(FIRST, tmp_path_factory.mktemp("first") / "data") as told:
        yield told


@pytest.mark.parametrize("asked", FIRST.asked, ids=lambda asked: f"{asked.query} {asked.in_middle}")
def test_a_session_is_recalled_right_as_of_now_and_as_of_its_middle(first: Told, asked: Asked) -> None:
    assert first.misses(asked) == []


def test_rules_are_recalled_whole_by_scope(first: Told) -> None:
    answer = first.agent.ask("search_memory_facts", query="rules", edge_types=["has_rule"], max_facts=100)

    assert {fact["object"] for fact in answer["facts"]} == {*RULES}
    assert answer["next_cursor"] is None


@pytest.mark.parametrize(
    "query", ["Which rules are there?", "What must I never do?", "What are the rules for editing?"]
)
def test_rules_are_recalled_whole_by_whoever_works_in_their_group(first: Told, query: str) -> None:
    text = first.agent.ask("recall", query=query, kinds=["fact"], group_id="project")["text"]

    for rule in RULES:
        assert f': {rule}"' in text, (query, rule)


def test_a_long_rule_is_recalled_whole_or_counted_as_left_out_and_never_in_another_group(tmp_path: Path) -> None:
    with serving_here(tmp_path / "data", ontology="agent_memory_v1") as served, agent_here(served, ANYWHERE) as agent:
        agent.tell(f"{LONG}.", "Never edit files under migrations.", group_id="project")
        agent.tell("Always run make lint before committing.", group_id="other")

        def recalled(group: str, **asked: int) -> tuple[str, int]:
            answer = agent.ask("recall", query="Which rules are there?", kinds=["fact"], group_id=group, **asked)
            return answer["text"], answer["left_out"]

        whole, left_out = recalled("project")
        short, without = recalled("project", max_tokens=300)
        other, _ = recalled("other")

    assert (f': {LONG}"' in whole, left_out) == (True, 0)
    assert "Never edit files under migrations" in whole
    assert ("Never release" in short, without) == (False, 1)
    assert "Never edit files under migrations" in short
    assert "Always run make lint before committing" in other
    assert "Never" not in other
    assert "make lint" not in whole


def test_a_session_that_the_rules_were_not_written_for_is_recalled_as_well_as_it_was(tmp_path: Path) -> None:
    with telling(SECOND, tmp_path / "data") as told:
        right = [asked.query for asked in SECOND.asked if not told.misses(asked)]

    assert len(right) >= RIGHT_OF_SECOND, right
