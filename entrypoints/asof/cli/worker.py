"""The command that runs for ever: worker."""

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from asof.cli import calls, show
from asof.cli.options import Data, Json, Kafka
from asof.runtime.processes import log_to_stderr


def worker(
    projector: Annotated[
        bool, typer.Option("--projector", help="Only follow the topics into the directory; write to none of them.")
    ] = False,
    health: Annotated[bool, typer.Option("--health", help="Say how far the worker of this directory is.")] = False,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> int:
    """Take messages from Kafka and make what follows from them, until stopped."""
    chosen = calls.settings(data, kafka=kafka)
    if health:
        return _health(chosen.data, as_json=as_json)
    log_to_stderr("asof_agents")
    logging.getLogger("aiokafka").setLevel(
        logging.CRITICAL
    )  # ten lines a second where there is no broker: we say it once
    if projector:
        from asof.kafka.projector_process import project

        project(chosen)
    else:
        from asof.kafka.worker_process import work

        asyncio.run(work(chosen))
    return 0


def _health(root: Path, *, as_json: bool) -> int:
    from asof.runtime import clock
    from asof.runtime.replica_health import Health

    found = Health.read(root)
    well = found.well(clock.system())
    if as_json:
        show.data({"well": well, **found.to_json()})
    else:
        show.line("well" if well else "NOT WELL: it does not run, or cannot open a partition")
        show.table(("topic", "partition", "offset", "end"), found.partitions)
    return 0 if well else calls.FAILED
