"""The believer of one partition: it follows the episodic topic, and writes the log and topic of one generation alone.

It may share a directory with the recorder of the partition, whose episodic log it reads then. Where no recorder is, it
copies the messages and the episodic topic itself, until one comes that wants the directory.
"""

import time
from contextlib import ExitStack
from secrets import token_hex
from typing import Final

from asof.kafka.encryption import find_keys, keep_keys, keys_of
from asof.kafka.inputs import InputChoice, InputReader, InputReplica
from asof.kafka.replica import adopt_generation, begin_catalog, list_generations
from asof.kafka.topic_logs import TopicPartitions
from asof.runtime.belief_writer import BeliefWriter, BuildTerms
from asof.runtime.extractors import extractor_factory
from asof.runtime.kept_ontologies import kept_ontology, restore_ontologies
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import PATIENCE
from asof.runtime.watchdog import Watchdog
from asof.runtime.wiring import load_ontology
from asof.settings import Settings
from asof_projections.generations import FIRST, Catalog, GenerationInfo
from asof_streams.errors import NotFound, UnavailableError
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.event_topic import EventTopic
from asof_streams.kafka.state import TopicProgress
from asof_streams.kafka.topics import Topics
from asof_streams.polling import looks
from asof_streams.writer_lock import AGENT, NAME, WriterLock

_WAIT_SECONDS: Final = 1.0  # for a recorder, whose events are on the topic already; then the caller asks again
_STEP: Final = 20_000  # offsets of the episodic topic copied before what they say is made known


class BelieverPartition:
    """A partition of one generation whose beliefs are derived here. Used by the thread that opened it.

    Opening it deposes whoever wrote the generation before. WriterBusy: another process has its folder. info: the
    description of a generation whose topic is empty; the settings describe the first. beside: whether a recorder works
    in this directory, and may be about to come to this partition. build: of one that is built; `ingest` raises
    BuildStopped where it is to stop.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        settings: Settings,
        connection: Connection,
        topics: Topics,
        partition: int,
        generation: str = FIRST,
        *,
        info: GenerationInfo | None = None,
        beside: bool = False,
        watchdog: Watchdog | None = None,
        build: BuildTerms | None = None,
    ) -> None:
        self._settings = settings
        self._watchdog = watchdog
        self._build = build
        self._offset = 0
        self._beliefs: BeliefWriter | None = None
        self._log: EventTopic | None = None  # of the beliefs
        self._opened_beliefs = ExitStack()
        with ExitStack() as opened:
            folder = places.generation(generation)
            for name in (AGENT, NAME):
                opened.callback(WriterLock(folder, patience=PATIENCE, name=name).release)
            client = opened.enter_context(Client(connection))
            keep_keys([places], find_keys(client, topics, keys_of(settings)))
            self._at = TopicPartitions(places, client, topics, partition)
            first = begin_catalog(places, settings, client, topics, partition)
            self._info = first
            if generation != FIRST:
                found = adopt_generation(places, client, topics, partition, generation) or info
                if found is None:
                    raise NotFound(f"no generation {generation!r} was begun: {topics.semantic(generation)} is empty")
                self._info = found
            restore_ontologies(places, Catalog(FIRST, (first, self._info)), load_ontology(settings.ontology))
            self._extractors = extractor_factory(settings)
            opened.callback(self._extractors.close)
            if info is not None:
                self._extractors.expect(self._info, kept_ontology(places.ontology_of(generation)))
            self._inputs = InputChoice(self._at, beside=beside)
            opened.callback(self._inputs.close)
            opened.callback(self._close_beliefs)
            self._opened = opened.pop_all()

    @property
    def offset(self) -> int:
        """The offset of the next record of the episodic topic to take."""
        return self._offset

    @property
    def parked(self) -> int:
        """The number of messages that this generation made nothing of, and that were not retried since."""
        return 0 if self._beliefs is None else self._beliefs.parked

    def ingest(self, records: list[Raw]) -> None:
        """Derive the beliefs of what is on the episodic topic up to the last of some records, or to its end.

        The records say only that they are there. A recorder that keeps the episodic log, and has not committed them
        yet, is waited for, for a second.
        """
        if records and records[-1].offset < self._offset:
            return
        wanted = records[-1].offset + 1 if records else self._at.client.end(*self._at.episodic)
        reached = self._inputs_up_to(wanted, _WAIT_SECONDS)
        if reached is None:
            return
        if self._beliefs is None:
            if isinstance(self._inputs.chosen, InputReader) and reached.offset < wanted:
                return  # its recorder has only begun
            reached = self._open_beliefs()
        assert self._beliefs is not None and self._log is not None  # noqa: PT018
        self._log.note_input(reached.position, reached.offset)
        self._beliefs.follow(reached.position)
        self._offset = reached.offset

    def _inputs_up_to(self, offset: int, patience: float) -> TopicProgress | None:
        """Return how far the inputs are, at an offset of the episodic topic or after some seconds; None: not at all."""
        reached: TopicProgress | None = None
        for pause in looks(patience):
            if not self._inputs.is_settled():
                self._close_beliefs()
                self._inputs.choose()
            inputs = self._inputs.chosen
            if isinstance(inputs, InputReplica):
                self._copy(inputs, offset)
                return inputs.reached()
            reached = inputs.reached() if inputs else None
            if reached is not None and reached.offset >= offset:
                break
            time.sleep(pause)
        return reached

    def _copy(self, inputs: InputReplica, offset: int) -> None:
        """Copy the episodic topic up to an offset at least, the messages that it is made from before it."""
        at, client = self._at, self._at.client
        end = min(max(client.end(*at.episodic), offset), inputs.episodic.offset + _STEP)
        inputs.catch_up({at.episodic: end, at.messages: client.end(*at.messages)})

    def _open_beliefs(self) -> TopicProgress:
        """Take the generation over, once the inputs have all that it was made from; return how far they are then."""
        at, inputs = self._at, self._inputs.chosen
        assert inputs is not None
        with ExitStack() as opened:
            state = opened.enter_context(at.state())
            log = at.semantic_topic(self._info.name, state, inputs.messages, inputs.episodic)
            opened.callback(log.close)
            log.take_over(token_hex(8))
            reached = self._inputs_up_to(at.client.end(*at.episodic), PATIENCE)
            if reached is None or inputs is not self._inputs.chosen:
                raise UnavailableError(f"{at.episodic}: the recorder is about to make its copy here anew")
            log.expect_input(at.episodic)
            log.go_on()
            beliefs = BeliefWriter(
                *(at.places, self._settings, self._info, inputs, self._extractors, lambda _: log, self._watchdog),
                build=self._build,
                source=at.episodic,
            )
            opened.callback(beliefs.close)
            self._log, self._beliefs, self._opened_beliefs = log, beliefs, opened.pop_all()
        list_generations(at.places, [self._info])
        return reached

    def _close_beliefs(self) -> None:
        self._beliefs = None
        self._opened_beliefs.close()

    def close(self) -> None:
        """Release the partition; the beliefs that were derived are visible."""
        self._opened.close()
