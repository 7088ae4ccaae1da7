"""The commands that ask how it came about: history, timeline, diff, why, changes."""

from typing import Annotated, Any, NamedTuple

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Group, Json, Kafka, KnownAt, moment
from asof_streams.errors import NotFound

_POINT = "As the world was at T, as known at K (all that is known, if not given)."


class Point(NamedTuple):
    """A point on both clocks."""

    valid: int
    known: int | None


def point(text: str) -> Point:
    """Read T, or T,K: a valid moment and a known one."""
    valid, comma, known = text.partition(",")
    return Point(moment(valid.strip()), moment(known.strip()) if comma else None)


def history(
    what: Annotated[str, typer.Argument(metavar="ID", help="Of a fact, as facts prints it; or an entity's name.")],
    group: Group = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show every version of a fact. When it held, when it was believed to, and what changed that."""
    with calls.existing(data, kafka) as memory:
        found = [rectangle.to_json() for rectangle in memory.history(what, group_id=group)]
    if not found:
        raise NotFound("no fact has this id, and no entity this name")
    if as_json:
        show.data(found)
        return
    show.table(
        ("fact", "from", "until", "believed from", "until", "because"),
        (
            (
                v["fact"],
                show.when(v["valid_at"]),
                show.when(v["invalid_at"]),
                show.when(v["known_from"]),
                show.when(v["known_to"]),
                " then ".join(turn["kind"] for turn in (v["opened"], v["closed"]) if turn),
            )
            for v in found
        ),
    )


def timeline(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of an entity.")],
    group: Group = None,
    relation: Annotated[str | None, typer.Option("--relation", metavar="NAME", help="Such as lives_in.")] = None,
    known_at: KnownAt = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show what held of an entity, and when. Period after period, with the gaps."""
    with calls.existing(data, kafka) as memory:
        found = [
            segment.to_json() for segment in memory.timeline(name, group_id=group, relation=relation, known_at=known_at)
        ]
    if as_json:
        show.data(found)
        return
    show.table(
        ("subject", "relation", "object", "from", "until"),
        (
            (
                s["subject"],
                s["relation"],
                s["object"] or "(unknown)",
                show.when(s["valid_at"]),
                show.when(s["invalid_at"]),
            )
            for s in found
        ),
    )


def diff(
    start: Annotated[Point, typer.Option("--from", metavar="T[,K]", parser=point, help=_POINT)],
    stop: Annotated[Point, typer.Option("--to", metavar="T[,K]", parser=point, help=_POINT)],
    group: Group = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show what differs between two points in time. Each change is began, ended, learned, retracted or revised."""
    with calls.existing(data, kafka) as memory:
        found = [change.to_json() for change in memory.diff(start, stop, group_id=group)]
    if as_json:
        show.data(found)
        return
    sides = [(change["change"], change["after"] or change["before"]) for change in found]
    show.table(
        ("change", "fact", "from", "until", "id"),
        (
            (change, fact["fact"], show.when(fact["valid_at"]), show.when(fact["invalid_at"]), fact["uuid"])
            for change, fact in sides
        ),
        nothing="no difference",
    )


def why(
    uuid: Annotated[str, typer.Argument(metavar="ID", help="A fact's id, as facts prints it.")],
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show the words that said a fact, and what became of it."""
    with calls.existing(data, kafka) as memory:
        found = memory.why(uuid).to_json()
    if as_json:
        show.data(found)
    else:
        explain(found)


def changes(
    since: Annotated[
        int, typer.Option("--since", min=-1, metavar="N", help="After the message at this position; -1 is all of them.")
    ] = -1,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="About this many; see `next`.")] = 1_000,
    group: Group = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show what came to be believed, and ceased to be. Message by message, in their order."""
    with calls.existing(data, kafka) as memory:
        found = memory.changes(since=since, limit=limit, group_id=group).to_json()
    if as_json:
        show.data(found)
        return
    show.table(
        ("message", "change", "fact", "from", "until", "id"),
        (
            (
                change["position"],
                "believed" if change["change"] == "opened" else "no longer",
                fact["fact"],
                show.when(fact["valid_at"]),
                show.when(fact["invalid_at"]),
                fact["uuid"],
            )
            for change in found["changes"]
            for fact in (change["fact"],)
        ),
        nothing="nothing changed",
    )
    show.talk(f"go on with --since {found['next']}")


def explain(found: dict[str, Any]) -> None:
    """Print why a fact is held, for people."""
    fact = found["fact"]
    show.line(f"{fact['fact']}  [{show.period(fact['valid_at'], fact['invalid_at'])}]")
    for number, evidence in enumerate(found["evidence"]):
        show.line(f"  {'said again' if number else 'said'} {_words(evidence)}")
    for consequence in found["consequences"]:
        ends = f" from {show.when(consequence['ends_at'])}" if consequence["ends_at"] else ""
        show.line(f"  {consequence['kind']}{ends} {_words(consequence['evidence'])}")


def _words(evidence: dict[str, Any] | None) -> str:
    if evidence is None:
        return "by words that are gone"
    speaker = f"{evidence['role']}: " if evidence["role"] else ""
    return f'{evidence["said_at"][:10]}, message {evidence["position"]}  {speaker}"{evidence["quote"]}"'
