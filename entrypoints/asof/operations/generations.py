"""The operations on generations: build one beside the others, let it answer, drop it."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from typing import Literal

from pydantic import Field

from asof.operations.moments import known_of
from asof.operations.operation import operation
from asof.runtime import build_file, control_log
from asof.runtime.build_file import name_taken
from asof.runtime.comparison import open_comparison
from asof.runtime.extractors import ExtractorFactory, extractor_factory
from asof.runtime.generation_build import build
from asof.runtime.generations import build_of
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import DirectoryLayout
from asof.runtime.rebuild_estimate import estimate_rebuild as estimate
from asof.runtime.replica_manifest import expect_no_copy, is_copy
from asof.runtime.wiring import Policy, describe, load_ontology, open_reader
from asof.runtime.writer import Writer
from asof.service.session import Session
from asof_ontologies.model import Ontology
from asof_projections.generations import Catalog, GenerationInfo, check_name, load
from asof_projections.model.builds import RebuildEstimate, UnfinishedBuild
from asof_projections.model.comparisons import ComparisonPage, GenerationDifference, GenerationsDiffQuery
from asof_projections.model.prices import ModelBudget
from asof_projections.model.queries import HEAD, OTHER_QUESTION, Cursor, Name, Query
from asof_projections.queries.comparison import Namesakes
from asof_streams.errors import InvalidInput, WriterBusy
from asof_streams.instants import INF, NEG

Input = Literal["mentions", "episodes"]


class EstimateRebuild(Query):
    """Ask what a new generation would cost."""

    name: Name | None = Field(None, description="Its name; build-1, build-2, ... if left out.")
    input: Input = Field("mentions", description="mentions: resolve again. episodes: extract again as well.")
    ontology: str | None = Field(None, description="An id or a YAML file; that of the one that answers, if left out.")
    policy: Policy | None = Field(
        None, description="How contradictions are decided; as in the one that answers, if left out."
    )


class BuildBudget(Query):
    """What the calls of a build to a language model may come to, with those before it was paused."""

    max_tokens: int | None = Field(None, ge=0, description="Pause before it has asked for more tokens, in and out.")
    max_cost: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="Pause before it has cost more, by ASOF_MODEL_PRICES."
    )

    @property
    def budget(self) -> ModelBudget:
        """The budget."""
        return ModelBudget(tokens=self.max_tokens, cost=self.max_cost)


class Rebuild(BuildBudget, EstimateRebuild):
    """Build a new generation from the episodic log, beside the one that answers."""


class GenerationQuery(Query):
    """Name a generation."""

    name: Name = Field(description="The generation.")


class ResumeBuild(BuildBudget, GenerationQuery):
    """Go on with a build, with a budget of its own."""


class GenerationsQuery(Query):
    """List the generations."""


class BuildsQuery(Query):
    """List the builds that are not complete."""


class DigestQuery(Query):
    """Ask for the digest of a generation."""

    name: Name | None = Field(None, description="The generation; the one that answers, if left out.")


@operation()
def rebuild(session: Session, query: Rebuild) -> GenerationInfo:
    """Build a new generation from the episodic log; reads never stop, and `switch` makes it answer.

    BuildStopped: the budget is spent; the build is paused, and goes on with a larger one.
    """
    if session.on_kafka:
        return _rebuild_on_kafka(session, query)
    if load(session.places.root) is None:
        session.writer()  # makes the directory
    session.sources.every()[0].process_backlog()
    with closing(extractor_factory(session.settings)) as extractors:
        info, ontology = _wanted(session, query, extractors)
        build(session.places, extractors, info, ontology, session.progress, query.budget)
    session.adopt()
    return info


@operation()
def estimate_rebuild(session: Session, query: EstimateRebuild) -> RebuildEstimate:
    """Return what a rebuild would cost before it is begun: calls of a language model, tokens, money and time.

    What is recorded costs nothing. The rebuild is rehearsed without the model, so this takes as long as the rebuild
    would with every answer at hand; where no model is set, a few seconds. Nothing of the memory is changed.
    """
    parts = [source.places for source in session.sources.every()]
    for source in session.sources.every():
        source.process_backlog()
    with closing(extractor_factory(session.settings)) as extractors:
        info, ontology = _wanted(session, query, extractors)
        return estimate(parts, session.settings, info, ontology, extractors, session.progress)


def _rebuild_on_kafka(session: Session, query: Rebuild) -> GenerationInfo:
    from asof.kafka.rebuild import rebuild as build_on_topics

    session.sources.every()[0].process_backlog()
    with closing(extractor_factory(session.settings)) as extractors:
        info, ontology = _wanted(session, query, extractors)
    session.release()
    build_on_topics(session.settings, info, ontology, session.progress, query.budget)
    return info


def _wanted(session: Session, query: EstimateRebuild, extractors: ExtractorFactory) -> tuple[GenerationInfo, Ontology]:
    """Return the description of the generation that is asked for, and its ontology. InvalidInput: it is there.

    On Kafka it is listed while it is built, so the same one may be asked for again.
    """
    catalog = session.catalog()
    name = query.name or _free_name(catalog)
    active = catalog[catalog.active]
    if query.ontology:
        ontology = load_ontology(query.ontology)
    else:
        ontology = build_of(session.sources.every()[0].places, active, session.settings).ontology
    info = _described(session, query, name, active, ontology, extractors)
    there = [other for other in catalog.generations if other.name == name]
    if there and not (session.on_kafka and there == [info]):
        raise name_taken(name)
    if is_copy(session.places.root) and name in catalog.dropped:
        raise InvalidInput(f"a generation {name} was dropped: choose another name", "name")
    return info, ontology


def _described(
    session: Session,
    query: EstimateRebuild,
    name: str,
    active: GenerationInfo,
    ontology: Ontology,
    extractors: ExtractorFactory,
) -> GenerationInfo:
    """Return the description of a new generation: as asked, else as set, else as the one that answers."""
    settings = session.settings
    consolidation = settings.consolidation if "consolidation" in settings.model_fields_set else active.consolidation
    ingestion = settings.ingestion if "ingestion" in settings.model_fields_set else active.ingestion
    policy, version = query.policy or active.policy, extractors.version(ontology, ingestion)
    return describe(check_name(name), ontology, policy, query.input, version, consolidation, ingestion)


def begin_build(session: Session, query: Rebuild) -> UnfinishedBuild:
    """Write down what is to be built, for `resume_build`, and return it: what is refused is refused at once.

    InvalidInput: the name is taken, also by a build that runs, or there is no such ontology.
    """
    with closing(extractor_factory(session.settings)) as extractors:
        extractors.check_budget(query.budget)
        info, ontology = _wanted(session, query, extractors)
        try:
            build_file.BuildFile(session.places, info).begin(ontology)
        except WriterBusy:
            raise InvalidInput(f"generation {info.name} is being built: choose another name, or wait", "name") from None
    return build_file.unfinished(session.places, info.name)


def expect_build(session: Session, query: ResumeBuild) -> UnfinishedBuild:
    """Have a build go on that another process resumes, and return it; its state is "running" if no process need do so.

    One that runs, but was asked to stop, is to be resumed like one that stands: it may have seen the request.
    NotFound: there is none of the name.
    """
    found = build_file.unfinished(session.places, query.name)
    was_to_stop = build_file.withdraw_stop(session.places, query.name)
    return replace(found, state="stopped") if was_to_stop and found.state == "running" else found


@operation(items="builds")
def builds(session: Session, query: BuildsQuery) -> list[UnfinishedBuild]:
    """Return the builds of generations that are not complete, by name: how far each is, and how much is left."""
    del query
    return build_file.builds(session.places)


@operation()
def pause_build(session: Session, query: GenerationQuery) -> UnfinishedBuild:
    """Stop a build after the message that it is at, and return how far it is; `resume_build` goes on there."""
    build_file.stop_build(session.places, query.name, "paused")
    return build_file.unfinished(session.places, query.name)


@operation()
def resume_build(session: Session, query: ResumeBuild) -> GenerationInfo:
    """Go on with a build that was paused, or whose process ended, and return the generation."""
    places = session.places
    info = build_file.unfinished_info(places, query.name)
    session.sources.every()[0].process_backlog()
    ontology = kept_ontology(places.ontology_of(info.name))
    if session.on_kafka:
        from asof.kafka.rebuild import rebuild as build_on_topics

        session.release()
        build_on_topics(session.settings, info, ontology, session.progress, query.budget)
        return info
    with closing(extractor_factory(session.settings)) as extractors:
        build(places, extractors, info, ontology, session.progress, query.budget)
    session.adopt()
    return info


@operation(items="builds")
def cancel_build(session: Session, query: GenerationQuery) -> list[UnfinishedBuild]:
    """Stop a build and remove all of it; return the builds that are left. On Kafka its topic goes too."""
    if session.on_kafka:
        from asof.kafka.rebuild import cancel

        session.close_reader()
        cancel(session.settings, query.name)
    else:
        expect_no_copy(session.places.root)
        build_file.stop_build(session.places, query.name, "cancelled")
    return build_file.builds(session.places)


def _free_name(catalog: Catalog) -> str:
    names = {*catalog.dropped, *(info.name for info in catalog.generations)}
    return next(name for number in range(1, len(names) + 2) if (name := f"build-{number}") not in names)


@operation()
def switch(session: Session, query: GenerationQuery) -> Catalog:
    """Let another generation answer, in one step; return the generations. On Kafka, for every reader of the topics."""
    if session.on_kafka:
        from asof.kafka.rebuild import switch as switch_topics

        session.catalog()  # caught up
        switch_topics(session.settings, query.name)
    else:
        _decide(session, Writer.switch, control_log.switch, query.name)
    session.close_reader()
    return session.catalog()


@operation()
def drop(session: Session, query: GenerationQuery) -> Catalog:
    """Remove a generation that does not answer; return the generations that are left. On Kafka its topic goes too."""
    if session.on_kafka:
        from asof.kafka.rebuild import drop as drop_topic

        session.catalog()  # caught up
        session.close_reader()
        drop_topic(session.settings, query.name)
    else:
        _decide(session, Writer.drop, control_log.drop, query.name)
    return session.catalog()


def _decide(
    session: Session,
    writing: Callable[[Writer, str], None],
    beside: Callable[[DirectoryLayout, str], None],
    name: str,
) -> None:
    """Decide as whoever writes the directory, or beside another process that does, and then follows."""
    try:
        writer = session.writer()
    except WriterBusy:
        beside(session.places, name)
    else:
        writing(writer, name)


@operation()
def generations(session: Session, query: GenerationsQuery) -> Catalog:
    """Return the generations, oldest first, and the one that answers."""
    del query
    return session.catalog()


@operation(items="differences")
def generations_diff(session: Session, query: GenerationsDiffQuery) -> ComparisonPage[GenerationDifference]:
    """Return the facts in which two generations differ, whenever they hold: by subject, relation and object.

    A fact is the same in both if group, subject, relation and object are, by name, and its period. The `summary` counts
    the facts of each relation that are the same, gained, lost, redated and merged; it stands on the first page.
    """
    page = query.page
    after, latest = (None, HEAD) if page is None else _place(page)
    source = session.of(query.group)
    source.process_backlog()
    asked = known_of(session, query, "episodic")  # the one that answers may have made nothing of the last messages
    with open_comparison(source.places, query.base, query.other, min(asked, latest)) as (comparison, known):
        if after is None:
            summary, found = comparison.summary(query.group, query.limit + 1)
        else:
            summary, found = [], list(islice(comparison.differences(query.group, after), query.limit + 1))
        differences = [comparison.explained(difference) for _, _, difference in found[: query.limit]]
    more = None
    if len(found) > query.limit:
        subject, number, _ = found[query.limit - 1]
        more = query.cursor_after(json.dumps([*subject, number, known]), known=asked)
    answer = ComparisonPage.until(differences, more)
    answer.summary = summary
    return answer


def _place(page: Cursor) -> tuple[tuple[Namesakes, int], int]:
    """Return the difference at the end of a page, as its subject and number, and as of when both sides were compared.

    InvalidInput: it names none.
    """
    try:
        group, key, number, known = json.loads(page.after[0])
    except (ValueError, TypeError):
        group = key = number = known = None
    is_subject = isinstance(group, str) and isinstance(key, str)
    if not (is_subject and isinstance(number, int) and isinstance(known, int) and NEG <= known <= INF):
        raise InvalidInput(OTHER_QUESTION, field="cursor")
    return (Namesakes(group, key), number), known


@operation()
def digest(session: Session, query: DigestQuery) -> str:
    """Return the SHA-256 of all that a generation believes: equal for equal builds of equal logs.

    With several partitions it is the SHA-256 of theirs, in order.
    """
    digests = []
    for source in session.sources.every():
        source.process_backlog()
        opened = open_reader(source.places, session.settings, query.name)
        try:
            digests.append(opened.beliefs.digest())
        finally:
            opened.close()
    return digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()
