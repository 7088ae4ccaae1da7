"""The prompts: what a user can pick in a client in place of words of their own. All of it can be had by tools, too."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

from mcp import types

from asof.mcp.arguments import Arguments, schema_of
from asof.mcp.changes import WhatChangedArguments, what_changed
from asof.mcp.recall import RecallArguments, recall
from asof.mcp.scope import ClientScope
from asof.mcp.tools import TOOLS, Access
from asof.operations.errors import NotFound
from asof.operations.queries import ask


class RememberPrompt(Arguments):
    """The arguments of the prompt remember."""

    text: str


class RecallPrompt(Arguments):
    """The arguments of the prompt recall."""

    question: str
    group_id: str | None = None


class WhatChangedPrompt(Arguments):
    """The arguments of the prompt what-changed-since."""

    since: str
    entity: str | None = None
    group_id: str | None = None


class OfferedPrompt(NamedTuple):
    """A prompt, its arguments, and what makes its text."""

    description: str
    arguments: type[Arguments]
    text: Callable[[Access, Any], Awaitable[str]]
    calls: str | None = None  # the tool that the text asks for

    def is_of(self, scope: ClientScope, tools: frozenset[str]) -> bool:
        """Whether a scope has it, on a server with some tools."""
        return self.calls is None or (self.calls in tools and scope.may(TOOLS[self.calls].needs))


async def _remember(access: Access, asked: RememberPrompt) -> str:
    del access
    return (
        "Remember this with add_memory, in whole sentences with names and dates, with wait_seconds 10; then tell what "
        f"was learned of it, and what it ended:\n\n{asked.text}"
    )


async def _recall(access: Access, asked: RecallPrompt) -> str:
    found = await recall.run(access, ask(RecallArguments, {"query": asked.question, "group_id": asked.group_id}))
    return f"Answer from what is remembered, and say since when it holds: {asked.question}\n\n{found.text}"


async def _what_changed(access: Access, asked: WhatChangedPrompt) -> str:
    found = await what_changed.run(access, ask(WhatChangedArguments, asked.model_dump(exclude_none=True)))
    return f"Tell in short what changed in the memory since {asked.since}:\n\n{found.text}"


PROMPTS: Final[Mapping[str, OfferedPrompt]] = {
    "remember": OfferedPrompt("Remember a text.", RememberPrompt, _remember, "add_memory"),
    "recall": OfferedPrompt("Answer a question from what is remembered.", RecallPrompt, _recall),
    "what-changed-since": OfferedPrompt("Tell what changed since a moment.", WhatChangedPrompt, _what_changed),
}


def listed_prompts(scope: ClientScope, tools: frozenset[str]) -> list[types.Prompt]:
    """Return the prompts that a list has for a scope, on a server with some tools."""
    return [_listed(name, prompt, scope) for name, prompt in PROMPTS.items() if prompt.is_of(scope, tools)]


def _listed(name: str, prompt: OfferedPrompt, scope: ClientScope) -> types.Prompt:
    schema = schema_of(prompt.arguments, frozenset() if scope.group is None else frozenset({"group_id"}))
    needed = schema.get("required", ())
    arguments = [types.PromptArgument(name=each, required=each in needed) for each in schema["properties"]]
    return types.Prompt(name=name, description=prompt.description, arguments=arguments)


async def prompt_of(
    access: Access, tools: frozenset[str], name: str, given: Mapping[str, str]
) -> types.GetPromptResult:
    """Return the messages of a prompt. NotFound: there is none of this name. InvalidInput: an argument is wrong."""
    prompt = PROMPTS.get(name)
    if prompt is None or not prompt.is_of(access.scope, tools):
        raise NotFound("there is no such prompt here: prompts/list has them")
    text = await prompt.text(access, ask(prompt.arguments, given))
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
