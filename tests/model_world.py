"""A memory that a model server reads for: its messages, its facts and its events, in few words."""

import json
from pathlib import Path
from typing import Any

from asking import records
from asof_streams.events import Event
from asof_streams.instants import DAY
from model_server import ModelServer
from world import World


def opened(path: Path, server: ModelServer, **settings: Any) -> World:
    """Open a memory whose messages the model of a server reads, unless the settings say otherwise."""
    return World(path, **{"extractor": "model", "model_url": server.url, "model_name": "fake", **settings})


def say(world: World, *texts: str, **fields: Any) -> None:
    """Send messages of Ana in group `g`, and let a day pass."""
    line = {"group_id": "g", "role": "Ana", "role_type": "user", **fields}
    assert world.memory.produce([json.dumps({**line, "content": text}) for text in texts]).refused == ()
    world.now += DAY


def facts(world: World, **asked: Any) -> set[str]:
    return {fact.fact for fact in world.memory.facts(group_id="g", **asked)}


def events(world: World, kind: type[Event], log: str = "semantic") -> list[Any]:
    """Return the events of one type on a log, in order."""
    return [record.event for record in records(world.memory, log) if isinstance(record.event, kind)]


def prompts(server: ModelServer, heading: str) -> list[str]:
    """Return what the model was shown under a heading, whenever it was."""
    shown = [request["messages"][1]["content"] for request in server.requests]
    return [text for text in shown if f"\n{heading}:\n" in text]
