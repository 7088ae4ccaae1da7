"""The extractor of rules and the reader: the rules' findings, and the clauses that the reader keeps beside them.

Pure: the reader's answer is recorded, and comes with the turn.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from asof_agents.extraction.english.context import FindTimes, TurnContext
from asof_agents.extraction.english.lexicon import FUNCTION_WORDS, ORNAMENTS, VAGUE
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.hybrid import merge
from asof_agents.extraction.ports import (
    Extraction,
    Extractor,
    KnownNames,
    Mention,
    ModelRequest,
    RejectedPart,
    Relationship,
    TimeHint,
    Turn,
)
from asof_agents.extraction.reader.head import head, version
from asof_agents.extraction.reader.reader import USER, Clause, clauses_of, context_of, request_about
from asof_agents.extraction.reader.statements import (
    DID,
    SAYS,
    SENTENCES,
    TELLS,
    ClauseStatement,
    as_sentence,
    leading_to,
    statement,
    worded,
)
from asof_agents.extraction.reader.third_person import ThirdPerson, phrase, speaker_of
from asof_ontologies.model import Ontology

_DEED: Final = "Deed"
_PERSON: Final = "Person"
_CUE: Final = "reader"
_LOOSE: Final = frozenset({"has_family", "has_value"})  # what is often said in passing: "my husband laughed"
_MILDLY: Final = frozenset("dislikes eats likes made owns practices plans received studies tried wants".split())
_IMPLIED: Final = frozenset(  # by words such as "my": a clause may tell more
    "has_family has_pet likes married_to owns parent_of partner_of practices relative_of runs sibling_of".split()
)
_PLAIN: Final = frozenset(  # of a thing without a name they tell a part: "attended race"
    "attended considers made organized received read studies tried visited volunteers_at works_on".split()
) | {"owns", "practices"}
_EMPTY: Final = FUNCTION_WORDS | ORNAMENTS | VAGUE | frozenset("got called named love like enjoy named run own".split())
_MORE: Final = 2  # words
_OWN: Final = "my "  # begins the cue of what is somebody's own
_SURER: Final = 3  # times


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)

    clauses: list[tuple[int, int, float]]


class RulesAndReader:
    """Implements ports.Extractor. What the reader finds is told by relations to a deed that the ontology has.

    least: the probability from which on a clause is kept; that of the head, unless it is measured at another.
    """

    def __init__(self, rules: Extractor, ontology: Ontology, find_times: FindTimes, least: float | None = None) -> None:
        self._least = head().least if least is None else least
        self._rules = rules
        self._find_times = find_times
        self._known = {relation.name for relation in ontology.relation_types}
        self._nouns = {relation.name: frozenset(relation.nouns) for relation in ontology.relation_types}
        self._relations = {
            relation.name
            for relation in ontology.relation_types
            if _PERSON in relation.sources and _DEED in relation.targets
        }

    @property
    def version(self) -> str:
        return f"{self._rules.version}+{version()}"

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest | None:
        """Return the request about a user's turn, with its first 8,000 characters; None of other turns: rules read."""
        del before
        return None if turn.is_json or turn.role_type != USER else request_about(turn)

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the findings of the rules, then the clauses that the reader keeps and the rules left.

        What the rules tell in the words of a clause that the reader thinks worthless is left out. Without an answer
        these are the rules' findings.
        """
        sure = self._rules.extract(turn, before, known)
        if answer is None:
            return sure
        try:
            said = {(start, end): probable for start, end, probable in _Answer.model_validate_json(answer).clauses}
        except (ValidationError, json.JSONDecodeError):
            return Extraction(sure.mentions, sure.relationships, (RejectedPart("answer", "schema"),), sure.attributes)
        context = context_of(turn, self._find_times, tuple(before), known)
        stated = [one for one in sure.relationships if one.cue not in self._nouns.get(one.relation, ())]
        told: list[Clause] = []
        for each in clauses_of(context):
            if said.get(each.span, 0.0) >= self._least and not _is_read(each, stated):
                self._add(context, each, said[each.span])
                told.append(each)
        kept = self._without_worthless(_without_single_words(sure, told), said)
        return merge(_in_third_person(context, kept), context.findings.extraction())

    def _without_worthless(self, sure: Extraction, said: Mapping[tuple[int, int], float]) -> Extraction:
        """Return the rules' findings without those that tell little, in clauses that are probably worth nothing."""

        def tells_little(one: Relationship) -> bool:
            at = one.target.start
            probable = next((said[start, end] for start, end in said if start <= at < end), 1.0)
            if one.relation in _MILDLY or one.relation not in self._known:
                return probable < head().worthless / _SURER
            return (one.target.type == _DEED or one.relation in _LOOSE) and probable < head().worthless

        return _of(sure, [one for one in sure.relationships if not tells_little(one)])

    def _add(self, context: TurnContext, each: Clause, probable: float) -> None:
        parsed, found = each.parsed, each.candidate
        told = statement(context, parsed, found)
        if told is None or (found.subject == "person" and not each.meant):
            return
        source = None if told.relation in SENTENCES else _subject(context, each)
        if source is None:  # it is the speaker who tells it
            told = told if told.relation in SENTENCES else as_sentence(told, found)
            source = context.speaker() or context.findings.add_speaker(
                *parsed.sentence.span(found.verb, found.verb + 1)
            )
        if told.relation == SAYS and SAYS not in self._relations:  # of another ontology, or an earlier one
            told = told._replace(relation=TELLS)
        if told.relation not in self._relations:
            return
        who = speaker_of(context.turn.role)
        words = worded(parsed, found, told, who, each.meant) if who else None
        target = context.findings.mention(_DEED, *parsed.sentence.span(told.first, told.last), words)
        meaning, hint = _meaning(told, context.turn.said_at)
        context.findings.relate(source, told.relation, target, meaning, hint, parsed.sentence, probable, _CUE)


