"""The service behind the routes: the intake, the worker and the threads that answer, started and stopped together."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Final, Self, TypeVar

from asof.runtime import clock
from asof.runtime.child_process import Channel, ChildProcess
from asof.runtime.kept_ontologies import kept_ontology, ontology_names
from asof.runtime.layout import DirectoryLayout
from asof.runtime.span_names import POSITION
from asof.runtime.suppression import suppressed
from asof.runtime.wiring import load_ontology
from asof.service.children import StartChild
from asof.service.embedding import BackgroundEmbedder
from asof.service.intake import Intake, Log
from asof.service.long_questions import LongQuestions
from asof.service.reader import Reader
from asof.service.search_process import Searcher
from asof.service.session import Session
from asof.service.spans import submission_span
from asof.service.worker_handle import Run, Worker
from asof.settings import Settings
from asof_projections.model.answers import Hits, RetrievalMetrics
from asof_projections.model.prices import ModelBudget
from asof_streams.errors import InvalidInput, NotFound, UnavailableError
from asof_streams.messages import AnyMessage, ErasureRequest, RedactionRequest
from asof_streams.polling import looks
from asof_streams.resource_pool import ResourcePool
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest

_READERS: Final = 4
_PATIENCE_SECONDS: Final = 30.0  # for which a request waits for the worker
_ERASED_SECONDS: Final = 5.0  # for which it waits until what it erased has left the files, too
_SEEN_SECONDS: Final = 10.0  # for which what is on a topic may not be here yet

R = TypeVar("R")


class Service:
    """A memory that takes messages and answers, for the tasks of one event loop. Use it as a context manager.

    Its first start makes the directory. WriterBusy: another process writes there. `failed` is called, from a thread,
    when the worker ended because of an error, so that nothing is processed any more; `took` with the seconds that each
    message took; `retrieved` with what the steps of a search by the profile `pipeline` took. start_child: starts its
    processes.
    """

    def __init__(
        self,
        settings: Settings,
        failed: Callable[[], None],
        took: Callable[[Iterable[float]], None],
        retrieved: Callable[[RetrievalMetrics], None],
        start_child: StartChild = ChildProcess,
    ) -> None:
        places = self._places = DirectoryLayout(settings.data)
        self._settings = settings
        self._start_child = start_child
        self.ending = False
        self._long_turn = asyncio.Lock()  # so that few threads wait
        self.feeds: Counter[str] = Counter()  # open now, by the name of their key
        self._suppresses = settings.suppress_content
        with ExitStack() as stack:
            self._took = took
            self._retrieved = retrieved
            self._embedder: BackgroundEmbedder | None = None
            self._builds: list[ChildProcess] = []
            stack.callback(self._stop_builds)
            self.on_topics: Final = settings.kafka is not None
            read = settings.model_copy(update={"kafka": None})  # what is here, whoever keeps it up
            one = partial(Searcher, places, read, start_child)  # with one model, and one index
            self._searcher = ResourcePool("asof-searcher", one)
            stack.callback(self._searcher.close)
            if settings.embedder != "none":
                self._searcher.submit(Searcher.start)  # it reads its vectors while the worker opens the memory
            self.worker: Final = Worker(_run_of(settings), settings, self._reached, failed, start_child)
            stack.callback(self.worker.stop)

            def open_log() -> AbstractContextManager[Log]:
                if self.on_topics:
                    from asof.service.topic_log import Topic

                    return Topic(settings)
                return SqliteLog(places.messages, writable=True, term=self.worker.term)

            self._intake = Intake(open_log, self.worker.wake, settings.clock_years)
            stack.callback(self._intake.close)
            self._readers = ResourcePool("asof-reader", partial(Reader, places, read, clock.system), _READERS)
            stack.callback(self._readers.close)
            self._long_questions = LongQuestions(places, read, start_child)
            stack.callback(self._long_questions.end)
            if settings.embedder != "none":
                self._embedder = BackgroundEmbedder(self._searcher.submit, lambda: self.worker.busy)
                if self.worker.ready:
                    self._embedder.follow()
            own = load_ontology(settings.ontology) if self.on_topics else kept_ontology(places.ontology)
            self._own_ontology: Final = own
            self.ontologies: Final = sorted({own.id, *ontology_names(places)})  # that messages may be read with
            self._stack = stack.pop_all()

    async def take(self, messages: Sequence[AnyMessage], request: KeyedRequest | None = None) -> range:
        """Put messages on the log, durably; return their positions: those that the same request got before.

        Of none: where the next one will be.
        """
        if self._suppresses:
            messages = [suppressed(message) for message in messages]
        if not messages:
            return await asyncio.wrap_future(self._intake.put(messages, request))
        with submission_span(messages, is_captured=self._settings.trace_content) as span:
            positions = await asyncio.wrap_future(self._intake.put(messages, request))
            span.note({POSITION: positions.start})
        return positions

    async def take_and_see(self, messages: Sequence[AnyMessage], request: KeyedRequest | None = None) -> range:
        """Put messages on the log, and wait until their effect can be asked about; return their positions."""
        erases = any(isinstance(message, ErasureRequest | RedactionRequest) for message in messages)
        async with self._embedder.held() if erases and self._embedder else nullcontext():
            positions = await self.take(messages, request)
            await self.done(positions[-1])
        return positions

    def schema_of(self, ontology: str) -> str | None:
        """Return the id by which a message names an ontology; None: it is the memory's own, which needs no name.

        InvalidInput: no message can name it, such as another file than the memory was made with.
        """
        if ontology == self._own_ontology.id or ontology in self.ontologies:
            return None if ontology == self._own_ontology.id else ontology
        if load_ontology(ontology).id != self._own_ontology.id:
            raise InvalidInput(f"messages can be read with {', '.join(self.ontologies)}", field="ontology")
        return None

    def undisturbed(self) -> AbstractContextManager[None]:
        """Let a search that somebody waits for find the searcher free: nothing new is embedded until this is left."""
        return self._embedder.paused() if self._embedder else nullcontext()

    async def erase(self, groups: Sequence[str], request: KeyedRequest | None = None) -> bool:
        """Erase groups. Return whether no file here holds any of them; False: that is still to be done, and will be."""
        await self.take_and_see([ErasureRequest(group_id=group) for group in groups], request)
        return await self.erased()

    async def erased(self) -> bool:
        """Wait a moment until no file here holds anything that was erased; return whether it is so."""
        try:
            await asyncio.wait_for(asyncio.wrap_future(self.worker.erased()), _ERASED_SECONDS)
        except TimeoutError:
            return False
        return True

    async def earlier_positions(self, request: KeyedRequest | None) -> range | None:
        """Return the positions of the earlier request with this key; None: there was none, or it cannot be told now.

        It cannot on topics, and while the memory is being opened. InvalidInput: the key had another request.
        """
        if self.on_topics or not self.worker.ready:  # taking waits for neither, and does the same request once
            return None
        return await self._positions_of(request)

    async def made(self, request: KeyedRequest | None) -> bool:
        """Return whether a request was made before; if so, its effect can be asked about."""
        positions = await self._positions_of(request)
        if positions is not None:
            await self.done(positions[-1])
        return positions is not None

    async def _positions_of(self, request: KeyedRequest | None) -> range | None:
        return None if request is None else await self.ask(lambda reader: reader.positions_of(request))

    async def done(self, position: int, seconds: float = _PATIENCE_SECONDS) -> None:
        """Wait until a message is processed. UnavailableError: it is on the log, and still waits."""
        try:
            await asyncio.wait_for(asyncio.wrap_future(self.worker.done(position)), seconds)
        except TimeoutError:
            raise UnavailableError(f"message {position} is on the log and waits to be processed: ask later") from None

    async def settled(self, position: int) -> None:
        """Wait until a message that is on the log is processed. NotFound: there is none. UnavailableError: it waits."""
        if position >= self.worker.next and position >= (await self.take([])).start:
            raise NotFound(f"there is no message {position} to wait for")
        await self.done(position)

    async def seen(self, position: int) -> None:
        """Wait until a message that is on the log can be read here: a replica is a moment behind its topic."""
        if self.on_topics and position < (await self.take([])).start:
            for pause in looks(_SEEN_SECONDS):
                if position < await self.ask(lambda reader: reader.end()):
                    return
                await asyncio.sleep(pause)

    @property
    def embeds(self) -> bool:
        """Whether the embedder answered when it was last asked; without one, nothing is asked."""
        return self._embedder is None or not self._embedder.failure

    @property
    def progress(self) -> tuple[int, int]:
        """Return a number that grows whenever a message is accepted or processed."""
        return self._intake.taken, self.worker.next

    async def ask(self, question: Callable[[Reader], R]) -> R:
        """Answer a question. UnavailableError: the memory is still being opened."""
        await self._opened()
        return await asyncio.wrap_future(self._readers.submit(question))

    async def administer(self, work: Callable[[Session], R]) -> R:
        """Have something done by a session that may write, between two messages; pickle has to take it."""
        await self._opened()
        if self.on_topics:
            return await asyncio.to_thread(self._administer_topics, work)
        answer: R = await asyncio.wrap_future(await asyncio.to_thread(self.worker.call, work))
        return answer

    def _administer_topics(self, work: Callable[[Session], R]) -> R:
        with Session(self._places, self._settings, clock.system) as session:
            return work(session)

    def build(self, name: str, budget: ModelBudget) -> None:
        """Go on with a build in a process of its own, which ends with the service. OSError: it cannot be started.

        Called by the thread of the event loop, which lives as long as the process.
        """
        self._builds = [child for child in self._builds if not child.ended]
        self._builds.append(self._start_child(_build, self._settings, name, budget))

    def _stop_builds(self) -> None:
        for child in self._builds:
            child.kill()

    async def search(self, question: Callable[[Reader], R]) -> R:
        """Answer a question that needs the embedder, and that pickle can take. UnavailableError: as of `ask`."""
        await self._opened()
        answer = await asyncio.wrap_future(self._searcher.submit(lambda searcher: searcher.ask(question)))
        if isinstance(answer, Hits) and answer.metrics is not None:
            self._retrieved(answer.metrics)
        return answer

    async def ask_long(self, question: Callable[[Reader], R]) -> R:
        """Answer a question that takes long, and that pickle can take: others go on, and one such waits for another.

        UnavailableError: as of `ask`, or the service ends.
        """
        await self._opened()
        async with self._long_turn:
            return await asyncio.to_thread(self._long_questions.ask, question)

    async def _opened(self) -> None:
        if not self.worker.ready:
            try:
                await asyncio.wait_for(asyncio.wrap_future(self.worker.done(-1)), _PATIENCE_SECONDS)
            except TimeoutError:
                raise UnavailableError("this memory is being opened, which takes its time: ask later") from None

    def _reached(self, seconds: Sequence[float]) -> None:
        if self._embedder is not None:
            self._embedder.follow()
        self._took(seconds)

    def begin_to_end(self) -> None:
        """End feeds, and what takes long: the service ends once all that is asked is answered."""
        self.ending = True
        self._long_questions.end()

    def close(self) -> None:
        """Answer the open questions, log the accepted messages, and end after the message that is being processed."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _run_of(settings: Settings) -> Run:
    """Return the function that the worker's process runs."""
    return _process if settings.kafka is None else _follow


def _process(channel: Channel, settings: Settings) -> None:
    """Process messages; only the process that does so loads what derives beliefs."""
    from asof.service.worker_process import process

    process(channel, settings)


def _follow(channel: Channel, settings: Settings) -> None:
    """Follow the topics."""
    from asof.service.follower_process import follow

    follow(channel, settings)


def _build(channel: Channel, settings: Settings, name: str, budget: ModelBudget) -> None:
    """Go on with a build."""
    from asof.service.build_process import run_build

    run_build(channel, settings, name, budget)
