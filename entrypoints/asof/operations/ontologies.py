"""The check of an ontology's file: what is wrong with it, and whether its examples hold."""

from typing import Annotated

from pydantic import Field

from asof.runtime.wiring import read_ontology_file
from asof_agents.extraction.english.examples import ExampleResult, run_examples
from asof_projections.model.answers import Answer, answer


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
