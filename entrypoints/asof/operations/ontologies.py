"""The check of an ontology's file, and the comparison of two ontologies."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import Field

from asof.runtime import ontology_trial
from asof.runtime.generations import build_of
from asof.runtime.wiring import load_ontology, open_log, read_ontology_file
from asof.service.session import Session
from asof_agents.extraction.english.cue_words import Wanted, has_any, wanted, words_of
from asof_agents.extraction.english.examples import ExampleResult, run_examples
from asof_agents.generation import is_extracted_anew
from asof_ontologies import comparison
from asof_ontologies.comparison import Label, Needs, OntologyChange, Subject
from asof_ontologies.model import Ontology
from asof_projections.model.answers import Answer, answer
from asof_projections.model.comparisons import GenerationDifference, RelationDifferences
from asof_projections.model.queries import Query
from asof_streams.episodic import EpisodeRecorded

_FIRST: Final = 3  # episodes that are named


class OntologyTrialQuery(Query):
    """Ask what an ontology would change in the facts of the last episodes."""

    group_id: str | None = Field(None, description="Only of this group; left out, of all.")
    last: int = Field(1_000, ge=1, le=100_000, description="Read this many episodes, the last that have words.")
    limit: int = Field(100, ge=1, le=1_000, description="Show this many differences at most.")


@answer
class OntologyProblem(Answer):
    """Something wrong in the file."""

    line: Annotated[int | None, Field(description="From 1; null: no line can be told.")]
    key: Annotated[str, Field(examples=["relation_types.0.cues.1"], description="Empty: the file itself.")]
    remedy: str


@answer
class OntologyCheck(Answer):
    """An ontology's file with its problems; where it has none, with what came of its examples."""

    file: str
    id: str | None
    digest: str | None
    entity_types: int
    relation_types: int
    problems: tuple[OntologyProblem, ...]
    examples: tuple[ExampleResult, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong, and every example holds."""
        return not self.problems and all(example.holds for example in self.examples)


def check_ontology(name: str) -> OntologyCheck:
    """Check an ontology by its id or file, and run its examples. InvalidInput: there is no such file."""
    file = read_ontology_file(name)
    found = file.ontology
    if found is None:
        problems = tuple(OntologyProblem(one.line, one.key, one.remedy) for one in file.problems)
        return OntologyCheck(file.name, None, None, 0, 0, problems, ())
    results = tuple(run_examples(found, file.example_lines))
    counts = len(found.entity_types), len(found.relation_types)
    return OntologyCheck(file.name, found.id, found.digest, *counts, (), results)


@answer
class OntologyDifference(Answer):
    """One change of an ontology, and what a memory needs for it."""

    subject: Subject
    name: Annotated[str, Field(description="Of the type, relation or attribute, as it was; the text of an example.")]
    change: Label
    key: Annotated[str, Field(examples=["cardinality"], description="Empty: the whole came or went.")]
    before: str | None
    after: str | None
    needs: Annotated[Needs, Field(description="mentions, episodes: `asof rebuild --input` it.")]
    model: Annotated[bool, Field(description="Whether it matters only where a language model extracts.")]
    episodes: Annotated[int | None, Field(description="With its words; null: none are needed, or there is no memory.")]
    first: Annotated[tuple[str, ...], Field(description="The ids of the first of them, at most 3.")]


@answer
class OntologyDiff(Answer):
    """What changed from one ontology to another, and the most that any of it needs."""

    base: str
    base_digest: str
    other: str
    other_digest: str
    needs: Needs
    episodes: Annotated[int | None, Field(description="That may extract otherwise; null: there is no memory.")]
    of: Annotated[int | None, Field(description="All episodes with words; null: there is no memory.")]
    changes: tuple[OntologyDifference, ...]


def diff_ontologies(name: str, other: str | None, session: Session | None) -> OntologyDiff:
    """Return what changed from one ontology to another; without the other, from that of the memory to this one.

    Episodes are counted by the words of the cues that changed, over the whole episodic log: those may extract
    otherwise. InvalidInput: there is no such ontology, it has mistakes, or there is neither the other nor a memory.
    """
    if other is not None:
        base, later = load_ontology(name), load_ontology(other)
    else:
        assert session is not None, "the ontology of a memory is asked for"
        base, later = _ontology_of(session), load_ontology(name).model_copy(update={"examples": ()})  # it keeps none
    changes = comparison.compare(base, later)
    counts = _EpisodeCounts(changes)
    if session is not None and base.digest != later.digest:
        counts.add_all(session)
    known = session is not None
    return OntologyDiff(
        base.id,
        base.digest,
        later.id,
        later.digest,
        _most(changes),
        counts.some if known else None,
        counts.all if known else None,
        tuple(
            OntologyDifference(
                *(change.subject, change.name, change.label, change.key, change.before, change.after),
                *(change.needs, change.model),
                counts.of[at] if known and change.needs == "episodes" else None,
                tuple(counts.first[at]),
            )
            for at, change in enumerate(changes)
        ),
    )


class _EpisodeCounts:
    """The episodes that have the words of each change; any episode, where a change has no words."""

    def __init__(self, changes: Sequence[OntologyChange]) -> None:
        self._wanted: dict[int, list[Wanted]] = {
            at: wanted(change.cues, change.words) for at, change in enumerate(changes) if change.needs == "episodes"
        }
        self.of = [0] * len(changes)
        self.first: list[list[str]] = [[] for _ in changes]
        self.some = self.all = 0  # those that any change concerns; all that have words

    def add_all(self, session: Session) -> None:
        for uuid, text in _texts(session):
            self.all += 1
            words = words_of(text) if self._wanted else frozenset[str]()
            concerned = [at for at, each in self._wanted.items() if not each or has_any(words, each)]
            self.some += bool(concerned)
            for at in concerned:
                self.of[at] += 1
                if len(self.first[at]) < _FIRST:
                    self.first[at].append(uuid)


@answer
class OntologyTrial(Answer):
    """What an ontology would change in the facts of the last episodes, and what a memory needs for it."""

    base: Annotated[str, Field(description="The id of the ontology of the generation that answers.")]
    base_digest: str
    other: str
    other_digest: str
    needs: Needs
    episodes: Annotated[int, Field(description="That were read by the rules, with either ontology.")]
    summary: Annotated[tuple[RelationDifferences, ...], Field(description="The numbers of each relation, by name.")]
    differences: Annotated[tuple[GenerationDifference, ...], Field(description="The first of them.")]
    more: Annotated[bool, Field(description="Whether there are more of them.")]


def try_ontology(name: str, session: Session, query: OntologyTrialQuery) -> OntologyTrial:
    """Return what an ontology would change in the facts of the last episodes, beside that of the memory.

    The rules read these episodes with either ontology, as if nothing was known before them; no language model is asked,
    and nothing of the memory is changed. InvalidInput: there is no such ontology, or it has mistakes.
    """
    base, other = _ontology_of(session), load_ontology(name).model_copy(update={"examples": ()})  # it keeps none
    source, catalog = session.of(query.group_id), session.catalog()
    source.process_backlog()
    active = catalog[catalog.active]
    asked = source.places, session.settings, active, (base, other), query.last, query.group_id, session.progress
    with ontology_trial.try_ontology(*asked) as (tried, episodes):
        summary, found = tried.summary(query.group_id, query.limit + 1)
        differences = tuple(tried.explained(difference) for _, _, difference in found[: query.limit])
    return OntologyTrial(
        *(base.id, base.digest, other.id, other.digest, _most(comparison.compare(base, other)), episodes),
        *(tuple(summary), differences, len(found) > query.limit),
    )


def _most(changes: Sequence[OntologyChange]) -> Needs:
    """Return the most that any change needs."""
    return max((change.needs for change in changes), key=comparison.ORDER.index, default="nothing")


def _texts(session: Session) -> Iterator[tuple[str, str]]:
    """Yield the ids and words of the episodes that are extracted anew, in the order of the episodic log."""
    for source in session.sources.every():
        episodes = source.opened().episodes
        with open_log(source.places, "episodic") as log:
            for record in log.read(0, log.end()):
                event = record.event
                if not (isinstance(event, EpisodeRecorded) and is_extracted_anew(event)):
                    continue
                if not episodes.withdrawn(event.episode_id):
                    yield event.episode_id, event.body[len(event.body) - event.content_length :]


def _ontology_of(session: Session) -> Ontology:
    """Return the ontology of the generation that answers."""
    catalog = session.catalog()
    places = session.sources.every()[0].places
    return build_of(places, catalog[catalog.active], session.settings).ontology
