"""The registry of prompts on Kafka: events on the control topic, which every responder reads before it answers."""

import asyncio
from collections.abc import Callable, Sequence

from asof.kafka.control import open_control
from asof.runtime.prompt_registry import activation, registration, with_built_in
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_projections.conversation.model import PromptVersion
from asof_projections.model.prompts import PromptRegistration
from asof_streams.events import Event
from asof_streams.kafka.topics import Topics, create


def prompts(settings: Settings) -> list[PromptVersion]:
    """Return every version of each prompt, in order of keys and versions."""
    with open_control(settings) as control:
        control.catch_up()
        return with_built_in(control.prompts)


def register(settings: Settings, new: PromptRegistration) -> list[PromptVersion]:
    """Write a version of a prompt, used with the next message; return all. InvalidInput: as `registration` raises."""
    return _decide(settings, lambda versions: registration(new, versions))


def activate(settings: Settings, prompt: str, version: int) -> list[PromptVersion]:
    """Let a version of a prompt be used with the next message; return all. NotFound: there is none."""
    return _decide(settings, lambda versions: activation(prompt, version, versions))


def _decide(settings: Settings, decision: Callable[[Sequence[PromptVersion]], Event | None]) -> list[PromptVersion]:
    asyncio.run(create(connection_of(settings), Topics(settings.kafka_prefix), [], control=True))
    with open_control(settings) as control:
        control.decide(lambda _: decision(with_built_in(control.prompts)))
        return with_built_in(control.prompts)
