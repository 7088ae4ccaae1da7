"""The worker process: topics checked, its agents started, their state of health written beside the data."""

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from asof.kafka.control import Control, apply
from asof.kafka.encryption import find_keys, keep_keys, keys_of
from asof.kafka.membership import Membership
from asof.kafka.partition_process import (
    BelieverOpening,
    Opening,
    PartitionProcess,
    RecorderOpening,
    partition_server,
)
from asof.kafka.replica import adopt_generation, begin_catalog
from asof.kafka.topic_watch import LOOK_SECONDS, TopicWatch
from asof.kafka.worker_metrics import WorkerMetrics
from asof.runtime import bounded_run, clock
from asof.runtime.fork_server import ForkServer
from asof.runtime.kept_ontologies import expect_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_worker
from asof.runtime.replica_health import AGENT_FILES, FILE, ReplicaProgress, UnassignedAgent, write_health
from asof.runtime.replica_manifest import ReplicaManifest, keep, places_of
from asof.runtime.wiring import connection_of, load_ontology
from asof.settings import Settings
from asof_agents.worker import FaustWorker, NoPartition, PartitionProgress
from asof_projections.control import ControlState
from asof_projections.generations import FIRST, GenerationInfo
from asof_streams.errors import InvalidInput, NotFound, UnavailableError
from asof_streams.instants import SECOND
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import topic_not_found
from asof_streams.kafka.rights import require_rights
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check, check_rights
from asof_streams.key_store import KeyPlace

_CONTROL_SECONDS: Final = 1.0  # between two looks at the control topic

_log = logging.getLogger(__name__)


OpenResponder = Callable[[DirectoryLayout, Settings, Connection, Topics, int], Opening]
"""Returns the arguments of a responder's partition: the service above this floor has it."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What a worker does: `agents`, and the generations of its believers; none: all that have begun, and the first.

    infos: descriptions of generations whose topics are empty. responder: how a responder opens a partition. may_answer:
    whether to run one too where there is a topic for it, and content is kept.
    """

    agents: frozenset[str] = frozenset({"recorder", "believer"})
    generations: tuple[str, ...] = ()
    infos: tuple[GenerationInfo, ...] = ()
    responder: OpenResponder | None = None
    may_answer: bool = False

    def possible(self, settings: Settings) -> set[str]:
        """Return the agents that run, and the responder where it runs if there is a topic for it."""
        return {*self.agents, *(["responder"] if self.may_answer and not settings.suppress_content else [])}


class _Role(NamedTuple):
    """One agent of a worker: what it follows, as which consumer group, and how it opens a partition."""

    agent: str
    generation: str
    topic: str
    group: str
    opening: Callable[[int], Opening]


def run(settings: Settings, roles: Roles | None = None) -> None:
    """Run a worker in this process, as `work` says, and log to stderr."""
    log_worker(settings)
    bounded_run.run(work(settings, roles))


async def work(settings: Settings, roles: Roles | None = None) -> None:
    """Run agents between the topics until a signal says stop.

    TopicUnfit: a topic would lose history or order. AccessDenied: the broker does not let them do all that they do.
    """
    connection, topics, places = connection_of(settings), Topics(settings.kafka_prefix), DirectoryLayout(settings.data)
    roles = roles or Roles()
    possible = roles.possible(settings)
    server = partition_server()  # it imports while the topics are checked
    try:
        require_rights(connection, await check_rights(connection, topics, possible, roles.generations))
        require(await check(connection, topics))
        with ExitStack() as opened:
            client = await asyncio.to_thread(Client, connection)
            opened.callback(client.close)
            place = await asyncio.to_thread(find_keys, client, topics, keys_of(settings), writes=True)
            metrics = opened.enter_context(WorkerMetrics(settings.worker_metrics))
            worker = _Worker(settings, connection, topics, places, server, client, metrics, place)
            await worker.run(roles, opened)
    finally:
        server.kill()


