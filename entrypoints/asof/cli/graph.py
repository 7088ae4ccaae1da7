"""The command that makes, checks and copies the graphs of a memory in a graph database: graph."""

from typing import Annotated, Any, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.graph_database import check_graphs, copy_graphs, create_graphs


@command(check_graphs, create_graphs, copy_graphs, settings=())
def graph(
    call: Call,
    action: Annotated[
        Literal["check", "create", "copy"], typer.Argument(metavar="ACTION", help="What to do: check, create or copy.")
    ] = "check",
    *,
    to: Annotated[
        Literal["arango", "sqlite"], typer.Option("--to", help="copy: which of the two is made what the other is.")
    ] = "arango",
    replace: Annotated[
        bool, typer.Option("--replace", help="create: remove what is there of this memory's logs first.")
    ] = False,
) -> int:
    """Check the graphs in the graph database against the memory, make them where there are none, or copy them.

    The database is the one that ASOF_GRAPH_URL names.
    """
    if action == "create":
        made = create_graphs(call.settings, replace=replace)
        if call.as_json:
            show.data(made)
        else:
            for log in made:
                show.line(f"there is a graph of {log}")
        return 0
    found = copy_graphs(call.settings, to) if action == "copy" else check_graphs(call.settings)
    if call.as_json:
        show.data([finding.to_json() for finding in found])
    else:
        for finding in found:
            show.line(_told(finding))
    return calls.FAILED if any(finding.wrong for finding in found) else 0


def _told(finding: Any) -> str:
    where = f"{finding.log} in {finding.where}: "
    stands = "" if finding.position is None else f"at {finding.position} of {finding.end}, "
    return where + stands + (finding.wrong or f"the same as in the directory, {(finding.digest or '')[:16]}")
