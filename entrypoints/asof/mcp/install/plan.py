"""What an installation writes: the entry of a client, and the rules for agents where they are asked for."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Final

from asof.mcp.install.changes import FileChange, text_of
from asof.mcp.install.clients import Machine, McpClient, Scope, file_of
from asof.mcp.install.entries import local_entry, remote_entry, with_entry
from asof.mcp.install.rules import with_rules
from asof.mcp.install.workspace import group_of_repository, root_of
from asof.operations.errors import InvalidInput
from asof.operations.messages import check_group
from asof.settings import Settings

_DEFAULT_DATA: Final = Settings.model_fields["data"].default


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """What is asked for. None: the scope is that of the repository, if there is one; the group is its own."""

    client: McpClient
    name: str = "asof"
    scope: Scope | None = None
    group: str | None = None
    url: str | None = None
    rules: bool = False
    command: Sequence[str] = field(default=("asof",))


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The files that are to be written, and the group of the memory; with an address, None may be the address's own."""

    changes: tuple[FileChange, ...]
    group: str | None


def plan(asked: InstallRequest, settings: Settings, machine: Machine, folder: Path) -> InstallPlan:
    """Return what is to be written from a folder. InvalidInput: it cannot be, or other things stand there."""
    root = root_of(folder)
    scope = asked.scope or ("project" if root is not None and asked.client.project is not None else "user")
    group = asked.group or (group_of_repository(root) if scope == "project" and root is not None else "default")
    check_group(group)
    if asked.url is not None:
        url = asked.url if asked.group is None else f"{asked.url.rstrip('/')}/{group}"
        _expect_address(url)
        entry = remote_entry(asked.client, url)
    else:
        data = machine.data if settings.data == _DEFAULT_DATA else settings.data.absolute()
        command = [*asked.command, "mcp", "--data", str(data), "--group", group]
        entry = local_entry(asked.client, command, _environment(asked.client, settings))
    file = file_of(asked.client, scope, machine, root)
    held = text_of(file)
    changes = [FileChange(file, held, with_entry(file, held or "", asked.client, asked.name, entry))]
    if asked.rules:
        changes.append(_rules(asked, root))
    return InstallPlan(tuple(changes), group if asked.url is None else asked.group)


def _environment(client: McpClient, settings: Settings) -> dict[str, str]:
    """Return the ontology of a new memory: the one that is set, else the client's."""
    chosen = settings.ontology if settings.ontology != "default" else client.ontology
    return {} if chosen is None else {"ASOF_ONTOLOGY": chosen}


def _rules(asked: InstallRequest, root: Path | None) -> FileChange:
    if asked.client.rules is None:
        raise InvalidInput(f"{asked.client.title} reads no file of rules: leave --rules out", field="--rules")
    if root is None:
        raise InvalidInput("rules stand in a git repository, and this folder is in none", field="--rules")
    file = root / asked.client.rules
    held = text_of(file)
    return FileChange(file, held, with_rules(held or "", asked.name))


def _expect_address(url: str) -> None:
    if not url.startswith(("http://", "https://")) or any(sign.isspace() or sign in '"{}' for sign in url):
        raise InvalidInput("it is no address: such as http://127.0.0.1:8000/mcp", field="--url")


def own_command() -> list[str]:
    """Return the command of this program by its full path: clients start servers without a shell's search path."""
    beside = Path(sys.executable).with_name("asof.exe" if sys.platform == "win32" else "asof")
    started = Path(sys.argv[0])
    found = next((one for one in (started, beside) if one.stem == "asof" and one.is_file()), None)
    return [str(found.absolute()) if found else which("asof") or "asof"]
