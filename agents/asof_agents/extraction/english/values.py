"""Values of things: "the budget is 40,000 euros", "the release moved to June 5", "we cut the rent to 900".

A thing has one value of a kind at a time. What is a speaker's own, or another thing's, is an attribute of that one: "my
rent is 900", "the price of the ticket". Only words that say so directly are read; "might be" is not, and "was" only
of a number and a period that ended: "my rent was 800 until 2020".
"""

from itertools import compress
from typing import Final, NamedTuple

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_FROM
from asof_agents.extraction.english.meaning import Meaning, stated_period
from asof_agents.extraction.english.negations import after_negation
from asof_agents.extraction.english.quantities import Value, address_at, value_at
from asof_agents.extraction.english.things import NO_VALUES, Thing, bare_before, phrase_before, phrase_from
from asof_agents.extraction.english.work import WORD
from asof_agents.extraction.ports import Mention, TimeHint

_BE: Final = frozenset({"is", "are", "'s"})
_WAS: Final = frozenset({"was", "were"})
_OF_MANY: Final = frozenset({"are", "were"})
_HAS: Final = frozenset({"has", "have", "'s", "'ve"})
_BEEN: Final = _WAS | {"been"}  # beside a period alone: "my rent has been 900 since May"
_AUXILIARIES: Final = frozenset("is are was were has have had been being got gets get 's".split())
_AT: Final = frozenset({"at", "on", "by", "with", "up", "down", "to", "version", "release"})
_MEETS: Final = frozenset(  # "the board meets at 11", "my number ends in 4471"
    "arrives begins closes departs ends expires finishes kicks lands leaves meet meets opens start starts".split()
)
_DOES: Final = {  # what a thing does with, on or at its value, and what that is: "our CI runs on Jenkins"
    "connects": "target", "deploys": "target", "leaves": "platform", "listens": "port",
    "points": "target", "runs": "platform", "ships": "carrier", "uses": "tool",
}  # fmt: skip
_KEPT: Final = frozenset("deployed hidden hosted kept parked running saved stored taped written".split())
_PLACED: Final = frozenset({"in", "on", "at", "with", "by"})
_NUMBERED: Final = frozenset("bay channel floor gate platform port room stand terminal track".split())
_WHERE: Final = frozenset("at behind beneath in inside on under".split())
_KEPT_THINGS: Final = frozenset(
    "binder card charger class code codes combo combination deed document documents file files folder jar key keys "
    "ladder lesson manual meeting note notes party passport password receipts recipe remote seminar spare stash "
    "standup suitcase ticket tickets torch workshop".split()
)
_ATTRIBUTES: Final = frozenset(  # of which the value may be any few words: "my go-to drink is oat latte"
    "bike book branch breakfast car colour commute diet dinner dish drink employer game hair hobby instrument job "
    "language lunch major medication order phone position read role route shift show size snack sport stack subject "
    "title topic theme transport username venue workout".split()
)
_SET: Final = frozenset("booked back due fixed planned running scheduled set starting".split())  # "is due July 8"
# of a thing itself: "the budget rose to"; "moved" is a cue of places too, which values do not meet
_CHANGES: Final = frozenset(
    "moved slipped shifted changed rose risen dropped fell fallen went gone grew grown jumped increased decreased "
    "climbed sank switched moves slips shifts changes rises drops goes grows jumps increases decreases".split()
)
_MADE: Final = frozenset(  # "was raised to", "we raised the rent to"
    "moved pushed postponed raised cut lowered increased reduced bumped changed upgraded updated set extended "
    "rescheduled reset shifted brought delayed dropped trimmed shortened capped doubled renamed".split()
)
_ONLY_MADE: Final = _MADE - _CHANGES
_REACHED: Final = frozenset("reached reaches hit hits passed surpassed crossed topped".split())
_COSTS: Final = frozenset({"costs", "cost"})
_DOING: Final = frozenset((who, be) for who in ("i", "we") for be in ("am", "are"))
_WAYS: Final = frozenset("up down back forward forwards out over further off ahead".split())
_FROM: Final = _WAYS | {"from"}
_TAKING_OVER: Final = ADVERBS | {"took", "has", "have", "taken", "over"}
_TO: Final = frozenset({"to", "until", "till", "for", "at", "as"})
_NOT_DONE: Final = frozenset("not never to would could might should may almost nearly cannot can".split())
# a thing has the value that follows
_OF_ITSELF: Final = _BE | _BEEN | _MEETS | _CHANGES | _MADE | _REACHED | _COSTS | {":"}
VALUES: Final = frozenset({*_OF_ITSELF, *_DOES, "has", "have", "version", "as", "became"})
"""One of these is in every sentence that states a value."""
_PERIODS: Final = frozenset({"since", "until", "during"})
_MEASURED: Final = frozenset({"number", "version"})
_NO_AMOUNTS: Final = frozenset(  # units of a duration or of a difference
    "bigger cheaper day fewer higher hour larger les less longer lower minute month more second shorter smaller week "
    "year".split()
)
_DETERMINERS: Final = frozenset({"my", "our", "the"})
_TITLES: Final = frozenset({"dr", "mr", "mrs", "ms", "prof"})
_HOLDS: Final = Meaning("holds")
_LONGEST: Final = 6  # words between a thing's name and its value


