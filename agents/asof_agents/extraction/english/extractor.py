"""The rule extractor: reads a turn with the cues of an ontology, offline, precise before complete."""

from collections.abc import Sequence
from dataclasses import replace

from asof_agents.extraction.english.clauses import read_clauses
from asof_agents.extraction.english.context import Context, FindTimes
from asof_agents.extraction.english.corrections import read_correction
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.relational_nouns import read_nominals
from asof_agents.extraction.ports import Extraction, KnownNames, Relationship, Turn
from asof_ontologies.model import Ontology

_VERSION = "rules-1"


class EnglishExtractor:
    """Implements ports.Extractor. It holds look-ups of the ontology only; a turn is read from its arguments alone."""

    def __init__(self, ontology: Ontology, find_times: FindTimes) -> None:
        self._patterns = Patterns(ontology)
        self._find_times = find_times
        self._version = f"{_VERSION}/{ontology.id}@{ontology.digest[:12]}"

    @property
    def version(self) -> str:
        return self._version

    def request(self, turn: Turn, before: Sequence[Turn]) -> None:
        """Rules ask nobody."""

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return what the turn says for sure. Never raises on any text."""
        del answer
        context = Context(turn, before, known, self._patterns, self._find_times)
        self._read(context)
        for line in context.lines:
            read_correction(context, line, lambda other: self._earlier(other, before, known))
        for line in context.lines:
            for name in line.names.values():
                if not (name.spoken_to or context.found.has(name.text)):
                    kind = context.types.in_place(line.sentence, name)
                    if kind:
                        context.name_mention(line, name, kind)
        return context.found.extraction()

    def _earlier(self, turn: Turn, before: Sequence[Turn], known: KnownNames) -> Sequence[Relationship]:
        """What an earlier turn said, with the mentions that it was given then."""
        at = before.index(turn)
        context = Context(replace(turn, mentions=()), before[:at], known, self._patterns, self._find_times)
        self._read(context)
        held = {(mention.type, mention.text): mention for other in before[: at + 1] for mention in other.mentions}
        return [
            replace(
                found,
                source=held.get((found.source.type, found.source.text), found.source),
                target=held.get((found.target.type, found.target.text), found.target),
            )
            for found in context.found.relationships
        ]

    def _read(self, context: Context) -> None:
        for line in context.lines:
            context.meet(line)
            read_nominals(context, line)
            read_clauses(context, line)
            context.people.passed(line.sentence)
