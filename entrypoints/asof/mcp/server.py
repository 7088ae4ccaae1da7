"""A server of the MCP SDK over one service: the tools of a profile, for the clients of one scope."""

from collections.abc import Callable
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from asof.mcp.apps import EXTENSION, PICTURE, shows_apps
from asof.mcp.confirmations import Confirmation, InputNeeded
from asof.mcp.failures import sentence_of
from asof.mcp.profiles import INSTRUCTIONS, PROFILES
from asof.mcp.request_handlers import request_handlers
from asof.mcp.scope import ClientScope
from asof.mcp.tools import Access, Reply, Tool, shown_fields
from asof.operations.process import version
from asof.operations.queries import ask
from asof.service.service import Service
from asof.settings import Settings


def server_of(
    served: Service,
    settings: Settings,
    scope_of: Callable[[Any], ClientScope],
    settings_not_used: tuple[str, ...] = (),
    schema: str | None = None,
) -> Server[Any]:
    """Return a server over a service. `scope_of` returns the scope of a request, given its context.

    settings_not_used: those of the client that are others here. schema: the ontology that its messages are read with;
    None: the memory's own.
    """
    offered = {tool.name: tool for tool in PROFILES[settings.mcp_profile]}

    def access_of(context: Any, call: types.CallToolRequestParams | None = None) -> Access:
        return Access(
            served,
            scope_of(context),
            settings.group_budget,
            Confirmation(context, call),
            shows_apps(context),
            settings_not_used,
            schema,
        )

    async def list_tools(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del params
        tools = listed(settings.mcp_profile, scope_of(context), with_apps=shows_apps(context))
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = offered.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message="there is no such tool here: tools/list has them")
        return await answer_to(tool, access_of(context, params), params.arguments or {})

    server: Server[Any] = Server(
        "asof",
        version=version(),
        title="asof: memory with history",
        instructions=settings.mcp_instructions or INSTRUCTIONS[settings.mcp_profile],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **request_handlers(scope_of, access_of, frozenset(offered)),
    )
    server.extensions[EXTENSION] = {}
    return server


def listed(profile: str, scope: ClientScope, *, with_apps: bool = False) -> list[types.Tool]:
    """Return the tools of a profile that a scope may call, as a list has them. with_apps: the client shows apps."""
    tools = (tool for tool in PROFILES[profile] if scope.may(tool.needs))
    return [tool.listed(whole=profile == "graphiti", grouped=scope.group is None, with_app=with_apps) for tool in tools]


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
    except Exception as error:  # noqa: BLE001 - told as a sentence
        return _failed(sentence_of(error, tool.name))
    content: list[types.ContentBlock] = [types.TextContent(text=reply.text)]
    meta = None if reply.picture is None else {PICTURE: reply.picture}
    return types.CallToolResult(
        content=content, structured_content=shown_fields(reply.answer), is_error=reply.is_error, _meta=meta
    )


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=sentence)], is_error=True)
