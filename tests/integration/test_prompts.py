"""The prompts of replies are written and chosen while a bot runs, by any process, and each change is an event."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

import asof
from asof_projections.conversation.store import ConversationStore
from asof_streams.conversation import PromptActivated, PromptRegistered, ReplyGiven
from asof_streams.errors import EmptyMemory, InvalidInput, NotFound
from asof_streams.sqlite_log import SqliteLog
from commands import Asof
from conversing import platform, settings_of
from http_server import Server, serving
from reply_server import replying

MAIN = "MAIN_CONVERSATION"
CHECK_IN = "CHECK_IN"


def test_prompts_are_listed_written_and_chosen_over_http_and_used_with_the_next_message(tmp_path: Path) -> None:
    def talk(server: Server, number: int) -> None:
        told = {"group_id": "g", "kind": "message", "external_id": f"m-{number}", "content": "Hello.", "role": "ana"}
        server.client.post("/v1/conversation/incoming", json=told).raise_for_status()

    def post(path: str, body: dict[str, Any]) -> httpx2.Response:
        return server.client.post(f"/v1/prompts{path}", json=body)

    with replying() as model, serving(tmp_path / "data", ASOF_MODEL_URL=model.url, ASOF_MODEL_NAME="m") as server:
        talk(server, 1)
        written = post("", {"prompt": MAIN, "template": "Arr: {current_message}", "temperature": 0.2}).json()
        talk(server, 2)
        chosen = post("/activate", {"prompt": MAIN, "version": 1}).json()
        talk(server, 3)
        listed = server.client.get("/v1/prompts").json()
        wrong = [
            (answer.status_code, answer.json().get("field"))
            for answer in (
                post("", {"prompt": MAIN, "template": "Arr."}),
                post("", {"prompt": MAIN, "templat": "Arr: {current_message}"}),
                post("/activate", {"prompt": MAIN, "version": 9}),
            )
        ]

    assert ["Arr" in prompt for prompt in model.prompts] == [False, True, False]
    assert listed == chosen
    assert [(one["version"], one["active"]) for one in written["prompts"] if one["prompt"] == MAIN] == [
        (1, False),
        (2, True),
    ]
    assert wrong == [(422, "template"), (422, "templat"), (404, None)]


def test_a_prompt_is_written_without_a_look_at_the_messages_and_a_conversation_follows_them(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="hash") as memory:
        for number in range(3):
            memory.add(f"I have {number} cats.", role="ana", group_id="guild")
        memory.register_prompt(MAIN, "Arr: {current_message}")
        memory.activate_prompt(MAIN, 1)
        assert [one.active for one in memory.register_prompt(MAIN, "Ho: {current_message}") if one.prompt == MAIN] == [
            False,
            False,
            True,
        ]
    with ConversationStore(tmp_path / "conversations.db") as store:
        assert store.followed("messages").position == 0
        assert store.followed("log").position == 3

    async def talk() -> str:
        with replying() as model:
            async with platform(settings_of(tmp_path, model_url=model.url, model_name="m")) as here:
                await here.talk("How many cats do I have?")
            return model.prompts[-1]

    assert asyncio.run(talk()) == "Ho: How many cats do I have?"
    with ConversationStore(tmp_path / "conversations.db") as store:
        assert store.followed("messages").position >= 4


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asof:
    told = Asof(tmp_path / "data", capsys)
    told("add", "I live in Rome.", "--role", "ana")
    return told


def shown(memory: asof.Memory) -> list[tuple[int, bool, float, int]]:
    return [
        (one.version, one.active, one.temperature, one.max_tokens) for one in memory.prompts() if one.prompt == MAIN
    ]


def test_a_change_of_a_prompt_by_another_process_is_used_with_the_next_message(tmp_path: Path) -> None:
    async def main() -> None:
        with replying() as server, asof.open(tmp_path, embedder="hash") as beside:
            async with platform(settings_of(tmp_path, model_url=server.url, model_name="m")) as here:
                await here.talk("Hello.")
                beside.register_prompt(MAIN, "Arr: {current_message}", temperature=0.2)
                await here.talk("Hello.")
                beside.register_prompt(MAIN, "Not yet: {current_message}", active=False)
                await here.talk("Hello.")
                beside.activate_prompt(MAIN, 3)
                await here.talk("Hello.")
                beside.activate_prompt(MAIN, 1)
                await here.talk("Hello.")
            prompts, temperatures = server.prompts, [asked["temperature"] for asked in server.requests]

        assert prompts[1:4] == ["Arr: Hello.", "Arr: Hello.", "Not yet: Hello."]
        assert "You talk with somebody" in prompts[0]
        assert "You talk with somebody" in prompts[4]
        assert temperatures == [0.7, 0.2, 0.2, 0.2, 0.7]

    asyncio.run(main())

    with SqliteLog(tmp_path / "conversation.sqlite") as log:
        events = [record.event for record in log.read()]
    assert [event.prompt_version for event in events if isinstance(event, ReplyGiven)] == [1, 2, 2, 3, 1]
    assert [type(event) for event in events if not isinstance(event, ReplyGiven)].count(PromptRegistered) == 2
    assert [event.prompt_version for event in events if isinstance(event, PromptActivated)] == [3, 1]


def test_the_first_version_of_a_prompt_is_of_asof_itself_and_makes_no_file(told: Asof) -> None:
    with asof.open(told.data) as memory:
        assert shown(memory) == [(1, True, 0.7, 512)]
    assert not list(told.data.glob("conversation*"))


def test_versions_are_numbered_and_one_is_used(told: Asof) -> None:
    with asof.open(told.data) as memory:
        memory.register_prompt(MAIN, "{current_message}!", max_tokens=64)
        memory.register_prompt(MAIN, "{current_message}?", temperature=0.1, active=False)
        assert shown(memory) == [(1, False, 0.7, 512), (2, True, 0.7, 64), (3, False, 0.1, 64)]
        for version, used in ((3, [False, False, True]), (1, [True, False, False])):
            assert [one.active for one in memory.activate_prompt(MAIN, version) if one.prompt == MAIN] == used
    with asof.open(told.data) as memory:
        assert shown(memory) == [(1, True, 0.7, 512), (2, False, 0.7, 64), (3, False, 0.1, 64)]


def test_what_cannot_be_a_prompt_is_refused_by_its_field(told: Asof) -> None:
    with asof.open(told.data) as memory:
        for field, given in (
            ("template", {"template": "Hello."}),
            ("template", {"template": "{current_message} {history}"}),
            ("template", {"template": ""}),
            ("template", {"prompt": CHECK_IN, "template": "{current_message}"}),
            ("prompt", {"prompt": "OTHER"}),
            ("prompt", {"prompt": "main"}),
            ("temperature", {"temperature": 3}),
            ("max_tokens", {"max_tokens": 0}),
        ):
            with pytest.raises(InvalidInput) as refused:
                memory.register_prompt(**{"prompt": MAIN, "template": "{current_message}", **given})
            assert refused.value.field == field
        with pytest.raises(NotFound):
            memory.activate_prompt(MAIN, 2)
        assert shown(memory) == [(1, True, 0.7, 512)]


def test_a_memory_that_is_empty_takes_no_prompts(tmp_path: Path) -> None:
    with asof.open(tmp_path / "data") as memory:
        assert shown(memory) == [(1, True, 0.7, 512)]
        with pytest.raises(EmptyMemory):
            memory.register_prompt(MAIN, "{current_message}")
    assert not (tmp_path / "data").exists()


def test_the_command_lists_writes_and_chooses(told: Asof, tmp_path: Path) -> None:
    file = tmp_path / "pirate.txt"
    file.write_text("You are a pirate.\n{current_message}")

    assert "used" in told("prompts")
    written = told.json("prompts", "register", MAIN, "--template", str(file))
    assert [(one["prompt"], one["active"]) for one in written] == [(CHECK_IN, True), (MAIN, False), (MAIN, True)]
    assert "You are a pirate." in told("prompts")
    told("prompts", "activate", MAIN, "--version", "1")
    assert [one["active"] for one in told.json("prompts")] == [True, True, False]


@pytest.mark.parametrize(
    "given",
    [
        ("register", MAIN),
        ("register",),
        ("activate", MAIN),
        ("activate", MAIN, "--version", "1", "--temperature", "1"),
        ("list", MAIN),
        ("list", "--version", "1"),
        ("register", MAIN, "--template", "nowhere.txt"),
    ],
    ids=" ".join,
)
def test_the_command_refuses_what_does_not_go_together(told: Asof, given: tuple[str, ...]) -> None:
    told("prompts", *given, code=2)
    assert told.out == ""
