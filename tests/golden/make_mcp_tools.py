"""Writes the golden lists of tools of MCP again: python tests/golden/make_mcp_tools.py

Each file has one profile as a client gets it: names, descriptions, schemas of arguments and answers, hints. A changed
line is a change for every agent, and for the prompts that people wrote around it.
"""

import json
from pathlib import Path
from typing import Any

from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.server import listed

FOLDER = Path(__file__).parent


def golden_file(profile: str) -> Path:
    """Return the file of a profile."""
    return FOLDER / f"mcp_tools_{profile}.json"


def golden_list(profile: str) -> dict[str, Any]:
    """Return the tools of a profile at an address of every group; at one of a group their arguments differ alone."""
    everywhere, of_one = (
        [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed(profile, scope)]
        for scope in (ClientScope(), ClientScope(group="team"))
    )
    return {
        "tools": everywhere,
        "arguments at the address of a group": {one["name"]: one["inputSchema"] for one in of_one},
    }


def written(found: dict[str, Any]) -> str:
    """Return a list as the text of its file."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PROFILES:
        golden_file(name).write_text(written(golden_list(name)), encoding="utf-8")
