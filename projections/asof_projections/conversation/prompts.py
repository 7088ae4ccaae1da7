"""The versions of prompts that a log comes to, whichever log has them. Pure."""

from collections.abc import Iterable

from asof_projections.conversation.model import PromptVersion
from asof_streams.conversation import PromptActivated, PromptRegistered
from asof_streams.events import Event


def registered_prompts(events: Iterable[tuple[int, Event]]) -> list[PromptVersion]:
    """Return every version of a prompt that was registered, in order of keys and versions.

    events: of a log, in its order, each with the moment when it was recorded; those about anything else change nothing.
    """
    versions: dict[tuple[str, int], PromptVersion] = {}
    active: dict[str, int] = {}
    for recorded_at, event in events:
        match event:
            case PromptRegistered(prompt=prompt, prompt_version=number) as new:
                terms = new.template, new.temperature, new.max_tokens
                versions[prompt, number] = PromptVersion(prompt, number, *terms, recorded_at, active=False)
                if new.active:
                    active[prompt] = number
            case PromptActivated(prompt=prompt, prompt_version=number):
                active[prompt] = number
    return [one._replace(active=active.get(one.prompt) == one.version) for _, one in sorted(versions.items())]
