"""The answers to what is no message of MCP: errors of JSON-RPC."""

import json
from typing import Any, Final

from mcp import types

_UNREAD: Final = "it cannot be read as JSON: half of a surrogate pair, for one, is no character"
_NO_REQUEST: Final = "it is no message of JSON-RPC"


def refusal_of(line: str) -> str | None:
    """Return the answer to a line that is no message, a line itself; None: it is one."""
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        code, reason = (types.INVALID_REQUEST, _NO_REQUEST) if _is_json(line) else (types.PARSE_ERROR, _UNREAD)
        error = {"code": code, "message": reason}
        return json.dumps({"jsonrpc": "2.0", "id": _id_of(line), "error": error}) + "\n"
    return None


def _is_json(line: str) -> bool:
    """Whether a line is JSON of characters alone."""
    try:
        json.dumps(json.loads(line), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _id_of(line: str) -> str | int | None:
    """Return the id of a request, as far as it can be read."""
    try:
        read: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    name = read.get("id") if isinstance(read, dict) else None
    is_id = isinstance(name, str | int) and not isinstance(name, bool)
    return name if is_id else None
