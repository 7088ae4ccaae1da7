"""The command `completion`, and the answer to a shell that asks how a command line may go on."""

import os
from typing import Annotated, Final, Literal

import typer
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer.completion import shell_complete

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call

VARIABLE: Final = "_ASOF_COMPLETE"  # in which a shell says what it asks for


@command(settings=())
def completion(
    call: Call, *, shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="The shell.")]
) -> None:
    """Print the script by which a shell completes commands and options. Load it from the file that your shell reads."""
    del call
    show.line(get_completion_script(prog_name="asof", complete_var=VARIABLE, shell=shell))


def answer_shell(app: typer.Typer) -> int:
    """Print how a command line may go on, as the shell's variable asks; return the exit code."""
    completion_init()
    return shell_complete(typer.main.get_command(app), {}, "asof", VARIABLE, os.environ[VARIABLE])