class _Worker:
    """The agents of one process, each with a Faust application of its own."""

    def __init__(
        self,
        settings: Settings,
        connection: Connection,
        topics: Topics,
        places: DirectoryLayout,
        server: ForkServer,
        client: Client,
        metrics: WorkerMetrics,
        keys: KeyPlace | None,
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._topics = topics
        self._places = places
        self._server = server
        self._client = client
        self._metrics = metrics
        self._keys = keys
        self._topic_watch = TopicWatch(connection, topics)
        self._control = Control(client, topics)
        self._health = FILE
        self._reached: dict[str, list[ReplicaProgress]] = {}  # by consumer group
        self._unassigned: dict[str, UnassignedAgent] = {}  # by consumer group
        self._workers: dict[str, FaustWorker] = {}  # by consumer group
        self._runs: dict[str, asyncio.Task[None]] = {}  # of these
        self._left: set[str] = set()  # generations that it does not follow for

    async def run(self, roles: Roles, opened: ExitStack) -> None:
        """Run the agents until a signal, or until one of them fails."""
        client, topics = self._client, self._topics
        count = await asyncio.to_thread(client.partitions, topics.messages)
        keep(self._places.root, ReplicaManifest(topics.prefix, count))
        keep_keys([self._places], self._keys)
        membership = Membership(self._places.root)
        opened.callback(membership.release)
        self._health = next(file for agent, file in AGENT_FILES.items() if agent in roles.agents)
        for agent, file in AGENT_FILES.items():
            if agent in roles.agents and file != self._health:
                (self._places.root / file).unlink(missing_ok=True)  # of one that ran here before
        self._ended = asyncio.get_running_loop().create_future()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._end)
        state = await asyncio.to_thread(self._look_at_control, count)
        for role in await asyncio.to_thread(self._roles, roles, count, state):
            self._start(role, membership.name)
        looks = [
            asyncio.create_task(self._look()),
            asyncio.create_task(self._follow_control(roles, count, membership.name)),
        ]
        for look in looks:
            look.add_done_callback(self._end)
        try:
            await self._ended
        finally:
            runs = [*self._runs.values()]
            for worker in self._workers.values():
                worker.stop()
            if runs:
                await asyncio.wait(runs)
            for look in looks:
                look.cancel()
        for task in (*runs, *(look for look in looks if look.done() and not look.cancelled())):
            task.result()

    def _end(self, *_: object) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _start(self, role: _Role, member: str) -> None:
        worker = self._workers[role.group] = self._faust_worker(role, member)
        self._unassigned[role.group] = _unassigned(role, NoPartition(0, "the agent is starting", is_spare=False))
        run = self._runs[role.group] = asyncio.create_task(worker.run())
        run.add_done_callback(lambda ended: self._end() if ended in self._runs.values() else None)

    async def _stop(self, group: str) -> None:
        """Stop an agent whose generation was dropped; whatever it came to, nothing of it is left.

        Its topic is deleted when the group has no members: what it then still sent there would wait for half a minute.
        """
        worker, run = self._workers.pop(group), self._runs.pop(group)
        worker.finish()
        await asyncio.wait([run])
        run.exception()
        self._reached.pop(group, None)
        self._unassigned.pop(group, None)

    async def _follow_control(self, roles: Roles, count: int, member: str) -> None:
        """Follow for generations that are built while this runs, and no longer for those that are dropped."""
        while True:
            await asyncio.sleep(_CONTROL_SECONDS)
            with suppress(UnavailableError, NotFound):  # the broker is away, or a topic was deleted a moment ago
                state = await asyncio.to_thread(self._look_at_control, count)
                for name in state.dropped:
                    if (group := self._topics.believers(name)) in self._runs:
                        await self._stop(group)
                if "believer" in roles.agents and not roles.generations:
                    for name in state.built:
                        group = self._topics.believers(name)
                        if group not in self._runs and await asyncio.to_thread(self._can_follow, name, count):
                            beside = "recorder" in roles.agents
                            role = await asyncio.to_thread(self._believer, name, None, count, beside=beside)
                            self._start(role, member)

    def _look_at_control(self, count: int) -> ControlState:
        state = self._control.catch_up()
        apply(state, [places_of(self._places, partition, count) for partition in range(count)])
        return state

    def _roles(self, roles: Roles, count: int, control: ControlState) -> list[_Role]:
        settings, connection, topics = self._settings, self._connection, self._topics

        def recorder(partition: int) -> Opening:
            return RecorderOpening(places_of(self._places, partition, count), settings, connection, topics, partition)

        found: list[_Role] = []
        if "recorder" in roles.agents:
            found.append(_Role("recorder", "", topics.messages, topics.recorders, recorder))
        if "believer" in roles.agents:
            for generation in roles.generations or self._begun(count, control):
                info = next((info for info in roles.infos if info.name == generation), None)
                found.append(self._believer(generation, info, count, beside="recorder" in roles.agents))
        if "responder" in roles.agents or (roles.may_answer and self._can_answer()):
            found.append(self._responder(roles.responder, count))
        return found

    def _can_answer(self) -> bool:
        return self._client.partitions(self._topics.replies) > 0 and not self._settings.suppress_content

    def _responder(self, opening: OpenResponder | None, count: int) -> _Role:
        settings, connection, topics = self._settings, self._connection, self._topics
        if opening is None or settings.suppress_content:
            raise InvalidInput("a responder puts its words on a topic: have content kept", "suppress_content")
        if not self._client.partitions(topics.replies):
            raise topic_not_found(topics.replies, " --replies")

        def responder(partition: int) -> Opening:
            return opening(places_of(self._places, partition, count), settings, connection, topics, partition)

        return _Role("responder", "", topics.messages, topics.responders, responder)

    def _believer(self, generation: str, info: GenerationInfo | None, count: int, *, beside: bool) -> _Role:
        settings, connection, topics = self._settings, self._connection, self._topics
        if not self._client.partitions(topics.semantic(generation)):
            raise topic_not_found(topics.semantic(generation), f" --generation {generation}")

        def believer(partition: int) -> Opening:
            there = places_of(self._places, partition, count)
            return BelieverOpening(there, settings, connection, topics, partition, generation, info, beside)

        return _Role("believer", generation, topics.episodic, topics.believers(generation), believer)

    def _begun(self, count: int, control: ControlState) -> list[str]:
        """Return the generations that have begun and were not dropped, and the first."""
        gone = {FIRST, *control.dropped}
        others = [name for name in self._topics.generations_of(self._client.topics()) if name not in gone]
        topics = {name: [(self._topics.semantic(name), number) for number in range(count)] for name in others}
        begun = [name for name in others if any(self._client.ends(topics[name]).values())]
        return [FIRST, *(name for name in begun if self._can_follow(name, count))]

    def _can_follow(self, generation: str, count: int) -> bool:
        """Whether the ontology of a generation is known here: one that another machine built need not be."""
        there, client, topics = places_of(self._places, 0, count), self._client, self._topics
        begin_catalog(there, self._settings, client, topics, 0)  # with the first one, which answers until a switch
        info = adopt_generation(there, client, topics, 0, generation)
        if info is None:
            return True
        try:
            expect_ontology(there, info, load_ontology(self._settings.ontology))
        except InvalidInput as error:
            if generation not in self._left:
                _log.warning("generation %s is not followed for here: %s", generation, error)
            self._left.add(generation)
            return False
        self._left.discard(generation)
        return True

    def _faust_worker(self, role: _Role, member: str) -> FaustWorker:
        def open_partition(partition: int) -> PartitionProcess:
            return PartitionProcess(self._server, role.opening(partition), partition)

        def report(reached: list[PartitionProgress]) -> None:
            self._reached[role.group] = [
                ReplicaProgress(role.topic, *reach, role.agent, role.generation) for reach in reached
            ]
            self._unassigned.pop(role.group, None)
            if not reached and (why := worker.unassigned) is not None:
                self._unassigned[role.group] = _unassigned(role, why)
            progress = [reach for group in sorted(self._reached) for reach in self._reached[group]]
            unassigned = [self._unassigned[group] for group in sorted(self._unassigned)]
            self._metrics.health = write_health(
                self._places.root, progress, self._topic_watch.errors, unassigned, self._health
            )

        worker = FaustWorker(
            self._connection,
            role.topic,
            role.group,
            open_partition,
            end_of=lambda partition: self._client.end(role.topic, partition),
            report=report,
            patience=self._settings.worker_patience,
            folder=self._places.root,
            member=member,
            skims=role.agent == "believer",  # which reads the log
        )
        return worker

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self._topic_watch.look)


def _unassigned(role: _Role, why: NoPartition) -> UnassignedAgent:
    since = clock.system() - int(why.seconds * SECOND)
    return UnassignedAgent(role.topic, role.agent, role.generation, since, why.reason, why.is_spare)
