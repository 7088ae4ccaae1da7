"""Recollection: what a memory knows that fits a message, gathered for a reply in the process that searches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from asof.runtime.wiring import Opened, open_log
from asof.service.contexts import context_of, search_for_changes
from asof.service.goal_owners import GoalOwners
from asof.service.pending_changes import PendingChanges
from asof.service.read_sessions import ReadSession
from asof.service.reader import Reader
from asof.service.told_facts import facts_to_tell
from asof_agents.conversation.archetypes import EXAMPLES, Archetype, choose
from asof_agents.conversation.material import ReplyMaterial, ShownFact, ShownObjective
from asof_agents.conversation.questions import asks_about_speaker, asks_for_goals, asks_when, is_question
from asof_projections.conversation.model import MessageChange
from asof_projections.model.answers import Fact, Hit, Hits
from asof_projections.model.queries import MAX_QUERY, ContextQuery, FactsQuery, ask
from asof_projections.model.rows import FactRow, Moment, ObjectiveRow
from asof_projections.ports import BeliefStore
from asof_projections.queries.consistent_read import one_state
from asof_projections.retrieval.context import search_of
from asof_streams.errors import EmptyMemory, NotFound
from asof_streams.instants import DAY, INF, NEG, from_datetime, to_datetime
from asof_streams.messages import Message
from asof_streams.timezones import zone_of

if TYPE_CHECKING:
    from asof_agents.conversation.asked_times import AskedPeriod

F = TypeVar("F", Fact, FactRow, Hit, Fact | FactRow)

_OF_ANY_TIME: Final = 100  # facts, and as many turns, of which those of a period are chosen
_OF_SPEAKER: Final = 20  # facts that answer what is known about the speaker
_OBJECTIVES_AT_FIRST: Final = 100  # that are read to find the speaker's own
_RELATED: Final = 20  # facts around those, at most
_CONTEXT_TOKENS: Final = 800  # a fortieth as many facts are looked at, for the context and for those that fit
_OBJECTIVES: Final = 3  # that fit
_ASKED_OBJECTIVES: Final = 10
# The least cosine of an objective that fits. By all-MiniLM-L6-v2 "become a machine learning engineer" has 0.42 with a
# question about courses on neural networks, and what has nothing to do with an objective at most 0.3.
_LIKE: Final = 0.35


@dataclass(frozen=True, slots=True)
class RecollectionQuery:
    """Ask a memory for what fits a message of a group; a function of a reader, which pickle can take.

    speaker: the name of who says it. before: what was recorded then or later, such as the message itself, is not
    remembered. with_context: also one text of all that is known about it, for a prompt; without, the facts are those
    that a template tells. changes: edits and deletions in the group, with those that are not believed yet; nothing of
    what these take back is remembered. said_at: when it is said; if it asks about another time, facts are of that time.
    None: it is no question.
    """

    group: str
    text: str
    speaker: str
    before: int
    with_context: bool
    changes: tuple[MessageChange, ...] = ()
    said_at: int | None = None

    def __call__(self, reader: Reader) -> ReplyMaterial:
        """Return what was known, of the archetype of the message; of an empty memory nothing, without turns."""
        try:
            source = reader.of(self.group)
            opened = source.opened()
        except EmptyMemory:
            return ReplyMaterial()
        with one_state(opened.beliefs), one_state(opened.episodes):
            return self._recollect(reader, source)

    def _recollect(self, reader: Reader, source: ReadSession) -> ReplyMaterial:
        known, believed = source.reached(self.group)
        question = self.text[:MAX_QUERY]
        archetype = choose(source.similarities(question, [example for _, example in EXAMPLES]))
        if known == NEG:
            return ReplyMaterial(archetype=archetype.name)
        period = self._period(reader)
        now = reader.now()
        at = Moment(now if period is None else period.moment(now), min(known, self.before - 1))
        moment = {"valid_at": at.valid, "known_at": at.known}
        asked = ask(ContextQuery, {"query": question, "group_id": self.group, "budget": _CONTEXT_TOKENS, **moment})
        pending = PendingChanges.of(source, self.group, self.changes, believed)
        hits = pending.shown(self._search(source, asked, at, period))
        facts = pending.standing(self._facts(source, hits, archetype, at, period))
        related = pending.standing(_related(source.opened().beliefs, self.group, facts, at, archetype.triple_depth))
        context = self._context(source, asked, at, hits, pending) if self.with_context else ""
        objectives = self._aims(source, at, archetype, pending)
        found = tuple(map(self._shown, facts) if period is None else map(_shown_with_days, sorted(facts, key=_span)))
        name = "" if period is None else period.name
        return ReplyMaterial((), found, tuple(map(shown, related)), context, archetype.name, objectives, name)

    def _shown(self, fact: Fact | FactRow) -> ShownFact:
        """Return a fact as it is shown, for a template with its days, where these answer or are a part of what it says.

        A prompt has the days in its context.
        """
        is_of_a_time = fact.planned or fact.occurrence or asks_when(self.text)
        return _shown_with_days(fact) if is_of_a_time and not self.with_context else shown(fact)

    def _period(self, reader: Reader) -> "AskedPeriod | None":
        """Return the period that the message asks about, by the days of its group."""
        if self.said_at is None or not is_question(self.text):
            return None
        from asof_agents.conversation.asked_times import asked_period  # rules that nothing else here needs

        return asked_period(self.text[:MAX_QUERY], self.said_at, ZoneOf(self.group)(reader))

    def _search(self, source: ReadSession, asked: ContextQuery, at: Moment, period: "AskedPeriod | None") -> Hits[Hit]:
        """Return what fits the message, at a moment, or of a whole period, for which more is looked at."""
        query = search_of(asked, at).model_copy(update={"over": "both" if self.with_context else "facts"})
        if period is None:
            return source.search(query, at)
        whenever = {"valid_at": None, "any_time": True, "limit": _OF_ANY_TIME}
        hits = source.search(query.model_copy(update=whenever), Moment(None, at.known))
        then = Hits(_of_period(hits, period)[: query.limit], hits.episodes[: query.limit])
        then.probable, then.unavailable, then.vectors_behind = hits.probable, hits.unavailable, hits.vectors_behind
        return then

    def _context(
        self, source: ReadSession, asked: ContextQuery, at: Moment, hits: Hits[Hit], pending: PendingChanges
    ) -> str:
        """Return the text of a context, which shows no probability of what changed."""
        changed = pending.shown(source.rank(*search_for_changes(asked, at)))
        return context_of(source, asked, at, hits, changed, None, pending.ids).text

    def _facts(
        self, source: ReadSession, hits: Hits[Hit], archetype: Archetype, at: Moment, period: "AskedPeriod | None"
    ) -> Sequence[Fact | FactRow]:
        """Return the facts that fit the message, as many as the archetype says; of the speaker, if asked, more."""
        fitting: Sequence[Fact | FactRow] = _fitting(hits, archetype)
        if not self.with_context:
            goals = asks_for_goals(self.text)
            when = at if period is None else at._replace(valid=None)
            fitting = [] if goals else facts_to_tell(source, self.group, self.speaker, self.text, fitting, when)
            fitting = fitting if period is None else _of_period(fitting, period)
            if asks_about_speaker(self.text):
                return fitting[:_OF_SPEAKER]
        return fitting[: archetype.vector_limit]

    def _aims(
        self, source: ReadSession, at: Moment, archetype: Archetype, pending: PendingChanges
    ) -> tuple[ShownObjective, ...]:
        """Return the objectives to show: those that are like the message in meaning, no more than the archetype says.

        To a question about the speaker, or the speaker's goals: the speaker's own, the most salient first.
        """
        limit = min(_OBJECTIVES, archetype.vector_limit)
        known = INF - 1 if at.known is None else at.known
        if asks_for_goals(self.text) or asks_about_speaker(self.text):
            own = self._own_objectives(source.opened(), known, pending)
            return tuple(ShownObjective(row.uuid, row.description) for row in islice(own, _ASKED_OBJECTIVES))
        rows = source.objectives(self.text[:MAX_QUERY], self.group, known, _LIKE, limit) if limit else []
        return tuple(_aims_of(source.opened(), self.group, pending.pursued(rows), self.speaker))

    def _own_objectives(self, opened: Opened, known: int, pending: PendingChanges) -> Iterator[ObjectiveRow]:
        """Yield the speaker's objectives, the most salient first. One whose owner is unknown is nobody's."""
        for page in _pages(opened.beliefs, self.group, known):
            rows = pending.pursued(page)
            owners = GoalOwners.of(opened, self.group, rows)
            yield from (row for row in rows if owners.owns(self.speaker, row))


def _fitting(hits: Hits[Hit], archetype: Archetype) -> list[Hit]:
    """Return the facts that answer a message probably, and those that are similar enough, the best first."""
    least = archetype.similarity_threshold
    return [hit for hit in hits if hit.uuid in hits.probable or (hit.scores.meaning or 0.0) >= least]


def _of_period(facts: Iterable[F], period: "AskedPeriod") -> list[F]:
    """Return the facts that held or happened at some time within a period, in their order."""
    return [fact for fact in facts if period.overlaps(*_span(fact))]


def _span(fact: Fact | FactRow) -> tuple[int, int]:
    if isinstance(fact, FactRow):
        return fact.valid_at, fact.invalid_at
    start, end = fact.valid_at, fact.invalid_at
    return NEG if start is None else from_datetime(start), INF if end is None else from_datetime(end)


def _shown_with_days(fact: Fact | FactRow) -> ShownFact:
    """Return a fact with the day on which it is, or the days from and until which it holds, as far as they are told.

    Of what happened within a month or a year these are named.
    """
    start, end = _span(fact)
    if start + DAY == end:
        return _shown_with(fact, f", on {to_datetime(start).date()}")
    if fact.occurrence and NEG < start < end < INF and (named := _whole(to_datetime(start), to_datetime(end))):
        return _shown_with(fact, f", in {named}")
    is_told = NEG < start < end - 1  # one that nobody told stands right before the end
    since = f", from {to_datetime(start).date()}" if is_told else ""
    until = "" if end == INF else f", until {to_datetime(end).date()}"
    return _shown_with(fact, f"{since}{until}")


def _whole(first: datetime, after: datetime) -> str:
    """Return the year or the month that a period is; "": it is another one."""
    months = (after.year - first.year) * 12 + after.month - first.month
    if (first.day, first.time()) != (1, time()) or (after.day, after.time()) != (1, time()):
        return ""
    if months == 1:
        return f"{first:%Y-%m}"
    return f"{first:%Y}" if (first.month, months) == (1, 12) else ""


def _shown_with(fact: Fact | FactRow, days: str) -> ShownFact:
    as_shown = shown(fact)
    return as_shown._replace(sentence=f"{as_shown.sentence}{days}")


def _related(
    beliefs: BeliefStore, group: str, found: Sequence[Fact | FactRow], at: Moment, depth: int
) -> list[FactRow]:
    """Return the facts around some others, step by step away from whom and what those are about."""
    seen = {hit.uuid for hit in found}
    reached: set[str] = set()
    edge = {id_ for hit in found for id_ in (hit.subject_uuid, hit.object_uuid) if id_}
    related: list[FactRow] = []
    for _ in range(depth):
        if not edge:
            break
        around = beliefs.reach(group, sorted(edge), at, _RELATED)
        reached |= edge | around.entity_ids
        new = [fact for fact in (*around.outward, *around.inward) if fact.uuid not in seen]
        seen.update(fact.uuid for fact in new)
        related += new
        edge = {id_ for fact in new for id_ in (fact.subject_uuid, fact.object_uuid) if id_} - reached
    return list({fact.uuid: fact for fact in related}.values())[:_RELATED]


@dataclass(frozen=True, slots=True)
class KnownNow:
    """Ask a memory for what it believes of a group now; a function of a reader. limit: of facts, and of objectives."""

    group: str
    limit: int = 100

    def __call__(self, reader: Reader) -> tuple[ShownFact | ShownObjective, ...]:
        """Return the facts that hold now, the first asserted first, then the objectives, the most salient first."""
        try:
            source = reader.of(self.group)
            known, _ = source.reached(self.group)
        except EmptyMemory:
            return ()
        query = ask(FactsQuery, {"group_id": self.group, "limit": self.limit})
        facts = source.opened().questions.facts(query, Moment(reader.now(), known))
        objectives = source.opened().beliefs.objectives(self.group, known, limit=self.limit)
        return (*map(shown, facts), *_aims_of(source.opened(), self.group, objectives))


@dataclass(frozen=True, slots=True)
class HasMessage:
    """Ask a memory whether a group has a message with an external id; a function of a reader.

    What is not believed yet is looked for on the messages log.
    """

    group: str
    external_id: str

    def __call__(self, reader: Reader) -> bool:
        """Return whether it has, also of one that was deleted."""
        try:
            source = reader.of(self.group)
            if source.opened().episodes.post(self.group, self.external_id) is not None:
                return True
            _, start = source.reached(self.group)
        except EmptyMemory:
            start = 0
        try:
            with open_log(reader.places, "messages") as log:
                later = (record.event for record in log.read(start) if record.group == self.group)
                return any(isinstance(one, Message) and one.external_id == self.external_id for one in later)
        except NotFound:  # nothing was said yet
            return False


@dataclass(frozen=True, slots=True)
class ZoneOf:
    """Ask a memory for the time zone of a group as it was stated last, UTC where none was; a function of a reader."""

    group: str

    def __call__(self, reader: Reader) -> tzinfo:
        """Return the zone."""
        try:
            name = reader.of(self.group).opened().episodes.timezone(self.group, INF)
        except EmptyMemory:
            return UTC
        return UTC if name is None else zone_of(name)


def shown(fact: Fact | FactRow) -> ShownFact:
    """Return a fact as a prompt shows it: marked where it is a plan."""
    sentence = f"{fact.fact} (planned)" if fact.planned else fact.fact
    return ShownFact(fact.uuid, sentence, fact.subject, fact.relation, fact.object)


def _pages(beliefs: BeliefStore, group: str, known: int) -> Iterator[list[ObjectiveRow]]:
    """Yield the objectives of a group, the most salient first, in pages of which each is larger than all before it."""
    seen, limit = 0, _OBJECTIVES_AT_FIRST
    while True:
        rows = beliefs.objectives(group, known, limit=limit)
        yield rows[seen:]
        if len(rows) < limit:
            return
        seen, limit = limit, limit * 4


def _aims_of(opened: Opened, group: str, rows: Sequence[ObjectiveRow], speaker: str = "") -> list[ShownObjective]:
    """Return objectives as they are shown to a speaker: those of others with their owners' names."""
    owners = GoalOwners.of(opened, group, rows)
    return [ShownObjective(row.uuid, row.description, owners.others(speaker, row)) for row in rows]
