"""The command that makes and checks the topics of a memory on Kafka, and says how far they were read: topics."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json, Kafka

if TYPE_CHECKING:
    from asof.settings import Settings
    from asof_streams.kafka.connection import Connection
    from asof_streams.kafka.topic_rules import TopicFinding
    from asof_streams.kafka.topics import Topics


def topics(
    action: Annotated[
        Literal["check", "create", "lag"], typer.Argument(metavar="ACTION", help="What to do: check, create or lag.")
    ] = "check",
    generation: Annotated[
        list[str] | None,
        typer.Option("--generation", metavar="NAME", help="Once for each. create: main; check: all that are there."),
    ] = None,
    partitions: Annotated[
        int | None, typer.Option("--partitions", min=1, metavar="N", help="create: of each topic, for ever; else 1.")
    ] = None,
    replication: Annotated[
        int | None,
        typer.Option("--replication", min=1, metavar="N", help="create: copies; else 3, or as many as brokers."),
    ] = None,
    prefix: Annotated[
        str | None,
        typer.Option("--prefix", metavar="NAME", help="Of their names: asof, or what ASOF_KAFKA_PREFIX says."),
    ] = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> int:
    """Check the topics on Kafka, create those that are not there, or see how far a directory has read them."""
    from asof.runtime.wiring import connection_of
    from asof_projections.generations import FIRST
    from asof_streams.kafka.topics import Topics, check, create

    chosen = calls.settings(data, kafka=kafka, kafka_prefix=prefix)
    connection, names = connection_of(chosen), Topics(chosen.kafka_prefix)
    if action == "lag":
        _show_lag(_lag(chosen, connection, names), as_json=as_json)
        return 0
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
        _show_findings(findings)
    return calls.FAILED if any(finding.severity == "error" for finding in findings) else 0


def _show_findings(findings: Sequence["TopicFinding"]) -> None:
    """Print what was found; once, where it is the same of several topics."""
    alike: dict[TopicFinding, list[str]] = {}
    for finding in findings:
        alike.setdefault(replace(finding, topic=""), []).append(finding.topic)
    for finding, names in alike.items():
        show.line(f"{finding.severity}: {replace(finding, topic=', '.join(names))}")
    if not any(finding.severity == "error" for finding in findings):
        show.line("the topics keep what they must")


def _lag(chosen: "Settings", connection: "Connection", names: "Topics") -> list[dict[str, Any]]:
    """Return, of each partition, where it ends and how far the directory has read it, if it has."""
    from asof.runtime.layout import DirectoryLayout
    from asof.runtime.replica_manifest import places_of
    from asof_streams.kafka import state
    from asof_streams.kafka.topic_log import PartitionId
    from asof_streams.kafka.topics import ends

    rows: list[dict[str, Any]] = []
    for topic, offsets in asyncio.run(ends(connection, names)).items():
        for partition, end in enumerate(offsets):
            root = places_of(DirectoryLayout(chosen.data), partition, len(offsets)).root
            read = state.offsets(root / state.FILE).get(str(PartitionId(topic, partition)))
            behind = None if read is None else max(end - read, 0)
            rows.append({"topic": topic, "partition": partition, "end": end, "read": read, "behind": behind})
    return rows


def _show_lag(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        show.data(rows)
    else:
        show.table(("topic", "partition", "end", "read", "behind"), (tuple(row.values()) for row in rows))
