"""Loads ontologies by id or path, and validates them before anything uses them.

An invalid file raises OntologyError: its message names the file, the line, the key and the remedy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from asof_ontologies.attributes import Problem, attribute_problems
from asof_ontologies.cues import parse_cue
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import Ontology, RelationType

_DATA = files("asof_ontologies") / "data"
_EARLIER = _DATA / "earlier"  # ID-DIGEST.yaml, added whenever a released ontology changes


def names() -> list[str]:
    """Return the ids of asof's own ontologies, sorted."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _DATA.iterdir() if entry.name.endswith(".yaml"))


def earlier(digest: str) -> Ontology | None:
    """Return the ontology of asof that had a digest in an earlier version; None: there was none.

    Topics and logs name the ontology that they were begun with by its digest, and a lost replica is made with it again.
    """
    found = next((entry for entry in _EARLIER.iterdir() if entry.name.endswith(f"-{digest[:12]}.yaml")), None)
    ontology = None if found is None else _parse(found.name, found.read_text("utf-8"), own=True).ontology
    return ontology if ontology is not None and ontology.digest == digest else None


def load(name_or_path: str | Path) -> Ontology:
    """Return one of asof's own ontologies by id, or the ontology of a YAML file by path (*.yaml or *.yml).

    OntologyError: there is no such ontology or file, or the file is invalid. Example: `load("default")`.
    """
    file = read_file(name_or_path)
    if file.ontology is None:
        raise OntologyError(str(file.problems[0]))
    return file.ontology


def read_file(name_or_path: str | Path) -> "OntologyFile":
    """Return the file of an ontology that `load` takes, with all its problems. OntologyError: there is no such file."""
    text = str(name_or_path)
    if text in names():
        return _parse(f"{text}.yaml", (_DATA / f"{text}.yaml").read_text("utf-8"), own=True)
    if not text.endswith((".yaml", ".yml")):
        raise OntologyError(f"no ontology {text!r}: choose one of {', '.join(names())}, or give a YAML file's path")
    try:
        content = Path(text).read_text("utf-8")
    except (OSError, ValueError) as error:  # a path with a null byte, and bytes that are no text, are a ValueError
        raise OntologyError(f"{text}: cannot be read ({type(error).__name__}): give a UTF-8 YAML file") from None
    return _parse(text, content)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something wrong in a file: its line, from 1 (None: no line can be told), its key ("": the file), the remedy."""

    file: str
    line: int | None
    key: str
    remedy: str

    def __str__(self) -> str:
        """Return all of it, as compilers do."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.key}: {self.remedy}" if self.key else f"{where}: {self.remedy}"


@dataclass(frozen=True, slots=True)
class OntologyFile:
    """A file: its ontology, or all that is wrong with it in the order of the checks, and the lines of the examples."""

    name: str
    ontology: Ontology | None
    problems: tuple[FileProblem, ...]
    example_lines: tuple[int, ...]


@lru_cache(maxsize=16)
def _parse(name: str, content: str, *, own: bool = False) -> OntologyFile:
    from asof_ontologies.yaml_text import Unreadable, read_yaml  # noqa: PLC0415 - a question reads no ontology

    try:
        document = read_yaml(content, own=own)
    except Unreadable as error:
        return OntologyFile(name, None, (FileProblem(name, error.line, "", str(error)),), ())
    ontology = None
    try:
        ontology = Ontology.model_validate(document.data)
        problems = list(_problems(ontology))
    except ValidationError as error:
        problems = [(tuple(one["loc"]), one["msg"]) for one in error.errors(include_url=False, include_input=False)]
    found = tuple(FileProblem(name, document.line(where), _dotted(where), remedy) for where, remedy in problems)
    if ontology is None or found:
        return OntologyFile(name, None, found, ())
    lines = tuple(document.line(("examples", at)) for at in range(len(ontology.examples)))
    return OntologyFile(name, ontology, (), lines)


