"""The command line: `asof`. What is heavy is imported within the commands, so that help comes at once."""

import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated

import typer

from asof.cli import calls, entities, facts, generations, graph, inspect, past, replay, serve, topics, worker, write
from asof.cli.demo import demo
from asof.runtime.processes import tune_allocator

app = typer.Typer(
    name="asof",
    help="A memory that keeps its history: ask what was true, and what was known, as of any moment.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMANDS: dict[str, Callable[..., int | None]] = {
    "demo": demo,
    "add": write.add,
    "produce": write.produce,
    "import": write.import_,
    "erase": write.erase,
    "facts": facts.facts,
    "search": facts.search,
    "entities": entities.entities,
    "entity": entities.entity,
    "communities": entities.communities,
    "history": past.history,
    "timeline": past.timeline,
    "diff": past.diff,
    "why": past.why,
    "changes": past.changes,
    "events": replay.events,
    "rebuild": generations.rebuild,
    "generations": generations.generations,
    "verify": inspect.verify,
    "stats": inspect.stats,
    "export": inspect.export,
    "doctor": inspect.doctor,
    "serve": serve.serve,
    "worker": worker.worker,
    "topics": topics.topics,
    "graph": graph.graph,
}
_WITHOUT_GRAPH = {"demo", "doctor", "topics", "graph"}  # they ask no graph, or name it by themselves
for name, command in _COMMANDS.items():
    app.command(name)(command if name in _WITHOUT_GRAPH else calls.with_graph(command))


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"asof {version('asof')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")  # as what is stored, whatever the locale
    tune_allocator()
    sys.exit(calls.run(app, sys.argv[1:]))
