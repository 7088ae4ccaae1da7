"""The command that checks an ontology's file, and compares it with another: ontology."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.tables import Table
from asof.operations.errors import InvalidInput
from asof.operations.ontologies import check_ontology, diff_ontologies

if TYPE_CHECKING:
    from asof.operations.ontologies import OntologyDiff

_CHANGES: Final = Table(
    ("of", "subject"),
    ("name", "name"),
    ("change", lambda found: f"{found.key} {found.change}".strip()),
    ("before", "before"),
    ("after", "after"),
    ("needs", lambda found: f"{found.needs}, with a model" if found.model else found.needs),
    ("episodes", lambda found: "" if found.episodes is None else found.episodes),
    ("first", lambda found: ", ".join(uuid[:8] for uuid in found.first)),
    nothing="no change",
)


@command(check_ontology, diff_ontologies, settings=())
def ontology(
    call: Call,
    *,
    action: Annotated[
        Literal["check", "diff"],
        typer.Argument(
            metavar="ACTION",
            help="What to do: check says what is wrong, if anything is; diff says what changed, and what that needs.",
        ),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="A YAML file, or the id of one that comes with asof.")],
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="diff: what FILE became; left out, FILE is what the memory's became."),
    ] = None,
) -> int:
    """Check an ontology's file, or say what changed in it. Each problem comes with its line, its key and the remedy.

    check runs the examples in it: one holds if the rules find exactly its facts in its text. It ends with 1 if
    anything is wrong. diff tells for each change what a memory needs for it: nothing, or a rebuild from its mentions or
    from its episodes. Where there is a memory, it counts the episodes that have the words of what changed.
    """
    if action == "diff":
        return _diff(call, file, other)
    if other is not None:
        raise InvalidInput("ontology check takes one FILE")
    return _check(call, file)


def _diff(call: Call, file: str, other: str | None) -> int:
    if other is None or _has_memory(call):
        with call.existing() as session:
            found = diff_ontologies(file, other, session)
    else:
        found = diff_ontologies(file, other, None)
    if call.as_json:
        show.data(found.to_json())
        return 0
    _CHANGES(found.changes)
    if found.changes:
        show.line(_needs(found, other or file))
    if found.episodes is None and found.needs == "episodes":
        show.talk("no memory is there to count episodes in: --data DIR names one")
    return 0


def _has_memory(call: Call) -> bool:
    from asof.operations.sessions import has_memory

    return has_memory(call.settings)


def _needs(found: "OntologyDiff", file: str) -> str:
    if found.needs == "nothing":
        return "needs nothing: the facts say the same"
    said = f"needs: asof rebuild --from {found.needs} --ontology {file}"
    if found.needs == "mentions" or found.episodes is None:
        return said
    return f"{said} ({found.episodes:,} of {found.of:,} episodes have words of it)"


def _check(call: Call, file: str) -> int:
    check = check_ontology(file)
    if call.as_json:
        show.data(check.to_json())
        return 0 if check.ok else calls.FAILED
    for problem in check.problems:
        show.line(": ".join(filter(None, (_place(check.file, problem.line), problem.key, problem.remedy))))
    for example in check.examples:
        for missing in example.missing:
            show.line(f"{_place(check.file, example.line)}: not found: {missing}")
        for unexpected in example.unexpected:
            show.line(f"{_place(check.file, example.line)}: not expected: {unexpected}")
    if not check.problems:
        good = sum(example.holds for example in check.examples)
        show.line(
            f"{check.id}: {check.entity_types} entity types, {check.relation_types} relations, "
            f"{good} of {len(check.examples)} examples hold"
        )
    return 0 if check.ok else calls.FAILED


def _place(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"
