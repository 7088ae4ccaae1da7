"""Deeds that no cue covers, in the words of the text: what was done, "scored 40 points", and what is done regularly."""

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.events import deed_at, without_times
from asof_agents.extraction.english.lexicon import CLAUSE_STARTS, DETERMINERS, FIRST_PERSON, ORNAMENTS, PREPOSITIONS
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.name_spans import may_be_person
from asof_agents.extraction.english.subjects import UNTYPED, Subject
from asof_agents.extraction.english.verb_phrases import habit_at, tells
from asof_agents.extraction.english.verbs import ONLY_PASTS
from asof_agents.extraction.english.weight import has_weight
from asof_agents.extraction.ports import TimeHint
from asof_ontologies.model import RelationType

_LATELY = frozenset({"just", "recently", "finally"})  # as good as a time: the message's
_DEED = "<*>"
_HAD = frozenset({"had", "got"})  # "had a good moment" has no weight at any time, "got hurt" has
_OBJECTS = DETERMINERS | {"another", "more", "new"} | ORNAMENTS
_CONFIDENCE = 0.8
_WEAK = 0.7  # of a subject that only its place in the sentence makes a name: "Hands got warm"
_NEAR = 16  # words before a verb among which its subject stands
_PLAIN = frozenset({",", "and", "but", "-", "–", "—", ";", "so", "also", "yeah", "!"})
_STARTS = CLAUSE_STARTS - {"that", "which"}
_REGULARLY = frozenset(
    "every evenings fridays mondays mornings saturdays sundays thursdays tuesdays wednesdays weekdays weekends".split()
)
_LEAD = 5  # words from the one that says how often to the verb
_MOVING = frozenset("bike commute cycle drive run take walk work".split())
_BY = {(), *((the, by) for the in ("the", "a") for by in ("bus", "ferry", "metro", "subway", "train", "tram", "tube"))}
_COMMUTES = {("to", "work"), ("to", "school"), ("from", "home")}
_COMMUTE_MAX = 5
_LEADS = PREPOSITIONS | {"to"}


def extract_deed(context: TurnContext, parsed: ParsedSentence, subject: Subject, start: int) -> int | None:
    """Add what the subject did, if its words tell it, or a time is stated: "I scored 40 points last week"."""
    relation = context.patterns.deed
    words = deed_at(parsed.sentence, subject.next) if relation else None
    if relation is None or words is None or words[0] in parsed.taken:
        return None
    first, end = words
    hint = time_of(parsed, context.timed(parsed, ahead=False), start, end)
    rest = without_times(parsed.sentence, words, parsed.timed)
    if rest is None or _may_be_passive(parsed, subject, first):
        return None
    passed = hint is not None and hint.kind in {"point", "during"} and hint.start <= context.turn.said_at
    words_before = parsed.sentence.low[subject.next : end]
    just_now = hint is None and (
        not _LATELY.isdisjoint(words_before[: first - subject.next]) or "recently" in words_before
    )
    if not (passed or just_now or (hint is None and _stands_alone(context, parsed, subject, start, words))):
        return None
    owned = parsed.sentence.low[first] in _HAD and parsed.sentence.low[first + 1] in _OBJECTS
    if (owned or not passed) and not has_weight(parsed, *rest, context.patterns):
        context.miss(parsed, rest, "the deed tells of nothing in particular")
        return None
    _add(context, parsed, relation, subject, rest, hint, _DEED)
    return end


def _may_be_passive(parsed: ParsedSentence, subject: Subject, verb: int) -> bool:
    """Whether a verb may say what was done to its subject: "Tom sentenced to four years", "So impressed with it"."""
    low = parsed.sentence.low
    left_out = subject.mentions[0].speaker and FIRST_PERSON.isdisjoint(low[max(0, verb - _NEAR) : verb])
    return (
        (not subject.mentions[0].speaker or (left_out and low[verb].endswith("ed")))
        and low[verb] not in ONLY_PASTS
        and low[verb + 1 : verb + 2] != ()
        and low[verb + 1] in _LEADS
    )


def _stands_alone(
    context: TurnContext, parsed: ParsedSentence, subject: Subject, start: int, words: tuple[int, int]
) -> bool:
    """Whether a clause without a time is a clause of its own, whose words tell what was done."""
    before = parsed.sentence.low[start - 1] if start else ","
    if subject.mentions[0].type != "Person":
        return False
    chosen = parsed.sentence.low[words[0]] in {"was", "were"}  # "was invited to speak"
    return before in _STARTS and (chosen or tells(parsed, *words, context.patterns))


def extract_habit(context: TurnContext, parsed: ParsedSentence, subject: Subject) -> int | None:
    """Add what the subject does regularly, by the words that say so: "I usually walk to work"."""
    habit = context.patterns.habit
    before = parsed.sentence.low[subject.next - 2 : subject.next - 1]
    plain = parsed.sentence.low[subject.next - 1] == "i" and (not before or before[0] in _PLAIN)
    led = not _REGULARLY.isdisjoint(parsed.sentence.low[max(0, subject.next - _LEAD) : subject.next - 1])
    words = habit_at(parsed, subject.next, habit.often, context.patterns, plain=plain, led=led) if habit else None
    words = words or (_commute(parsed, subject.next) if plain else None)
    if habit is None or words is None or words[0] in parsed.taken:
        return None
    commutes = parsed.sentence.low[words[1] - 2 : words[1]] in _COMMUTES
    if not commutes and not has_weight(parsed, *words, context.patterns, ahead=True):
        return None
    _add(context, parsed, habit.relation, subject, words, None, habit.cue)
    return words[1]


def _commute(parsed: ParsedSentence, at: int) -> tuple[int, int] | None:
    """Return the words of how the speaker gets to work: "walk to work", "take the bus to work"; None: none do."""
    low = parsed.sentence.low
    if low[at : at + 1] == () or low[at] not in _MOVING:
        return None
    ends = (end for end in range(at + 3, min(at + _COMMUTE_MAX, len(low)) + 1) if low[end - 2 : end] in _COMMUTES)
    end = next(ends, None)
    alone = end is not None and (end == len(low) or not low[end][0].isalnum()) and low[at + 1 : end - 2] in _BY
    return (at, end) if end is not None and alone else None


def _add(
    context: TurnContext,
    parsed: ParsedSentence,
    relation: RelationType,
    subject: Subject,
    words: tuple[int, int],
    hint: TimeHint | None,
    cue: str,
) -> None:
    if subject.confidence < _WEAK:
        return
    for mention in subject.mentions:
        if mention.type in relation.sources or (mention.type == UNTYPED and may_be_person(mention.text)):
            deed = context.findings.mention(relation.targets[0], *parsed.sentence.span(*words))
            granule = (hint.start, hint.end) if hint else None
            stated = Meaning("holds", granule and granule[0], granule=granule)
            source = context.registered(mention, mention.type or relation.sources[0])
            context.findings.relate(source, relation.name, deed, stated, hint, parsed.sentence, _CONFIDENCE, cue)
