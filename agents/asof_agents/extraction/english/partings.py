"""Partings: who died, who is no couple any more, who has lost a job: "Miso died", "we got divorced", "I quit my job".

What is parted with may be called by its role alone. What holds in that role is known to belief, not to the rules.
"""

from typing import Final

from asof_agents.extraction.english.clause_times import time_of
from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import ADVERBS, CONJUNCTIONS, NOT_QUITE, PREPOSITIONS
from asof_agents.extraction.english.meaning import Meaning
from asof_agents.extraction.ports import JOB, SPOUSE, Mention
from asof_ontologies.model import RelationType
from asof_streams.instants import NEG

_DIED: Final = frozenset({"died", "passed"})
_PARTED: Final = frozenset({"divorced", "separated", "broke", "split", "parted"})
_UNDER_LAW: Final = frozenset({"divorced", "separated"})
_LEFT: Final = frozenset({"quit", "left", "lost"})  # "my job"
_DISMISSED: Final = frozenset({"fired", "laid", "sacked"})
_RESIGNED: Final = frozenset({"resigned", "retired"})
_LONGER: Final = frozenset({"longer"})
_WORKING: Final = frozenset({"work", "working"})
_GOT: Final = frozenset({"got", "was", "been"})
_ASIDE: Final = frozenset({"got", "have", "had", "are", "were", "been", "both", "'ve", "has", "was", "'s"})
_OWN: Final = frozenset({"my", "our"})
_JOBS: Final = frozenset({"job", "position", "role"})
_GOES_ON: Final = ADVERBS | CONJUNCTIONS | PREPOSITIONS - {"from", "for", "with", "by", "at", "to", "as", "up", "off"}
SIGNS: Final = _DIED | _PARTED | _LEFT | _DISMISSED | _RESIGNED | {"there"}
"""One of these is in every sentence that tells of a parting."""


