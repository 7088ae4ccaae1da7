"""Changes of what the speaker has said before: "it got bumped to 10:15", "we ditched it, we're on Tidal now".

A message that tells of a change is read beside the earlier statements of the same speaker among the turns of context. A
statement is meant if the message has a word of its attribute, of its subject or of its old value, or says "it". A value
of the same kind, where one is put in the place of another, is the new one; the relation and its source stay the same.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from asof_agents.extraction.english.announcements import Announcement
from asof_agents.extraction.english.change_words import BE, OWNERS, PAST_BE, SURE_NOW
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.deaths import SIGNS, extract_deaths
from asof_agents.extraction.english.gist import is_thought
from asof_agents.extraction.english.handovers import ownership
from asof_agents.extraction.english.lexicon import PEOPLE_NOUNS
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.english.new_values import HARD, is_exact, may_be_exact, may_put, new_value
from asof_agents.extraction.english.other_people import PERSONS, key_of, tells_of_another
from asof_agents.extraction.english.replacements import replacements
from asof_agents.extraction.english.restatements import restate, restates_nothing
from asof_agents.extraction.english.word_roots import COMMON, SIGNALS, has_root, roots, roots_of, roots_of_relation
from asof_agents.extraction.english.work import CLAUSE, LOOK_BACK
from asof_agents.extraction.ports import Mention, Relationship, Turn
from asof_ontologies.model import RelationType


class EarlierTurn(NamedTuple):
    """An earlier turn as it is read by itself: its relationships, the latest first, and its sentences."""

    relationships: Sequence[Relationship]
    sentences: Sequence[ParsedSentence]


ReadEarlier = Callable[[Turn], EarlierTurn]
ParseEarlier = Callable[[Turn], Sequence[ParsedSentence]]
"""The sentences of an earlier turn, to which no rule was applied."""

_WORDS_MAX: Final = 400  # of a message that tells of a change
_OF_SUBJECT: Final = BE | PAST_BE | {"to", "from", "with", "got"}  # after a subject: "my flight to Paris was moved"
_SHORT: Final = 40  # words of a message in which "it" can only be what was said last
_STATEMENTS_MAX: Final = 24  # of an earlier turn
_OVER: Final = frozenset(
    "binned bye cancelled canceled deleted died ditched dropped dumped expired finished fired gave given goodbye left "
    "lost quit replaced retired returned rip scrapped skipping sold stopped swapped traded uninstalled".split()
)
_ENDED_OFF: Final = frozenset({"called", "went", "is", "are", "'s", "got", "broke"})  # "called off", "is off"
_BEFORE: Final = 4  # words from an old value to the verb that says that it is over
_AFTER: Final = 5
_MORE: Final = frozenset({"more", "longer", "anymore"})
_OVER_WORDS: Final = _OVER | {"off"}  # without one of them nothing is said to have ended
_NOT: Final = frozenset({"not", "never"})
_IT: Final = frozenset({"it", "that", "them", "this"})
_THERE: Final = frozenset({"it", "its", "they", "that", "make", "there", "everything"})
# of these there may be several at a time, and yet one often follows another
_FOLLOW: Final = frozenset(
    "also_known_as allergic_to engaged_in has_pet holds_position is_a member_of owns plays practices runs studies "
    "uses".split()
)
_ONLY_END: Final = frozenset({"allergic_to", "engaged_in", "runs"})
# a new value may have been read as one of these, which say little of whose it is
_WEAK: Final = frozenset({"engaged_in", "has_habit", "has_value", "has_version", "scheduled_for", "member_of"})
_HOUSEHOLD: Final = frozenset({"flatmate", "roommate", "coach", "mentor", "teacher"})
_TOGETHER: Final = frozenset({"partner_of", "married_to"})
_CONFIDENCE: Final = 0.8


def extract_changes(context: TurnContext, earlier: ReadEarlier, parsed: ParseEarlier) -> None:
    """Add the changes that a message tells of what its speaker said in the turns before it."""
    turn = context.turn
    spoken = [
        other
        for other in reversed(context.before)
        if (other.role, other.role_type) == (turn.role, turn.role_type) and len(other.text) <= LOOK_BACK
    ]
    if not spoken:
        return
    told = [each for each in context.sentences if not each.sentence.question and _is_sure(each)]
    words = list(chain.from_iterable([each.sentence.low for each in told]))
    if not words or len(words) > _WORDS_MAX:
        return
    if not SIGNS.isdisjoint(words):
        extract_deaths(context, told, spoken, lambda turn: earlier(turn).relationships)
    stated = context.findings.relationships
    _extract_stated(context, told, words, spoken, earlier)
    announcement = Announcement(told, words)
    if announcement.may_replace and not _is_read(context, told, len(stated)):
        _extract_restatements(context, announcement, spoken, earlier, parsed)


def _is_read(context: TurnContext, told: list[ParsedSentence], stated: int) -> bool:
    """Whether the message is read as what it says: a correction, a change, an ending, or who is responsible for work.

    stated: how many relationships it stated before changes were looked for.
    """
    found = context.findings.relationships
    corrected = any(each.stance == "denied" for each in found) if found else False
    changed = len(found) > stated and any(each.stance == "holds" for each in found[stated:])
    return corrected or changed or any(map(_is_former, told)) or _is_handover(context)


def _is_handover(context: TurnContext) -> bool:
    """Whether the message says who is responsible for work: what it says is read as that."""
    owned = ownership(context)
    return owned is not None and any(each.relation == owned.name for each in context.findings.relationships)


def _is_former(parsed: ParsedSentence) -> bool:
    """Whether a sentence tells of former times alone: "I used to live in Paris"."""
    low = parsed.sentence.low
    return ("used", "to") in pairwise(low) and SURE_NOW.isdisjoint(low) and "but" not in low


def _extract_stated(
    context: TurnContext, told: list[ParsedSentence], words: list[str], spoken: list[Turn], earlier: ReadEarlier
) -> None:
    """Add the changes of relationships that were stated in the earlier turns."""
    if not any(map(_may_state, spoken)):
        return
    if SIGNALS.isdisjoint(words) and not any(map(str.isdigit, map(itemgetter(0), words))):
        return
    needs = _needs(context, told)
    if needs is None:
        return  # before earlier turns are read once more: nothing could come of it
    here = {root for word in words for root in roots(word)} - COMMON
    there = not _THERE.isdisjoint(words) or ("we", "are") in pairwise(words)
    says_it = len(words) <= _SHORT and there and not (HARD | _OVER).isdisjoint(words)
    meant = [
        (number, other)
        for number, other in enumerate(spoken)
        if _may_state(other) and ((says_it and number == 0) or has_root(other.text, here))
    ]
    if needs == "exact" and not any(may_be_exact(other.text) for _, other in meant):
        return
    held: list[tuple[Relationship, RelationType, bool]] = []  # what may change, the latest first
    for number, other in meant:
        for at, old in enumerate(islice(earlier(other).relationships, _STATEMENTS_MAX)):
            relation = context.patterns.ontology.relation(old.relation)
            if relation is not None and _may_change(relation, old):
                held.append((old, relation, number == at == 0))
    values = {(old.relation, old.target.text.casefold()) for old, *_ in held}
    shared = Counter((relation, root) for relation, value in values for root in roots_of(value))
    used: set[int] = set()
    replaced: set[tuple[Mention, Mention]] = set()
    for old, relation, latest in held:
        context.work.spend(CLAUSE)
        rivals = {root for root in roots_of(old.target.text) if shared[old.relation, root] > 1}
        _Change(context, told, old, relation, used, replaced, rivals).extract(latest=latest)


def _needs(context: TurnContext, told: list[ParsedSentence]) -> Literal["any", "exact"] | None:
    """Return of which earlier statements a message can change one: any, or those with an exact value; None: of none."""
    if any(_may_end(each.sentence.low) for each in told) or any(map(may_put, told)):
        return "any"
    switches = any(not HARD.isdisjoint(each.sentence.low) for each in told)
    if any(_may_follow(context, each, switches=switches) for each in context.findings.relationships):
        return "any"
    text = context.turn.text
    return "exact" if any(may_be_exact(text[each.sentence.start : each.sentence.end]) for each in told) else None


def _may_end(low: tuple[str, ...]) -> bool:
    """Whether a sentence says that something is over, if it names it."""
    denied = ("not" in low or "no" in low) and not _MORE.isdisjoint(low)
    return denied or (not _OVER_WORDS.isdisjoint(low) and any(_ends(low, at) for at in range(len(low))))


def _may_follow(context: TurnContext, stated: Relationship, *, switches: bool) -> bool:
    """Whether what the message states may be in the place of a value of a relation that can have several."""
    relation = context.patterns.ontology.relation(stated.relation)
    if stated.stance != "holds" or relation is None or relation.is_deed:
        return False
    grouped = switches or any(root[0] == "#" for root in roots_of(stated.target.text))
    return stated.relation in _TOGETHER or (relation.cardinality != "one" and grouped)


def _extract_restatements(
    context: TurnContext,
    announcement: Announcement,
    spoken: list[Turn],
    earlier: ReadEarlier,
    parsed: ParseEarlier,
) -> None:
    """Add what takes the place of words that no rule reads as a relationship, or that another rule read otherwise."""
    for number, other in enumerate(spoken):
        if not announcement.may_go_on_from(other, latest=number == 0):
            continue
        context.work.spend(CLAUSE)
        if restates_nothing(context, announcement, replacements(parsed(other), announcement, latest=number == 0)):
            continue  # before the turn is read once more by all rules
        read = earlier(other)
        if restate(context, announcement, read.sentences, read.relationships, other, latest=number == 0):
            return


def _may_state(turn: Turn) -> bool:
    """Whether an earlier turn may have stated a relationship: it has two mentions, of which one may be the speaker."""
    return len(turn.mentions) > 1


def _is_sure(parsed: ParsedSentence) -> bool:
    return not parsed.sentence.unsure and not is_thought(parsed.sentence.low)


def _may_change(relation: RelationType, old: Relationship) -> bool:
    one = relation.cardinality == "one" or relation.name in _FOLLOW or old.cue in _HOUSEHOLD
    return old.stance == "holds" and not relation.is_deed and one


class _Change:
    """One earlier statement beside the sentences of a message."""

    def __init__(
        self,
        context: TurnContext,
        told: list[ParsedSentence],
        old: Relationship,
        relation: RelationType,
        used: set[int],
        replaced: set[tuple[Mention, Mention]],
        rivals: set[str],
    ) -> None:
        self.context, self.old, self.relation = context, old, relation
        self.replaced = replaced  # the sources and values that have another value now
        self.used = used  # where the values begin that the message has put in another's place already
        key = key_of(old, relation)
        self.told = [each for each in told if not tells_of_another(context, each, old, relation)]
        self.value = roots_of(old.target.text)
        figures = {root for root in self.value if root[0].isdigit()}
        self.named = figures if is_exact(old) and figures else self.value  # by these it is named, not by its unit
        self.rivals = rivals  # of its roots, those of another value of the relation too: "the Honda" of two
        self.about = roots_of(key) | (set() if old.source.speaker else roots_of(old.source.text))
        self.about |= roots_of_relation(old.relation, None if relation.keyed else old.cue)

    def extract(self, *, latest: bool) -> None:
        """Add the change, if the message tells one; `latest`: nothing was said later than the old value."""
        if not self.told or not (self.old.source.speaker or self._is_of_source(latest=latest)):
            return
        names = {self.old.relation, *(_TOGETHER if self.old.relation.endswith("_status") else ())}
        again = [
            each
            for each in self.context.findings.relationships
            if each.relation in names and _same(each.source, self.old.source)
        ]
        if any(each.target.text.casefold() == self.old.target.text.casefold() for each in again):
            return
        if (self.old.source, self.old.target) in self.replaced:  # which another relation had too
            self._end((self.told[0].sentence.start, self.told[-1].sentence.end))
            return
        over = any(map(self._is_over, self.told)) or (latest and self._it_is_over())
        if self.relation is ownership(self.context):
            self._end_ownership(over=over)
            return
        stated = next((each for each in again if each.stance == "holds"), None)
        if stated is not None:
            other = stated.relation != self.old.relation  # "I'm going out with Jules", of who was single
            if other or (self.relation.cardinality != "one" and (over or self._follows(stated))):
                self._end(stated.span)
        elif not self._put(latest=latest) and over:
            self._end((self.told[0].sentence.start, self.told[-1].sentence.end))

    def _end_ownership(self, *, over: bool) -> None:
        """End a responsibility that another one has now; who takes on one thing keeps the others."""
        what = self.old.target.text.casefold()
        owners = [
            each
            for each in self.context.findings.relationships
            if each.relation == self.old.relation and each.stance == "holds" and each.target.text.casefold() == what
        ]
        if over or (owners and any(not HARD.isdisjoint(parsed.sentence.low) for parsed in self.told)):
            self._end(owners[0].span if owners else (self.told[0].sentence.start, self.told[-1].sentence.end))

    def _is_of_source(self, *, latest: bool) -> bool:
        """Whether the message may be about a source that is not its speaker: it names it or its old value, or "she"."""
        words = {word for each in self.told for word in each.sentence.low}
        wanted = roots_of(self.old.source.text) | self.value
        meant = not _THERE.isdisjoint(words) or not PERSONS.isdisjoint(words) or ("we" in words)
        return (latest and meant) or any(root in wanted for word in words for root in roots(word))

    def _put(self, *, latest: bool) -> bool:
        """State the new value by the sentence that means the old one, or by one beside it; return whether there is."""
        if self.relation.name in _ONLY_END:
            return False
        meant = [self._is_meant(each) for each in self.told]
        beside = [
            here or before or after
            for here, before, after in zip(meant, [False, *meant[:-1]], [*meant[1:], False], strict=True)
        ]
        for level in (meant, beside):
            for here, parsed in zip(level, self.told, strict=True):
                it = latest and not any(beside) and self._says_it(parsed)
                if (here or it) and self._state(parsed, direct=level is meant):
                    return True
        return False

    def _is_meant(self, parsed: ParsedSentence) -> bool:
        wanted = self.about | self.named
        low = parsed.sentence.low
        return any(root in wanted for word in low for root in roots(word)) and not self._is_of_another(low)

    def _is_of_another(self, low: tuple[str, ...]) -> bool:
        """Whether a sentence begins with another thing or person than the old value is said of: "the customer is"."""
        if low[0] not in OWNERS or len(low) < 3:
            return False
        head = set(roots(low[1]))
        if not head or head & (self.about | self.value):
            return False
        return low[2] in _OF_SUBJECT or (low[1] in PEOPLE_NOUNS and not PEOPLE_NOUNS.isdisjoint(self.about))

    def _is_over(self, parsed: ParsedSentence) -> bool:
        """Whether a sentence says of the old value that it is over."""
        low = parsed.sentence.low
        places = [at for at, word in enumerate(low) if not self.value.isdisjoint(roots(word))]
        named = {root for at in places for root in roots(low[at])} & self.value
        if not places or 2 * len(named) < len(self.value) - 1 or (named != self.value and named <= self.rivals):
            return False
        if ("not" in low or "no" in low) and not _MORE.isdisjoint(low):
            return not self._is_another_figure(low)
        if self.relation.generic:
            return False
        return any(
            _ends(low, at) and any(at - _BEFORE <= place < at or at < place <= at + _AFTER for place in places)
            for at in range(len(low))
        )

    def _is_another_figure(self, low: tuple[str, ...]) -> bool:
        """Whether a sentence has other figures than an exact old value: "no longer 3 December", of the 10th."""
        figures = {root for root in self.named if root[0].isdigit()}
        named = {root for word in low if word[0].isdigit() for root in roots(word)}
        return bool(figures and named) and figures.isdisjoint(named)

    def _it_is_over(self) -> bool:
        """Whether "it" is over: "Sold it on Saturday"."""
        return not self.relation.generic and any(
            word in _OVER and _ends(each.sentence.low, at) and not _IT.isdisjoint(each.sentence.low[at + 1 : at + 2])
            for each in self.told
            for at, word in enumerate(each.sentence.low)
        )

    def _says_it(self, parsed: ParsedSentence) -> bool:
        low = parsed.sentence.low
        counted = self.old.relation.startswith("number_of") and ("we", "are") in pairwise(low)
        return (counted or not _THERE.isdisjoint(low)) and not SIGNALS.isdisjoint(low)

    def _follows(self, stated: Relationship) -> bool:
        """Whether what the message states of the relation is in the place of the old value: "I'm a driver now"."""
        if not self.value.isdisjoint(group for group in roots_of(stated.target.text) if group.startswith("#")):
            return True  # a vegan is no vegetarian
        return (
            stated.target.type == self.old.target.type
            and self.relation.name not in _ONLY_END
            and any(not HARD.isdisjoint(each.sentence.low) for each in self.told if self._is_meant(each))
        )

    def _state(self, parsed: ParsedSentence, *, direct: bool) -> bool:
        """State the new value of a sentence, if it has one; return whether it has."""
        exact = direct and is_exact(self.old)
        if not exact and SIGNALS.isdisjoint(parsed.sentence.low):
            return False
        new = new_value(self.context, parsed, self.old, self.about)
        if new is None:
            return False
        start, end = parsed.sentence.span(new.first, new.last)
        named = any(not self.value.isdisjoint(roots(word)) for word in parsed.sentence.low)
        if start in self.used or (not named and self._is_taken(start, end)):
            return False
        source = self._source(start)
        if source is None:
            return False
        self.used.add(start)
        self.replaced.add((self.old.source, self.old.target))
        target = self.context.findings.mention(self.old.target.type, start, end)
        self._relate(source, target, Meaning("holds"), start)
        if self.relation.cardinality != "one":
            self._end((start, end))
        return True

    def _is_taken(self, start: int, end: int) -> bool:
        """Whether the message states something else of these words."""
        for each in self.context.findings.relationships:
            target = each.target
            relation = self.context.patterns.ontology.relation(each.relation)
            here = target.episode_id == self.context.turn.episode_id and target.start < end
            if not (here and start < target.start + len(target.text) and relation and not relation.is_deed):
                continue
            if each.stance != "holds":
                continue
            if not (relation.keyed or relation.name in _WEAK):
                return True
            if each.relation == self.old.relation and not _same(each.source, self.old.source):
                return True  # it is another's
        return False

    def _source(self, start: int) -> Mention | None:
        if not self.old.source.speaker:
            return self.old.source
        speaker = self.context.speaker()
        if speaker is None and self.context.turn.role_type == "user":
            return self.context.findings.add_speaker(start, start + 1)
        return speaker

    def _end(self, span: tuple[int, int]) -> None:
        source = self._source(span[0])
        if source is not None:
            self._relate(source, self.old.target, Meaning("ended"), span[0])

    def _relate(self, source: Mention, target: Mention, meaning: Meaning, start: int) -> None:
        told = (each.sentence for each in self.told if each.sentence.start <= start < each.sentence.end)
        sentence = next(told, self.told[0].sentence)
        cue = self.old.cue or ""
        self.context.findings.relate(source, self.old.relation, target, meaning, None, sentence, _CONFIDENCE, cue)


def _ends(low: tuple[str, ...], at: int) -> bool:
    """Whether a word says that something is over."""
    if low[at] in {"gave", "given"} and "up" not in low[at + 1 : at + 3]:
        return False
    over = low[at] in _OVER or (low[at] == "off" and at > 0 and low[at - 1] in _ENDED_OFF)
    return over and _NOT.isdisjoint(low[max(0, at - 3) : at])


def _same(one: Mention, other: Mention) -> bool:
    return (one.speaker and other.speaker) or one.text.casefold() == other.text.casefold()
