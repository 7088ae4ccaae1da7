"""Predicates: the verb group after a subject, with its tense, negation and aspect. Hypothetical ones are left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from asof_agents.extraction.english.frames import verb_in_frame
from asof_agents.extraction.english.lexicon import ADVERBS, NOT_QUITE, PREPOSITIONS, UNSURE_MODALS
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.english.verbs import Form

Tense = Literal["present", "past", "perfect", "future", "progressive", "used to"]
Negation = Literal["", "not", "never", "no longer"]
Aspect = Literal["", "start", "stop", "keep"]

_HAVE = frozenset({"have", "has", "had"})
_DO = frozenset({"do", "does", "did"})
_BE_PRESENT = frozenset({"am", "is", "are", "'s"})
_BE_PAST = frozenset({"was", "were"})
_BE = _BE_PRESENT | _BE_PAST
_STARTING = frozenset("began begin beginning begun resume resumed start started starting starts".split())
_STOPPING = frozenset("stop stopped stops stopping quit quits quitting".split())
_FOND = frozenset({"like", "likes", "love", "loves"})
_FOND_ING = _FOND | {"enjoy", "enjoys", "enjoyed", "loved", "liked", "finished"}
_KEEPING = frozenset("keep kept keeps keeping continue continued".split())
_ASPECTS = _STARTING | _STOPPING | _KEEPING

_NESTED_MAX = 8  # verbs around a verb; who says more of them says nothing


class Predicate(NamedTuple):
    """A verb that may be a cue: `head` is its word, `after` the next one."""

    head: int
    after: int
    tense: Tense
    form: Form | None  # None: the finite verb may have any form that fits its subject
    negation: Negation = ""
    aspect: Aspect = ""
    third: bool = False  # the subject is he, she or a name


@dataclass(slots=True)
class _State:
    at: int
    tense: Tense | None = None
    form: Form | None = None
    negation: Negation = ""
    aspect: Aspect = ""
    nested: int = 0  # the verbs around it: "I am going to keep …" has one

    def inner(self, at: int, tense: Tense, form: Form, negation: Negation = "") -> "_State":
        """Return the state of a verb that depends on this one."""
        return _State(at, tense, form, negation, nested=self.nested + 1)


def predicates(sentence: Sentence, at: int, patterns: Patterns, *, third: bool) -> list[Predicate]:
    """Return the possible verbs of the group from word `at` on; none, if a modal makes it unsure."""
    return list(_read(sentence, _State(at), patterns, third=third))


def coordinated_predicate(sentence: Sentence, at: int, before: Predicate, patterns: Patterns) -> Predicate | None:
    """Return the verb from `at` on that shares the subject of an earlier one: "moved to Berlin and joined SAP"."""
    low = sentence.low
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    if at >= len(low):
        return None
    tags = patterns.forms.get(low[at], frozenset())
    wanted = before.form or ("past" if before.tense == "past" else "s" if before.third else "base")
    if low[at] in {"'s", "is", "are", "am"}:
        return None
    if wanted not in tags:
        here = "s" if before.third else "base"
        goes_on = low[at + 1 : at + 2] and low[at + 1] in PREPOSITIONS
        if before.form or before.tense != "past" or here not in tags or not goes_on:
            return None  # "I left Acme and work at Zeta now"; but "I bought milk and drink"
        return Predicate(at, at + 1, "present", None, third=before.third)
    return before._replace(head=at, after=at + 1, negation="", aspect="")


def _read(sentence: Sentence, state: _State, patterns: Patterns, *, third: bool) -> Iterator[Predicate]:
    low, count = sentence.low, len(sentence.low)
    for _ in range(10):
        if state.at >= count:
            return
        word = low[state.at]
        following = _next(low, state.at + 1)
        if word in NOT_QUITE:
            return
        if word == "no" and following == "longer":
            state.negation, state.at = "no longer", state.at + 2
        elif word in {"never", "not"}:
            state.negation, state.at = ("never" if word == "never" else "not"), state.at + 1
        elif word in ADVERBS:
            state.at += 1
        elif word == "used" and following == "to" and state.tense in {None, "past"}:
            state.tense, state.form, state.at = "used to", "base", state.at + 2
        elif word in UNSURE_MODALS:
            if word in patterns.heads and state.tense is None:
                yield Predicate(state.at, state.at + 1, "present", None, state.negation, third=third)
            return
        elif word in {"will", "shall", "gonna"}:
            if word in patterns.heads and state.tense is None:
                yield Predicate(state.at, state.at + 1, "present", None, state.negation, third=third)
            state.tense, state.form, state.at = "future", "base", state.at + 1
        elif word in _DO and state.tense is None and _is_auxiliary_do(low, state.at, patterns):
            state.tense = "past" if word == "did" else "present"
            state.form, state.at = "base", state.at + 1
        elif word in {"have", "has"} and following == "got" and "have" in patterns.heads and state.tense is None:
            got = low.index("got", state.at + 1)
            yield Predicate(state.at, got + 1, "present", None, state.negation, third=third)
            yield Predicate(got, got + 1, "perfect", "participle", state.negation, third=third)
            return
        elif word in _HAVE and state.tense is None and _participle(low, state.at + 1, patterns):
            state.tense, state.form, state.at = ("past" if word == "had" else "perfect"), "participle", state.at + 1
        elif word in _BE or word in {"been", "be"}:
            yield from _after_be(sentence, state, patterns, third=third)
            return
        else:
            yield from _main(sentence, state, patterns, third=third)
            return


def _after_be(sentence: Sentence, state: _State, patterns: Patterns, *, third: bool) -> Iterator[Predicate]:
    if state.nested > _NESTED_MAX:
        return
    low = sentence.low
    word, head = low[state.at], state.at
    if word in {"be", "been"} and state.tense is None:
        if word == "be":
            return
        state.tense = "perfect"  # "Been working at SAP": the subject is left out
    tense: Tense = state.tense or ("past" if word in _BE_PAST else "present")
    after, negation = head + 1, state.negation
    while after < len(low):
        if low[after] in {"not", "never"}:
            negation = "never" if low[after] == "never" else "not"
        elif low[after] == "no" and _next(low, after + 1) == "longer":
            negation, after = "no longer", after + 1
        elif low[after] not in ADVERBS:
            break
        after += 1
    if word == "'s" and not _BE.isdisjoint(low[after : after + 3]):
        return  # "Ben's mother is …": whose she is, not what he is
    yield Predicate(head, after, tense, None, negation, third=third)
    if after >= len(low):
        return
    framed = verb_in_frame(low, head) if tense == "past" and not negation else None
    if framed:
        yield from _main(sentence, state.inner(framed[0], "past", framed[1]), patterns, third=third)
        return
    if low[after] == "going" and _next(low, after + 1) == "to" and after + 2 < len(low):
        verb_follows = "base" in patterns.forms.get(low[after + 2], ()) or low[after + 2] == "be"
        if verb_follows and tense != "past":  # "was going to" is a plan that may have come to nothing
            yield from _read(sentence, state.inner(after + 2, "future", "base", negation), patterns, third=third)
        if verb_follows:
            return
    if word == "'s" and "participle" in patterns.forms.get(low[after], ()) and "ing" not in patterns.forms[low[after]]:
        yield from _main(sentence, state.inner(after, "perfect", "participle", negation), patterns, third=third)
    progressive: Tense = "progressive" if tense == "present" else tense
    yield from _main(sentence, state.inner(after, progressive, "ing", negation), patterns, third=third)


def _main(sentence: Sentence, state: _State, patterns: Patterns, *, third: bool) -> Iterator[Predicate]:
    if state.nested > _NESTED_MAX:
        return
    low, word = sentence.low, sentence.low[state.at]
    tags = patterns.forms.get(word)
    tense = state.tense or _finite(tags, third=third)
    if tags and tense and (state.form is None or state.form in tags):
        yield Predicate(state.at, state.at + 1, tense, state.form, state.negation, state.aspect, third=third)
    if word in _FOND and low[state.at + 1 : state.at + 2] == ("to",) and tense == "present" and state.at + 2 < len(low):
        if not state.negation:
            yield from _main(sentence, state.inner(state.at + 2, "present", "base"), patterns, third=third)
        return
    framed = verb_in_frame(low, state.at) if state.tense is None and not state.negation else None
    if framed:
        yield from _main(sentence, state.inner(framed[0], "past", framed[1]), patterns, third=third)
        return
    if word in _FOND_ING and tense and not state.negation and "ing" in patterns.forms.get(_next(low, state.at + 1), ()):
        yield Predicate(state.at + 1, state.at + 2, tense, "ing", third=third)
    aspect: Aspect = (
        "start" if word in _STARTING else "stop" if word in _STOPPING else "keep" if word in _KEEPING else ""
    )
    if not aspect or state.aspect or (state.form == "base") != word_is_base(word, state.form):
        return
    inner = state.at + 1
    while inner < len(low) and (low[inner] in ADVERBS or low[inner] in {"on", "to"}):
        inner += 1
    if inner < len(low) and "ing" in patterns.forms.get(low[inner], ()):
        outer = state.tense or ("past" if word.endswith("ed") or word in {"began", "quit", "kept"} else "present")
        yield Predicate(inner, inner + 1, outer, "ing", state.negation, aspect, third=third)


def word_is_base(word: str, wanted: Form | None) -> bool:
    """Whether an auxiliary requires the base form, and the aspect verb has it."""
    base = word in {"start", "begin", "resume", "stop", "quit", "keep", "continue"}
    return base if wanted == "base" else False


def _finite(tags: frozenset[Form] | None, *, third: bool) -> Tense | None:
    """Return the tense of a verb without an auxiliary; an ambiguous form (quit, read) counts as past."""
    if not tags:
        return None
    if "past" in tags:
        return "past"
    wanted: Form = "s" if third else "base"
    return "present" if wanted in tags else None


def _is_auxiliary_do(low: tuple[str, ...], at: int, patterns: Patterns) -> bool:
    at += 1
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    return at < len(low) and (low[at] in {"not", "never"} or "base" in patterns.forms.get(low[at], ()))


def _participle(low: tuple[str, ...], at: int, patterns: Patterns) -> bool:
    while at < len(low) and (low[at] in ADVERBS or low[at] in {"not", "never"}):
        at += 1
    return at < len(low) and (
        low[at] == "been" or "participle" in patterns.forms.get(low[at], ()) or low[at] in _ASPECTS
    )


def _next(low: tuple[str, ...], at: int) -> str:
    return low[at] if at < len(low) else ""
