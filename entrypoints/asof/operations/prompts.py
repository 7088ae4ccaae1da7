"""The operations on the prompts by which a bot speaks: they change at run time, and each change is an event."""

from collections.abc import Iterable

from asof.operations.operation import operation
from asof.runtime import prompt_registry
from asof.service.session import Session
from asof_projections.conversation.model import PromptVersion
from asof_projections.model.answers import time_of
from asof_projections.model.prompts import PromptChoice, PromptRegistration, PromptsQuery, RegisteredPrompt
from asof_streams.instants import INF


@operation(items="prompts")
def prompts(session: Session, query: PromptsQuery) -> list[RegisteredPrompt]:
    """Return the prompts by which a bot speaks, every version of each, in order of keys and versions."""
    del query
    if session.on_kafka:
        from asof.kafka.prompts import prompts as prompts_on_topic

        return _answer(prompts_on_topic(session.settings))
    return _answer(prompt_registry.prompts(session.places))


@operation(items="prompts")
def register_prompt(session: Session, query: PromptRegistration) -> list[RegisteredPrompt]:
    """Write a version of a prompt, used from the next message on unless said otherwise; return all versions.

    InvalidInput: its template does not show the message, or names what nothing replaces.
    """
    if session.on_kafka:
        from asof.kafka.prompts import register as register_on_topic

        return _answer(register_on_topic(session.settings, query))
    return _answer(prompt_registry.register(session.places, query, session.now()))


@operation(items="prompts")
def activate_prompt(session: Session, query: PromptChoice) -> list[RegisteredPrompt]:
    """Let a version of a prompt be used from the next message on; return all. NotFound: there is no such version."""
    if session.on_kafka:
        from asof.kafka.prompts import activate as activate_on_topic

        return _answer(activate_on_topic(session.settings, query.prompt, query.version))
    return _answer(prompt_registry.activate(session.places, query.prompt, query.version, session.now()))


def _answer(versions: Iterable[PromptVersion]) -> list[RegisteredPrompt]:
    return [
        RegisteredPrompt(
            one.prompt,
            one.version,
            one.active,
            one.temperature,
            one.max_tokens,
            one.template,
            time_of(INF if one.registered_at is None else one.registered_at),
        )
        for one in versions
    ]
