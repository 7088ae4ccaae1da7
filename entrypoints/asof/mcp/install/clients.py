"""The clients: where each keeps its list of servers, on which system, and in which form. All of it is data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from asof.operations.errors import InvalidInput

Scope = Literal["user", "project"]
System = Literal["linux", "darwin", "win32"]
_CODE: Final = {  # of VS Code, whose user's folder is another one on each system
    "linux": "{config}/Code/User/mcp.json",
    "darwin": "{home}/Library/Application Support/Code/User/mcp.json",
    "win32": "{appdata}/Code/User/mcp.json",
}
_DESKTOP: Final = {
    "linux": "{config}/Claude/claude_desktop_config.json",
    "darwin": "{home}/Library/Application Support/Claude/claude_desktop_config.json",
    "win32": "{appdata}/Claude/claude_desktop_config.json",
}
_ZED: Final = {
    "linux": "{config}/zed/settings.json",
    "darwin": "{home}/.config/zed/settings.json",
    "win32": "{appdata}/Zed/settings.json",
}


def _everywhere(path: str) -> dict[str, str]:
    return dict.fromkeys(("linux", "darwin", "win32"), path)


@dataclass(frozen=True, slots=True)
class McpClient:
    """A client. `servers` is the key of its list; `user` and `project` are files, None: it has none of that scope."""

    title: str
    servers: str
    user: Mapping[str, str]
    project: str | None
    remote: Mapping[str, str] | None  # of an entry with an address, where {url} is; None: it takes none from a file
    rules: str | None  # the file of a project that its agents read; None: it has none
    local: Mapping[str, str]  # what an entry with a command has besides
    then: str  # what is to be done afterwards
    ontology: str | None = "agent_memory_v1"  # of a new memory


CLIENTS: Final[dict[str, McpClient]] = {
    "claude-desktop": McpClient(
        "Claude Desktop", "mcpServers", _DESKTOP, None, None, None, {}, "Quit Claude Desktop and start it again.", None
    ),
    "claude-code": McpClient(
        "Claude Code",
        "mcpServers",
        _everywhere("{home}/.claude.json"),
        ".mcp.json",
        {"type": "http", "url": "{url}"},
        "CLAUDE.md",
        {"type": "stdio"},
        "Start Claude Code again; it asks once whether it may use the servers of .mcp.json.",
    ),
    "cursor": McpClient(
        "Cursor",
        "mcpServers",
        _everywhere("{home}/.cursor/mcp.json"),
        ".cursor/mcp.json",
        {"url": "{url}"},
        "AGENTS.md",
        {},
        "Start Cursor again, and switch the server on in its settings.",
    ),
    "vscode": McpClient(
        "VS Code",
        "servers",
        _CODE,
        ".vscode/mcp.json",
        {"type": "http", "url": "{url}"},
        "AGENTS.md",
        {"type": "stdio"},
        "Run 'MCP: List Servers' in VS Code, and start it there.",
    ),
    "windsurf": McpClient(
        "Windsurf",
        "mcpServers",
        _everywhere("{home}/.codeium/windsurf/mcp_config.json"),
        None,
        {"serverUrl": "{url}"},
        "AGENTS.md",
        {},
        "Refresh the MCP servers of Windsurf.",
    ),
    "zed": McpClient("Zed", "context_servers", _ZED, None, {"url": "{url}"}, "AGENTS.md", {}, "Zed starts it at once."),
    "codex": McpClient(
        "Codex CLI",
        "mcp_servers",
        _everywhere("{codex}/config.toml"),
        ".codex/config.toml",
        {"url": "{url}"},
        "AGENTS.md",
        {},
        "Start Codex again; it reads the file of a project that it trusts.",
    ),
    "gemini": McpClient(
        "Gemini CLI",
        "mcpServers",
        _everywhere("{home}/.gemini/settings.json"),
        ".gemini/settings.json",
        {"httpUrl": "{url}"},
        "GEMINI.md",
        {},
        "Start Gemini CLI again; /mcp shows the server.",
    ),
}
"""Every client by the name that `asof mcp install` takes."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A system with a user's home and environment."""

    system: System
    home: Path
    environment: Mapping[str, str]

    def path(self, pattern: str) -> Path:
        """Return the path of a pattern: {home}, {config}, {appdata} and {codex} are folders of the user."""
        folders = {
            "home": str(self.home),
            "config": self.environment.get("XDG_CONFIG_HOME") or f"{self.home}/.config",
            "appdata": self.environment.get("APPDATA") or f"{self.home}/AppData/Roaming",
            "codex": self.environment.get("CODEX_HOME") or f"{self.home}/.codex",
        }
        return Path(pattern.format(**folders))

    @property
    def data(self) -> Path:
        """The directory of a memory for all clients of the user, where none is named."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support" / "asof"
        if self.system == "win32":
            return Path(self.environment.get("LOCALAPPDATA") or self.home / "AppData" / "Local") / "asof"
        return Path(self.environment.get("XDG_DATA_HOME") or self.home / ".local" / "share") / "asof"


def client_named(name: str) -> McpClient:
    """Return a client by name. InvalidInput: there is none; the message has all names."""
    if name not in CLIENTS:
        raise InvalidInput(f"no such client: choose one of {', '.join(CLIENTS)}", field="CLIENT")
    return CLIENTS[name]


def file_of(client: McpClient, scope: Scope, machine: Machine, project: Path | None) -> Path:
    """Return the file of a client's list of servers. InvalidInput: it has none of this scope."""
    if scope == "user":
        return machine.path(client.user[machine.system])
    if client.project is None:
        raise InvalidInput(f"{client.title} has one list of servers for all projects: --scope user", field="--scope")
    if project is None:
        raise InvalidInput("this folder is in no git repository: go into one, or --scope user", field="--scope")
    return project / client.project