def _of(sure: Extraction, left: Sequence[Relationship]) -> Extraction:
    """Return the rules' findings with those relationships alone that are left."""
    if len(left) == len(sure.relationships):
        return sure
    used = {mention for one in left for mention in (one.source, one.target)}
    used |= {attribute.mention for attribute in sure.attributes}
    mentions = tuple(one for one in sure.mentions if one in used or not (one.type == _DEED or one.speaker))
    return replace(sure, mentions=mentions, relationships=tuple(left))


def _without_single_words(sure: Extraction, told: Sequence[Clause]) -> Extraction:
    """Return the rules' findings without a plain word as an object, as "park", of a clause that is told as a whole."""

    def is_told(one: Relationship) -> bool:
        plain = one.relation in _PLAIN and one.target.text.islower() and " " not in one.target.text
        whole = any(each.span[0] <= one.target.start < each.span[1] for each in told)
        return plain and whole and one.stance == "holds"

    return _of(sure, [one for one in sure.relationships if not is_told(one)])


def _is_read(each: Clause, relationships: Sequence[Relationship]) -> bool:
    """Whether the rules have a relationship with an object in a clause, and it tells most of what the clause does."""
    start, end = each.span
    return any(
        one.span[0] <= start < one.span[1]
        and start <= one.target.start < end
        and not (_may_be_part(one) and _tells_more(each, one))
        for one in relationships
    )


def _may_be_part(one: Relationship) -> bool:
    return one.relation in _IMPLIED or (one.relation in _PLAIN and one.target.text.islower())


def _tells_more(each: Clause, one: Relationship) -> bool:
    """Whether a clause has more than the object of a relationship: "I bought shelves for my shop"."""
    sentence, found = each.parsed.sentence, each.candidate
    covered = sentence.words_in(one.target.start, one.target.start + len(one.target.text))
    more = [
        at
        for at in range(found.verb, found.last)
        if at not in covered and at not in each.parsed.timed and sentence.low[at] not in _EMPTY
    ]
    return sum(sentence.low[at][0].isalpha() for at in more) >= (1 if (one.cue or "").startswith(_OWN) else _MORE)


def _subject(context: TurnContext, each: Clause) -> Mention | None:
    """Return the person of whom a clause tells what they do; None: it has no name of a person, nor "I"."""
    parsed, found = each.parsed, each.candidate
    if found.subject == "person":
        word = parsed.sentence.low[found.begins]
        named = context.people.resolve_pronoun(word, parsed.sentence.starts[found.begins])
        return named if named and named.text == each.meant and word in {"he", "she"} else None
    if found.subject == "name":
        name = parsed.names[found.begins]
        if context.types.of(name.text) == _PERSON:
            return context.findings.mention(_PERSON, *parsed.sentence.span(name.first, name.last))
        return None
    return _speaker(context, each)


def _speaker(context: TurnContext, each: Clause) -> Mention:
    verb = each.candidate.verb
    return context.speaker() or context.findings.add_speaker(*each.parsed.sentence.span(verb, verb + 1))


def _in_third_person(context: TurnContext, sure: Extraction) -> Extraction:
    """Return the rules' findings with what they tell in the words of the text in the third person."""
    who = speaker_of(context.turn.role)
    if who is None:
        return sure
    own = {
        one.target: replace(one.target, text=words)
        for one in sure.relationships
        if one.target.type == _DEED and one.target.episode_id == context.turn.episode_id
        for words in _worded(context, one, who)
        if words != one.target.text
    }
    if not own:
        return sure
    return replace(
        sure,
        mentions=tuple(dict.fromkeys(own.get(each, each) for each in sure.mentions)),
        relationships=tuple(replace(one, target=own.get(one.target, one.target)) for one in sure.relationships),
    )


def _worded(context: TurnContext, one: Relationship, who: ThirdPerson) -> Iterator[str]:
    start, end = one.target.start, one.target.start + len(one.target.text)
    for parsed in context.sentences:
        if parsed.sentence.start <= start and end <= parsed.sentence.end:
            words = parsed.sentence.words_in(start, end)
            low = parsed.sentence.low[words.start : words.stop]
            told = phrase(parsed, words.start, words.stop, who)
            if low[:1] == ("were",) and one.source.speaker:  # "we were able to"
                told = told.replace("were", "was", 1)
            yield leading_to(one.relation, low) + told


def _meaning(told: ClauseStatement, said_at: int) -> tuple[Meaning, TimeHint | None]:
    """Return when it holds, and the time that says so: a deed in its granule, a plan from its time on."""
    hint = told.hint
    if hint is not None and hint.kind == "until" and told.relation == SAYS:
        return Meaning("holds", valid_to=hint.end), hint
    if hint is None or hint.kind == "until" or (told.relation == DID and hint.start > said_at):
        return Meaning("holds"), None
    ahead = hint.start > said_at
    if told.relation in {DID, TELLS} and hint.kind in {"point", "during"}:
        return Meaning("holds", hint.start, granule=(hint.start, hint.end), planned=ahead), hint
    return (Meaning("holds", hint.start), hint) if ahead or hint.kind == "since" else (Meaning("holds"), None)
