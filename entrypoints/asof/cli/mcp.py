"""The command that serves an agent over standard input and output: mcp."""

from importlib.util import find_spec
from typing import Annotated

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.errors import InvalidInput
from asof.operations.process import install_command


@command()
def mcp(
    call: Call,
    *,
    group: Annotated[
        str, typer.Option("--group", metavar="ID", help="Whose memory it is: no tool reads or writes another one.")
    ] = "default",
) -> int:
    """Serve a memory to an agent over MCP, on standard input and output, until the input ends.

    Several agents share the memory of a directory: the first one starts a process that serves it, which ends after the
    last.
    """
    if find_spec("mcp") is None:
        raise InvalidInput(f"MCP needs the SDK, which is not installed. Get it with: {install_command('mcp')}")
    from asof.mcp.stdio import run

    settings = call.settings
    return run(settings, group, lambda: show.talk(f"serving group {group} of {settings.data.absolute()} over MCP"))
