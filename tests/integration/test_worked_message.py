"""The worked message: Alice says that she loves Python, and everything ends in the state that the flow describes."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asof
from asof.service.conversation import Incoming
from asof_agents.conversation.archetypes import ARCHETYPES
from asof_agents.conversation.prompts import BUILT_IN
from asof_streams.instants import SECOND, parse
from conversing import Platform, platform, settings_of
from model_server import ModelServer
from openai_server import started

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "query-with-sql.md"
SAID = "I love working with Python for AI projects"
AT = parse("2025-01-15T10:30:00Z")
BEFORE = [
    ("assistant", "What's your experience with programming languages?"),
    ("alice", "I've used JavaScript and Go, but Python is my favorite"),
    ("assistant", "Are you working on any AI projects currently?"),
]
REPLY = "That's great! Building AI projects with Python is incredibly rewarding."
ASKED = f"{REPLY}\n\nNEXT_PROACTIVE_IN_MINUTES: 180"
AIM = "Build AI projects using Python"
READ = {  # by the model: triples as the flow shows them
    "entities": [
        {"id": 1, "text": "Python", "type": "Tool"},
        {"id": 2, "text": "AI projects", "type": "Project"},
        {"id": 3, "text": "working with Python for AI projects", "type": "Deed"},
    ],
    "facts": [
        {"subject": 0, "relation": "uses", "object": 1, "quote": SAID},
        {"subject": 0, "relation": "works_on", "object": 2, "quote": SAID},
        {"subject": 0, "relation": "likes", "object": 3, "quote": SAID},
    ],
    "attributes": [],
    "objectives": [{"description": AIM, "saliency": 0.7, "quote": SAID}],
}


class FlowModel(ModelServer):
    """One model for both: it answers the person, and reads what was said behind the answer."""

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        if "The message to answer:" not in asked["messages"][-1]["content"]:
            return super().answer(asked)
        self.replied.append(asked)
        content = json.dumps({"reply": ASKED, "next_proactive_in_minutes": None})
        return 200, json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})

    def __init__(self) -> None:
        super().__init__()
        self.replied: list[dict[str, Any]] = []
        self.says = lambda text: json.dumps(_read(text))


def _read(text: str) -> dict[str, Any]:
    if text != SAID:
        return {"entities": [], "facts": [], "attributes": [], "objectives": []}
    held = {"stance": "holds", "valid_from": None, "valid_to": None, "time_words": None, "confidence": 0.9}
    return READ | {"facts": [fact | held for fact in READ["facts"]]}


@contextmanager
def tables(directory: Path) -> Iterator[sqlite3.Connection]:
    """Open the views of the page over a directory."""
    sql = re.search(r"^```sql views\.sql\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert sql is not None
    with sqlite3.connect(":memory:", uri=True) as db:
        db.executescript(sql[1].replace("file:asof-data/", f"file:{directory}/"))
        yield db
    db.close()


async def told(here: Platform) -> None:
    for number, (who, text) in enumerate(BEFORE):
        at = AT - (len(BEFORE) - number) * 60 * SECOND
        is_bot = who == "assistant"
        before = Incoming("message", "987654321", f"b{number}", who, who, text, at, is_bot=is_bot)
        for answer in await here.conversation.take(before):
            await here.conversation.sent(answer, f"r{number}", at + SECOND)
    message = Incoming("message", "987654321", "1234567890", "111222333", "alice", SAID, AT)
    [answer] = await here.conversation.take(message)
    assert (answer.action, answer.to) == ("reply", "1234567890")
    assert "NEXT_PROACTIVE" not in answer.text
    assert await here.conversation.sent(answer, "1234567899", AT + SECOND)
    await here.learned()


def test_the_worked_message_ends_in_its_final_state_by_a_model(tmp_path: Path) -> None:
    async def main(server: FlowModel) -> None:
        settings = settings_of(tmp_path, extractor="both", model_url=server.url, model_name="fake", model_key="k")
        async with platform(settings) as here:
            await told(here)

    with started(FlowModel()) as server:
        asyncio.run(main(server))

    shown = server.replied[-1]
    assert (shown["temperature"], shown["max_tokens"]) == (0.7, 512)
    prompt = shown["messages"][-1]["content"]
    assert "What's your experience with programming languages?" in prompt
    assert prompt.index("Are you working on any AI projects currently?") < prompt.index(SAID)
    with tables(tmp_path) as db:
        user, bot = db.execute(
            "SELECT external_id, channel_id, content, is_bot, is_proactive, timestamp FROM raw_messages"
            " WHERE external_id IN ('1234567890', '1234567899')"
        ).fetchall()
        assert user == ("1234567890", "987654321", SAID, 0, 0, "2025-01-15T10:30:00.000Z")
        assert bot == ("1234567899", "987654321", REPLY, 1, 0, "2025-01-15T10:30:01.000Z")
        origin = "SELECT id FROM raw_messages WHERE external_id = '1234567890'"
        facts = db.execute(f"SELECT content FROM stable_facts WHERE origin_id = ({origin})").fetchall()
        triples = db.execute(
            f"SELECT subject, predicate, object FROM semantic_triples WHERE origin_id = ({origin})"
        ).fetchall()
        objectives = db.execute("SELECT description, saliency_score, status FROM objectives").fetchall()
        health = db.execute("SELECT metric_key, channel_id, metric_value FROM system_health").fetchall()
    assert {("alice uses Python",), ("alice works on AI projects",), ("AI projects",)} <= {*facts}
    assert {*triples} == {
        ("alice", "uses", "Python"),
        ("alice", "works_on", "AI projects"),
        ("alice", "likes", "working with Python for AI projects"),
    }
    assert objectives == [(AIM, 0.7, "pending")]
    assert health == [("scheduled_next_proactive", "987654321", "2025-01-15T13:30:00Z")]


def test_the_worked_message_gives_a_fact_by_the_rules_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await told(here)

    asyncio.run(main())

    with asof.open(tmp_path, embedder="hash") as memory:
        facts = [fact.fact for fact in memory.facts(group_id="987654321", about="alice")]
    assert "alice likes working with Python for AI projects" in facts


def test_the_views_of_archetypes_and_prompts_show_those_of_the_code(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("Hello!")
            await here.learned()

    asyncio.run(main())

    with tables(tmp_path) as db:
        archetypes = db.execute("SELECT * FROM context_archetypes").fetchall()
        prompts = db.execute(
            "SELECT prompt_key, version, temperature, max_tokens, active FROM prompt_registry"
        ).fetchall()
    assert archetypes == [
        (one.name, one.turns, one.vector_limit, one.similarity_threshold, one.triple_depth) for one in ARCHETYPES
    ]
    assert prompts == [(one.key, 1, one.temperature, one.max_tokens, 1) for one in BUILT_IN.values()]
