"""The command that checks an ontology's file, compares it with another, and tries it on what was said: ontology."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.generations import show_comparison
from asof.cli.parameters import Parameters
from asof.cli.tables import Table
from asof.operations.errors import InvalidInput
from asof.operations.ontologies import OntologyTrialQuery, check_ontology, diff_ontologies, try_ontology
from asof.operations.operation import read_query

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


@command(check_ontology, diff_ontologies, try_ontology, parameters=Parameters(OntologyTrialQuery), settings=("kafka",))
def ontology(
    call: Call,
    query: Any,
    *,
    action: Annotated[
        Literal["check", "diff", "try"],
        typer.Argument(
            metavar="ACTION",
            help="What to do: check says what is wrong, if anything is; diff says what changed, and what that needs; "
            "try says which facts of the last episodes would change.",
        ),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="A YAML file, or the id of one that comes with asof.")],
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="diff: what FILE became; left out, FILE is what the memory's became."),
    ] = None,
) -> int:
    """Check an ontology's file, say what changed in it, or try it. Each problem comes with its line, key and remedy.

    check runs the examples in it: one holds if the rules find exactly its facts in its text. It ends with 1 if
    anything is wrong. diff tells for each change what a memory needs for it: nothing, or a rebuild from its mentions or
    from its episodes. Where there is a memory, it counts the episodes that have the words of what changed. try reads
    the last episodes of the memory by the rules, with its ontology and with this one, and shows in which facts the two
    differ. It changes nothing, and asks no language model.
    """
    if action != "try" and query != read_query(OntologyTrialQuery, {}):
        raise InvalidInput(f"ontology {action} takes no options of try")
    if action == "diff":
        return _diff(call, file, other)
    if other is not None:
        raise InvalidInput(f"ontology {action} takes one FILE")
    return _try(call, file, query) if action == "try" else _check(call, file)


def _try(call: Call, file: str, query: OntologyTrialQuery) -> int:
    with call.existing("reading") as session:
        tried = try_ontology(file, session, query)
    if call.as_json:
        show.data(tried.to_json())
        return 0
    show_comparison("now", "then", tried.summary, tried.differences, query.group_id)
    if tried.more:
        show.talk(f"the first {query.limit:,} are shown: --limit shows more")
    show.line(f"{show.counted(tried.episodes, 'episode')}, read by the rules")
    show.line(_rebuild_for(tried.needs, file))
    return 0


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
    said = _rebuild_for(found.needs, file)
    if found.needs != "episodes" or found.episodes is None:
        return said
    return f"{said} ({found.episodes:,} of {found.of:,} episodes have words of it)"


def _rebuild_for(needs: str, file: str) -> str:
    """Return what is to be done for a change."""
    if needs == "nothing":
        return "needs nothing: the facts say the same"
    return f"needs: asof rebuild --input {needs} --ontology {file}"


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
