"""The commands that build and choose generations: rebuild, generations."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json
from asof_streams.errors import InvalidInput

if TYPE_CHECKING:
    from asof.memory import Memory


def rebuild(
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Of the new generation; else build-1, build-2, ...")
    ] = None,
    source: Annotated[
        Literal["mentions", "episodes"],
        typer.Option("--from", help="mentions: resolve again. episodes: extract again as well."),
    ] = "mentions",
    ontology: Annotated[
        str | None,
        typer.Option("--ontology", metavar="NAME", help="Its id or a YAML file; else as in the one that answers."),
    ] = None,
    policy: Annotated[
        Literal["recency", "graded"] | None,
        typer.Option("--policy", help="How contradictions are decided; else as in the one that answers."),
    ] = None,
    switch: Annotated[bool, typer.Option("--switch", help="Let it answer once it is built.")] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Build a new generation beside the one that answers. It is made from the episodic log, and reads never stop."""
    with calls.existing(data) as memory:
        active = memory.active()
        with show.progress("rebuilding") as progress:
            built = memory.rebuild(
                name or _free_name(memory), source=source, ontology=ontology, policy=policy, progress=progress
            )
        digests = {generation: memory.digest(generation) for generation in (built.name, active)}
        if switch:
            memory.switch(built.name)
    same = digests[built.name] == digests[active]
    if as_json:
        show.data(
            {
                "generation": built.to_json(),
                "digest": digests[built.name],
                "compared_with": active,
                "compared_digest": digests[active],
                "same": same,
                "switched": switch,
            }
        )
        return
    show.table(("generation", "digest"), digests.items())
    show.line("The two are the same." if same else "The two differ.")
    if switch:
        show.line(f"{built.name} answers now.")


def generations(
    action: Annotated[Literal["list", "switch", "drop"], typer.Argument(metavar="ACTION", help="What to do.")] = "list",
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one to switch to or to drop.")] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List generations, let another one answer, drop one."""
    if (name is None) != (action == "list"):
        raise InvalidInput(
            f"generations {action} takes {'no name' if action == 'list' else 'the NAME of a generation'}"
        )
    with calls.existing(data) as memory:
        if action == "switch" and name:
            memory.switch(name)
        elif action == "drop" and name:
            memory.drop(name)
        active, found = memory.active(), [g.to_json() for g in memory.generations()]
    if as_json:
        show.data({"active": active, "generations": found})
        return
    show.table(
        ("name", "", "ontology", "policy", "from", "build"),
        (
            (g["name"], "answers" if g["name"] == active else "", g["ontology"], g["policy"], g["source"], g["build"])
            for g in found
        ),
    )


def _free_name(memory: "Memory") -> str:
    taken = {generation.name for generation in memory.generations()}
    return next(name for number in range(1, len(taken) + 2) if (name := f"build-{number}") not in taken)
