"""A server of the MCP SDK over one service: the tools of a profile, for the clients of one scope."""

import logging
from collections.abc import Callable
from traceback import extract_tb
from typing import Any, Final

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from asof.mcp.confirmations import Confirmation, InputNeeded
from asof.mcp.profiles import INSTRUCTIONS, PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.tools import Access, Reply, Tool, shown_fields
from asof.operations.errors import AsofError, InvalidInput, NotFound, UnavailableError
from asof.operations.process import version
from asof.operations.queries import ask
from asof.service.service import Service
from asof.settings import Settings

_UNFORESEEN: Final = "internal error, which the log of asof names; the same call may work again"

log = logging.getLogger("asof.mcp")


def server_of(served: Service, settings: Settings, scope_of: Callable[[Any], ClientScope]) -> Server[Any]:
    """Return a server over a service. `scope_of` returns the scope of a request, given its context."""
    offered = {tool.name: tool for tool in PROFILES[settings.mcp_profile]}

    async def list_tools(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del params
        return types.ListToolsResult(tools=listed(settings.mcp_profile, scope_of(context)))

    async def call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = offered.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message="there is no such tool here: tools/list has them")
        confirmation = Confirmation(context, params)
        access = Access(served, scope_of(context), settings.group_budget, confirmation)
        return await answer_to(tool, access, params.arguments or {})

    return Server(
        "asof",
        version=version(),
        title="asof: memory with history",
        instructions=settings.mcp_instructions or INSTRUCTIONS[settings.mcp_profile],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def listed(profile: str, scope: ClientScope) -> list[types.Tool]:
    """Return the tools of a profile that a scope may call, as a list has them."""
    tools = (tool for tool in PROFILES[profile] if scope.may(tool.needs))
    return [tool.listed(whole=profile == "graphiti", grouped=scope.group is None) for tool in tools]


async def answer_to(
    tool: Tool[Any], access: Access, arguments: dict[str, Any]
) -> types.CallToolResult | types.InputRequiredResult:
    """Return the result of a call, or what the client has to ask; an error is a result, too, as a sentence.

    The sentence says what to do.
    """
    try:
        if not access.scope.may(tool.needs):
            return _failed("this address only reads, or the key lacks the permission to write")
        reply: Reply = await tool.run(access, ask(tool.arguments, arguments))
    except InputNeeded as needed:
        return needed.result
    except InvalidInput as error:
        return _failed(f"{error}. Change that and call again.")
    except NotFound as error:
        return _failed(f"{error}.")
    except UnavailableError as error:
        return _failed(f"{error}. Call again later.")
    except AsofError as error:
        return _failed(f"{error}.")
    except Exception as error:  # noqa: BLE001 - its text may quote what was sent
        place = extract_tb(error.__traceback__)[-1]
        log.error("%s failed: %s at %s:%s", tool.name, type(error).__name__, place.filename, place.lineno)  # noqa: TRY400
        return _failed(f"{_UNFORESEEN}.")
    content: list[types.ContentBlock] = [types.TextContent(text=reply.text)]
    return types.CallToolResult(content=content, structured_content=shown_fields(reply.answer))


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=sentence)], is_error=True)