def _problems(ontology: Ontology) -> Iterator[Problem]:
    yield from _duplicates("entity_types", [kind.name for kind in ontology.entity_types])
    yield from _duplicates("relation_types", [relation.name for relation in ontology.relation_types])
    for index, kind in enumerate(ontology.entity_types):
        for key in ("words", "names"):
            for at, word in enumerate(getattr(kind, key)):
                if word != word.lower().strip() or not word:
                    yield ("entity_types", index, key, at), "write it in lower case, without spaces around it"
        for where, remedy in attribute_problems(kind):
            yield ("entity_types", index, "attributes", *where), remedy
    for index, relation in enumerate(ontology.relation_types):
        for where, remedy in _relation_problems(ontology, relation):
            yield ("relation_types", index, *where), remedy
    yield from _example_problems(ontology)


def _example_problems(ontology: Ontology) -> Iterator[Problem]:
    names = {attribute.name for kind in ontology.entity_types for attribute in kind.attributes}
    for index, example in enumerate(ontology.examples):
        for at, stated in enumerate(example.attributes):
            if stated.name not in names:
                yield ("examples", index, "attributes", at, "name"), f"no attribute {stated.name!r}: define it"
        for at, fact in enumerate(example.facts):
            where = ("examples", index, "facts", at, "relation")
            if ontology.relation(fact.relation) is None:
                yield where, f"no relation {fact.relation!r}: define it, or name another one"
                continue
            kept, _ = ontology.canonical(fact.relation)
            if kept != fact.relation:
                yield where, f"its facts are kept as {kept!r}: write that, with subject and object exchanged"


def _duplicates(key: str, names: Sequence[str]) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (key, index, "name"), f"{name!r} is defined twice: keep one"


def _relation_problems(ontology: Ontology, relation: RelationType) -> Iterator[Problem]:
    for slot in ("{subject}", "{object}"):
        if relation.sentence.count(slot) != 1:
            yield ("sentence",), f"write {slot} in it exactly once"
    if relation.sentence.count("{key}") != relation.keyed:
        yield ("sentence",), "write {key} in it exactly once" if relation.keyed else "leave {key} out: it has no noun"
    for key in ("sources", "targets"):
        for at, kind in enumerate(getattr(relation, key)):
            if kind not in ontology.entities:
                yield (key, at), f"no entity type {kind!r}: use one of {', '.join(ontology.entities)}"
    for at, (source, target) in enumerate(relation.pairs):
        if source not in relation.sources or target not in relation.targets:
            yield ("pairs", at), "write a type of sources and a type of targets"
    for key in ("cues", "starts", "ends"):
        for at, cue in enumerate(getattr(relation, key)):
            try:
                in_words = parse_cue(cue).takes == "deed"
            except ValueError as error:
                yield (key, at), str(error)
                continue
            if in_words and not any(map(ontology.is_value, relation.targets)):
                yield (key, at), "{deed} is in the words of a text: add a literal entity type to its targets"
    if relation.is_deed and (relation.starts or relation.ends):
        yield ("lasting",), "a deed neither starts nor ends: move its cues to `cues`, or make it lasting"
    for key in ("inverse", "opposite"):
        other = getattr(relation, key)
        if other is not None and other not in ontology.relations:
            yield (key,), f"no relation {other!r}: define it or leave {key} out"
    if relation.inverse is not None and relation.inverse in ontology.relations:
        yield from _inverse_problems(relation, ontology.relations[relation.inverse])
    if relation.symmetric and set(relation.sources) != set(relation.targets):
        yield ("symmetric",), "a symmetric relation has the same sources and targets"


def _inverse_problems(relation: RelationType, other: RelationType) -> Iterator[Problem]:
    if relation.symmetric:
        yield ("inverse",), "a symmetric relation is its own inverse: leave inverse out"
    elif other.inverse != relation.name:
        yield ("inverse",), f"{other.name!r} must name {relation.name!r} as its inverse"
    elif set(other.sources) != set(relation.targets) or set(other.targets) != set(relation.sources):
        yield ("inverse",), f"sources and targets of {other.name!r} must be those of {relation.name!r}, exchanged"


def _dotted(where: Sequence[str | int]) -> str:
    return ".".join(str(step) for step in where) or "(the file)"
