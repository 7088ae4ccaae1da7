"""The page of MCP tools: the tools of each profile, and what each takes, by the schemas that clients see."""

from collections.abc import Mapping
from typing import Any

from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.server import listed

PAGE = """\
# MCP tools

<!-- Made by docs/generate.py: change entrypoints/asof/mcp/ instead. -->

The tools that agents see, in the order in which they are listed, by [profile](settings.md)
(`ASOF_MCP_PROFILE`). Arguments in *italics* are needed. `group_id` and `group_ids` are listed where the address is of
no one group. Times are RFC 3339, dates, or words such as "last May"; what has no offset is in UTC, and every time of an
answer has its zone.

Every answer has structured content, by an output schema, and the same as text. `as_of` says which moments it is of
(`valid_at` in the world, `known_at` of what was known), up to which `position` of the log, and how many messages wait
behind that (`lag`). A list that goes on has a `next_cursor`. An error is an answer with `isError` and a sentence that
says what to change. What was stored stands in double quotes alone, in a block that is marked as reference data.
"""


def page() -> str:
    """Return the page."""
    return PAGE + "".join(_profile(name) for name in PROFILES)


def _profile(name: str) -> str:
    tools = listed(name, ClientScope())
    return f"\n## {name}\n" + "".join(_tool(tool.model_dump(by_alias=True, exclude_none=True)) for tool in tools)


def _tool(tool: Mapping[str, Any]) -> str:
    hints = tool["annotations"]
    kind = "reads" if hints["readOnlyHint"] else "writes, destructive" if hints["destructiveHint"] else "writes"
    schema = tool["inputSchema"]
    rows = "".join(_row(name, part, schema.get("required", ())) for name, part in schema["properties"].items())
    return f"\n### {tool['name']} ({kind})\n\n{tool['description']}\n\n| argument | | |\n|---|---|---|\n{rows}"


def _row(name: str, part: Mapping[str, Any], needed: Any) -> str:
    shown = f"*{name}*" if name in needed else f"`{name}`"
    kind = (
        "a list" if part["type"] == "array" else " or ".join(f"`{each}`" for each in part.get("enum", [part["type"]]))
    )
    limits = [f"{word} {part[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in part]
    default = f"default `{part['default']}`" if "default" in part else ""
    return f"| {shown} | {', '.join(filter(None, [kind, *limits, default]))} | {part.get('description', '')} |\n"