def extract_parting(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Add the ending that is told by the word there, one of SIGNS."""
    low = parsed.sentence.low
    word, after = low[at], low[at + 1 : at + 2]
    if word in _DIED and (word == "died" or after == ("away",)):
        _died(context, parsed, at)
    elif word in _PARTED and (word in _UNDER_LAW or after in {("up",), ("ways",)}):
        if _closes(context, parsed, at + 1 + (word not in _UNDER_LAW)):
            _parted(context, parsed, at)
    elif (last := _lost_job(parsed, at)) and _closes(context, parsed, last):
        _left_job(context, parsed, at)


def _died(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Miso died", of an animal that is known by its name, and "my husband died": the speaker has it no longer."""
    begin = _subject_end(parsed, at)
    name = parsed.names_by_end.get(begin)
    kept = next((r for r in context.patterns.ontology.relation_types if r.targets == ("Animal",)), None)
    if name is not None and kept is not None and context.types.of(name.text) == "Animal":
        speaker = context.speaker() or context.findings.add_speaker(*parsed.sentence.span(at, at + 1))
        _end(context, parsed, speaker, kept, _named(context, parsed, "Animal", name.first, name.last), at)
    else:
        _of_role(context, parsed, begin, at)


def _parted(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Julia and I broke up", "we got divorced": neither is the other's husband, wife or partner any more."""
    low, begin = parsed.sentence.low, _subject_end(parsed, at)
    both = low[max(0, begin - 2) : begin] == ("and", "i")
    name = parsed.names_by_end.get(begin - 2) if both else None
    entries = context.patterns.heads.get(low[at], ())
    ended = next((entry.relation for entry in entries if entry.kind == "end" and entry.relation.symmetric), None)
    speaker = context.speaker()
    if ended is None or speaker is None:
        return
    if name is not None and not name.spoken_to:
        _end(context, parsed, speaker, ended, _named(context, parsed, "Person", name.first, name.last), at)
    elif both:
        _of_role(context, parsed, begin - 2, at)
    elif low[begin - 1 : begin] in {("we",), ("i",)} and begin and (low[at] in _UNDER_LAW or low[begin - 1] == "we"):
        spouse = context.findings.mention("Person", *parsed.sentence.span(at, at + 1), SPOUSE)
        _end(context, parsed, speaker, ended, spouse, at)


def _of_role(context: TurnContext, parsed: ParsedSentence, end: int, at: int) -> None:
    """Read "my husband" before a word, of a role that one can cease to have: husband, girlfriend, dog; no mother."""
    low = parsed.sentence.low
    own = next((first for first in range(end - 1, max(-1, end - 4), -1) if low[first] in _OWN), end)
    relations = context.patterns.nouns.get(" ".join(low[own + 1 : end]), ()) if own < end else ()
    relation = next((each for each in relations if each.ends or each.targets == ("Animal",)), None)
    speaker = context.speaker()
    if relation is not None and speaker is not None:
        parsed.taken.update(range(own, end))  # nobody has whom he has lost
        _end(context, parsed, speaker, relation, _named(context, parsed, relation.targets[0], own + 1, end), at)


def _lost_job(parsed: ParsedSentence, at: int) -> int:
    """Return the word after "quit my job", "got laid off", "resigned", "work there anymore"; 0: nothing is lost."""
    low = parsed.sentence.low
    word, after = low[at], at + 1
    if word == "there":
        over = low[after : after + 1] == ("anymore",) or low[after : after + 2] == ("any", "more")
        over = over or parsed.first_of(_LONGER) < at
        return after if over and at > 1 and low[at - 1] in _WORKING else 0
    if word in _LEFT:
        return (
            after + 2 if low[after : after + 1] == ("my",) and not _JOBS.isdisjoint(low[after + 1 : after + 2]) else 0
        )
    if word in _DISMISSED:
        off = low[after : after + 1] == ("off",)
        return after + off if off == (word == "laid") and at and low[at - 1] in _GOT else 0
    return after if word in _RESIGNED else 0


def _closes(context: TurnContext, parsed: ParsedSentence, at: int) -> bool:
    """Whether what was said is whole before a word: what follows says at most when, how or why."""
    low = parsed.sentence.low
    if at >= len(low) or not low[at][0].isalnum() or low[at] in _GOES_ON or low[at] == "any":
        return True
    return bool(context.timed(parsed, ahead=False)) and at in parsed.timed


def _left_job(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "I quit my job": what the speaker had as a job is one no more."""
    low, begin = parsed.sentence.low, _subject_end(parsed, at)
    relation = next(
        (r for r in context.patterns.ontology.relation_types if any("(job)" in cue for cue in r.ends)), None
    )
    speaker = context.speaker()
    own = low[begin - 1 : begin] == ("i",) or (low[at] == "there" and "i" in low[max(0, at - 5) : at])
    if relation is None or speaker is None or not own:
        return
    job = context.findings.mention(relation.targets[0], *parsed.sentence.span(at, at + 1), JOB)
    _end(context, parsed, speaker, relation, job, at)


def _subject_end(parsed: ParsedSentence, at: int) -> int:
    """Return the word after the subject of a verb; 0 where an adverb such as "almost" says that it did not happen."""
    low = parsed.sentence.low
    while at and (low[at - 1] in ADVERBS or low[at - 1] in _ASIDE):
        if low[at - 1] in NOT_QUITE:
            return 0
        at -= 1
    return at


def _named(context: TurnContext, parsed: ParsedSentence, kind: str, first: int, last: int) -> Mention:
    return context.findings.mention(kind, *parsed.sentence.span(first, last))


def _end(
    context: TurnContext, parsed: ParsedSentence, source: Mention, relation: RelationType, target: Mention, at: int
) -> None:
    hint = time_of(parsed, context.timed(parsed, ahead=False), _subject_end(parsed, at), at + 1)
    hint = hint if hint is not None and NEG < hint.start <= context.turn.said_at else None
    ended = Meaning("ended", valid_to=hint.start if hint else None, former=True)
    context.findings.relate(source, relation.name, target, ended, hint, parsed.sentence, 0.85, relation.name)
