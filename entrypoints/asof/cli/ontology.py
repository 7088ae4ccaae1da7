"""The command that checks an ontology's file: ontology."""

from typing import Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.operations.ontologies import check_ontology


@command(check_ontology, settings=())
def ontology(
    call: Call,
    *,
    action: Annotated[
        Literal["check"], typer.Argument(metavar="ACTION", help="What to do: check says what is wrong, if anything is.")
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="A YAML file, or the id of one that comes with asof.")],
) -> int:
    """Check an ontology's file, and run the examples in it. Each problem comes with its line, its key and the remedy.

    An example holds if the rules find exactly its facts in its text. It ends with 1 if anything is wrong.
    """
    del action
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
