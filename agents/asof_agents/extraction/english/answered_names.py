"""Names told in answer to a question for them: "We've got two cats." "What are their names?" "Miso and Tofu!"."""

import re
from dataclasses import replace
from itertools import islice
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.corrections import EarlierRelationships
from asof_agents.extraction.english.later_names import add_named
from asof_agents.extraction.english.lexicon import GREETINGS, NOT_NAMES
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.ports import Relationship

_ASKED: Final = frozenset({"called", "name", "named", "names"})
_THEIRS: Final = frozenset({"her", "him", "his", "its", "their", "them", "they"})
_NAMELESS: Final = frozenset({"Animal", "Kinship"})
_LEADING: Final = GREETINGS | {
    "he",
    "her",
    "his",
    "is",
    "it",
    "name",
    "names",
    "are",
    "she",
    "their",
    "they",
    "'re",
    "'s",
}
_JOINING: Final = frozenset({"&", ",", ".", "!", "and"})
_SENTENCE_END: Final = re.compile(r"[.!?,\n-]")
_SENTENCES: Final = 3  # of an answer, of which one may be the names
_LATEST: Final = 6  # statements of an earlier turn
_QUESTION_MAX: Final = 400  # characters of a turn that asks for a name


def extract_answered_names(context: TurnContext, earlier: EarlierRelationships) -> None:
    """Add what the speaker stated last of a relative or an animal without a name once more, of the names asked for."""
    turn = context.turn
    asked = _asked_of(context.before[-1].text) if context.before else None
    if asked is None or (context.before[-1].role, context.before[-1].role_type) == (turn.role, turn.role_type):
        return
    answer = next((each for each in islice(context.sentences, _SENTENCES) if _only_names(context, each)), None)
    if answer is None:
        return
    spoken = [each for each in reversed(context.before) if (each.role, each.role_type) == (turn.role, turn.role_type)]
    stated = (found for other in spoken for found in islice(earlier(other), _LATEST) if _is_unnamed(found, asked))
    latest = next(stated, None)
    if latest is not None:
        start = answer.sentence.start  # no word means the speaker: one character stands for them
        speaker = context.speaker() or context.findings.add_speaker(start, start + 1)
        add_named(context, answer, replace(latest, source=speaker), _only_names(context, answer))


def _asked_of(text: str) -> frozenset[str] | None:
    """Return the words of a last question for names: "What are their names?"; None: it asks for none."""
    folded = text.casefold() if len(text) <= _QUESTION_MAX and "?" in text else ""
    if not ("name" in folded or "called" in folded):
        return None
    asked = folded.replace("\u2019", "'").replace("'s", "").rsplit("?", 1)[0]
    words = frozenset(_SENTENCE_END.split(asked)[-1].split())
    return words if "what" in words and not _ASKED.isdisjoint(words) else None


def _is_unnamed(found: Relationship, asked: frozenset[str]) -> bool:
    """Whether a statement is of a relative or an animal of the speaker's that words of a question may mean."""
    noun = found.target.text.casefold()
    meant = not _THEIRS.isdisjoint(asked) or not asked.isdisjoint({noun, noun.removesuffix("s"), f"{noun}s"})
    whose = found.source.speaker and found.stance == "holds" and found.target.type in _NAMELESS
    return meant and whose and found.target.text[:1].islower()


def _only_names(context: TurnContext, parsed: ParsedSentence) -> list[NameSpan]:
    """Return the names of a sentence that consists of names alone, "Luna and Oliver!"; of others none."""
    raw, low, at, found = parsed.sentence.raw, parsed.sentence.low, 0, list[NameSpan]()
    people = {word for turn in (context.turn, *context.before) for word in (turn.role or "").casefold().split()}
    while at < len(low):
        if low[at] in _JOINING or (not found and (low[at] in _LEADING or low[at] in people)):
            at += 1  # "Thanks, Ana! …"
        elif raw[at][:1].isupper() and raw[at].isalpha() and low[at] not in NOT_NAMES | people:
            found.append(NameSpan(raw[at], at, at + 1))
            at += 1
        else:
            return []
    return [] if parsed.sentence.question else found
