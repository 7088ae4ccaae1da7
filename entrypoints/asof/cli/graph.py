"""The command that makes, checks and copies the graphs of a memory in a graph database: graph."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json

if TYPE_CHECKING:
    from asof.runtime.graph_admin import Finding


def graph(
    action: Annotated[
        Literal["check", "create", "copy"], typer.Argument(metavar="ACTION", help="What to do: check, create or copy.")
    ] = "check",
    to: Annotated[
        Literal["arango", "sqlite"], typer.Option("--to", help="copy: which of the two is made what the other is.")
    ] = "arango",
    replace: Annotated[
        bool, typer.Option("--replace", help="create: remove what is there of this memory's logs first.")
    ] = False,
    data: Data = None,
    as_json: Json = False,
) -> int:
    """Check the graphs in the graph database against the memory, make them where there are none, or copy them.

    The database is the one that ASOF_GRAPH_URL names.
    """
    chosen = calls.settings(data, graph="arango")
    from asof.runtime.graph_database import require_driver

    require_driver()
    from asof.runtime import graph_admin

    if action == "create":
        made = graph_admin.create(chosen, replace=replace)
        if as_json:
            show.data(made)
        else:
            for log in made:
                show.line(f"there is a graph of {log}")
        return 0
    found = graph_admin.copy(chosen, to) if action == "copy" else graph_admin.check(chosen)
    if as_json:
        show.data([finding.to_json() for finding in found])
    else:
        for finding in found:
            show.line(_told(finding))
    return calls.FAILED if any(finding.wrong for finding in found) else 0


def _told(finding: "Finding") -> str:
    where = f"{finding.log} in {finding.where}: "
    stands = "" if finding.position is None else f"at {finding.position} of {finding.end}, "
    return where + stands + (finding.wrong or f"the same as in the directory, {(finding.digest or '')[:16]}")
