"""The tool `forget` of MCP: a dry run, a confirmation by the user or by what was shown, and a receipt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import types

from api_keys import ADMIN, TEAM_WRITE, WRITE, sent, written
from http_server import Server, serving
from mcp_agent import ERAS, Agent, agent, agent_at, end

FULL = {"ASOF_MCP_PROFILE": "full"}
SAID = ["I live in Berlin since 2019.", "I like tea.", "I work at Acme."]


@pytest.fixture(params=ERAS)
def ana(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Agent]:
    """An agent whose client cannot ask its user."""
    with agent(tmp_path / "data", "--group", "ana", mode=request.param, **FULL) as connected:
        connected.tell(*SAID)
        connected.tell("I like Ana.", speaker="Ben")
        yield connected
    end(tmp_path / "data")


def said(agent: Agent) -> list[str]:
    return [one["content"].partition(": ")[2] for one in agent.ask("list_episodes")["episodes"]]


def shown(answer: dict[str, Any]) -> list[str]:
    return [one["content"] for one in answer["messages"]]


def test_a_dry_run_erases_nothing_and_its_token_erases_just_what_it_showed(ana: Agent) -> None:
    dry = ana.ask("forget", topic="tea")

    assert (dry["state"], dry["count"], shown(dry), dry["receipt"]) == ("dry_run", 1, SAID[1:2], None)
    assert said(ana) == [*SAID, "I like Ana."]
    erased = ana.ask("forget", topic="tea", confirmation=dry["confirmation"])
    assert (erased["state"], erased["count"], erased["messages"], erased["confirmation"]) == ("erased", 1, [], None)
    assert erased["receipt"]["messages"] == [dry["messages"][0]["position"]]
    assert erased["receipt"]["done"] in (True, False)  # another reader may keep a file from being rewritten
    assert all(len(log["head"]) == 64 for log in erased["logs"])
    assert said(ana) == [SAID[0], SAID[2], "I like Ana."]
    assert "tea" not in ana.text("recall", query="What does Ana like?").replace("What does Ana like?", "")
    assert "nothing to forget" in ana.refused("forget", topic="tea", confirmation=dry["confirmation"])


def test_a_token_is_of_nothing_else(ana: Agent) -> None:
    tea = ana.ask("forget", topic="tea")["confirmation"]

    for other in ({"topic": "Acme"}, {"person": "Ana"}, {"everything": True}):
        assert "confirmation: it is not of what would be erased now" in ana.refused("forget", **other, confirmation=tea)
    assert "confirmation: " in ana.refused("forget", topic="tea", confirmation=tea[:-1])
    assert "confirmation: " in ana.refused("forget", topic="tea", confirmation="é")
    ana.tell("I like green tea.")
    assert "it is not of what would be erased now" in ana.refused("forget", topic="tea", confirmation=tea)
    everything = ana.ask("forget", everything=True)["confirmation"]
    ana.tell("Hm.")
    assert "it is not of" in ana.refused("forget", everything=True, confirmation=everything)
    assert len(said(ana)) == 6


def test_what_goes_is_named_by_person_dates_or_everything(ana: Agent) -> None:
    assert shown(ana.ask("forget", person="Ana")) == [*SAID, "I like Ana."]
    assert shown(ana.ask("forget", person="Ana", only_said=True)) == SAID
    assert shown(ana.ask("forget", person="Ana", topic="tea")) == SAID[1:2]
    assert "there is nothing to forget" in ana.refused("forget", to="2001")
    everything = ana.ask("forget", everything=True)
    assert (everything["count"], everything["messages"]) == (None, [])
    assert {log["log"]: log["held"] for log in everything["logs"]}["messages"] == 4
    for wrong in ({}, {"everything": True, "topic": "tea"}, {"only_said": True}):
        assert "everything: say which person" in ana.refused("forget", **wrong)
    assert "to: a period begins" in ana.refused("forget", **{"from": "2024", "to": "2023"})

    ana.ask("forget", everything=True, confirmation=everything["confirmation"])
    assert said(ana) == []


def test_a_long_dry_run_is_shown_by_pages_and_confirmed_as_a_whole(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with agent(data, **FULL) as one:
        for number in range(51):
            told = one.ask("add_memory", episode_body=f"The tea number {number} is good.")
        one.became(told)
        first = one.ask("forget", topic="tea")
        rest = one.ask("forget", topic="tea", cursor=first["next_cursor"])

        assert (first["count"], len(first["messages"]), len(rest["messages"])) == (51, 50, 1)
        assert first["confirmation"] == rest["confirmation"]
        assert one.ask("forget", topic="tea", confirmation=rest["confirmation"])["count"] == 51
    end(data)


class User:
    """Who is asked, and how they answer."""

    def __init__(self, action: Any, content: dict[str, Any] | None = None) -> None:
        self.questions: list[str] = []
        self.answer = types.ElicitResult(action=action, content=content)

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        self.questions.append(params.message)
        return self.answer


@pytest.mark.parametrize("mode", ERAS)
def test_the_user_is_asked_where_the_client_can_and_their_word_holds(tmp_path: Path, mode: str) -> None:
    data, agreeing = tmp_path / "data", User("accept", {"confirmed": True})
    refusing = [User("accept", {"confirmed": False}), User("accept", {}), User("decline"), User("cancel")]
    with agent(data, mode=mode, **FULL) as writer:
        writer.tell(*SAID)
        for user in refusing:
            with agent(data, mode=mode, user=user, **FULL) as one:
                declined = one.ask("forget", topic="tea")
                assert (declined["state"], declined["confirmation"], declined["messages"]) == ("declined", None, [])
        assert said(writer) == SAID
        with agent(data, mode=mode, user=agreeing, **FULL) as one:
            assert one.ask("forget", topic="tea")["state"] == "erased"
        assert said(writer) == [SAID[0], SAID[2]]
    end(data)
    for user in (*refusing, agreeing):
        [question] = user.questions
        assert question.startswith('Erase 1 message of the group "default" for ever')
        assert '"I like tea."' in question


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "data", ASOF_KEYS_FILE=str(written(tmp_path / "keys.toml")), **FULL) as running:
        running.client.headers.update(sent(ADMIN))
        running.say("team-a", "I like tea.")
        yield running


def test_over_http_only_a_key_that_administers_forgets_and_its_token_is_its_own(keyed: Server) -> None:
    for key in (WRITE, TEAM_WRITE):
        with agent_at(f"{keyed.url}/mcp/team-a", **sent(key)) as one:
            assert "forget" not in one.tools
            assert "lacks the permission" in one.refused("forget", topic="tea")
    with agent_at(f"{keyed.url}/mcp/team-a", **sent(ADMIN)) as one, agent_at(f"{keyed.url}/mcp", **sent(ADMIN)) as wide:
        token = one.ask("forget", topic="tea")["confirmation"]
        assert "confirmation: " in wide.refused("forget", topic="tea", group_id="team-a", confirmation=token)
        assert one.ask("forget", topic="tea", confirmation=token)["state"] == "erased"


@pytest.mark.parametrize(("mode", "state"), [("auto", "erased"), ("legacy", "dry_run")])
def test_over_http_the_user_is_asked_where_requests_can_carry_it(keyed: Server, mode: str, state: str) -> None:
    user = User("accept", {"confirmed": True})
    with agent_at(f"{keyed.url}/mcp/team-a", mode, user, **sent(ADMIN)) as one:
        assert one.ask("forget", topic="tea")["state"] == state
    assert len(user.questions) == (state == "erased")
