"""The commands that ask what holds: facts, search."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asof.cli import calls, show
from asof.cli.options import AnyTime, Data, Group, Json, Kafka, KnownAt, Limit, ValidAt
from asof.cli.write import lines_of
from asof_streams.errors import InvalidInput

if TYPE_CHECKING:
    from asof.memory import Memory

FIELDS: dict[str, tuple[str, type]] = {  # of a question in a batch: what the Python API calls it, and its type
    "group_id": ("group_id", str),
    "subject": ("about", str),
    "relation": ("relation", str),
    "object": ("object", str),
    "valid_at": ("valid_at", str),
    "known_at": ("known_at", str),
    "any_time": ("any_time", bool),
    "limit": ("limit", int),
}


def facts(
    group: Group = None,
    about: Annotated[str | None, typer.Option("--about", metavar="NAME", help="Whose facts: the subject.")] = None,
    relation: Annotated[str | None, typer.Option("--relation", metavar="NAME", help="Such as lives_in.")] = None,
    object_: Annotated[
        str | None, typer.Option("--object", metavar="NAME", help="The other end of the relation.")
    ] = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    any_time: AnyTime = False,
    limit: Limit = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="FILE",
            help="Answer many: lines of JSON with group_id, subject, relation, object, valid_at, known_at, any_time "
            "or limit. Prints a JSON array of facts for each, in order. Other fields are not looked at.",
        ),
    ] = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Ask which facts hold."""
    question: dict[str, Any] = {
        "group_id": group,
        "about": about,
        "relation": relation,
        "object": object_,
        "valid_at": valid_at,
        "known_at": known_at,
        "any_time": any_time,
        "limit": limit,
    }
    asked = {name: value for name, value in question.items() if value not in (None, False)}
    if batch is not None and asked:
        raise InvalidInput("--batch takes its questions from the file: leave the other options out")
    with calls.existing(data, kafka) as memory:
        if batch is not None:
            with lines_of(batch) as lines:
                _answer(memory, lines)
            return
        found = [fact.to_json() for fact in memory.facts(**asked)]
    if as_json:
        show.data(found)
    else:
        table(found)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or a question.")],
    group: Group = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    any_time: AnyTime = False,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="At most this many.")] = 10,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Find facts by meaning and by words, best first."""
    with calls.existing(data, kafka) as memory, show.progress("embedding") as progress:
        hits = memory.search(
            query,
            group_id=group,
            valid_at=valid_at,
            known_at=known_at,
            any_time=any_time,
            limit=limit,
            progress=progress,
        )
        found = [hit.to_json() for hit in hits]
    if as_json:
        show.data(found)
    else:
        table(found)


def table(found: Sequence[dict[str, Any]]) -> None:
    """Print facts for people; with their groups where there are several."""
    several = len({fact["group_id"] for fact in found}) > 1
    show.table(
        (*(["group"] if several else []), "fact", "from", "until", "known since", "id"),
        (
            (
                *([fact["group_id"]] if several else []),
                fact["fact"],
                show.when(fact["valid_at"]),
                show.when(fact["invalid_at"]),
                show.when(fact["created_at"]),
                fact["uuid"],
            )
            for fact in found
        ),
        nothing="no such fact, as of then",
    )


def _answer(memory: "Memory", lines: Iterable[bytes]) -> None:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = memory.facts(**_question(line))
        except InvalidInput as error:
            raise InvalidInput(str(error), field=f"line {number}") from None
        show.data([fact.to_json() for fact in found])


def _question(line: bytes) -> dict[str, Any]:
    from asof_streams.messages import check_group

    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidInput("not JSON") from None
    if not isinstance(fields, dict):
        raise InvalidInput("a question is one JSON object")
    asked: dict[str, Any] = {}
    for name, (known_as, type_) in FIELDS.items():
        value = fields.get(name)
        if value is None:
            continue
        if type(value) is not type_:
            raise InvalidInput(f"it must be a {type_.__name__}", field=name)
        asked[known_as] = value
    if "group_id" in asked:
        check_group(asked["group_id"])
    return asked
