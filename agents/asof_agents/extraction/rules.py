"""The rule extractor: reads a turn with the cues of an ontology, offline, precise before complete."""

from collections.abc import Sequence

from asof_ontologies.model import Ontology

from asof_agents.extraction.clauses import read_clauses
from asof_agents.extraction.context import Context, FindTimes
from asof_agents.extraction.nominals import read_nominals
from asof_agents.extraction.patterns import Patterns
from asof_agents.extraction.ports import Extraction, KnownNames, Turn

_VERSION = "rules-1"


class RuleExtractor:
    """Implements ports.Extractor. Holds only look-ups made from the ontology; a turn is read from its arguments alone."""

    def __init__(self, ontology: Ontology, find_times: FindTimes) -> None:
        self._patterns = Patterns(ontology)
        self._find_times = find_times
        self._version = f"{_VERSION}/{ontology.id}@{ontology.digest[:12]}"

    @property
    def version(self) -> str:
        return self._version

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames) -> Extraction:
        """Return what the turn says for sure. Never raises on any text."""
        context = Context(turn, before, known, self._patterns, self._find_times)
        for line in context.lines:
            read_nominals(context, line)
            read_clauses(context, line)
            context.people.passed(line.sentence)
        for line in context.lines:
            for name in line.names.values():
                kind = (
                    None if name.spoken_to else context.types.in_place(line.sentence, name, list(line.names.values()))
                )
                if kind:
                    context.name_mention(line, name, kind)
        return context.found.extraction()
