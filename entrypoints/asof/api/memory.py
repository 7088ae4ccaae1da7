"""The Python API: a memory in one directory, with the same verbs as the command line.

    with asof.open("./asof-data") as memory:
        memory.add("I moved to Berlin in March", role="Ana", group_id="ana")
        memory.facts(about="Ana", relation="lives_in", valid_at="2024-01-01", group_id="ana")

Every time may be given as text (RFC 3339, or words such as "last May" and "2 weeks ago", seen from now on this
machine's clock), a date, an aware datetime, or microseconds; answers carry aware datetimes.
A question is about the group "default", the one that `add` writes to unless it names another; `all_groups=True` asks
about every group.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, Unpack, overload

from asof import operations
from asof.operations import (
    consolidation,
    context,
    curation,
    entities,
    facts,
    history,
    logs,
    posts,
    prompts,
    queries,
    sessions,
    usage,
    writes,
)
from asof.operations.answers import (
    Added,
    Backup,
    BeliefPeriod,
    Changes,
    Check,
    Checkout,
    Community,
    ComparisonPage,
    Consolidated,
    Context,
    Contradiction,
    Difference,
    Embedded,
    Entity,
    EntityProfile,
    Episode,
    EpisodeRecord,
    Erasure,
    ErasurePreview,
    Explanation,
    Fact,
    FactVersion,
    Feedback,
    GenerationDifference,
    GenerationInfo,
    GraphSnapshot,
    GroupInfo,
    Hit,
    Hits,
    Hop,
    Imported,
    LogCompression,
    LogEvent,
    ModelUsage,
    Objective,
    Outcome,
    Page,
    ParkedMessage,
    Produced,
    Projection,
    RebuildEstimate,
    RegisteredPrompt,
    Replay,
    Retried,
    SearchedPage,
    Segment,
    Settled,
    UnfinishedBuild,
    WhatIf,
)
from asof.operations.errors import ContractError
from asof.operations.operation import read_query
from asof.operations.queries import Form, Mindset, Over, Profile, TextForm, Time
from asof.operations.sessions import Progress
from asof.operations.times import in_instants
from asof.settings import Settings

LogName = Literal["messages", "episodic", "semantic"]


class Memory:
    """A memory in one directory. Use it as a context manager, or close() it.

    A question asks about the group `default`, as of now, and by all that is known: `group_id`, `all_groups`, `valid_at`
    and `known_at` say otherwise. A time is text (RFC 3339, or words such as "last May"), a date, an aware datetime, or
    an int of microseconds since 1970. A list is whole where no `limit` is given.

    InvalidInput: an argument is refused, and `field` names it. When a write returns, its message is on the log; a
    message that names an entity, a fact or an episode which its group lacks is parked, and `parked` says why.

    Any thread may call it; calls are answered one at a time, so one waits for another's `rebuild`. A list asked of a
    memory to which nothing was written is empty; what is asked for by its id raises EmptyMemory, which is a NotFound.

    Reading needs no lock, and sees every message that was acknowledged. The first write takes the directory's writer
    lock and keeps it until the memory is closed; a second writer gets WriterBusy. With the setting `kafka`, writing
    sends to the messages topic instead: any number may, and a worker processes what they sent. After `close` every
    verb raises ContractError.
    """

    def __init__(self, settings: Settings, now: Callable[[], int] = sessions.system) -> None:
        self._opened: sessions.Session | None = sessions.open_session(settings, now, shared=True)

    @property
    def _session(self) -> sessions.Session:
        """What every verb asks. A closed memory that opened anew would take the writer lock, and nobody would know."""
        if self._opened is None:
            raise ContractError("the memory is closed: asof.open opens it again")
        return self._opened

    # Writing.

    def add(
        self,
        content: str,
        *,
        group_id: str = queries.DEFAULT_GROUP,
        role: str = "",
        role_type: Literal["user", "assistant", "system"] = "user",
        timestamp: Time | None = None,
        **fields: Any,
    ) -> Added:
        """Add one message; durable when it returns. Return its position, the id of its episode, and what it did.

            memory.add("I moved to Berlin in March", role="Ana").effect.began

        `message(position)` says the effect later, as it was then. It is None on Kafka, and of a parked message.

        Other fields are Graphiti's (name, source_description, source), and those that say how it is read (schema_id,
        entity_types and others, suppress_content): docs/reference/events.md has them, under `message.sent`.
        `timestamp` is when it was said, now if left out; `role` is who said it. InvalidInput: the content has more than
        512 KiB, or a field is refused. WriterBusy: another process writes to the directory.
        """
        return writes.add.ask(
            self._session,
            content=content,
            group_id=group_id,
            role=role,
            role_type=role_type,
            timestamp=timestamp,
            **fields,
        )

    def produce(
        self,
        source: Iterable[bytes | str | Mapping[str, Any]],
        *,
        group_id: str = queries.DEFAULT_GROUP,
        strict: bool = False,
        acknowledged: Progress | None = None,
    ) -> Produced:
        """Add messages given as JSON lines or dicts. A bad one is refused with its reason; `strict`: then all are.

            memory.produce([{"role": "Ana", "role_type": "user", "content": "I live in Rome."}]).refused

        `group_id` is the group of the lines that name none.
        """
        return writes.produce(self._session, source, group_id=group_id, strict=strict, acknowledged=acknowledged)

    def import_facts(
        self,
        source: Iterable[bytes | str | Mapping[str, Any]],
        *,
        group_id: str = queries.DEFAULT_GROUP,
        recorded: bool = False,
        ontology: str | None = None,
        strict: bool = False,
        acknowledged: Progress | None = None,
    ) -> Produced:
        """Add structured facts given as JSON lines, or as dicts: exact names, nothing is extracted.

            memory.import_facts([{"group_id": "ana", "subject": "Ana", "relation": "lives_in", "object": "Rome"}])

        docs/how-to/import-facts.md has the fields; `group_id` is the group of the lines that name none.
        `recorded` keeps each line's recorded_at, for moving a history in;
        `ontology` is what relations are checked against.
        """
        return writes.import_facts(
            self._session,
            source,
            group_id=group_id,
            recorded=recorded,
            ontology=ontology,
            strict=strict,
            acknowledged=acknowledged,
        )

    def import_export(
        self,
        product: Literal["graphiti", "mem0", "zep"],
        file: str | Path,
        *,
        group_id: str = queries.DEFAULT_GROUP,
        recorded: bool = False,
        strict: bool = False,
        dry_run: bool = False,
        acknowledged: Progress | None = None,
    ) -> Imported:
        """Add what an export of another memory states: entities, facts and memories, with their times.

        An item that cannot be taken is refused with its number and the reason; `strict`: then none is taken. What an
        earlier import added is passed over; a fact that changed since is corrected. `group_id` is the group of items
        that name none. recorded: each is known since the other memory knew it. dry_run: only count.

            memory.import_export("graphiti", "graph.json", dry_run=True)
        """
        return operations.imports.import_export(
            self._session,
            product,
            Path(file),
            group_id=group_id,
            recorded=recorded,
            strict=strict,
            dry_run=dry_run,
            acknowledged=acknowledged,
        )

    def state_entity(self, entity_id: str, name: str, *, summary: str = "", group_id: str = "default") -> int:
        """State an entity under an id of your own.

            memory.state_entity("crm-17", "Acme", summary="A customer since 2019.")

        Return the position of the request.
        """
        return writes.state_entity.ask(
            self._session, group_id=group_id, entity_id=entity_id, name=name, summary=summary
        ).position

    def state_timezone(self, timezone: str, *, group_id: str = "default") -> int:
        """State the time zone of a group's speakers, by its IANA name. Return the position of the request.

        From here on times in the words of the group's messages, such as "yesterday", are read by the days of that zone,
        and before by those of UTC. InvalidInput: this machine knows no such zone.

            memory.state_timezone("Europe/Berlin", group_id="ana")
        """
        return writes.state_timezone.ask(self._session, group_id=group_id, timezone=timezone).position

    def withdraw(self, episode_id: str, *, group_id: str = "default") -> int:
        """Withdraw an episode: what rests on it alone is retracted; its past can still be asked about.

            memory.withdraw(fact.episodes[0])

        Return the position of the request.
        """
        return writes.withdraw.ask(self._session, group_id=group_id, episode_id=episode_id).position

    def state_fact(self, *, group_id: str = queries.DEFAULT_GROUP, **fields: Any) -> int:
        """State one structured fact. Return the message's position.

        The fields are those of a line of `asof import` (docs/how-to/import-facts.md). InvalidInput names the wrong one.

            memory.state_fact(subject="Ana", relation="lives_in", object="Rome", valid_at="2024-03-01T00:00:00Z")
        """
        return writes.state_fact.ask(self._session, group_id=group_id, **fields).position

    def retract(self, id: str, *, group_id: str = queries.DEFAULT_GROUP) -> int:  # noqa: A002 - the word of every door
        """Retract a fact: it was wrong to say so. What it had displaced holds again; its past can still be asked about.

            memory.retract(fact.uuid)

        Eight letters of the id suffice. Return the position of the message.
        """
        return self.state_fact(group_id=group_id, op="retract", ref=id)

    def settle(self, id: str, *, group_id: str = queries.DEFAULT_GROUP) -> Settled:  # noqa: A002
        """Settle every open contradiction of a fact by keeping it: the facts that it contradicts are retracted.

            memory.settle(fact.uuid).retracted

        Return their ids, and the position of the first message that retracts one. NotFound: no contradiction of the
        fact is open; `contradictions` lists those that are.
        """
        return curation.settle.ask(self._session, id=id, group_id=group_id)

    def end(self, id: str, *, at: Time | None = None, group_id: str = queries.DEFAULT_GROUP) -> int:  # noqa: A002
        """End a fact: from `at` on (now, if left out) it no longer holds.

            memory.end(fact.uuid, at="2024-05-01")

        Eight letters of the id suffice. Return the position of the message.
        """
        return self.state_fact(group_id=group_id, op="end", ref=id, invalid_at=at)

    def merge(self, entity: str, into: str, *, group_id: str = queries.DEFAULT_GROUP) -> int:
        """State that two entities are one, by names or ids; their facts keep their ids. Return the message's position.

            memory.merge("Annie", into="Ana")

        It is known from then on; `split` takes it back. The past stays as it was known.
        """
        return self._state_identity(group_id=group_id, op="merge", entity=entity, into=into)

    def split(self, entity: str, into: str, *, group_id: str = queries.DEFAULT_GROUP) -> int:
        """State that two entities are not one: every merge that joins them directly is taken back.

            memory.split("Annie", into="Ana")

        Both are given by name or id. Return the message's position. The past stays as it was known.
        """
        return self._state_identity(group_id=group_id, op="split", entity=entity, into=into)

    def alias(self, entity: str, name: str, *, group_id: str = queries.DEFAULT_GROUP) -> int:
        """State that an entity is also called by another name.

            memory.alias("Ana", "Annie")

        Return its position; `unalias` takes it back.
        """
        return self._state_identity(group_id=group_id, op="alias", entity=entity, name=name)

    def unalias(self, entity: str, name: str, *, group_id: str = queries.DEFAULT_GROUP) -> int:
        """Take back a name that `alias` stated.

            memory.unalias("Ana", "Annie")

        Return the message's position.
        """
        return self._state_identity(group_id=group_id, op="unalias", entity=entity, name=name)

    def _state_identity(self, **fields: str) -> int:
        return curation.state_identity.ask(self._session, **fields).position

    def erase(
        self,
        group_id: str,
        *,
        person: str | None = None,
        only_said: bool = False,
        phrase: str | None = None,
        start: Time | None = None,
        stop: Time | None = None,
    ) -> Erasure:
        """Erase everything of a group, at every moment of both clocks, or a part of it. Return whether it is done.

            memory.erase("ana", person="Mara").done

        person: what they said, under any of their names, and all that means them; `only_said` leaves the latter.
        phrase: what has these words. start, stop: what was said in [start, stop). Of several, what fits all of them.
        What another message says stays, and is known since that was said. NotFound: nothing fits.

        Nothing answers with it any more. Files may hold copies until they are rewritten, which a reader in another
        process delays, or an erasure shortly before: then `done` is false, `stats()["erasing"]` counts such files, and
        the rest is done by a later write, by `close`, or by whoever opens the directory next.

        On Kafka workers erase it from what answers; its records stay on the topics, and nobody can read them where they
        are encrypted. Where the directory has a copy of the topics, they are waited for, for five seconds. If they take
        longer, or there is none, `done` is None; `erasure_preview` says later how much is left.
        """
        return operations.erasures.erase.ask(
            self._session,
            group_id=group_id,
            person=person,
            only_said=only_said,
            phrase=phrase,
            start=start,
            stop=stop,
        )

    def erasure_preview(
        self,
        group_id: str,
        *,
        person: str | None = None,
        only_said: bool = False,
        phrase: str | None = None,
        start: Time | None = None,
        stop: Time | None = None,
    ) -> ErasurePreview:
        """Return what `erase` would erase, given the same: the messages, and what each log has of the group.

        Nothing is written, and where nothing fits, nothing is listed.

            [message.content for message in memory.erasure_preview("ana", phrase="Berlin").messages]
        """
        return operations.erasures.erasure_preview.ask(
            self._session,
            group_id=group_id,
            person=person,
            only_said=only_said,
            phrase=phrase,
            start=start,
            stop=stop,
        )

    # As of a moment.

    def facts(
        self,
        *,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        any_time: bool = False,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
        **filters: Unpack[queries.FactFilters],
    ) -> Page[Fact]:
        """Return the facts that hold, by the start of their period, then as said.

        The filters are those of FactFilters: `about` (the subject) and `object` (the other end) by name or id, or the
        object by its literal, `relation`, and `object_type`. A fact fits all that are given. `any_time` also returns
        facts that hold at other times. With `limit` the list is a page, and its `next` the cursor of the next page.

            memory.facts(about="Ana", relation="lives_in", valid_at="2024-01-01")
        """
        return facts.facts.ask(
            self._session,
            valid_at=valid_at,
            known_at=known_at,
            any_time=any_time,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
            **filters,
        )

    def fact(self, id: str) -> Fact:  # noqa: A002 - the word of every door
        """Return one fact by its id as it is believed now, the last of its periods.

            print(memory.fact(fact.uuid))

        NotFound: it is not believed.
        """
        return facts.fact.ask(self._session, id=id)

    def search(
        self,
        query: str,
        *,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        any_time: bool = False,
        relations: Sequence[str] = (),
        entity_types: Sequence[str] = (),
        center: str | None = None,
        hops: int | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        group_ids: Sequence[str] = (),
        over: Over = "both",
        profile: Profile = "default",
        mindset: Mindset | None = None,
        start: Time | None = None,
        stop: Time | None = None,
        explain: bool = False,
        limit: int = 10,
        min_probability: float | None = None,
    ) -> Hits[Hit]:
        """Return the facts that hold and fit a question best, by words and by meaning, best first; at most `limit`.

        `episodes` of the answer are the turns that fit it best, understood or not; at most `limit`, and behind them
        those that say the facts. `over` may be "facts" or "episodes" alone. Of the filters, turns heed `known_at` and
        the groups.

        Each hit has the `probability` that it answers. What probably does not is left out, so there may be none;
        `min_probability` says from which on instead, and 0 leaves all in. Of a single-valued slot two facts are left.
        "Where does Ana's brother work?" is asked about him, if facts that hold say who that is.

        `any_time` lifts valid time. `relations` and `entity_types` leave only facts of these relations, and from or to
        an entity of these types. With a `center`, an entity's name or id, facts fewer steps away from it come first;
        `hops` leaves only those at most so many steps away. `group_ids` asks about several groups.

        The profile "pipeline" begins with what is similar and walks through the graph around it; facts and turns have
        scores that compare. `retrieval` of the answer then has the entities that the question names and a context for
        a prompt, and with `explain` the parts of each score and the time of each step. `mindset` says how the question
        thinks, `start` and `stop` when something was said last.

            memory.search("Where does Ana live?", known_at="2024-06-01")
            [turn.content for turn in memory.search("What did Ana say of her job?").episodes]
            memory.search("Who cooks?", relations=["works_as", "knows"], center="Ana", hops=2)
            print(memory.search("How did Ana come to Berlin?", profile="pipeline").retrieval.context)
        """
        return facts.search.ask(
            self._session,
            query=query,
            valid_at=valid_at,
            known_at=known_at,
            any_time=any_time,
            relations=relations,
            entity_types=entity_types,
            center=center,
            hops=hops,
            group_ids=group_ids,
            group_id=group_id,
            all_groups=all_groups,
            over=over,
            profile=profile,
            mindset=mindset,
            start=start,
            stop=stop,
            explain=explain,
            limit=limit,
            min_probability=min_probability,
        )

    def context(
        self,
        query: str,
        *,
        budget: int = 2_000,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        timezone: str = "UTC",
        kinds: Sequence[queries.Kind] = (),
        min_probability: float | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
    ) -> Context:
        """Return what is known about a question, as one text for a prompt and as the lines that it is made of.

        The text names who and what the question is about, the facts that hold at the moment, those that ended or are
        still ahead with what replaced them, those that were retracted, and the turns that fit it best or say the facts.
        It is marked as reference data, and what was said or named by people stands in double quotes, from which nothing
        breaks out.

        It has never more than `budget` tokens, 200 to 100,000, by a rule that counts a little more than models do
        (docs/how-to/give-context-to-a-model.md); `left_out` lists what had no place. Times in the text are of
        `timezone`, an IANA name. `kinds` are those of its lines, of "entity", "fact", "change" and "episode"; left out,
        all. With `min_probability` it has only facts and turns that answer the question with this probability. Where
        nothing is known, also in a memory to which nothing was written, it says so.
        InvalidInput: there is no such time zone.

            prompt = memory.context("Where does Ana live?", timezone="Europe/Berlin").text
        """
        return context.context.ask(
            self._session,
            query=query,
            budget=budget,
            valid_at=valid_at,
            known_at=known_at,
            timezone=timezone,
            kinds=kinds,
            min_probability=min_probability,
            group_id=group_id,
            all_groups=all_groups,
        )

    def entities(
        self,
        *,
        like: str | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SearchedPage[Entity]:
        """Return the entities that are known, in the order of their introduction; with `like`, the nearest names first.

            memory.entities(like="Postgres", limit=3)

        Names are compared by meaning, ten of them unless `limit` says how many; where the embedder is the lexical one,
        by their letters. Just after an import many names have no vector yet: then those come first that are the same or
        one slip away, and `vectors_behind` of the answer says how many names have none.
        """
        return entities.entities.ask(
            self._session,
            like=like,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
        )

    def entity(
        self,
        name: str,
        *,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
    ) -> list[EntityProfile]:
        """Return what is known of everything that has a name or an id: names, merges, a summary, attributes, facts.

            [profile.summary for profile in memory.entity("Ana")]

        An entity and its duplicates have one profile; `limit` bounds the facts of each. Of a name that nobody has
        the list is empty.
        """
        return entities.entity.ask(
            self._session,
            name=name,
            valid_at=valid_at,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
        )

    def communities(
        self,
        *,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Community]:
        """Return the communities that are known with their members, by when they were formed.

            [community.members for community in memory.communities(group_id="ana")]

        Without `limit` all of them.
        """
        return entities.communities.ask(
            self._session,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
        )

    def neighbourhood(
        self,
        name: str,
        hops: int = 2,
        *,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
    ) -> list[Hop]:
        """Return the facts around a name, step by step away from it, up to 10; `limit` bounds the facts of each step.

            memory.neighbourhood("Ana", hops=1)[0].facts

        Of a name that nobody has the list is empty.
        """
        return entities.neighbourhood.ask(
            self._session,
            name=name,
            hops=hops,
            valid_at=valid_at,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
        )

    # Over valid time.

    def overlapping(
        self,
        start: Time,
        stop: Time,
        *,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
        **filters: Unpack[queries.FactFilters],
    ) -> Page[Fact]:
        """Return the facts that hold at some instant of [start, stop), by their start; filters as of `facts`.

            memory.overlapping("2024-01-01", "2024-04-01", about="Ana")

        Without `limit` all of them. InvalidInput: `stop` is not after `start`.
        """
        return facts.overlapping.ask(
            self._session,
            start=start,
            stop=stop,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
            **filters,
        )

    def throughout(
        self,
        start: Time,
        stop: Time,
        *,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
        **filters: Unpack[queries.FactFilters],
    ) -> Page[Segment]:
        """Return what holds at every instant of [start, stop), said by one fact or by several that meet.

            memory.throughout("2024-01-01", "2024-04-01", relation="works_at")

        Slot by slot, without `limit` all of it. InvalidInput: `stop` is not after `start`.
        """
        return facts.throughout.ask(
            self._session,
            start=start,
            stop=stop,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
            **filters,
        )

    def timeline(
        self,
        name: str,
        *,
        relation: str | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Segment]:
        """Return the periods of the facts of a name: slot by slot, by time, with the gaps between them.

            memory.timeline("Ana", relation="lives_in")

        Of a name that nobody has the list is empty.
        """
        return history.timeline.ask(
            self._session,
            name=name,
            relation=relation,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
        )

    # Over known time.

    def history(
        self,
        id: str,  # noqa: A002 - the word of every door
        *,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[FactVersion]:
        """Return every version of a fact (by id) or of an entity's facts (by name), with what made each.

            memory.history("Ana", known_at="2024-05-01")

        Versions come by the time from which they were believed, then by the start of their period. With `known_at`
        nothing shows that was recorded later.
        """
        return history.history.ask(
            self._session,
            id=id,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
        )

    def known_history(self, id: str, *, valid_at: Time | None = None) -> list[BeliefPeriod]:  # noqa: A002
        """Return when a fact was believed to hold at `valid_at`, or at any time.

            memory.known_history(fact.uuid, valid_at="2024-02-01")

        NotFound: no fact has this id.
        """
        return history.known_history.ask(self._session, id=id, valid_at=valid_at)

    def diff(
        self,
        start: tuple[Time, Time | None],
        stop: tuple[Time, Time | None],
        *,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
        **filters: Unpack[queries.FactFilters],
    ) -> Page[Difference]:
        """Return what differs between two points (valid, known), each change under one label.

            memory.diff(("2024-01-01", None), ("2024-06-01", None), about="Ana")

        A known time of None is all that is known. Changes come by the start of the fact's period.
        """
        return history.diff.ask(
            self._session,
            start=start,
            stop=stop,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
            **filters,
        )

    def changes(
        self,
        *,
        after: int = -1,
        limit: int = 1_000,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
    ) -> Changes:
        """Return what messages after position `after` changed, in their order, and where to go on from.

            memory.changes(after=memory.changes().next)

        At most `limit` changes; those of one message are never parted.
        """
        return history.changes.ask(self._session, after=after, limit=limit, group_id=group_id, all_groups=all_groups)

    def why(self, id: str, *, known_at: Time | None = None) -> Explanation:  # noqa: A002 - the word of every door
        """Return the words that a fact rests on, and those behind what became of it.

            memory.why(fact.uuid).evidence[0].quote

        NotFound: no fact has this id.
        """
        return facts.why.ask(self._session, id=id, known_at=known_at)

    def what_if(self, statements: Iterable[Mapping[str, Any]], *, group_id: str = queries.DEFAULT_GROUP) -> WhatIf:
        """Return what would be believed if these structured facts were imported now; nothing is written.

        They have the fields of a line of `asof import`, and are taken in order. The answer has the slots that they
        touch, before and after. InvalidInput, NotFound: one of them cannot stand; an import would park it.

            memory.what_if([{"subject": "Ana", "relation": "lives_in", "object": "Rome"}]).after
        """
        return facts.what_if(self._session, statements, group_id)

    # A chat beside its turns.

    def objectives(
        self,
        *,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
    ) -> list[Objective]:
        """Return what a group aims at, by the goals that it declared: the most salient first, else in their order.

            memory.objectives(group_id="ana", known_at="2024-05-01")

        Without `limit` all of them.
        """
        return posts.objectives.ask(
            self._session, known_at=known_at, group_id=group_id, all_groups=all_groups, limit=limit
        )

    def feedback(
        self,
        *,
        withdrawn: bool = False,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
    ) -> list[Feedback]:
        """Return the feedback on messages of the bot, as it came; `withdrawn`: also what was taken back.

            memory.feedback(group_id="ana", withdrawn=True)

        Without `limit` all of it.
        """
        return posts.feedback.ask(
            self._session,
            withdrawn=withdrawn,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
        )

    # What waits for a person.

    def contradictions(
        self,
        *,
        settled: bool = False,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
    ) -> list[Contradiction]:
        """Return the contradictions that are open, by when they were flagged; `settled`: the settled ones too.

            memory.contradictions(settled=True)

        Without `limit` all of them.
        """
        return curation.contradictions.ask(
            self._session,
            settled=settled,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
        )

    def parked(
        self,
        *,
        after: int = -1,
        limit: int = 100,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
    ) -> list[ParkedMessage]:
        """Return the messages that were parked, and those about which a model gave no answer, with the reason.

            [message.reason for message in memory.parked(all_groups=True)]

        In the order of the log, at most `limit`; go on with `after`, the position of the last. A retry that succeeds
        removes its message from them.
        """
        return curation.parked.ask(self._session, after=after, limit=limit, group_id=group_id, all_groups=all_groups)

    def retry(
        self, positions: Sequence[int] = (), *, group_id: str = queries.DEFAULT_GROUP, all_groups: bool = False
    ) -> list[Retried]:
        """Process messages again that were parked or failed: those at some positions, else all of `parked`.

        What follows is known from the retry on, and valid as of the message. A message that was neither parked nor
        failed stays as it is. Each is returned with the position of its request, in the order given, else oldest
        first; at most 1000 are retried at once. NotFound: the group has no message at a position.

            memory.retry()
        """
        return curation.retry.ask(self._session, positions=positions, group_id=group_id, all_groups=all_groups)

    def consolidate(
        self, *, group_id: str = queries.DEFAULT_GROUP, undo: bool = False, dry_run: bool = False
    ) -> Consolidated:
        """Consolidate a group: detect its communities, link its duplicates and count what faded, where facts changed.

        The results are known from the request on; no fact changes. Returned are the position of the request and its
        results, None on Kafka, where a worker makes the pass. `undo`: the last pass that still stands is undone
        instead, and `undone` is what is taken back. `dry_run`: the results that it would have; nothing is written.

            memory.consolidate(dry_run=True).consolidation
        """
        return consolidation.consolidate.ask(self._session, group_id=group_id, undo=undo, dry_run=dry_run)

    # The episodic layer and the logs.

    def episodes(
        self,
        *,
        start: Time | None = None,
        stop: Time | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[Episode]:
        """Return the episodes that were said in [start, stop), in the order in which they were recorded.

            memory.episodes(start="2024-05-01", stop="2024-06-01")

        Without `start` from the first, without `stop` to the last; without `limit` all of them.
        """
        return logs.episodes.ask(
            self._session,
            start=start,
            stop=stop,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
        )

    def episode(self, id: str) -> EpisodeRecord:  # noqa: A002 - the word of every door
        """Return one episode by its id, with what its message did: also what it invalidated, and its duplicate links.

            memory.episode(fact.episodes[0]).content

        NotFound: no episode has it, or it was withdrawn.
        """
        return logs.episode.ask(self._session, id=id)

    def groups(self, *, prefix: str = "", limit: int | None = None, cursor: str | None = None) -> Page[GroupInfo]:
        """Return the groups, by their ids, with the number of their episodes; `prefix`: of ids that begin with it.

            memory.groups(prefix="team-")

        Without `limit` all of them.
        """
        return logs.groups.ask(self._session, prefix=prefix, limit=limit, cursor=cursor)

    def message(self, position: int) -> Outcome:
        """Return what became of a message: what it changed, or why it was parked.

            memory.message(0).state

        NotFound: there is none there.
        """
        return logs.message.ask(self._session, position=position)

    def events(
        self,
        log: LogName = "semantic",
        start: int = 0,
        stop: int | None = None,
        *,
        follow: bool = False,
        generation: str | None = None,
        partition: int | None = None,
    ) -> Iterator[LogEvent]:
        """Yield the events of a log in [start, stop), in order; `follow`: then new ones as they come, without end.

            [event.type for event in memory.events("messages", start=100)]

        log: "messages", "episodic" or "semantic". `generation`: whose semantic log, else that of the one that answers.
        `partition`: whose log, where the topics have several.
        """
        fields = {"log": log, "start": start, "stop": stop, "generation": generation}
        query = read_query(queries.EventsQuery, fields)
        return logs.replay(self._session, query, follow=follow, partition=partition)

    def replay(
        self,
        target: str | Projection,
        *,
        log: LogName = "semantic",
        start: int | None = None,
        stop: int | None = None,
        generation: str | None = None,
        pace: float | None = None,
        name: str | None = None,
        partition: int | None = None,
    ) -> Replay:
        """Replay a log up to its end, or `stop`, into a target; return the positions and the number of events.

        target: a projection of your own, an object with a method `apply(events)`; kafka://HOST:PORT/TOPIC; or the path
        of a directory, which takes the messages log from its beginning. It goes on where it stopped, or at `start`; the
        position is kept under `name`, by default that of the target. After a failure, events come again: each at least
        once, in order. pace: how many times the original speed; None: without a pause. `generation`, `partition`: as of
        `events`. InvalidInput: the target is none, or the log is not the one that it had before.

            memory.replay(Visits("visits.db"), log="episodic")
        """
        fields = {"log": log, "start": start, "stop": stop, "generation": generation, "pace": pace, "name": name}
        query = read_query(operations.replay.ReplayQuery, fields)
        return operations.replay.replay_into(self._session, query, target, partition=partition)

    # Generations, and the whole.

    def rebuild(
        self,
        name: str | None = None,
        *,
        input: Literal["mentions", "episodes"] = "mentions",  # noqa: A002 - the word of every door
        ontology: str | None = None,
        policy: Literal["recency", "graded"] | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        progress: Progress | None = None,
    ) -> GenerationInfo:
        """Build a new generation from the episodic log, beside the one that answers; `switch` makes it answer.

            memory.rebuild("careful", policy="graded")

        `input`: "mentions" resolves again, "episodes" extracts again as well. `ontology` and `policy` are those of the
        one that answers, unless given; a name is made up. BuildStopped: its calls of a language model would come to
        more than `max_tokens` or `max_cost`; it is paused, and goes on by `resume_build` with more.

        Another process may write the directory meanwhile, and follows for the new generation from its next message on.
        WriterBusy: another process builds this one.
        """
        with self._session.reporting(progress):
            return operations.generations.rebuild.ask(
                self._session,
                name=name,
                input=input,
                ontology=ontology,
                policy=policy,
                max_tokens=max_tokens,
                max_cost=max_cost,
            )

    def estimate_rebuild(
        self,
        name: str | None = None,
        *,
        input: Literal["mentions", "episodes"] = "mentions",  # noqa: A002 - the word of every door
        ontology: str | None = None,
        policy: Literal["recency", "graded"] | None = None,
        progress: Progress | None = None,
    ) -> RebuildEstimate:
        """Return what such a `rebuild` would cost: calls of a language model, tokens, money and seconds.

            memory.estimate_rebuild(input="episodes", ontology="agent_memory_v1").calls

        Requests whose answers are recorded cost nothing; the prompts of the others are made and counted. The number of
        calls is exact for texts, and an estimate (`estimated`) where they depend on answers that are not there. Nothing
        of the memory is changed.
        """
        with self._session.reporting(progress):
            return operations.generations.estimate_rebuild.ask(
                self._session, name=name, input=input, ontology=ontology, policy=policy
            )

    def builds(self) -> list[UnfinishedBuild]:
        """Return the builds that are not complete, by name: how far each is, at what rate, and how much is left.

            [(build.name, build.state) for build in memory.builds()]

        A build that is complete is among the `generations`.
        """
        return operations.generations.builds.ask(self._session)

    def pause_build(self, name: str) -> UnfinishedBuild:
        """Stop a build of another process after the message that it is at, and return how far it is.

            memory.pause_build("careful")

        The `rebuild` there raises BuildStopped. NotFound: no build of this name is under way.
        """
        return operations.generations.pause_build.ask(self._session, name=name)

    def resume_build(
        self,
        name: str,
        *,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        progress: Progress | None = None,
    ) -> GenerationInfo:
        """Go on with a build that was paused, or whose process ended, where it stopped.

            memory.resume_build("careful", max_cost=5.0)

        It is what it would have been without a stop, digest included. The budget is of the whole build, with what was
        spent before; none, unless given. NotFound: no build of this name is under way.
        """
        with self._session.reporting(progress):
            return operations.generations.resume_build.ask(
                self._session, name=name, max_tokens=max_tokens, max_cost=max_cost
            )

    def cancel_build(self, name: str) -> list[UnfinishedBuild]:
        """Stop a build and remove all of it; return the builds that are left.

            memory.cancel_build("careful")

        NotFound: there is none of this name.
        """
        return operations.generations.cancel_build.ask(self._session, name=name)

    def switch(self, name: str) -> None:
        """Let another generation answer, in one step for every reader, also while another process writes the directory.

            memory.switch("careful")

        NotFound: there is none of this name. InvalidInput: it is behind.
        """
        operations.generations.switch.ask(self._session, name=name)

    def drop(self, name: str) -> None:
        """Remove a generation that does not answer. NotFound: there is none of this name.

            memory.drop("careful")

        Another process that writes the directory removes its files with its next message.
        """
        operations.generations.drop.ask(self._session, name=name)

    def generations(self) -> list[GenerationInfo]:
        """Return the generations, oldest first.

            [generation.name for generation in memory.generations()]

        `active` says which one answers.
        """
        return list(operations.generations.generations.ask(self._session).generations)

    def generations_diff(
        self,
        base: str,
        other: str,
        *,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> ComparisonPage[GenerationDifference]:
        """Return the facts in which two generations differ, whenever they hold: by subject, relation and object.

        A fact is gained, lost, redated, or merged differently; with it come the words that it rests on in either
        generation. Ids differ between builds: a fact is the same in both if group, subject, relation and object are, by
        name, and its period. The page's `summary` counts the facts of each relation; a later page has none. NotFound:
        there is no such generation.

            memory.generations_diff("main", "second").summary
        """
        return operations.generations.generations_diff.ask(
            self._session,
            base=base,
            other=other,
            known_at=known_at,
            group_id=group_id,
            all_groups=all_groups,
            limit=limit,
            cursor=cursor,
        )

    def active(self) -> str:
        """Return the name of the generation that answers.

            memory.active()

        `switch` changes it, in this process or another.
        """
        return operations.generations.generations.ask(self._session).active

    def digest(self, generation: str | None = None) -> str:
        """Return the SHA-256 of all that a generation believes: equal for equal builds of equal logs.

            memory.digest("careful") == memory.digest("main")

        Of the one that answers, unless named. With several partitions it is the SHA-256 of theirs, in order.
        """
        return operations.generations.digest.ask(self._session, name=generation)

    def usage(self, *, group_id: str = queries.DEFAULT_GROUP, all_groups: bool = False) -> list[ModelUsage]:
        """Return what calls to language models have cost, by group, prompt and model, over all generations.

            memory.usage(all_groups=True)

        Each call counts once, however many generations use its answer; of an erased group none does.
        """
        return usage.usage.ask(self._session, group_id=group_id, all_groups=all_groups)

    def prompts(self) -> list[RegisteredPrompt]:
        """Return the prompts by which a bot speaks, every version of each, in order of keys and versions.

            [prompt.template for prompt in memory.prompts() if prompt.active]

        Version 1 of each is asof's own.
        """
        return prompts.prompts.ask(self._session)

    def register_prompt(
        self,
        prompt: str,
        template: str,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        active: bool = True,
    ) -> list[RegisteredPrompt]:
        """Write a version of a prompt, used from the next message on if `active`; return all versions.

        The template has `{current_message}`, and as it likes `{episodic_context}`, `{semantic_facts}`,
        `{relationship_graph}` and `{context}`. `temperature` and `max_tokens` are those of the version used now, unless
        given. A bot that answers meanwhile, here or in another process, follows. InvalidInput: the template lacks the
        message, or names what nothing replaces.

            memory.register_prompt("MAIN_CONVERSATION", "Answer as a pirate: {current_message}")
        """
        return prompts.register_prompt.ask(
            self._session,
            prompt=prompt,
            template=template,
            temperature=temperature,
            max_tokens=max_tokens,
            active=active,
        )

    def activate_prompt(self, prompt: str, version: int) -> list[RegisteredPrompt]:
        """Let a version of a prompt be used from the next message on; return all. 1 is asof's own.

            memory.activate_prompt("MAIN_CONVERSATION", 1)

        NotFound: there is no such version.
        """
        return prompts.activate_prompt.ask(self._session, prompt=prompt, version=version)

    def stats(self) -> dict[str, Any]:
        """Return how much there is, how far each log and store has come, and what was parked and why.

            memory.stats()["episodes"]

        The numbers of `asof stats --json`.
        """
        return operations.upkeep.stats.ask(self._session)

    def embed(self, *, progress: Progress | None = None) -> Embedded:
        """Make the vectors that facts, names and episodes lack; return how many there are then. Others wait meanwhile.

        No search needs it: what lacks a vector is found by words, the answer's `vectors_behind` says how much that is,
        and a thread embeds it behind the answers. Call it where answers must not depend on how far that thread is.

            memory.import_facts(lines)
            memory.embed()
        """
        with self._session.reporting(progress):
            return operations.upkeep.embed.ask(self._session)

    def verify(self, *, progress: Progress | None = None) -> list[Check]:
        """Check every hash chain, and that every store equals one built anew from its log.

            [check for check in memory.verify() if not check.ok]

        Nothing is changed: `repair` makes again what is damaged.
        """
        with self._session.reporting(progress):
            return operations.upkeep.verify.ask(self._session)

    def repair(self, *, progress: Progress | None = None) -> list[Check]:
        """Make again what `verify` finds damaged, each from the log before it; return what became of it.

            memory.repair()

        A check that is not ok cannot be repaired, and says why. Empty: nothing is damaged. WriterBusy: another process
        writes to this directory. UnavailableError: a file cannot be read for now; nothing was deleted.
        """
        with self._session.reporting(progress):
            return operations.upkeep.repair.ask(self._session)

    def compress(self, *, progress: Progress | None = None) -> list[LogCompression]:
        """Compress the records of each log but the newest thousand, in order of the logs; return how much each shrank.

        They take a fifth of the space, and no answer changes. Others may write meanwhile; one record out of a block of
        64 is read in half a millisecond. An earlier release cannot open the directory any more. InvalidInput: it is a
        copy of topics. DamagedLog: all before the damage is compressed.

            memory.compress()
        """
        with self._session.reporting(progress):
            return operations.upkeep.compress.ask(self._session)

    def snapshot(self, *, progress: Progress | None = None) -> list[GraphSnapshot]:
        """Take a snapshot of each graph, that of episodes first, while others may write; return what was taken.

        It stands beside the graph, takes as much space, and replaces the one before. A graph that is lost or cannot be
        read is made of its snapshot and the rest of its log, with the same digest as from the whole log; a snapshot
        that is damaged, or of another history, is removed with a warning. An erasure removes the snapshots of the
        graphs that it erases from.
        DamagedView: a graph is damaged. WriterBusy: an erasure is under way.

            memory.snapshot()
        """
        with self._session.reporting(progress):
            return operations.upkeep.snapshot.ask(self._session)

    def backup(self, file: str | Path, *, after: str | Path | None = None, progress: Progress | None = None) -> Backup:
        """Write everything that cannot be made again into one file, whole or not at all; return its content.

        Others may write meanwhile. `after`: an earlier backup, of which this one holds what came later. Graphs and
        vectors are not in it: `asof.restore` makes the graphs, and a search the vectors. DamagedFile: `after` is no
        backup. InvalidInput: it is of another memory, or the directory is a copy of topics. StorageFailed.

            memory.backup("monday.backup")
            memory.backup("tuesday.backup", after="monday.backup")
        """
        with self._session.reporting(progress):
            return operations.backup.backup.ask(self._session, file=file, after=after)

    def checkout(self, directory: str | Path, *, known_at: Time, progress: Progress | None = None) -> Checkout:
        """Make the directory as it was at a known moment, also while others write; return what it holds.

        It is a memory of its own. Its logs are the first records of this one's, bit for bit; what was erased since is
        not there. InvalidInput: there is something in it, this one is a copy of topics, or a history was moved in such
        that no beginning of its log is of that moment. NotFound: nothing was recorded by then.

            memory.checkout("./as-of-may", known_at="2024-05-31")
        """
        with self._session.reporting(progress):
            return operations.backup.checkout.ask(self._session, directory=directory, known_at=known_at)

    @overload
    def export(
        self,
        format: TextForm = "json",
        *,
        episodic: bool = False,
        details: bool = False,
        versions: bool = False,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
    ) -> Iterator[str]: ...
    @overload
    def export(
        self,
        format: Literal["parquet"],
        *,
        episodic: bool = False,
        details: bool = False,
        versions: bool = False,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
    ) -> Iterator[bytes]: ...
    def export(
        self,
        format: Form = "json",  # noqa: A002 - the word of every door
        *,
        episodic: bool = False,
        details: bool = False,
        versions: bool = False,
        valid_at: Time | None = None,
        known_at: Time | None = None,
        group_id: str = queries.DEFAULT_GROUP,
        all_groups: bool = False,
    ) -> Iterator[str | bytes]:
        """Yield the graph as it is read, as texts: what is believed as of a moment, or what was recorded by then.

            "".join(memory.export("graphml", valid_at="2024-05-01"))

        format: "json", "graphml", "csv" (facts alone), "jsonld" (PROV), "mermaid", or "parquet" (facts alone), which
        is yielded as bytes and needs the extra `parquet`. versions: every version of the facts that was believed until
        the known moment, at any valid time unless one is given.
        details: also conflicts and supersessions as edges; with `episodic`, sentences and what they mention.
        """
        fields = {
            "format": format,
            "episodic": episodic,
            "details": details,
            "versions": versions,
            "valid_at": valid_at,
            "known_at": known_at,
        }
        given = in_instants({**fields, "group_id": group_id, "all_groups": all_groups}, self._session.now)
        query = read_query(queries.ExportQuery, given)
        export = operations.upkeep.export_file if query.format == "parquet" else operations.upkeep.export
        return export(self._session, query)

    def close(self) -> None:
        """Close everything; what was acknowledged stays. Closed twice, it stays closed."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
