"""The commands that build and choose generations: rebuild, generations, digest."""

from typing import Annotated, Any, Literal

import typer

from asof.cli import show
from asof.cli.binding import command, question
from asof.cli.calls import Call
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations import generations as operations
from asof.operations.errors import InvalidInput


@command(
    operations.rebuild,
    operations.digest,
    parameters=Parameters(operations.rebuild.query, names={"source": "--from"}),
    settings=("graph",),
)
def rebuild(
    call: Call,
    query: Any,
    *,
    switch: Annotated[bool, typer.Option("--switch", help="Let it answer once it is built.")] = False,
) -> None:
    """Build a new generation beside the one that answers. It is made from the episodic log, and reads never stop."""
    with call.existing("rebuilding") as session:
        active = operations.generations.ask(session).active
        built = operations.rebuild(session, query)
        digests = {name: operations.digest.ask(session, name=name) for name in (built.name, active)}
        if switch:
            operations.switch.ask(session, name=built.name)
    same = digests[built.name] == digests[active]
    if call.as_json:
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


@command(operations.generations, operations.switch, operations.drop, settings=("graph",))
def generations(
    call: Call,
    action: Annotated[Literal["list", "switch", "drop"], typer.Argument(metavar="ACTION", help="What to do.")] = "list",
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one to switch to or to drop.")] = None,
) -> None:
    """List generations, let another one answer, drop one."""
    if (name is None) != (action == "list"):
        raise InvalidInput(
            f"generations {action} takes {'no name' if action == 'list' else 'the NAME of a generation'}"
        )
    with call.existing() as session:
        match action:
            case "switch":
                catalog = operations.switch.ask(session, name=name)
            case "drop":
                catalog = operations.drop.ask(session, name=name)
            case _:
                catalog = operations.generations.ask(session)
    if call.as_json:
        show.data({"active": catalog.active, "generations": [info.to_json() for info in catalog.generations]})
        return
    _table(catalog.active)(catalog.generations)


def _table(active: str) -> Table:
    return Table(
        ("name", "name"),
        ("", lambda info: "answers" if info.name == active else ""),
        ("ontology", "ontology"),
        ("policy", "policy"),
        ("from", "source"),
        ("build", "build"),
    )


digest = question(operations.digest, show.line, arguments=("name",))
