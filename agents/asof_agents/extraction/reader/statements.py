"""What a clause states: a relation of the ontology, with an object in the words of the text, and its time."""

from typing import Final, NamedTuple

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, AUXILIARIES, DETERMINERS, PREPOSITIONS
from asof_agents.extraction.english.verbs import LEMMAS, PASTS, forms
from asof_agents.extraction.ports import TimeHint
from asof_agents.extraction.reader.candidates import ClauseCandidate, is_past
from asof_agents.extraction.reader.third_person import ThirdPerson, agreeing, phrase

DID: Final = "did"
TELLS: Final = "tells"  # that something happened
SAYS: Final = "says"  # that something is so
SENTENCES: Final = frozenset({TELLS, SAYS})  # relations whose object is a sentence
_DOES: Final = "has_habit"
_PLANS: Final = "plans"
_WANTS: Final = "wants"
_LIKES: Final = "likes"
_DOING: Final = "engaged_in"

_BE: Final = frozenset({"am", "are", "is", "'s", "was", "were", "been"})
_GOES_ON: Final = frozenset({"am", "are", "is", "'s", "been"})
_HAVE: Final = frozenset({"have", "has", "'ve"})
_HELPING: Final = AUXILIARIES | _BE | _HAVE  # "I am always late" is no habit
_PARTICIPLES: Final = frozenset(  # that are no form of the past: "has gone camping"
    word for lemma in LEMMAS for word, kinds in forms(lemma).items() if kinds == {"participle"}
)
_FOND: Final = frozenset("like likes love loves enjoy enjoys adore adores".split())
_WISHING: Final = frozenset("want wanna hope hoping dreaming dream".split())
_PLANNING: Final = frozenset({"planning", "plan"})
_NO_PLANS: Final = frozenset("remember forget miss need know love like believe".split())  # "I will miss the lake"
_OFTEN: Final = frozenset("every usually always often weekly daily each mornings evenings weekends regularly".split())
_ACTS: Final = frozenset("walk run bike cycle swim teach volunteer play practice practise cook bake train".split())
_STATES: Final = frozenset("was were been felt loved liked wanted thought knew hoped believed hated used".split())
_SAME: Final = frozenset(  # forms that are past and present
    "bet cut hit let put quit read run set shut split spread".split()
)
_NOT: Final = frozenset({"not", "never", "no"})
_NOT_WITHIN: Final = 4  # words from the verb on
_LED: Final = frozenset({"to", "help", "helps", "can", "let"})  # "it helps me relax and sleep"
_TOGETHER: Final = frozenset("all together both each every couple team".split())  # of "we": not of one alone
_PARTICLES: Final = frozenset({"up", "out", "off", "down", "away", "together", "over"})
_LOOSE: Final = (PREPOSITIONS | ADVERBS | DETERMINERS) - _PARTICLES


class ClauseStatement(NamedTuple):
    """That the words [first, last) of a sentence are told of a subject, by a relation, at a time."""

    relation: str
    first: int
    last: int
    hint: TimeHint | None


def statement(context: TurnContext, parsed: ParsedSentence, found: ClauseCandidate) -> ClauseStatement | None:
    """Return what a candidate states; None: its verb hangs on another one."""
    low = parsed.sentence.low
    told = _told(low, found)
    if told is None:
        return None
    relation, first = told
    if first >= found.last:
        relation, first = TELLS, found.first
    hints = context.timed(parsed, ahead=relation not in {DID, _DOES, _LIKES})
    hint = time_of(parsed, hints, found.first, found.last)
    if hint is None and found.before:
        hint = time_of(parsed, hints, found.begins, found.last)
    if relation == _DOING and hint is not None and hint.start > context.turn.said_at:
        relation = _PLANS
    last = found.last if relation in {TELLS, _DOES} else _without_time(parsed, first, found.last)
    if relation == TELLS and _is_state(low, found.verb, hint, context.turn.said_at):
        relation = SAYS
    return ClauseStatement(relation, first, last, hint)


def _is_state(low: tuple[str, ...], verb: int, hint: TimeHint | None, said_at: int) -> bool:
    """Whether a verb says what is so now: "my sister fixes clocks", "I've been on leave since May"."""
    at = _after_adverbs(low, verb, len(low) - 1)
    now = not is_past(low[at]) or low[at] in LEMMAS
    return now and low[at] not in {"was", "were", "did", "'d"} and (hint is None or hint.start <= said_at < hint.end)


def as_sentence(told: ClauseStatement, found: ClauseCandidate) -> ClauseStatement:
    """Return the same, told as a sentence: its subject has no name of its own."""
    return ClauseStatement(TELLS if told.relation == DID else SAYS, found.verb, found.last, told.hint)


def worded(parsed: ParsedSentence, found: ClauseCandidate, told: ClauseStatement, who: ThirdPerson, meant: str) -> str:
    """Return the object of what a clause states, in the third person. meant: the words for its subject, a pronoun."""
    low, first = parsed.sentence.low, told.first
    if told.relation not in SENTENCES:
        return leading_to(told.relation, low[first:]) + phrase(parsed, first, told.last, who)
    head = found
    while head.before:
        head = head.before
    subject, alone = _subject(parsed, head, who, meant)
    if alone:
        return agreeing(parsed, found.subject_last, told.last, who, subject)
    rest = phrase(parsed, found.subject_last, told.last, who)
    return subject + ("" if rest.startswith(("'", "’")) else " ") + rest


