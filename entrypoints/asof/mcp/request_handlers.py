"""The handlers of requests about resources and prompts, which a server has beside those of tools."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mcp import types
from mcp.shared.exceptions import MCPError

from asof.mcp.apps import URI, page
from asof.mcp.failures import sentence_of
from asof.mcp.prompts import listed_prompts, prompt_of
from asof.mcp.resources import listed_resources, listed_templates, read_resource
from asof.mcp.scope import ClientScope
from asof.mcp.tools import Access


def request_handlers(
    scope_of: Callable[[Any], ClientScope], access_of: Callable[[Any], Access], tools: frozenset[str]
) -> dict[str, Any]:
    """Return the handlers of requests about resources and prompts, by the names that a server has for them.

    tools: those that the server offers; a prompt that needs another one is left out.
    """

    async def list_resources(context: Any, _: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=listed_resources(scope_of(context)))

    async def list_templates(context: Any, _: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=listed_templates(scope_of(context)))

    async def read(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        if params.uri == URI:
            return page()
        with _told("a resource"):
            return await read_resource(access_of(context), params.uri)

    async def list_prompts(context: Any, _: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=listed_prompts(scope_of(context), tools))

    async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        with _told("a prompt"):
            return await prompt_of(access_of(context), tools, params.name, params.arguments or {})

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read,
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
    }


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Tell an error as one of the protocol, since the result of these requests has none; in the same sentence."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - told as a sentence
        raise MCPError(code=types.INVALID_PARAMS, message=sentence_of(error, name)) from None
