"""The examples of an ontology, run as its tests: what the rules find in a text, and what it names."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Annotated, NamedTuple

from pydantic import Field

from asof_agents.extraction.english.explanation import explain
from asof_ontologies.model import Example, ExampleFact, Ontology
from asof_projections.model.answers import Answer, answer
from asof_streams.instants import from_datetime


class _Fact(NamedTuple):
    """A fact of an example, or one that was found; a date of None may be any."""

    op: str
    subject: str
    relation: str
    object: str
    valid_at: date | None
    invalid_at: date | None

    def fits(self, found: "_Fact") -> bool:
        return self[:4] == found[:4] and all(
            wanted in (None, there) for wanted, there in zip(self[4:], found[4:], strict=True)
        )

    def __str__(self) -> str:
        begins = f" from {self.valid_at}" if self.valid_at else ""
        ends = f" until {self.invalid_at}" if self.invalid_at else ""
        return f"{self.op} {self.subject} {self.relation} {self.object}{begins}{ends}"


@answer
class ExampleResult(Answer):
    """The result of one example: the facts and attributes not found, and those found but not wanted."""

    line: Annotated[int, Field(ge=1, description="Of the file.")]
    text: str
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether exactly the facts and attributes of the example were found."""
        return not (self.missing or self.unexpected)


def run_examples(ontology: Ontology, lines: Iterable[int]) -> list[ExampleResult]:
    """Return the result of each example of an ontology, in their order. `lines`: where each stands in its file."""
    return [_run(ontology, example, line) for example, line in zip(ontology.examples, lines, strict=True)]


def _run(ontology: Ontology, example: Example, line: int) -> ExampleResult:
    said_at = from_datetime(datetime.combine(example.said_at, time(), UTC))
    report = explain(example.text, ontology, said_at, example.speaker)
    found = [
        _Fact(
            s.op,
            s.subject,
            s.relation,
            s.object,
            s.valid_at and s.valid_at.date(),
            s.invalid_at and s.invalid_at.date(),
        )
        for s in report.statements
    ]
    missing = []
    for wanted in map(_wanted, example.facts):
        fitting = next((fact for fact in found if wanted.fits(fact)), None)
        if fitting is None:
            missing.append(str(wanted))
        else:
            found.remove(fitting)
    wanted_values = [f"{a.entity} {a.name}: {a.value}" for a in example.attributes]
    values = [f"{a.entity} {a.name}: {a.value}" for a in report.attributes]
    missing += [value for value in wanted_values if value not in values]
    unexpected = [*map(str, found), *(value for value in values if value not in wanted_values)]
    return ExampleResult(line, example.text, tuple(missing), tuple(unexpected))


def _wanted(fact: ExampleFact) -> _Fact:
    return _Fact(fact.op, fact.subject, fact.relation, fact.object, fact.valid_at, fact.invalid_at)
