"""Every question a memory answers, each fixed once to a moment on both clocks: valid (now) and known (so far)."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from asof.runtime.layout import DirectoryLayout
from asof.runtime.readers import Sources
from asof.runtime.wiring import Progress, existing, open_log, open_reader
from asof.settings import Settings
from asof_projections.generations import Catalog, GenerationInfo
from asof_projections.rows import Community, Entity, Fact, Moment
from asof_streams import instants
from asof_streams.errors import InvalidInput, UnavailableError
from asof_streams.events import Record
from asof_streams.messages import FactStatement, accept
from asof_streams.tail import tail

if TYPE_CHECKING:
    from asof.runtime.integrity import Check
    from asof_projections.queries.answers import ChangesPage, Level, Portrait, Rectangle
    from asof_projections.queries.diffs import Change
    from asof_projections.queries.evidence import Why
    from asof_projections.queries.hypothesis import WhatIf
    from asof_projections.queries.timelines import Believed, Segment
    from asof_projections.retrieval.search import Hit

Time = str | date | datetime | int
LogName = Literal["messages", "episodic", "semantic"]

HEAD = instants.INF - 1  # as known so far: after everything that was recorded


def instant(time: Time) -> int:
    """Return a time given at the door as microseconds: text (RFC 3339, or a date, month or year), datetime or int.

    A date means its first instant in UTC. InvalidInput: it is nothing of these.
    """
    match time:
        case bool():
            pass
        case int() if instants.NEG <= time <= instants.INF:
            return time
        case datetime():
            return instants.from_datetime(time)
        case date():
            return instants.parse_moment(time.isoformat())
        case str():
            return instants.parse_moment(time)
    raise InvalidInput("a time is RFC 3339 text, a date, an aware datetime, or microseconds since 1970 as an int")


class MemoryQueries:
    """The reading half of Memory. It holds no lock, and sees every message that was acknowledged.

    With the setting `kafka` each question sees what was on the topics when it was asked, or a twentieth of a second
    before, as far as workers had answered it, unless another process keeps the directory up. Where the topics have
    several partitions a question has to name its group, but for those about one fact, by its id, and those about the
    whole.
    """

    def __init__(self, places: DirectoryLayout, settings: Settings, now: Callable[[], int]) -> None:
        self._places = places
        self._settings = settings
        self._now = now
        self._sources = Sources(places, settings)

    # as of a moment

    def facts(
        self,
        *,
        group_id: str | None = None,
        about: str | None = None,
        relation: str | None = None,
        object: str | None = None,  # noqa: A002 - the word of the command line, and of a fact's JSON
        valid_at: Time | None = None,
        known_at: Time | None = None,
        any_time: bool = False,
        limit: int | None = None,
    ) -> list[Fact]:
        """Return the facts that hold: `about` names their subject. `any_time` lifts valid time."""
        at = self._moment(valid_at, known_at, any_time=any_time)
        return self._sources.ask(group_id).facts(
            at, group_id, about=about, relation=relation, object_=object, limit=limit
        )

    def search(
        self,
        query: str,
        *,
        group_id: str | None = None,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        any_time: bool = False,
        limit: int = 10,
        progress: Progress | None = None,
    ) -> "list[Hit]":
        """Return the facts that hold and fit a question best, by words and by meaning. `any_time` lifts valid time."""
        source = self._sources.of(group_id)
        at = self._moment(valid_at, known_at, any_time=any_time)
        return source.search(query, at, group_id, limit, progress)

    def entities(
        self,
        *,
        group_id: str | None = None,
        like: str | None = None,
        known_at: Time | None = None,
        limit: int | None = None,
    ) -> list[Entity]:
        """Return the entities that are known, first introduced first; `like`: those with the nearest names, 10 of them.

        Names are compared by meaning; where the embedder is the lexical one, by their letters.
        """
        if like is not None:
            return self._sources.of(group_id).like(like, self._known(known_at), group_id, limit or 10)
        return self._sources.ask(group_id).entities(self._known(known_at), group_id, limit=limit)

    def entity(
        self,
        name: str,
        *,
        group_id: str | None = None,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        limit: int | None = None,
    ) -> "list[Portrait]":
        """Return what is known of everything called so: names, merges, mentions, a summary, attributes, facts."""
        return self._sources.ask(group_id).entity(name, self._moment(valid_at, known_at), group_id, limit=limit)

    def communities(
        self, *, group_id: str | None = None, known_at: Time | None = None, limit: int | None = None
    ) -> list[Community]:
        """Return the communities that are known with their members, those formed first first."""
        return self._sources.ask(group_id).communities(self._known(known_at), group_id, limit=limit)

    def neighbourhood(
        self,
        name: str,
        hops: int = 2,
        *,
        group_id: str | None = None,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        limit: int | None = None,
    ) -> "list[Level]":
        """Return the facts around a name, step by step away from it, all as of one moment."""
        return self._sources.ask(group_id).neighbourhood(
            name, hops, self._moment(valid_at, known_at), group_id, limit=limit
        )

    # over valid time

    def overlapping(
        self, start: Time, stop: Time, *, group_id: str | None = None, known_at: Time | None = None, **of: Any
    ) -> list[Fact]:
        """Return what holds at some instant of [start, stop); `of`: about, relation, limit."""
        return self._sources.ask(group_id).overlapping(
            instant(start), instant(stop), self._known(known_at), group_id, **of
        )

    def throughout(
        self, start: Time, stop: Time, *, group_id: str | None = None, known_at: Time | None = None, **of: Any
    ) -> "list[Segment]":
        """Return what holds at every instant of [start, stop); `of`: about, relation."""
        return self._sources.ask(group_id).throughout(
            instant(start), instant(stop), self._known(known_at), group_id, **of
        )

    def timeline(
        self,
        name: str,
        *,
        group_id: str | None = None,
        relation: str | None = None,
        known_at: Time | None = None,
    ) -> "list[Segment]":
        """Return what held of a name and when, slot by slot, gaps included."""
        return self._sources.ask(group_id).timeline(name, self._known(known_at), group_id, relation=relation)

    # over known time

    def history(self, what: str, *, group_id: str | None = None) -> "list[Rectangle]":
        """Return every version of a fact (by id) or of an entity's facts (by name), with what made each."""
        sources = [self._sources.of(group_id)] if group_id is not None else self._sources.every()
        return [found for source in sources for found in source.opened().questions.history(what, group_id)]

    def known_history(self, fact: str, *, valid_at: Time | None = None) -> "list[Believed]":
        """Return when a fact was believed to hold at `valid_at` (None: at any time)."""
        valid = None if valid_at is None else instant(valid_at)
        return self._sources.find(lambda questions: questions.known_history(fact, valid))

    def diff(
        self,
        first: tuple[Time, Time | None],
        second: tuple[Time, Time | None],
        *,
        group_id: str | None = None,
        about: str | None = None,
        relation: str | None = None,
    ) -> "list[Change]":
        """Return what differs between two moments (valid, known), each change under one label."""
        one, other = (Moment(instant(valid), self._known(known)) for valid, known in (first, second))
        return self._sources.ask(group_id).diff(one, other, group_id, about=about, relation=relation)

    def changes(self, *, since: int = -1, limit: int = 1_000, group_id: str | None = None) -> "ChangesPage":
        """Return what messages after position `since` changed, in order, and where to go on from."""
        return self._sources.ask(group_id).changes(since, limit, group_id)

    def why(self, fact: str, *, known_at: Time | None = None) -> "Why":
        """Return the words that a fact rests on, and those behind what became of it."""
        known = None if known_at is None else instant(known_at)
        return self._sources.find(lambda questions: questions.why(fact, known))

    def what_if(self, statements: Iterable[dict[str, Any]], *, group_id: str) -> "WhatIf":
        """Return what would be believed with these structured facts added; nothing is written."""
        said = [accept(FactStatement, {"group_id": group_id, **fields}) for fields in statements]
        return self._sources.ask(group_id).what_if(said, group_id, self._now())

    # the logs and the whole

    def events(
        self,
        log: LogName = "semantic",
        start: int = 0,
        stop: int | None = None,
        *,
        follow: bool = False,
        generation: str | None = None,
        partition: int | None = None,
    ) -> Iterator[Record]:
        """Replay a log from a position; `follow`: then wait for more, without end.

        `partition`: whose log, where there are several.
        """
        source = self._sources.partition(partition)
        source.settle()
        with open_log(source.places, log, generation) as opened:
            if follow and stop is None:
                yield from tail(opened, start, wait=self._wait)
            else:
                yield from opened.read(start, stop)

    def generations(self) -> list[GenerationInfo]:
        """Return the generations, oldest first."""
        return list(self._any_catalog().generations)

    def active(self) -> str:
        """Return the name of the generation that answers."""
        return self._any_catalog().active

    def digest(self, generation: str | None = None) -> str:
        """Return the SHA-256 of all that a generation believes: equal for equal builds of equal logs.

        With several partitions it is the SHA-256 of theirs, in order.
        """
        digests = []
        for source in self._sources.every():
            source.settle()
            opened = open_reader(source.places, self._settings, generation)
            try:
                digests.append(opened.beliefs.digest())
            finally:
                opened.close()
        return digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()

    def stats(self) -> dict[str, Any]:
        """Return how much there is, how far each log and store has come, and what was parked and why."""
        from asof.runtime.integrity import stats, together

        sources = self._sources.every()
        for source in sources:
            source.settle()
        found = [stats(source.places) for source in sources]
        return found[0] if len(found) == 1 else together(found, [source.places.root.name for source in sources])

    def verify(self, *, progress: Progress | None = None) -> "list[Check]":
        """Check every hash chain, and that every store equals one built anew from its log."""
        from asof.runtime.integrity import verify

        found: list[Check] = []
        sources = self._sources.every()
        for source in sources:
            source.settle()
            where = f"{source.places.root.name}: " if len(sources) > 1 else ""
            found += (replace(check, what=where + check.what) for check in verify(source.places, progress))
        return found

    def export(
        self,
        form: Literal["json", "graphml"] = "json",
        *,
        episodic: bool = False,
        group_id: str | None = None,
        valid_at: Time | None = None,
        known_at: Time | None = None,
    ) -> Iterator[str]:
        """Yield the graph as text: what is believed as of a moment, or what was recorded."""
        from asof_projections.queries import export

        if episodic and form != "json":
            raise InvalidInput("--format: the episodic graph is exported as json")
        opened = self._sources.of(group_id).opened()
        if episodic:
            return export.episodic(opened.episodes, group_id)
        write = export.semantic_graphml if form == "graphml" else export.semantic_json
        return write(opened.beliefs, group_id, self._moment(valid_at, known_at))

    # moments, and what is open

    def _moment(self, valid_at: Time | None, known_at: Time | None, *, any_time: bool = False) -> Moment:
        valid = None if any_time else self._now() if valid_at is None else instant(valid_at)
        return Moment(valid, self._known(known_at))

    def _known(self, known_at: Time | None) -> int:
        return HEAD if known_at is None else instant(known_at)

    def _any_catalog(self) -> Catalog:
        return existing(self._sources.every()[0].places)

    def _wait(self, seconds: float) -> None:
        with suppress(UnavailableError):  # it may come back; until then nothing comes
            self._sources.every()
        time.sleep(seconds)

    def _close_reader(self) -> None:
        self._sources.close()
