"""The command that serves an agent over standard input and output, and writes itself into clients: mcp."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.errors import InvalidInput
from asof.operations.process import install_command

if TYPE_CHECKING:
    from asof.mcp.install.plan import InstallPlan


@command()
def mcp(
    call: Call,
    *,
    action: Annotated[
        Literal["install"] | None,
        typer.Argument(metavar="ACTION", help="install: write this server into the configuration of a client."),
    ] = None,
    client: Annotated[
        str | None,
        typer.Argument(
            metavar="CLIENT",
            help="claude-code, claude-desktop, codex, cursor, gemini, vscode, windsurf or zed.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="ID",
            help="Whose memory it is: no tool reads or writes another one. Without it default; install: for a project, "
            "the group of its git remote.",
        ),
    ] = None,
    scope: Annotated[
        Literal["user", "project"] | None,
        typer.Option(help="install: for all projects, or for this one; without it for this one, where that can be."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="install: the address of a server that runs, instead of a command."),
    ] = None,
    name: Annotated[str, typer.Option(help="install: what the client calls the server.")] = "asof",
    rules: Annotated[
        bool, typer.Option("--rules", help="install: also tell the agents of a project when to use it.")
    ] = False,
    print_only: Annotated[bool, typer.Option("--print", help="install: only show what would be written.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="install: write without asking.")] = False,
) -> int:
    """Serve a memory to an agent over MCP, on standard input and output, until the input ends.

    Several agents share the memory of a directory: the first one starts a process that serves it, which ends after the
    last.

    asof mcp install CLIENT writes that into the configuration of a client. It shows what it will write, asks, keeps a
    copy of the file, and changes nothing else in it.
    """
    if action == "install":
        from asof.mcp.install.clients import Machine, client_named
        from asof.mcp.install.plan import InstallRequest, own_command, plan

        if client is None:
            raise InvalidInput("say which client: asof mcp install CLIENT", field="CLIENT")
        system = sys.platform if sys.platform in ("darwin", "win32") else "linux"
        machine = Machine(system, Path.home(), os.environ)  # type: ignore[arg-type]
        asked = InstallRequest(client_named(client), name, scope, group, url, rules, own_command())
        planned = plan(asked, call.settings, machine, Path.cwd())
        return _install(call, planned, asked.client.then, yes=yes, print_only=print_only)
    if find_spec("mcp") is None:
        raise InvalidInput(f"MCP needs the SDK, which is not installed. Get it with: {install_command('mcp')}")
    from asof.mcp.stdio import run

    settings, whose = call.settings, group or "default"
    return run(settings, whose, lambda: show.talk(f"serving group {whose} of {settings.data.absolute()} over MCP"))


def _install(call: Call, planned: "InstallPlan", then: str, *, yes: bool, print_only: bool) -> int:
    """Show what is to be written, ask, and write it; return the exit code."""
    changes = [change for change in planned.changes if change.is_needed]
    told = {"group_id": planned.group, "files": [str(change.path) for change in changes], "written": False}
    for change in changes:
        show.talk(change.difference())
    if not changes:
        show.talk("All of it is there already.")
    elif print_only:
        show.talk("Nothing was written.")
    elif not (yes or _agreed()):
        show.talk("Nothing was written. --yes writes without asking.")
        return calls.FAILED
    else:
        for change in changes:
            copy = change.write()
            show.talk(f"wrote {change.path}" + (f"; what was there is in {copy}" if copy else ""))
        told["written"] = True
        show.talk(then)
    if call.as_json:
        show.data(told)
    return 0


def _agreed() -> bool:
    """Ask whether to write; without a terminal nobody is there to agree."""
    if not sys.stdin.isatty():
        return False
    show.talk("Write this? [y/N]")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
