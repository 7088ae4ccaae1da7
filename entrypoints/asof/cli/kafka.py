"""The commands for a memory on Kafka: topics, worker."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, Literal

import typer

from asof.cli import calls, show
from asof.cli.binding import command
from asof.cli.calls import Call
from asof.cli.tables import Table
from asof.operations import kafka as operations
from asof.operations.errors import InvalidInput

_LAGS: Final = Table(
    ("topic", "topic"), ("partition", "partition"), ("end", "end"), ("read", "read"), ("behind", "behind")
)

_REWRITTEN: Final = Table(("topic", "topic"), ("records", "records"), ("empty", "emptied"))


@command(
    operations.check_topics,
    operations.create_topics,
    operations.lag_of_topics,
    operations.rewrite_topics,
    settings=("kafka", "kafka_prefix"),
)
def topics(
    call: Call,
    action: Annotated[
        Literal["check", "create", "lag", "rewrite"],
        typer.Argument(metavar="ACTION", help="What to do: check, create, lag or rewrite."),
    ] = "check",
    *,
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
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", help="rewrite: the prefix of the new topics, which have nothing erased."),
    ] = None,
    encrypted: Annotated[
        bool, typer.Option("--encrypted", help="create: encrypt what is sent there, for ever, with keys of ASOF_KEYS.")
    ] = False,
    replies: Annotated[
        bool, typer.Option("--replies", help="create: also that of what a bot answers, which a worker then fills.")
    ] = False,
) -> int:
    """Check the topics on Kafka, create those that are not there, or see how far a directory has read them.

    `rewrite --to NAME` makes new topics of those that are there, in which an empty record stands for each that was
    erased.
    """
    if action == "lag":
        _show_lag(call)
        return 0
    if action == "rewrite":
        _rewrite(call, to)
        return 0
    made: list[str] = []
    if action == "create":
        made, findings = operations.create_topics(
            call.settings,
            generation or (),
            partitions=partitions,
            replication=replication,
            encrypted=encrypted,
            replies=replies,
        )
    else:
        findings = operations.check_topics(call.settings, generation or ())
    if call.as_json:
        found = [finding.to_json() for finding in findings]
        show.data({"created": made, "findings": found} if action == "create" else found)
    else:
        for name in made:
            show.line(f"created {name}")
        _show_findings(findings)
    return calls.FAILED if any(finding.severity == "error" for finding in findings) else 0


def _rewrite(call: Call, to: str | None) -> None:
    if to is None:
        raise InvalidInput("name the prefix of the new topics", field="to")
    done = operations.rewrite_topics(call.settings, to)
    if call.as_json:
        show.data([asdict(one) for one in done])
    else:
        _REWRITTEN(done)


def _show_lag(call: Call) -> None:
    lags = operations.lag_of_topics(call.settings)
    if call.as_json:
        show.data([lag.to_json() for lag in lags])
    else:
        _LAGS(lags)


def _show_findings(findings: Sequence[Any]) -> None:
    """Print what was found; once, where it is the same of several topics."""
    alike: dict[Any, list[str]] = {}
    for finding in findings:
        alike.setdefault(replace(finding, topic=""), []).append(finding.topic)
    for finding, names in alike.items():
        show.line(f"{finding.severity}: {replace(finding, topic=', '.join(names))}")
    if not any(finding.severity == "error" for finding in findings):
        show.line("the topics keep what they must")


@command(operations.work, operations.project, operations.health)
def worker(
    call: Call,
    *,
    projector: Annotated[
        bool, typer.Option("--projector", help="Only follow the topics into the directory; write to none of them.")
    ] = False,
    agents: Annotated[
        str | None,
        typer.Option("--agents", metavar="NAMES", help="Of recorder, believer, responder, with commas; else all."),
    ] = None,
    generation: Annotated[
        list[str] | None,
        typer.Option("--generation", metavar="NAME", help="Of believers, once for each; else all that have begun."),
    ] = None,
    health: Annotated[bool, typer.Option("--health", help="Say how far the worker of this directory is.")] = False,
) -> int:
    """Process messages from Kafka until stopped."""
    if health:
        return _health(call)
    if projector:
        operations.project(call.settings)
    else:
        operations.work(call.settings, () if agents is None else agents.split(","), generation or ())
    return 0


def _health(call: Call) -> int:
    found = operations.health(call.settings)
    if call.as_json:
        show.data(found)
    else:
        for said in [f"NOT WELL: {fault}" for fault in found["faults"]] or ["well"]:
            show.line(said)
        for said in found["spare"]:
            show.line(said)
        columns = ("agent", "generation", "topic", "partition", "offset", "end", "restarts")
        show.table(columns, ([one[column] for column in columns] for one in found["partitions"]))
    return 0 if found["well"] else calls.FAILED
