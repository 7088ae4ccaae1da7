"""The command that makes and checks the topics of a memory on Kafka, and says how far they were read: topics."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json, Kafka

if TYPE_CHECKING:
    from asof_streams.kafka.topic_rules import Finding


def topics(
    action: Annotated[
        Literal["check", "create", "lag"], typer.Argument(metavar="ACTION", help="What to do.")
    ] = "check",
    generation: Annotated[
        list[str] | None,
        typer.Option(
            "--generation", metavar="NAME", help="Once for each: create makes main, check takes all there are."
        ),
    ] = None,
    partitions: Annotated[
        int | None, typer.Option("--partitions", min=1, metavar="N", help="create: of each topic; else 1. For ever.")
    ] = None,
    replication: Annotated[
        int | None,
        typer.Option("--replication", min=1, metavar="N", help="create: copies; else 3, or one a broker of fewer."),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option("--prefix", metavar="NAME", help="Of their names: asof, or what ASOF_KAFKA_PREFIX says."),
    ] = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> int:
    """Check the topics on Kafka, create those that are not there, or see what is left to read of them."""
    from asof.bootstrap import connection_of
    from asof_projections.generations import FIRST
    from asof_streams.kafka.topics import Topics, check, create

    chosen = calls.settings(data, kafka=kafka, kafka_prefix=prefix)
    connection, names = connection_of(chosen), Topics(chosen.kafka_prefix)
    made: list[str] = []
    if action == "create":
        generation = generation or [FIRST]
        made = asyncio.run(create(connection, names, generation, partitions=partitions, replication=replication))
    findings = asyncio.run(check(connection, names, generation))
    if as_json:
        found = [finding.to_json() for finding in findings]
        show.data({"created": made, "findings": found} if action == "create" else found)
    else:
        for name in made:
            show.line(f"created {name}")
        _show(findings)
    return calls.FAILED if any(finding.severity == "error" for finding in findings) else 0


def _show(findings: Sequence["Finding"]) -> None:
    """Print what was found, and what is the same of several topics once."""
    alike: dict[Finding, list[str]] = {}
    for finding in findings:
        alike.setdefault(replace(finding, topic=""), []).append(finding.topic)
    for finding, names in alike.items():
        show.line(f"{finding.severity}: {replace(finding, topic=', '.join(names))}")
    if not any(finding.severity == "error" for finding in findings):
        show.line("the topics keep what they must")
