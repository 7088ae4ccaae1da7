"""The registry of prompts of a directory: events on its conversation log, also while a bot answers there.

A change takes effect with the next message. asof's own version of each prompt is the first, and is always there. What
may change is decided here also where the events stand on another log, as on Kafka.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import expect_no_copy, is_copy
from asof.runtime.wiring import existing
from asof_agents.conversation.prompts import BUILT_IN, MESSAGE, PLACEHOLDERS, ReplyPrompt, unknown_placeholders
from asof_projections.conversation.model import PromptVersion
from asof_projections.conversation.store import ConversationStore
from asof_projections.model.prompts import PromptRegistration
from asof_streams.conversation import PromptActivated, PromptRegistered
from asof_streams.errors import ContractError, InvalidInput, NotFound
from asof_streams.files import locked_folder

_MESSAGE: Final = f"{{{MESSAGE}}}"


def prompts(places: DirectoryLayout) -> list[PromptVersion]:
    """Return every version of each prompt, in order of keys and versions; in a copy of topics asof's own alone."""
    if not places.conversation.exists() or is_copy(places.root):
        return with_built_in([])
    try:
        with ConversationStore(places.conversations) as store:
            return with_built_in(store.prompts())
    except ContractError:  # it was lost, or is of another version
        with ConversationLog(places, beside=True) as log:
            return _listed(log)


def register(places: DirectoryLayout, new: PromptRegistration, now: int) -> list[PromptVersion]:
    """Write a version of a prompt; return all. EmptyMemory: nothing was ever written here.

    InvalidInput: as `registration` raises it.
    """
    with _changing(places) as log:
        log.append_prompts([registration(new, _listed(log))], now)
        return _listed(log)


def activate(places: DirectoryLayout, prompt: str, version: int, now: int) -> list[PromptVersion]:
    """Let a version of a prompt be used from here on; return all. NotFound: there is none."""
    with _changing(places) as log:
        event = activation(prompt, version, _listed(log))
        if event is not None:
            log.append_prompts([event], now)
        return _listed(log)


def registration(new: PromptRegistration, versions: Sequence[PromptVersion]) -> PromptRegistered:
    """Return the event by which a version of a prompt is written, given all that there are.

    InvalidInput: its template lacks the message, or names what nothing replaces.
    """
    if new.prompt not in BUILT_IN:
        raise InvalidInput(f"nothing is made by it: write a version of {' or '.join(BUILT_IN)}", "prompt")
    if MESSAGE in PLACEHOLDERS[new.prompt] and _MESSAGE not in new.template:
        raise InvalidInput(f"it does not show the message: write {_MESSAGE} where it is to stand", "template")
    if unknown := unknown_placeholders(new.template, new.prompt):
        raise InvalidInput(f"nothing replaces {{{unknown[0]}}}: leave the braces out", "template")
    own = [one for one in versions if one.prompt == new.prompt]
    used = next(one for one in own if one.active)
    return PromptRegistered(
        prompt=new.prompt,
        prompt_version=own[-1].version + 1,
        template=new.template,
        temperature=used.temperature if new.temperature is None else new.temperature,
        max_tokens=used.max_tokens if new.max_tokens is None else new.max_tokens,
        active=new.active,
    )


def activation(prompt: str, version: int, versions: Sequence[PromptVersion]) -> PromptActivated | None:
    """Return the event by which a version of a prompt is used; None: it is. NotFound: it is none of all there are."""
    named = next((one for one in versions if (one.prompt, one.version) == (prompt, version)), None)
    if named is None:
        raise NotFound(f"there is no version {version} of a prompt {prompt}")
    return None if named.active else PromptActivated(prompt=prompt, prompt_version=version)


@contextmanager
def _changing(places: DirectoryLayout) -> Iterator[ConversationLog]:
    """Yield the conversation log, beside whoever answers; one at a time changes prompts."""
    expect_no_copy(places.root)
    existing(places)
    with locked_folder(places.root), ConversationLog(places, beside=True) as log:
        yield log


def _listed(log: ConversationLog) -> list[PromptVersion]:
    log.follow(messages_to=0)  # prompts are on its own log: a million messages are left to whoever answers them
    return with_built_in(log.store.prompts())


def with_built_in(registered: Sequence[PromptVersion]) -> list[PromptVersion]:
    """Return some versions of prompts with asof's own, in order of keys and versions."""
    chosen = {one.prompt for one in registered if one.active}
    own = [_built_in(prompt, active=prompt.key not in chosen) for prompt in BUILT_IN.values()]
    return sorted([*own, *registered], key=lambda one: (one.prompt, one.version))


def _built_in(prompt: ReplyPrompt, *, active: bool) -> PromptVersion:
    return PromptVersion(*prompt, registered_at=None, active=active)