def leading_to(relation: str, words: tuple[str, ...]) -> str:
    """Return "to ", where a relation leads in to a verb with it: "plans to move", "has the habit to get up at five"."""
    verb = next((word for word in words if word not in ADVERBS), "to")
    if relation not in {_PLANS, _WANTS, _DOES} or verb == "to" or verb.endswith("ing") or verb in DETERMINERS:
        return ""
    return "to " if verb in LEMMAS or not (is_past(verb) or verb.endswith("s")) else ""


def _subject(parsed: ParsedSentence, head: ClauseCandidate, who: ThirdPerson, meant: str) -> tuple[str, bool]:
    """Return the subject of a clause, and whether it is the speaker alone."""
    word, begins = parsed.sentence.low[head.first], head.first
    if head.subject == "left out" or (head.subject == "speaker" and word == "i"):
        return who.name, True
    if word == "we" and _TOGETHER.isdisjoint(parsed.sentence.low[head.first : head.last]):
        return who.name, True
    if head.subject == "speaker":
        more = phrase(parsed, begins + 1, head.subject_last, who)  # "me and my brother"
        return (f"{who.name} and others" if word == "we" else f"{who.name} {more.replace(who.of, who.his, 1)}"), False
    if head.subject in {"person", "it"}:
        more = phrase(parsed, begins + 1, head.subject_last, who) if head.subject_last > begins + 1 else ""
        of = "'" if meant.endswith("s") else "'s"
        return (f"{meant}{of} {more}" if more else meant), False
    return phrase(parsed, begins, head.subject_last, who), False


def _told(low: tuple[str, ...], found: ClauseCandidate) -> tuple[str, int] | None:
    """Return how a clause is told, and from which word on its object is."""
    whole = found.first if found.subject_last > found.first else found.verb
    if found.subject not in {"speaker", "left out", "name", "person"}:
        return TELLS, whole
    at = found.verb
    if found.before and ((low[at] in LEMMAS and low[at] not in PASTS) or low[at].endswith("ing")):
        return _told_with(low, found, found.before)
    if found.before and low[at] in _SAME and (_told(low, found.before) or ("",))[0] in {_PLANS, _WANTS, _DOES}:
        return _told_with(low, found, found.before)
    if not _NOT.isdisjoint(low[at : at + _NOT_WITHIN]):
        return TELLS, whole
    return _of_group(low, at, found.last) or (
        (TELLS, whole)
        if low[_after_adverbs(low, at, found.last - 1)] in _HELPING
        else (_DOES, at)
        if not _OFTEN.isdisjoint(low[found.first : found.last]) or (low[at] in _ACTS and found.subject != "left out")
        else (TELLS, whole)
    )


def _told_with(low: tuple[str, ...], found: ClauseCandidate, before: ClauseCandidate) -> tuple[str, int] | None:
    """Return how a verb is told that has the tense of the one before: "to build a house and raise goats"."""
    told = _told(low, before)
    if told is None or (told[0] == TELLS and not _LED.isdisjoint(low[before.verb : before.last])):
        return None
    gerund = low[found.verb].endswith("ing")
    if gerund:
        return (told[0], found.verb) if told[0] in {_DOING, _PLANS, _LIKES} else None
    return (told[0], found.verb) if told[0] in {_PLANS, _WANTS, _DOES} else None


def _of_group(low: tuple[str, ...], at: int, last: int) -> tuple[str, int] | None:
    """Return what the verb group from a word on says; None: that something is so."""
    word, rest = low[at], _after_adverbs(low, at + 1, last)
    following = low[rest] if rest < last else ""
    goes_to = low[rest + 1 : rest + 2] == ("to",)
    if word in {"'d", "would"}:
        return (_WANTS, rest + 1) if following in {"love", "like"} and goes_to else None
    if word in {"gonna", "will"}:
        return None if following in _NO_PLANS else (_PLANS, rest)
    if word in _BE:
        return _after_be(low, word, rest, last)
    if word in _HAVE or word == "had":
        if following == "been" and word != "had":
            doing = _after_adverbs(low, rest + 1, last)
            return (_DOING, doing) if doing < last and low[doing].endswith("ing") else None
        return (
            (DID, rest)
            if is_past(following) and following not in _PARTICIPLES and following not in {"got", "had", "been"}
            else ((DID, at) if word == "had" else None)
        )
    if following == "to" and word in _WISHING | _PLANNING:
        return (_WANTS if word in _WISHING else _PLANS), rest
    if word in _FOND:
        return (_LIKES, rest) if following.endswith("ing") else None
    if (is_past(word) and word not in LEMMAS and word not in _STATES) or word in _SAME:
        return DID, at
    return (_DOING, at) if word.endswith("ing") else None


def _after_be(low: tuple[str, ...], word: str, rest: int, last: int) -> tuple[str, int] | None:
    following = low[rest] if rest < last else ""
    goes_to = low[rest + 1 : rest + 2] == ("to",)
    if following == "going" and goes_to:
        return _PLANS, rest + 2
    if following == "gonna":
        return _PLANS, rest + 1
    if following in _PLANNING and (goes_to or low[rest + 1 : rest + 2] == ("on",)):
        return _PLANS, rest + 1
    if following in _WISHING:
        return _WANTS, rest + 1
    return (_DOING, rest) if word in _GOES_ON and following.endswith("ing") and following != "going" else None


def _after_adverbs(low: tuple[str, ...], at: int, last: int) -> int:
    while at < last and low[at] in ADVERBS:
        at += 1
    return at


def _without_time(parsed: ParsedSentence, first: int, last: int) -> int:
    """Return the end of the words without a time at their end, and without what led to it."""
    low, end = parsed.sentence.low, last
    while end > first + 1 and end - 1 in parsed.timed:
        end -= 1
    while end < last and end > first + 1 and low[end - 1] in _LOOSE:
        end -= 1
    return end
