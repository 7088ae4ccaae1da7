"""Statements: the relation that a verb states between its subject and its objects, at the time of its clause."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, BARE
from asof_agents.extraction.english.meaning import Meaning, meaning
from asof_agents.extraction.english.name_spans import may_be_person
from asof_agents.extraction.english.patterns import CueEntry, match_steps, next_words
from asof_agents.extraction.english.predicates import Predicate
from asof_agents.extraction.english.subjects import UNTYPED, Subject
from asof_agents.extraction.english.targets import Target, is_lone, targets_at
from asof_agents.extraction.english.work import CUES
from asof_agents.extraction.ports import TimeHint

_FAVORITE = frozenset({"favorite", "favourite", "fave", "fav"})  # "my favorite store" is nobody's own
_LATELY = frozenset({"just", "recently", "finally"})
_NEAREST = 5  # near misses of one verb that an explanation has


class _Fit(NamedTuple):
    """A cue whose words match, with its objects. An object with a name or a known type wins, then the longer cue."""

    entry: CueEntry
    targets: list[Target]

    @property
    def rank(self) -> tuple[bool, int, int]:
        fit = self.targets[0].fit
        return fit > 0, self.entry.weight, fit


def extract_statements(
    context: TurnContext, parsed: ParsedSentence, subject: Subject, predicate: Predicate, start: int
) -> int | None:
    """Add the relationships of a verb whose subject begins at `start`; return the word after its objects, or None."""
    if predicate.head in parsed.taken:
        return None
    end: int | None = None
    taken: set[int] = set()
    ends: set[bool] = set()  # whether the cues stated so far end something
    for fit in _fits(context, parsed, subject, predicate, start):
        words = {at for target in fit.targets for at in range(target.phrase.first, target.phrase.last)}
        sure = fit.entry.weight and (fit.targets[0].fit == 2 or fit.targets[0].phrase.name)
        beside = taken and (fit.entry.kind == "end") not in ends  # "I traded the bike for a car" ends and begins
        if not taken.isdisjoint(words) or (taken and not (sure or beside)):
            continue
        after = _state_fit(context, parsed, subject, predicate, fit, start)
        if after is not None:
            taken |= words
            ends.add(fit.entry.kind == "end")
            end = max(end or 0, after)
    return end


def _state_fit(
    context: TurnContext, parsed: ParsedSentence, subject: Subject, predicate: Predicate, fit: _Fit, start: int
) -> int | None:
    end = max(fit.targets[-1].phrase.after, predicate.after)
    tail = parsed.sentence.low[end : end + 2]
    if predicate.negation == "not" and (tail[:1] == ("anymore",) or tail in {("any", "more"), ("any", "longer")}):
        predicate = predicate._replace(negation="no longer")
    hint = time_of(parsed, _times(context, parsed, predicate), start, end)
    stated = [
        _add(context, parsed, subject, predicate, entry, target, hint)
        for entry in (fit.entry, *_ended_by(context, parsed, predicate, fit.entry))
        for target in fit.targets
    ]
    if any(stated) and fit.targets[-1].phrase.name and parsed.sentence.low[end : end + 2] == (",", "not"):
        end = _deny_contrast(context, parsed, subject, fit, end + 2)
    return end if any(stated) else None


def _ended_by(context: TurnContext, parsed: ParsedSentence, predicate: Predicate, event: CueEntry) -> list[CueEntry]:
    """Return the relations that an event ends by the same words: graduating from a school ends studying there."""
    if not event.relation.is_deed:
        return []
    entries = context.patterns.heads[parsed.sentence.low[predicate.head]]
    return [entry for entry in entries if entry.kind == "end" and entry.steps == event.steps]


def _deny_contrast(context: TurnContext, parsed: ParsedSentence, subject: Subject, fit: _Fit, at: int) -> int:
    """Deny the second object of "I live in Munich, not Berlin"; return the word after it."""
    sentence = parsed.sentence
    low = sentence.low
    while at < len(low) and low[at] in {"in", "at", "to", "for", "with", "from"}:
        at += 1
    name = parsed.names.get(at)
    if name is None:
        return at
    target = context.findings.mention(fit.targets[-1].kind, *sentence.span(name.first, name.last))
    for mention in subject.mentions:
        source = context.registered(mention, mention.type)
        relation = fit.entry.relation.name
        context.findings.relate(
            source, relation, target, Meaning("denied"), None, sentence, subject.confidence, fit.entry.text
        )
    return name.last


def _fits(
    context: TurnContext, parsed: ParsedSentence, subject: Subject, predicate: Predicate, start: int
) -> list[_Fit]:
    """Return the cues that match, best first: "I work as a nurse at Charité" has two."""
    head = parsed.sentence.low[predicate.head]
    head = "my" if head == "our" else head
    entries = context.patterns.heads.get(head)
    if entries is None:
        return []
    kinds = {mention.type for mention in subject.mentions}
    context.work.spend(len(entries) // CUES)
    context.timed(parsed, ahead=False)  # objects end where a time begins
    found = []
    before = len(context.misses or ())
    for entry in context.patterns.cues[head].before(next_words(parsed.sentence, predicate.after, parsed.timed)):
        if predicate.form and predicate.form not in entry.forms:
            continue
        of_subject = entry.reversed or UNTYPED in kinds or not kinds.isdisjoint(entry.relation.sources)
        if not of_subject and context.misses is None:
            continue
        at: int | None = predicate.after
        if entry.steps:
            at = match_steps(entry.steps, parsed.sentence, predicate.after, parsed.timed)
        if at is None:
            continue
        words = (predicate.head, at)
        if not of_subject:
            context.miss(parsed, words, "the relation is not one of such a subject", entry)
            continue
        targets = targets_at(context, parsed, at, entry) or _fronted(context, parsed, start, at, entry)
        if targets:
            found.append(_Fit(entry, targets))
        elif entry.steps or entry.lemma != "be":  # "<be> {typed}" comes near whatever is
            context.miss(parsed, words, "no object of a fitting type stands where the cue wants one", entry)
    _keep_nearest(context, parsed, predicate, entries, before, found)
    if len(found) < 2:
        return found
    # a name of no known type is no person where the words fit something else: "Globex is based in Zurich"
    other = UNTYPED in kinds
    return sorted(
        found, key=lambda fit: (*fit.rank, other and "Person" not in fit.entry.relation.sources), reverse=True
    )


def _keep_nearest(
    context: TurnContext,
    parsed: ParsedSentence,
    predicate: Predicate,
    entries: Sequence[CueEntry],
    before: int,
    found: Sequence[_Fit],
) -> None:
    """Keep the nearest misses of a verb, from `before` on; where no cue came near, its cues; none if one matched."""
    misses = context.misses
    if misses is None or not entries:
        return
    _times(context, parsed, predicate)  # an explanation has them as this verb dates them
    if found:
        del misses[before:]
    elif len(misses) == before and parsed.sentence.low[predicate.head] != "my":
        words = (predicate.head, predicate.after)
        for entry in entries[:_NEAREST] if len(entries) <= _NEAREST else ():
            context.miss(parsed, words, "the words around it are not those of the cue", entry)
        if len(entries) > _NEAREST:
            context.miss(parsed, words, f"the words around it are those of none of its {len(entries)} cues")
    del misses[before + _NEAREST :]


def _fronted(context: TurnContext, parsed: ParsedSentence, start: int, at: int, entry: CueEntry) -> list[Target]:
    """Return an object that comes before its subject: "the parade I went to last week"."""
    if not entry.relation.is_deed and entry.kind != "start":
        return []
    low = parsed.sentence.low
    if at < len(low) and low[at][0].isalnum() and at not in parsed.timed and low[at] not in ADVERBS:
        return []  # its object may come after it
    for first in range(max(0, start - 4), start):
        found = targets_at(context, parsed, first, entry)
        if found and found[0].fit == 2 and found[-1].phrase.after == start and not found[0].phrase.name:
            return found[:1]
    return []


def _times(context: TurnContext, parsed: ParsedSentence, predicate: Predicate) -> Sequence[TimeHint]:
    return context.timed(parsed, ahead=predicate.tense in {"future", "progressive", "present"})


def _add(
    context: TurnContext,
    parsed: ParsedSentence,
    subject: Subject,
    predicate: Predicate,
    entry: CueEntry,
    target: Target,
    hint: TimeHint | None,
) -> bool:
    phrase = target.phrase
    stated = meaning(entry, predicate, hint, context.turn.said_at, named=phrase.name)
    if stated is None and (plan := _plan(context, predicate, entry, target, hint)):
        entry, stated = plan
    words = parsed.sentence.low[phrase.first : phrase.last]
    bare = words[-1] in BARE and (len(words) == 1 or (_plural(words[-1]) and entry.relation.is_deed))
    pausing = predicate.negation == "not" and target.kind == "Activity" and entry.lemma == "be"  # "I'm not writing"
    lone = hint is None and not _lately(parsed, predicate, phrase.after) and is_lone(words, target, entry)
    says_nothing = pausing or lone or (hint is None and not phrase.name and entry.lemma != "my" and bare)
    favorite = entry.lemma == "my" and not entry.steps and parsed.sentence.low[predicate.after] in _FAVORITE
    lost = stated is not None and stated.stance == "ended" and entry.takes == "deed"  # "I loved to play in the attic"
    if stated is None or says_nothing or favorite or lost:
        reason = "its tense does not say for sure that it holds or ended" if stated is None else "the object is vague"
        context.miss(parsed, (predicate.head, phrase.after), reason, entry)
        return False
    relation = entry.relation.opposite if stated.opposite and entry.relation.opposite else entry.relation.name
    confidence = round(subject.confidence * (1.0 if target.fit else 0.9), 2)
    wanted = entry.relation.targets if entry.reversed else entry.relation.sources
    for mention in subject.mentions:
        if mention.type not in wanted and not entry.reversed and mention.type != UNTYPED:
            continue
        kind = mention.type if mention.type in wanted else _kind(mention.text, wanted)
        if kind is None:
            continue
        source = context.registered(mention, kind)
        end = context.findings.mention(target.kind, *parsed.sentence.span(phrase.first, phrase.last))
        if entry.reversed:
            source, end = end, source
        context.findings.relate(source, relation, end, stated, hint, parsed.sentence, confidence, entry.text)
        opposite = context.patterns.ontology.relations[relation].opposite
        if opposite and stated.stance == "holds" and _says_now(parsed, predicate.head, phrase.after):
            # "I love running now": it was otherwise before
            context.findings.relate(
                source, opposite, end, Meaning("ended"), None, parsed.sentence, confidence, entry.text
            )
    return True


def _plan(
    context: TurnContext, predicate: Predicate, entry: CueEntry, target: Target, hint: TimeHint | None
) -> tuple[CueEntry, Meaning] | None:
    """Return the plan that is told as if it went on: "I'm meeting Ana tomorrow", "I'm going to a fair this month"."""
    plan, now = context.patterns.plan, context.turn.said_at
    if (
        plan is None
        or hint is None
        or predicate.negation
        or predicate.aspect
        or target.kind not in plan.relation.targets
    ):
        return None
    if entry.takes == "deed" and entry.lemma == "be" and not entry.steps:
        stated = meaning(plan, predicate, hint, now, named=False)
        return (plan, stated) if stated and stated.valid_from else None
    several = target.phrase.last - target.phrase.first > 1  # "a conference" says too little
    leaves = several and entry.relation.is_deed and entry.lemma == "go" and predicate.tense == "progressive"
    return (plan, Meaning("holds")) if leaves and hint.start <= now < hint.end else None


def _lately(parsed: ParsedSentence, predicate: Predicate, after: int) -> bool:
    """Whether the message itself tells when: "I just had a picnic", "we went to the beach recently"."""
    low = parsed.sentence.low
    if low[after : after + 1] == ("recently",):
        return True
    return not _LATELY.isdisjoint(low[max(0, predicate.head - 2) : predicate.head])


def _kind(text: str, wanted: Sequence[str]) -> str | None:
    """Return the type of a subject whose name tells none, for a relation of such types; None: it can be none."""
    if "Person" in wanted and may_be_person(text):
        return "Person"
    return next((kind for kind in wanted if kind != "Person"), None)


def _says_now(parsed: ParsedSentence, first: int, last: int) -> bool:
    at = bisect_left(parsed.nows, first)
    return at < len(parsed.nows) and parsed.nows[at] <= last


def _plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")
