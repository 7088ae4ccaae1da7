"""The entry of a client's list, and the text of the file with it: as JSON with comments, or as TOML."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from asof.mcp.install import jsonc
from asof.mcp.install.clients import McpClient
from asof.operations.errors import InvalidInput

_BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def local_entry(client: McpClient, command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the entry of a server that the client starts."""
    entry: dict[str, Any] = {**client.local, "command": command[0], "args": list(command[1:])}
    return {**entry, "env": dict(environment)} if environment else entry


def remote_entry(client: McpClient, url: str) -> dict[str, Any]:
    """Return the entry of a server at an address. InvalidInput: the client takes none from its file."""
    if client.remote is None:
        raise InvalidInput(f"{client.title} takes no address from its file: leave --url out", field="--url")
    return {key: value.format(url=url) for key, value in client.remote.items()}


def with_entry(path: Path, text: str, client: McpClient, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text of a file with an entry more; unchanged, if it has this very entry.

    InvalidInput: another entry has the name, or the file cannot be read.
    """
    if not name or not _BARE.issuperset(name):
        raise InvalidInput("a name has letters, digits, - and _ alone", field="--name")
    try:
        before = _read(path, text)
        servers = before.get(client.servers, {})
        if not isinstance(servers, dict):
            raise InvalidInput(f"what stands under {client.servers!r} is no object")
        if name in servers:
            if servers[name] == entry:
                return text
            raise InvalidInput(f"another entry is called {name!r}: choose another --name, or remove it first")
        is_toml = path.suffix == ".toml"
        after = _with_table(text, client, name, entry) if is_toml else _with_member(text, client, name, entry)
        if _read(path, after) != {**before, client.servers: {**servers, name: entry}}:
            raise InvalidInput("its form is one that cannot be added to: add the entry by hand")
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}", field=error.field) from None
    return after


def _read(path: Path, text: str) -> dict[str, Any]:
    if path.suffix == ".toml":
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"it is no TOML, {error}: mend it and try again") from None
    value = jsonc.parse(text) if text.strip() else {}
    if not isinstance(value, dict):
        raise InvalidInput("the file is no JSON object")
    return value


def _with_member(text: str, client: McpClient, name: str, entry: Mapping[str, Any]) -> str:
    return jsonc.with_member(text, client.servers, name, dict(entry))


def _with_table(text: str, client: McpClient, name: str, entry: Mapping[str, Any]) -> str:
    """Return TOML with a table more at its end. Strings of JSON are strings of TOML."""
    newline = "\r\n" if "\r\n" in text else "\n"
    tables = {key: value for key, value in entry.items() if isinstance(value, dict)}
    lines = [f"[{client.servers}.{name}]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in entry.items() if key not in tables]
    for key, table in tables.items():
        lines += ["", f"[{client.servers}.{name}.{key}]"]
        lines += [f"{one} = {json.dumps(value)}" for one, value in table.items()]
    kept = text.rstrip("\r\n")
    return f"{kept}{newline * 2 if kept else ''}{newline.join(lines)}{newline}"
