"""The English extractor: rules driven by an ontology's cues. It works offline, and prefers precision to recall."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from asof_agents.extraction.english.answered_names import extract_answered_names
from asof_agents.extraction.english.changes import EarlierTurn, extract_changes
from asof_agents.extraction.english.context import FindTimes, ParsedSentence, TurnContext, parse
from asof_agents.extraction.english.corrections import extract_correction
from asof_agents.extraction.english.patterns import patterns
from asof_agents.extraction.english.records import extract_records
from asof_agents.extraction.english.sentence_rules import SentenceRules, sentence_rules
from asof_agents.extraction.english.version import version_of
from asof_agents.extraction.english.work import LOOK_BACK
from asof_agents.extraction.ports import Extraction, KnownNames, Relationship, Turn
from asof_ontologies.model import Ontology


def _unknown(_names: Sequence[str]) -> Mapping[str, str]:
    return {}


class EnglishExtractor:
    """Implements ports.Extractor. It holds look-ups of the ontology and no other state."""

    def __init__(self, ontology: Ontology, find_times: FindTimes) -> None:
        self._patterns = patterns(ontology)
        self._rules = SentenceRules(sentence_rules(self._patterns))
        self._find_times = find_times
        self._version = version_of(ontology)

    @property
    def version(self) -> str:
        return self._version

    def request(self, turn: Turn, before: Sequence[Turn]) -> None:
        """Return None: rules need no model."""

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the mentions and relationships of a turn, in the order of its text.

        InvalidInput: it is too much work for one message (see `work`). Nothing else makes it raise.
        """
        del answer
        context = TurnContext(turn, before, known, self._patterns, self._find_times)
        self._extract(context, known)
        return context.findings.extraction()

    def explain(self, turn: Turn) -> TurnContext:
        """Return all that `extract` knows at its end of a turn without context, near misses included."""
        context = TurnContext(turn, (), _unknown, self._patterns, self._find_times, misses=[])
        self._extract(context, _unknown)
        return context

    def _extract(self, context: TurnContext, known: KnownNames) -> None:
        before = context.before
        self._read(context)
        read: dict[str, EarlierTurn] = {}  # by its episode

        def earlier_turn(other: Turn) -> EarlierTurn:
            if other.episode_id not in read:
                short = len(other.text) <= LOOK_BACK
                read[other.episode_id] = self._earlier(other, before, known) if short else EarlierTurn((), ())
            return read[other.episode_id]

        def earlier(other: Turn) -> Sequence[Relationship]:
            return earlier_turn(other).relationships

        def parsed(other: Turn) -> Sequence[ParsedSentence]:
            return parse(other.text, self._patterns, context.work)

        for each in context.sentences:
            extract_correction(context, each, earlier)
        extract_changes(context, earlier_turn, parsed)
        extract_answered_names(context, earlier)
        for each in context.sentences:
            for name in each.names.values():
                if not (name.spoken_to or context.findings.has(name.text)):
                    kind = context.types.in_place(each.sentence, name)
                    if kind:
                        context.name_mention(each, name, kind)
                    else:
                        context.miss(each, (name.first, name.last), "no type of entity is known for this name")

    def _earlier(self, turn: Turn, before: Sequence[Turn], known: KnownNames) -> EarlierTurn:
        """Return an earlier turn as it is read by itself, with the mentions of its own extraction."""
        at = before.index(turn)
        context = TurnContext(replace(turn, mentions=()), before[:at], known, self._patterns, self._find_times)
        self._read(context)
        held = {(mention.type, mention.text): mention for other in before[: at + 1] for mention in other.mentions}
        stated = [
            replace(
                found,
                source=held.get((found.source.type, found.source.text), found.source),
                target=held.get((found.target.type, found.target.text), found.target),
            )
            for found in context.findings.relationships_reversed()
        ]
        return EarlierTurn(stated, context.sentences)

    def _read(self, context: TurnContext) -> None:
        if context.document:
            extract_records(context)
        for parsed in context.sentences:
            if parsed.names:
                context.meet(parsed)
            for extract in self._rules.of(parsed.sentence, named=bool(parsed.names)):
                extract(context, parsed)
            context.people.end_sentence(parsed.sentence)
