"""The commands that write many messages, given as JSON lines or CSV: produce, import."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.csv_rows import facts_of_rows, rows_of
from asof.cli.json_lines import counted, lines_of
from asof.cli.options import File, Group, Strict
from asof.operations import imports, writes
from asof.operations.errors import InvalidInput
from asof.operations.operation import DEFAULT_GROUP

_SHOWN_REFUSALS: Final = 20
_FACT: Final = (*writes.state_fact.query.model_fields, "recorded_at")


@command(writes.produce)
def produce(call: Call, file: File, *, group: Group = DEFAULT_GROUP, strict: Strict = False) -> int:
    """Add messages given as JSON lines. Their fields are Graphiti's, and group_id."""
    with call.session() as session, lines_of(file) as lines, _acknowledging(file) as acknowledged:
        done = writes.produce(session, lines, group_id=group, strict=strict, acknowledged=acknowledged)
    return _tell(call, done, strict=strict)


@command(writes.import_facts, imports.import_export)
def import_(
    call: Call,
    file: File,
    *,
    group: Group = DEFAULT_GROUP,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Keep each line's recorded_at: moves a history in.")
    ] = False,
    ontology: Annotated[
        str | None,
        typer.Option("--ontology", metavar="NAME", help="Check relations against it: its id, or a YAML file."),
    ] = None,
    strict: Strict = False,
    subject: Annotated[str | None, typer.Option("--subject", metavar="COLUMN", help="For CSV: its column.")] = None,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="NAME", help="For CSV: the relation, or the column with it.")
    ] = None,
    object_: Annotated[str | None, typer.Option("--object", metavar="COLUMN", help="For CSV: its column.")] = None,
    from_: Annotated[str | None, typer.Option("--from", metavar="COLUMN", help="For CSV: that of valid_at.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="COLUMN", help="For CSV: that of invalid_at.")] = None,
    product: Annotated[
        Literal["graphiti", "mem0", "zep"] | None,
        typer.Option("--product", help="FILE is what this memory exported: JSON, or lines of it."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --product: only count.")] = False,
) -> int:
    """Add structured facts given as JSON lines, or as CSV with a first line that names the columns.

    Names are exact; nothing is extracted. Columns named like fields need no option. A FILE that ends in .csv is CSV,
    and so is one with an option for it. With --product it is an export of another memory, and each item is added once.
    """
    given = {"subject": subject, "relation": relation, "object": object_, "valid_at": from_, "invalid_at": until}
    columns = {field: column for field, column in given.items() if column is not None}
    if product is not None:
        if columns or ontology is not None:
            raise InvalidInput("an export says itself what is what: no columns, and no --ontology", field="--product")
        return _import_export(call, product, file, group=group, recorded=recorded, strict=strict, dry_run=dry_run)
    if dry_run:
        raise InvalidInput("it goes with --product: asof what-if says what facts would change", field="--dry-run")
    is_csv = bool(columns) or file.endswith(".csv")
    counting = _acknowledging(file, rows_of if is_csv else None)
    with call.session() as session, lines_of(file) as lines, counting as acknowledged:
        done = writes.import_facts(
            session,
            facts_of_rows(lines, columns, _FACT) if is_csv else lines,
            group_id=group,
            recorded=recorded,
            ontology=ontology,
            strict=strict,
            acknowledged=acknowledged,
        )
    return _tell(call, done, strict=strict)


def _import_export(
    call: Call, product: Any, file: str, *, group: str, recorded: bool, strict: bool, dry_run: bool
) -> int:
    with call.session() as session, _acknowledging(file, lambda _: None) as acknowledged:
        done = imports.import_export(
            session,
            product,
            Path(file),
            group_id=group,
            recorded=recorded,
            strict=strict,
            dry_run=dry_run,
            acknowledged=acknowledged,
        )
    if not call.as_json:
        show.line(
            f"new here: {done.entities} entities, {done.facts} facts, {done.messages} memories; "
            f"known {done.known}, left out {done.left_out}"
        )
    return _tell(call, done, strict=strict, numbered=False)  # the reasons begin with the place


@contextmanager
def _acknowledging(
    file: str, count: Callable[[Path], int | None] | None = None
) -> Iterator[Callable[[int, int], None]]:
    """Count what is acknowledged: a bar shows it meanwhile, and it is said where the work is interrupted.

    count: as of `counted`.
    """
    taken = 0
    try:
        with counted("acknowledged", file, count) as done:

            def acknowledged(accepted: int, seen: int) -> None:
                nonlocal taken
                taken = accepted
                done(seen)

            yield acknowledged
    except KeyboardInterrupt:
        show.talk(f"interrupted: the first {taken} good lines, at least, are on the log and stay")
        raise


def _tell(call: Call, done: Any, *, strict: bool, numbered: bool = True) -> int:
    if call.as_json:
        show.data(done.to_json())
    else:
        for refused in done.refused[:_SHOWN_REFUSALS]:
            show.talk(f"line {refused.line}: {refused.reason}" if numbered else refused.reason)
        if (more := len(done.refused) - _SHOWN_REFUSALS) > 0:
            show.talk(f"and {more} more")
        if done.parked:
            show.talk(f"{done.parked} of the accepted could not be read into facts: asof stats says why")
        kept = " (--strict: so none was taken)" if strict and done.refused else ""
        show.line(f"accepted {done.accepted}, refused {len(done.refused)}{kept}")
    return calls.FAILED if done.refused or done.parked else 0
