"""Statements: the relation that a verb states between its subject and its objects, with the time of its clause."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import Context, Line
from asof_agents.extraction.english.events import deed_at, without_times
from asof_agents.extraction.english.lexicon import ADVERBS, BARE
from asof_agents.extraction.english.meaning import Meaning, meaning
from asof_agents.extraction.english.patterns import Entry, match
from asof_agents.extraction.english.predicates import Predicate
from asof_agents.extraction.english.subjects import UNTYPED, Subject
from asof_agents.extraction.english.targets import Target, targets_at
from asof_agents.extraction.ports import Mention, TimeHint

_FAVORITE = frozenset({"favorite", "favourite", "fave", "fav"})  # "my favorite store" is nobody's own
_LATELY = frozenset({"just", "recently", "finally"})  # as good as a time: the message's
_DEED_CONFIDENCE = 0.8


@dataclass(frozen=True, slots=True)
class _Fit:
    """A cue whose words are there, with the objects it takes. A name or a known type wins, then the longer cue."""

    entry: Entry
    targets: list[Target]

    @property
    def rank(self) -> tuple[bool, int, int]:
        fit = self.targets[0].fit
        return fit > 0, self.entry.weight, fit


def state(context: Context, line: Line, subject: Subject, said: Predicate, start: int) -> int | None:
    """Add what the verb says of the subject, whose words begin at `start`; where its objects end, or None."""
    end: int | None = None
    taken: set[int] = set()
    for fit in _fits(context, line, subject, said, start):
        words = {at for target in fit.targets for at in range(target.phrase.first, target.phrase.last)}
        sure = fit.entry.weight and (fit.targets[0].fit == 2 or fit.targets[0].phrase.name)
        if not taken.isdisjoint(words) or (taken and not sure):
            continue
        after = _state_fit(context, line, subject, said, fit, start)
        if after is not None:
            taken |= words
            end = max(end or 0, after)
    return end


def _state_fit(context: Context, line: Line, subject: Subject, said: Predicate, fit: _Fit, start: int) -> int | None:
    end = max(fit.targets[-1].phrase.after, said.after)
    tail = line.sentence.low[end : end + 2]
    if said.negation == "not" and (tail[:1] == ("anymore",) or tail in {("any", "more"), ("any", "longer")}):
        said = replace(said, negation="no longer")
    hint = time_of(line, _times(context, line, said), start, end)
    stated = [
        _add(context, line, subject, said, entry, target, hint)
        for entry in (fit.entry, *_ended_by(context, line, said, fit.entry))
        for target in fit.targets
    ]
    if any(stated) and fit.targets[-1].phrase.name and line.sentence.low[end : end + 2] == (",", "not"):
        end = _deny_contrast(context, line, subject, fit, end + 2)
    return end if any(stated) else None


def _ended_by(context: Context, line: Line, said: Predicate, event: Entry) -> list[Entry]:
    """What an event ends, said in the same words: graduating from a school ends studying there."""
    if event.relation.lasting:
        return []
    entries = context.patterns.heads[line.sentence.low[said.head]]
    return [entry for entry in entries if entry.kind == "end" and entry.steps == event.steps]


def _deny_contrast(context: Context, line: Line, subject: Subject, fit: _Fit, at: int) -> int:
    """Deny the second object of "I live in Munich, not Berlin"; return where it ends."""
    sentence = line.sentence
    low = sentence.low
    while at < len(low) and low[at] in {"in", "at", "to", "for", "with", "from"}:
        at += 1
    name = line.names.get(at)
    if name is None:
        return at
    target = context.found.mention(fit.targets[-1].kind, *sentence.span(name.first, name.last))
    for mention in subject.mentions:
        source = _registered(context, mention)
        relation = fit.entry.relation.name
        context.found.relate(source, relation, target, Meaning("denied"), None, sentence, subject.confidence)
    return name.last


def state_deed(context: Context, line: Line, subject: Subject, start: int) -> int | None:
    """Where a time is stated, keep what was done in the words used: "I scored 40 points last week"."""
    relation = context.patterns.deed
    words = deed_at(line.sentence, subject.next) if relation else None
    if relation is None or words is None:
        return None
    hint = time_of(line, context.timed(line, ahead=False), start, words[1])
    end, words = words[1], without_times(line.sentence, words, line.timed)
    if words is None:
        return None
    passed = hint is not None and hint.kind in {"point", "during"} and hint.start <= context.turn.said_at
    said = line.sentence.low[subject.next : end]
    just_now = hint is None and (not _LATELY.isdisjoint(said[: words[0] - subject.next]) or "recently" in said)
    if not (passed or just_now):
        return None
    for mention in subject.mentions:
        if mention.type in {*relation.sources, UNTYPED}:
            deed = context.found.mention(relation.targets[0], *line.sentence.span(*words))
            stated = Meaning("holds", hint.start if hint else None)
            person = mention if mention.type != UNTYPED else replace(mention, type=relation.sources[0])
            source = _registered(context, person)
            context.found.relate(source, relation.name, deed, stated, hint, line.sentence, _DEED_CONFIDENCE)
    return end


def _fits(context: Context, line: Line, subject: Subject, said: Predicate, start: int) -> list[_Fit]:
    """The cues that are there, best first: "I work as a nurse at Charité" has two."""
    head = line.sentence.low[said.head]
    entries = context.patterns.heads.get("my" if head == "our" else head, ())
    kinds = {mention.type for mention in subject.mentions}
    if entries:
        _times(context, line, said)  # objects end where a time begins
    found = []
    for entry in entries:
        if said.form and said.form not in entry.forms:
            continue
        if not entry.reversed and UNTYPED not in kinds and kinds.isdisjoint(entry.relation.sources):
            continue
        at = match(entry.steps, line.sentence, said.after, line.timed)
        if at is None:
            continue
        targets = targets_at(context, line, at, entry) or _fronted(context, line, start, at, entry)
        if targets:
            found.append(_Fit(entry, targets))
    # a name of no known type is no person where the words fit something else: "Globex is based in Zurich"
    other = UNTYPED in kinds
    return sorted(
        found, key=lambda fit: (*fit.rank, other and "Person" not in fit.entry.relation.sources), reverse=True
    )


def _fronted(context: Context, line: Line, start: int, at: int, entry: Entry) -> list[Target]:
    """The object before its subject: "the parade I went to last week"."""
    low = line.sentence.low
    goes_on = at < len(low) and low[at][0].isalnum() and at not in line.timed and low[at] not in ADVERBS
    if (entry.relation.lasting and entry.kind != "start") or goes_on:
        return []
    for first in range(max(0, start - 4), start):
        found = targets_at(context, line, first, entry)
        if found and found[0].fit == 2 and found[-1].phrase.after == start and not found[0].phrase.name:
            return found[:1]
    return []


def _times(context: Context, line: Line, said: Predicate) -> Sequence[TimeHint]:
    return context.timed(line, ahead=said.tense in {"future", "progressive", "present"})


def _add(
    context: Context,
    line: Line,
    subject: Subject,
    said: Predicate,
    entry: Entry,
    target: Target,
    hint: TimeHint | None,
) -> bool:
    phrase = target.phrase
    stated = meaning(entry, said, hint, context.turn.said_at, named=phrase.name)
    words = line.sentence.low[phrase.first : phrase.last]
    bare = words[-1] in BARE and (len(words) == 1 or (_plural(words[-1]) and not entry.relation.lasting))
    says_nothing = hint is None and not phrase.name and entry.lemma != "my" and bare
    favorite = entry.lemma == "my" and not entry.steps and line.sentence.low[said.after] in _FAVORITE
    if stated is None or says_nothing or favorite:
        return False
    relation = entry.relation.opposite if stated.opposite and entry.relation.opposite else entry.relation.name
    confidence = round(subject.confidence * (1.0 if target.fit else 0.9), 2)
    wanted = entry.relation.targets if entry.reversed else entry.relation.sources
    for mention in subject.mentions:
        if mention.type not in wanted and not entry.reversed and mention.type != UNTYPED:
            continue
        kind = mention.type if mention.type in wanted else "Person" if "Person" in wanted else wanted[0]
        source = _registered(context, replace(mention, type=kind))
        end = context.found.mention(target.kind, *line.sentence.span(phrase.first, phrase.last))
        if entry.reversed:
            source, end = end, source
        context.found.relate(source, relation, end, stated, hint, line.sentence, confidence)
        opposite = context.patterns.ontology.relations[relation].opposite
        if opposite and stated.stance == "holds" and "now" in line.sentence.low[said.head : phrase.after + 1]:
            # "I love running now": it was otherwise before
            context.found.relate(source, opposite, end, Meaning("ended"), None, line.sentence, confidence)
    return True


def _plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")


def _registered(context: Context, mention: Mention) -> Mention:
    """Put a subject of this turn among its mentions; a pronoun's or the speaker's stays what it is."""
    if mention.speaker or mention.episode_id != context.turn.episode_id:
        return mention
    found = context.found.mention(mention.type, mention.start, mention.start + len(mention.text))
    if found.type == "Person":
        context.people.named(found)
    return found