def extract_values(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the values of things that a sentence, which is no question, states."""
    if not context.patterns.values or parsed.sentence.unsure:
        return
    low = parsed.sentence.low
    for at in compress(range(len(low)), map(VALUES.__contains__, low)):
        word = low[at]
        if not UNSURE_FROM.isdisjoint(low[max(0, at - 8) : at]):
            continue
        context.work.spend(WORD)
        if word in _MADE and at and low[at - 1] not in _NOT_DONE:
            _made(context, parsed, at)
        if word in _OF_ITSELF:
            _of_itself(context, parsed, at)
        if word in {"has", "have"} or word in _REACHED or (word == "are" and at):
            _counted(context, parsed, at)
        if word in _DOES:
            _does(context, parsed, at)
        if word in _BE:
            _place(context, parsed, at)
        if word in _BE or word in {"as", "became"}:
            _role(context, parsed, at)
        if word == "version":
            _versioned(context, parsed, at)


def _of_itself(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "the budget is 40k", "the release moved to June 5", "the rent was raised to 900", "the app reached 2.0"."""
    low = parsed.sentence.low
    if low[at] in _BE and _is_owner(parsed, at + 1):
        return
    begin = _begin_of_verbs(low, at)
    if begin is None:
        return
    thing = None if low[at] == ":" else phrase_before(context, parsed, begin)
    bare = None if thing else bare_before(context, parsed, begin)
    thing = thing or bare
    if thing is None or _is_person(context, parsed, begin):
        return
    place = _place_of_value(low, at)
    value = None if place is None else _value_of(context, parsed, at, place.first, thing)
    if place is None or value is None or _says_too_little(low, at, value, is_bare=bare is not None):
        return
    if place.denied and not (_is_whole(low, place.denied, value) and _is_known(context, parsed, thing, value)):
        return
    hint = _period(context, parsed, (thing.first, at), value)
    if low[at] in _BEEN and not _is_exact(low, at, value):
        return
    meaning = _meaning(low[at], hint, context.turn.said_at, ended=bool(place.denied))
    noun = "price" if low[at] in _COSTS else None
    if meaning is not None:
        _state_value(context, parsed, thing, value, version=place.version, noun=noun, meaning=meaning, hint=hint)


def _begin_of_verbs(low: tuple[str, ...], at: int) -> int | None:
    """Return where the verbs before a value begin, behind their subject; None: the verb says nothing of its subject."""
    begin = at
    if low[at - 1 : at] and low[at - 1].endswith("ing") and low[max(0, at - 3) : at - 1] in _DOING:
        begin = at - 3  # "the language I'm studying is Turkish"
    if low[at] in _MEETS or low[at] in _WAS or low[at] == ":" or low[at] in _BE:
        return begin
    while begin and (low[begin - 1] in _AUXILIARIES or low[begin - 1] in ADVERBS):
        begin -= 1
    if (low[at] in _ONLY_MADE and begin == at) or (low[at] == "been" and _HAS.isdisjoint(low[begin:at])):
        return None
    return begin


class _ValuePlace(NamedTuple):
    """Where a value stands behind its verb."""

    first: int
    version: bool = False  # "is on version 3"
    denied: int = 0  # where the value of a negation begins; 0: nothing is denied


def _place_of_value(low: tuple[str, ...], verb: int) -> _ValuePlace | None:
    """Return where the value begins; None: a change without the "to" of its new value."""
    after = verb + 1
    if low[verb] in _BE:
        return _place_behind_be(low, after)
    if low[verb] in _REACHED or low[verb] in _COSTS or low[verb] in _BEEN:
        return _ValuePlace(after)
    if low[verb] in _MEETS or low[verb] == ":":
        return _ValuePlace(after + (low[after : after + 1] != () and low[after] in {"at", "on", "in"}))
    to = _target_of(low, after)
    return None if to is None else _ValuePlace(to)


def _place_behind_be(low: tuple[str, ...], after: int) -> _ValuePlace:
    """Return where the value begins: behind "now set to", "no longer", "kept in", "on version", "up to", "for"."""
    denied = 0
    while after < len(low) and (low[after] in ADVERBS or low[after] in _SET):
        after += 1
    if (behind := after_negation(low, after)) > after:
        after = denied = behind
    place = low[after : after + 2]
    if len(place) == 2 and place[0] in _KEPT and place[1] in _PLACED and place != ("written", "in"):
        after += 2  # what is written in a language uses it
    version = low[after : after + 2] in {("on", "version"), ("at", "version")} or low[after : after + 1] == ("version",)
    if low[after : after + 1] and low[after] in _AT:
        after += 1 + version * (low[after] != "version")
    if low[after - 1 : after + 1] in {("up", "to"), ("down", "to")} or low[after - 1 : after] == ("for",):
        after += 1
    return _ValuePlace(after, version, denied)


def _value_of(context: TurnContext, parsed: ParsedSentence, verb: int, after: int, thing: Thing) -> Value | None:
    """Return the value that begins at a word: an address, a quantity or a time, a state, a name."""
    low = parsed.sentence.low
    value = address_at(parsed, after) or value_at(context, parsed, after) or _state(context, parsed, after, thing)
    if value is None and (low[verb] in _BE or low[verb] == ":"):
        value = _name(context, parsed, after, thing)
    if value is None and low[verb] in _BE and low[after - 1] in _AT:
        value = value_at(context, parsed, after - 1)
    return value


def _says_too_little(low: tuple[str, ...], verb: int, value: Value, *, is_bare: bool) -> bool:
    """Whether a value says too little of its thing: "Ready is 1", of a mere word; "the app reached 1,000 users"."""
    is_number = value.kind == "number"
    if is_bare and is_number and value.last == value.first + 1:
        return True
    if low[verb] in _OF_MANY and is_number and value.unit is None:
        return True
    return low[verb] in _REACHED and value.unit is not None


def _period(context: TurnContext, parsed: ParsedSentence, clause: tuple[int, int], value: Value) -> TimeHint | None:
    """Return the period that is stated beside a value, which is no time itself: "since May", "from 2019 to 2021".

    clause: where the thing begins, and the verb.
    """
    begin, verb = clause
    if value.kind == "time":
        return None
    begin -= begin > 0 and parsed.sentence.low[begin - 1] in _DETERMINERS
    hint = time_of(parsed, context.timed(parsed, ahead=False), begin, value.last)
    if hint is not None and hint.kind == "until" and parsed.sentence.low[verb] not in _WAS:
        hint = time_of(parsed, context.timed(parsed, ahead=True), begin, value.last)
    return hint if hint is not None and hint.kind in _PERIODS else None


def _is_exact(low: tuple[str, ...], verb: int, value: Value) -> bool:
    """Whether a value follows its "was" or "been" at once, and is no duration or difference: "was 3 days in repair"."""
    if value.first != verb + 1 or value.kind not in _MEASURED:
        return False
    return value.unit is None or low[value.unit].removesuffix("s") not in _NO_AMOUNTS


def _meaning(verb: str, hint: TimeHint | None, said_at: int, *, ended: bool) -> Meaning | None:
    """Return what a verb and a period say of a value; None: nothing that is sure."""
    begins, ends = stated_period(hint)
    if verb in _WAS:
        return Meaning("holds", begins, ends) if ends is not None and ends <= said_at else None
    if verb == "been" and (begins is None or ends is not None):
        return None
    if ended:
        return Meaning("ended", valid_to=begins if ends is None else None)
    return Meaning("holds", begins, ends) if ends is None or ends > said_at else Meaning("holds")


def _is_whole(low: tuple[str, ...], at: int, value: Value) -> bool:
    """Whether a value that is denied from a word on is all that is said: not "not 5 May but 12 May"."""
    return value.first - at <= (low[at] in _AT) + (low[at] == "version") and low[value.last : value.last + 1] != (
        "but",
    )


def _is_known(context: TurnContext, parsed: ParsedSentence, thing: Thing, value: Value) -> bool:
    """Whether a thing or its value was spoken of before: elsewhere nothing can have ended."""
    start, end = parsed.sentence.span(value.first, value.last)
    return context.was_mentioned(context.turn.text[start:end]) or context.was_mentioned(thing.text)


def _is_person(context: TurnContext, parsed: ParsedSentence, end: int) -> bool:
    """Whether a person's name ends before a word: "my daughter Emma is 5"."""
    name = parsed.names_by_end.get(end)
    return name is not None and context.types.of(name.text) == "Person"


def _is_owner(parsed: ParsedSentence, at: int) -> bool:
    """Whether the name there says whose something is: "my boss is Laura's sister"."""
    name = parsed.names.get(at)
    behind = () if name is None else parsed.sentence.low[name.last : name.last + 2]
    return len(behind) == 2 and behind[0] == "'s" and behind[1][0].isalnum()


def _target_of(low: tuple[str, ...], at: int) -> int | None:
    """Return the word after the "to" of a change, with "up" and "from 3 pm" before it."""
    for to in range(at, min(at + _LONGEST, len(low))):
        if low[to] in _TO:
            return to + 1
        if low[to] not in _WAYS and low[to] not in ADVERBS and low[at] not in _FROM:
            return None
    return None


def _made(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "we moved the wedding to September 20", "they raised our rent to 900"."""
    found = phrase_from(context, parsed, at + 1)
    if found is None:
        return
    thing, after = found
    to = _target_of(parsed.sentence.low, after)
    value = value_at(context, parsed, to) if to is not None else None
    value = value or (_state(context, parsed, to, thing) if to is not None else None)
    if value is not None:
        parsed.taken.add(at)
        _state_value(context, parsed, thing, value, version=parsed.sentence.low[at] in {"upgraded", "updated"})


def _counted(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "our team has 12 people", "the app reached 1,000 users", "I have two kids"."""
    relation = context.patterns.values.get("amount")
    value = value_at(context, parsed, at + 1 + (parsed.sentence.low[at + 1 : at + 2] == ("got",)))
    if relation is None or value is None or value.kind != "number" or value.unit is None:
        return
    low, sentence = parsed.sentence.low, parsed.sentence
    noun = low[value.unit]
    if value.last != value.unit + 1 or not (noun.endswith("s") or noun in relation.nouns) or noun.endswith("ss"):
        return
    if low[at] == "are":
        if low[at - 1] not in {"we", "there"} or low[value.last : value.last + 1] not in {("on",), ("in",)}:
            return
        found = phrase_from(context, parsed, value.last + 1)
        thing = found[0].mention(context) if found else None
    elif low[at - 1 : at] in {("i",), ("we",)}:
        thing = None if noun not in relation.nouns else context.speaker()
    else:
        phrase = phrase_before(context, parsed, at)
        thing = phrase.mention(context) if phrase and phrase.owner is None else None
    if thing is not None and thing.type in relation.sources:
        target = context.findings.mention("Value", *sentence.span(value.first, value.unit))
        _relate(context, parsed, thing, relation.of_noun(noun), target)


def _does(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "our CI runs on Jenkins", "the service listens on port 8080"."""
    low, relation = parsed.sentence.low, context.patterns.values.get("quality")
    thing = phrase_before(context, parsed, at)
    after = at + 1 + (at + 1 < len(low) and low[at + 1] in {"on", "from", "in", "to", "with"})
    if thing is None or relation is None or after >= len(low):
        return
    if after + 1 < len(low) and low[after] in _NUMBERED and low[after + 1][0].isdigit():
        value: Value | None = Value("number", after + 1, after + 2)
        key = low[after]
    else:
        value, key = (
            _name(context, parsed, after, thing),
            f"{thing.key} {_DOES[low[at]]}" if thing.owner else _DOES[low[at]],
        )
    source = thing.owner or thing.mention(context)
    if value is not None and source.type in relation.sources:
        parsed.taken.add(at)
        target = context.findings.mention("Value", *parsed.sentence.span(value.first, value.last))
        _relate(context, parsed, source, relation.of_noun(key), target)


def _place(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "the spare key is under the flowerpot": where a thing is kept."""
    low, relation = parsed.sentence.low, context.patterns.values.get("quality")
    after = at + 1
    while after < len(low) and (low[after] in ADVERBS or low[after] in _KEPT):
        after += 1
    if relation is None or after == len(low) or low[after] not in _WHERE:
        return
    thing = phrase_before(context, parsed, at) or bare_before(context, parsed, at)
    if thing is None or thing.head not in _KEPT_THINGS:
        return
    phrase = parsed.phrase_at(after + 1)
    if phrase is None:
        return
    last = phrase.last
    if low[phrase.after : phrase.after + 1] and low[phrase.after] in _WHERE:  # "on a card in the drawer"
        inner = parsed.phrase_at(phrase.after + 1)
        last = inner.last if inner else last
    named = any(at in parsed.names for at in range(phrase.first, last))
    if phrase.vague and last == phrase.last and not named:
        return
    source = thing.owner or thing.mention(context)
    if source.type in relation.sources:
        key = f"{thing.key} place" if thing.owner else "place"
        target = context.findings.mention("Value", *parsed.sentence.span(phrase.first, last))
        _relate(context, parsed, source, relation.of_noun(key), target)


def _role(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Bill is the CEO of Initech", "Marek took over as team lead"."""
    low, relation = parsed.sentence.low, context.patterns.values.get("quality")
    begin = at
    while begin and low[begin - 1] in _TAKING_OVER:
        begin -= 1
    name = parsed.names_by_end.get(begin)
    if relation is None or name is None or name.spoken_to:
        return
    after = at + 1
    whose = low[after] if after < len(low) and low[after] in {"the", "our", "my"} else ""
    after += bool(whose)
    after += low[after : after + 1] == ("new",)
    size = 2 if " ".join(low[after : after + 2]) in relation.nouns else 1
    noun = " ".join(low[after : after + size])
    if noun not in relation.nouns:
        return
    owner = context.speaker() if whose in {"our", "my"} else None
    after += size
    if low[after : after + 1] == ("of",):
        other = parsed.names.get(after + 1) or parsed.names.get(after - 1)  # "CEO of Initech" may look like a name
        found = None if other else phrase_from(context, parsed, after + 1)
        if other and other.last > after + 1:
            start, end = parsed.sentence.span(after + 1, other.last)
            kind = context.types.of(context.turn.text[start:end]) or "Organization"
            owner = context.findings.mention(kind, start, end)
        else:
            owner = found[0].mention(context) if found else None
    if owner is not None and owner.type in relation.sources:
        parsed.taken.add(at)
        target = context.findings.mention("Person", *parsed.sentence.span(name.first, name.last))
        _relate(context, parsed, owner, relation.of_noun(noun), target)


def _versioned(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "we're on version 3.2 of the app": the version of the app, or the version without more."""
    low = parsed.sentence.low
    value = value_at(context, parsed, at + 1)
    before = low[max(0, at - 4) : at]
    if value is None or not {"on", "at", "to"}.intersection(before[-1:]) or before[:1] in {("not",), ("never",)}:
        return
    if not {"am", "are", "upgraded", "moved", "updated", "switched", "went"}.intersection(before):
        return
    if low[value.last : value.last + 1] == ("of",) and (found := phrase_from(context, parsed, value.last + 1)):
        _state_value(context, parsed, found[0], value, version=True)
    elif relation := context.patterns.values.get("value"):
        sentence = parsed.sentence
        source = context.findings.mention("Matter", *sentence.span(at, at + 1))
        target = context.findings.mention("Value", *sentence.span(value.first, value.last))
        _relate(context, parsed, source, relation.name, target)


def _name(context: TurnContext, parsed: ParsedSentence, at: int, thing: Thing) -> Value | None:
    """Return a name that ends its clause, of what belongs to somebody: "my gym is PureGym"."""
    low = parsed.sentence.low
    if thing.head in context.patterns.nouns or thing.key in context.patterns.nouns:
        return None  # a noun of a relation: "my hometown is Lisbon"
    at += at + 1 < len(low) and low[at] in {"a", "an", "the", "called"}
    name = parsed.names.get(at)
    if name is None or name.spoken_to or (name.last < len(low) and low[name.last][0].isalnum()):
        return None
    return Value("code", name.first, name.last)


def _state(context: TurnContext, parsed: ParsedSentence, at: int, thing: Thing) -> Value | None:
    """Return the words of a state or a name, of a thing that has one: "the status is pending", "my boss is Laura"."""
    relation = context.patterns.values.get("value")
    low = parsed.sentence.low
    if at + 1 < len(low) and low[at] in _TITLES:
        at += 1 + (low[at + 1] == ".")
    name = parsed.names.get(at)
    if name and not name.spoken_to and thing.is_role(context):
        return Value("code", name.first, name.last)
    if at + 1 < len(low) and thing.head in _ATTRIBUTES and low[at] in {"a", "an", "the"}:
        at += 1
    listed = relation is not None and (thing.head in relation.nouns or thing.head in _ATTRIBUTES)
    if not listed or at >= len(low) or low[at] in NO_VALUES:
        return None
    last = at + 1
    while last < len(low) and last - at < 3 and low[last].isalpha() and low[last] not in NO_VALUES:
        last += 1
    return Value("code", at, last) if low[at][0].isalnum() else None


def _state_value(
    context: TurnContext,
    parsed: ParsedSentence,
    thing: Thing,
    value: Value,
    *,
    version: bool,
    noun: str | None = None,
    meaning: Meaning = _HOLDS,
    hint: TimeHint | None = None,
) -> None:
    values = context.patterns.values
    kind = "time" if value.kind == "time" else "version" if version or value.kind == "version" else "value"
    first, last = value.first, value.last
    text = context.findings.turn.text[slice(*parsed.sentence.span(first, last))]
    named = first in parsed.names and value.kind == "code"
    owner = thing.owner
    if noun is not None or owner is not None or (named and thing.is_role(context)):
        relation = values.get("quality")
        source = thing.mention(context) if noun is not None and owner is None else owner
        key = noun or thing.key
    else:
        relation, source, key = values.get(kind), thing.mention(context), None  # type: ignore[call-overload]
    if relation is None or source is None or source.type not in relation.sources:
        return
    name = relation.of_noun(key) if key else relation.name
    target_kind = "Person" if named and thing.is_role(context) else "Date" if kind == "time" else "Value"
    if key and not (0 < len(key) <= 40 and _may_name_relation(context, name, source, target_kind)):
        return
    if target_kind not in relation.targets or not text:
        return
    target = context.findings.mention(target_kind, *parsed.sentence.span(first, last))
    _relate(context, parsed, source, name, target, meaning, hint)


def _may_name_relation(context: TurnContext, name: str, source: Mention, target: str) -> bool:
    """Whether the noun of a value may name its relation.

    A relation of the ontology has cues that read it of the speaker ("my birthday is 14 May"), so here only of others
    ("Carla's birthday").
    """
    relation = context.patterns.ontology.relations.get(name)
    return relation is None or (not source.speaker and source.type in relation.sources and target in relation.targets)


def _relate(
    context: TurnContext,
    parsed: ParsedSentence,
    source: Mention,
    relation: str,
    target: Mention,
    meaning: Meaning = _HOLDS,
    hint: TimeHint | None = None,
) -> None:
    confidence = 0.95 if source.speaker else 0.85
    context.findings.relate(source, relation, target, meaning, hint, parsed.sentence, confidence, relation)
