"""Checks of the servers that the settings name: Kafka's brokers with the topics, and ArangoDB. Nothing is changed."""

import asyncio
from collections.abc import Iterator

from asof.runtime.doctor import Diagnosis
from asof.runtime.graph_database import address_of
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams.errors import AsofError, NotFound


def examine_servers(settings: Settings) -> Iterator[Diagnosis]:
    """Yield a finding for each server that is set, and one for each fault of a topic."""
    if settings.kafka is not None:
        yield from _kafka(settings)
    if settings.in_arango:
        yield _arango(settings)


def _kafka(settings: Settings) -> Iterator[Diagnosis]:
    try:
        connection = connection_of(settings)
        from asof_streams.kafka.topics import Topics, check, check_rights

        topics = Topics(settings.kafka_prefix)
        findings = asyncio.run(check(connection, topics))
        missing = asyncio.run(check_rights(connection, topics))
    except AsofError as error:
        yield Diagnosis("kafka", "broken", str(error))
        return
    faults = [finding for finding in findings if finding.severity == "error"]
    warnings = len(findings) - len(faults)
    more = f", {warnings} warnings: asof topics check lists them" if warnings else ""
    yield Diagnosis("kafka", "ok", f"{settings.kafka} answers{more}")
    for fault in faults:
        found = f"{fault.setting} is {fault.found}, not {fault.wanted}: {fault.why}"
        yield Diagnosis(f"{fault.topic} {fault.setting}", "broken", found, fault.fix)
    for right in missing:
        yield Diagnosis(f"right {right}", "absent", "a worker needs it", f"Run: {right.remedy(connection)}")


def _arango(settings: Settings) -> Diagnosis:
    try:
        address = address_of(settings, DirectoryLayout(settings.data))
        assert address is not None, "the settings name a database"
        from asof_projections.graph.arango.administration import server_version

        version = server_version(address)
    except NotFound as error:
        return Diagnosis("arangodb", "absent", str(error), "asof graph create")
    except AsofError as error:
        return Diagnosis("arangodb", "broken", str(error))
    return Diagnosis("arangodb", "ok", f"{address.where}, version {version}")
