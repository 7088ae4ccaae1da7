"""The command of the prompts by which a bot speaks: prompts."""

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.tables import Table
from asof.operations import prompts as operations
from asof.operations.errors import InvalidInput

_TABLE: Final = Table(
    ("prompt", "prompt"),
    ("version", "version"),
    ("", lambda one: "used" if one.active else ""),
    ("temperature", "temperature"),
    ("max tokens", "max_tokens"),
    ("template", lambda one: one.template.partition("\n")[0][:60]),
)


@command(operations.prompts, operations.register_prompt, operations.activate_prompt, settings=("kafka",))
def prompts(
    call: Call,
    action: Annotated[
        Literal["list", "register", "activate"],
        typer.Argument(metavar="ACTION", help="What to do: list, register or activate."),
    ] = "list",
    prompt: Annotated[str | None, typer.Argument(metavar="PROMPT", help="Its key, such as MAIN_CONVERSATION.")] = None,
    *,
    template: Annotated[
        Path | None, typer.Option("--template", metavar="FILE", help="register: the file with its words.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="register: 0 to 2; as in the version used now, if left out.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", help="register: of a reply; as in the version used now, if left out.")
    ] = None,
    inactive: Annotated[bool, typer.Option("--inactive", help="register: do not use it yet.")] = False,
    version: Annotated[int | None, typer.Option("--version", help="activate: which one; 1 is asof's own.")] = None,
) -> None:
    """List the prompts by which a bot speaks, write a version of one, or choose which is used.

    A change takes effect with the next message, also while a bot answers. It stands on the conversation log, on Kafka
    on the control topic.
    """
    written = {"temperature": temperature, "max_tokens": max_tokens, "active": False if inactive else None}
    given = {name: value for name, value in written.items() if value is not None}
    if (action == "list") != (prompt is None):
        raise InvalidInput(f"prompts {action} takes {'no PROMPT' if prompt else 'a PROMPT'}")
    if (action == "register") != (template is not None) or (given and action != "register"):
        raise InvalidInput("--template FILE, and the options beside it, are of prompts register")
    if (action == "activate") != (version is not None):
        raise InvalidInput("--version NUMBER is of prompts activate")
    with call.existing() as session:
        match action:
            case "register":
                assert template is not None
                shown = operations.register_prompt.ask(session, prompt=prompt, template=_read(template), **given)
            case "activate":
                shown = operations.activate_prompt.ask(session, prompt=prompt, version=version)
            case _:
                shown = operations.prompts.ask(session)
    call.answer(operations.prompts, shown, _TABLE)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"{file} cannot be read: name a file of text", "template") from None
