"""The rules that read one sentence, in their order, each with the words without which it finds nothing.

Most sentences have none of the words of most rules. Their words are looked up once, and no other rule is called.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import NamedTuple

from asof_agents.extraction.english.choices import REQUESTS, extract_grounds, extract_request
from asof_agents.extraction.english.clauses import extract_clauses
from asof_agents.extraction.english.command_lines import COMMANDS, extract_command_lines
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.deadlines import DEADLINES, extract_deadlines
from asof_agents.extraction.english.endings import ENDINGS, extract_endings
from asof_agents.extraction.english.everyday import everyday_cues, extract_everyday
from asof_agents.extraction.english.favorites import extract_favorites
from asof_agents.extraction.english.handovers import extract_handovers, extract_owners, extract_shares
from asof_agents.extraction.english.later_names import NAMINGS, extract_later_names
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.relational_nouns import extract_relational_nouns
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.english.values import VALUES, extract_values
from asof_agents.extraction.english.working_rules import extract_rules

Extract = Callable[[TurnContext, ParsedSentence], None]
_ANY = frozenset[str]()


class SentenceRule(NamedTuple):
    """A rule that reads one sentence. cues: one of them is in each that it finds something in; empty: any word may do.

    asked: it reads questions too. named: it reads sentences with names alone.
    """

    extract: Extract
    cues: frozenset[str] = _ANY
    asked: bool = False
    named: bool = False


def sentence_rules(patterns: Patterns) -> tuple[SentenceRule, ...]:
    """Return the rules that apply under an ontology, in their order."""
    values = patterns.values
    of_work = "rule" in values  # elsewhere people own other things, and are told no rules
    rules = (
        (SentenceRule(extract_rules), of_work),
        (SentenceRule(extract_handovers), of_work),
        (SentenceRule(extract_owners), of_work),
        (SentenceRule(extract_request, REQUESTS), patterns.choice is not None),
        (SentenceRule(extract_command_lines, COMMANDS), "value" in values),
        (SentenceRule(extract_deadlines, DEADLINES), "time" in values),
        (SentenceRule(extract_favorites, patterns.favorites), bool(patterns.favorites)),
        (SentenceRule(extract_values, VALUES), bool(values)),
        (SentenceRule(extract_everyday, everyday_cues()), "quality" in values),
        (SentenceRule(extract_endings, ENDINGS), True),
        (SentenceRule(extract_relational_nouns, frozenset(patterns.noun_heads), asked=True), bool(patterns.nouns)),
        (SentenceRule(extract_clauses, asked=True), True),  # of "I won - cool, huh?", too
        (SentenceRule(extract_grounds), "reason" in values and "alternative" in values),
        (SentenceRule(extract_shares, asked=True), of_work),
        (SentenceRule(extract_later_names, NAMINGS, named=True), True),
    )
    return tuple(rule for rule, applies in rules if applies)


class SentenceRules:
    """Chooses the rules to call by the words of a sentence."""

    def __init__(self, rules: tuple[SentenceRule, ...]) -> None:
        self._rules = rules
        self._chosen: dict[int, tuple[Extract, ...]] = {}  # by their bits, as far as they were asked for
        self._bits: dict[str, int] = {}  # of a word: those of the rules whose cue it is
        for place, rule in enumerate(rules):
            for word in rule.cues:
                self._bits[word] = self._bits.get(word, 0) | 1 << place
        self._words = frozenset(self._bits)
        self._always = self._where(lambda rule: not rule.cues)
        self._asked = self._where(lambda rule: rule.asked)
        self._unnamed = self._where(lambda rule: not rule.named)

    def of(self, sentence: Sentence, *, named: bool) -> tuple[Extract, ...]:
        """Return those that may find something in a sentence; named: it has names."""
        cues = self._words.intersection(sentence.low)
        bits = reduce(or_, map(self._bits.__getitem__, cues), self._always)
        if sentence.question:
            bits &= self._asked
        if not named:
            bits &= self._unnamed
        chosen = self._chosen.get(bits)
        if chosen is None:
            each = (rule.extract for place, rule in enumerate(self._rules) if bits >> place & 1)
            chosen = self._chosen[bits] = tuple(each)
        return chosen

    def _where(self, holds: Callable[[SentenceRule], bool]) -> int:
        return sum(1 << place for place, rule in enumerate(self._rules) if holds(rule))
