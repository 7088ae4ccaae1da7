"""The operations on Kafka: topics, and the processes that work between them.

Code that needs aiokafka is imported after `connection_of`. InvalidInput: no address of Kafka is set.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_worker
from asof.runtime.replica_health import ReplicaHealth
from asof.runtime.replica_manifest import places_of
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_projections.generations import FIRST, check_name
from asof_streams.errors import InvalidInput
from asof_streams.kafka.topic_rules import AGENTS, TopicFinding

if TYPE_CHECKING:
    from asof.kafka.topic_rewrite import TopicRewritten


def create_topics(
    settings: Settings,
    generations: Sequence[str],
    *,
    partitions: int | None,
    replication: int | None,
    encrypted: bool = False,
    replies: bool = False,
) -> tuple[list[str], list[TopicFinding]]:
    """Make the topics that are not there, of generation `main` if none is named.

    encrypted: whether their content is to be encrypted, with keys in the store of the settings. replies: whether
    there is to be one of what a bot answers. Return the names of those that were made, and what `check_topics` says
    then.
    """
    if encrypted and settings.keys is None:
        raise InvalidInput("name a folder for the store of keys, which every machine reaches: ASOF_KEYS", "keys")
    connection, wanted = connection_of(settings), [*(generations or [FIRST])]
    from asof_streams.kafka.topics import Topics, create

    names = Topics(settings.kafka_prefix)
    made = asyncio.run(
        create(connection, names, wanted, partitions=partitions, replication=replication, replies=replies)
    )
    if encrypted and settings.keys is not None:
        from asof.kafka.encryption import choose_encryption

        choose_encryption(connection, names, settings.keys)
    return made, check_topics(settings, wanted)


def check_topics(settings: Settings, generations: Sequence[str]) -> list[TopicFinding]:
    """Return each setting by which a topic would lose history or order, of all generations if none is named.

    And as warnings the rights that a worker would lack.
    """
    connection = connection_of(settings)
    from asof_streams.kafka.topics import Topics, check, check_rights

    topics = Topics(settings.kafka_prefix)
    findings = asyncio.run(check(connection, topics, [*generations] or None))
    missing = asyncio.run(check_rights(connection, topics, generations=generations))
    return [*findings, *(right.finding(connection) for right in missing), *_unfinished_rewrite(settings)]


def _unfinished_rewrite(settings: Settings) -> list[TopicFinding]:
    """Return the finding of topics that are being made of others."""
    from asof.kafka.topic_rewrite import source_of
    from asof_streams.kafka.topics import Topics

    source, target = source_of(connection_of(settings), Topics(settings.kafka_prefix)), settings.kafka_prefix
    if source is None:
        return []
    why = f"what stood on {source}.* is not all there, and no worker begins on a part of it"
    fix = f"Run: asof topics rewrite --prefix {source} --to {target}"
    return [TopicFinding(f"{target}.control", "rewrite", "under way", "done", why, fix)]


def rewrite_topics(settings: Settings, to: str) -> "list[TopicRewritten]":
    """Make topics of another prefix that have all of these but what was erased; return what was done of each.

    No worker may run, and each has to have answered all that there is. A rewrite that was interrupted is gone on with.
    InvalidInput: the other topics are used already. UnavailableError: workers run or lag, or the topics have changed
    since the rewrite was begun.
    """
    connection = connection_of(settings)
    from asof.kafka.topic_rewrite import TopicRewrite
    from asof_streams.kafka.client import Client
    from asof_streams.kafka.topics import Topics

    with Client(connection) as client:
        return TopicRewrite(client, Topics(settings.kafka_prefix), Topics(to)).run()


@dataclass(frozen=True, slots=True)
class Lag:
    """The progress of a directory in a partition of a topic; None: it has read nothing."""

    topic: str
    partition: int
    end: int
    read: int | None
    behind: int | None

    def to_json(self) -> dict[str, Any]:
        """Return it as every door shows it."""
        return asdict(self)


def lag_of_topics(settings: Settings) -> list[Lag]:
    """Return, of each partition, where it ends and how far the directory has read it."""
    connection = connection_of(settings)
    from asof_streams.kafka import state
    from asof_streams.kafka.topic_log import PartitionId
    from asof_streams.kafka.topics import Topics, ends

    lags: list[Lag] = []
    for topic, offsets in asyncio.run(ends(connection, Topics(settings.kafka_prefix))).items():
        for partition, end in enumerate(offsets):
            root = places_of(DirectoryLayout(settings.data), partition, len(offsets)).root
            read = state.offsets(root / state.FILE).get(str(PartitionId(topic, partition)))
            lags.append(Lag(topic, partition, end, read, None if read is None else max(end - read, 0)))
    return lags


def work(settings: Settings, agents: Sequence[str] = (), generations: Sequence[str] = ()) -> None:
    """Run agents between the topics until SIGTERM or SIGINT.

    agents: `recorder` makes episodes of messages, `believer` makes beliefs of episodes, `responder` answers messages;
    none: the first two, and the third where there is a topic for it. generations: those that are believed; none: all
    that have begun, and the first. InvalidInput: there is no such agent, or a recorder is to have a generation.
    NotFound: there is no such generation, or no topic for answers. TopicUnfit: a topic would lose history or order.
    """
    if not {*agents} <= {*AGENTS}:
        raise InvalidInput(f"the agents are {', '.join(AGENTS)}", "agents")
    if generations and agents and "believer" not in agents:
        raise InvalidInput("a recorder writes no generation: leave it out, or run a believer", "generation")
    for name in generations:
        check_name(name, "generation")
    connection_of(settings)
    from asof.kafka.worker_process import Roles, run
    from asof.service.topic_responder import ResponderOpening

    chosen = frozenset(agents or AGENTS[:2])
    run(settings, Roles(chosen, tuple(generations), responder=ResponderOpening, may_answer=not agents))


def project(settings: Settings) -> None:
    """Follow the topics into the directory until SIGTERM or SIGINT; write to none of them."""
    from asof.kafka.projector_process import project as run

    log_worker(settings)
    run(settings)


def health(settings: Settings) -> dict[str, Any]:
    """Return how far the worker or projector of the directory is, and what is wrong with it. NotFound: none ever ran.

    It is well, where `faults` is empty. An agent that is spare has no partition, and is well.
    """
    found, now = ReplicaHealth.read(settings.data), clock.system()
    faults = found.faults(now)
    spare = [each.sentence(now) for each in found.unassigned if each.is_spare]
    return {"well": not faults, "faults": faults, "spare": spare, **found.to_json()}
