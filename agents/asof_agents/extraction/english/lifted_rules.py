"""Rules that are lifted: "you may edit the lock file now", "you don't have to run it", "forget the rule about X".

What is lifted is told by what a rule of it would say, "never edit the lock file": which rule is meant belief knows.
"""

from typing import Final

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.lexicon import UNSURE_FROM
from asof_agents.extraction.ports import ABOUT_RULE, ALWAYS, NEVER

_PERMITS: Final = (
    *((who, may) for who in ("you", "we", "anyone", "everyone") for may in ("may", "can")),
    *((who, "are", may) for who in ("you", "we") for may in ("allowed", "free")),
    *(("it", be, fine) for be in ("is", "'s") for fine in ("ok", "okay", "fine", "allowed")),
)
_RELEASES: Final = (
    *((who, *need) for who in ("you", "we") for need in (("do", "not", "have", "to"), ("do", "not", "need", "to"))),
    *((who, "no", "longer", need, "to") for who in ("you", "we") for need in ("have", "need")),
    ("no", "need", "to"),
    ("there", "is", "no", "need", "to"),
)
_FINE: Final = frozenset({"allowed", "fine", "ok", "okay"})
_DROPS: Final = frozenset("cancel discard drop forget ignore lift remove scrap".split())
_ARTICLES: Final = frozenset({"the", "that", "my", "our"})
_RULES: Final = frozenset({"rule", "rules"})
_ABOUT: Final = frozenset({"about", "on", "that", "to", "against", "for", "of"})
_OVER: Final = (
    ("no", "longer", "applies"), ("no", "longer", "holds"), ("is", "gone"), ("is", "lifted"), ("is", "off"),
    ("does", "not", "apply"), ("does", "not", "hold"), ("is", "no", "longer"),
)  # fmt: skip
_SIGNS: Final = frozenset("may can allowed free ok okay fine need have rule rules".split())
_OPENINGS: Final = frozenset("actually and correction from now on ok okay please so , : also update".split())
_NOW: Final = frozenset({"now", "again"})
_NOT: Final = frozenset({"not", "never", "only", "still"})
_CLOSING: Final = frozenset("again anymore now longer any more".split())
_BREAKS: Final = frozenset({",", ";", "-", "–", "—", "because", "since", "but"})
_SHORTEST: Final = 2  # words
_UNSURE: Final = UNSURE_FROM - {"can", "need", "needs"}
_THOUGHT: Final = 4  # first words, of which one may say that it is a thought


def lifted_span(parsed: ParsedSentence) -> tuple[str, int, int] | None:
    """Return the kind and the words of the rule that a sentence, which is no question, lifts; None: it lifts none."""
    low = parsed.sentence.low
    if _SIGNS.isdisjoint(low) or parsed.sentence.unsure or not _UNSURE.isdisjoint(low[:_THOUGHT]):
        return None
    first = next((at for at, word in enumerate(low) if word not in _OPENINGS), 0)
    found = _freed(low, first) or _dropped(low, first)
    if found is None:
        return None
    kind, begin, last = found
    last = next((at for at in range(begin, last) if low[at] in _BREAKS), last)
    while last > begin and (not low[last - 1][0].isalnum() or low[last - 1] in _CLOSING):
        last -= 1
    return None if last - begin < (1 if kind == ABOUT_RULE else _SHORTEST) else (kind, begin, last)


def _freed(low: tuple[str, ...], first: int) -> tuple[str, int, int] | None:
    """Return what is allowed from now on, or is required no longer, by the words behind its verb."""
    for kind, openings in ((NEVER, _PERMITS), (ALWAYS, _RELEASES)):
        words = next((words for words in openings if low[first : first + len(words)] == words), None)
        if words is None or (kind == NEVER and words[-1] != "allowed" and not _permits(low, first)):
            continue
        after = first + len(words) + (words[0] == "it" or words[-1] in {"allowed", "free"})  # "to"
        after += low[after : after + 1] in {("now",), ("again",), ("also",)}
        if low[after : after + 1] and low[after] not in _NOT:
            return kind, after, len(low)
    be = next((at for at in range(first + 1, len(low)) if low[at] in {"is", "'s"}), None)
    fine = be is not None and not _FINE.isdisjoint(low[be + 1 : be + 3]) and "not" not in low[be:]
    if be is not None and fine and low[first].endswith("ing") and not _NOW.isdisjoint(low):
        return NEVER, first, be  # "pushing to main is fine now"
    return None


def _permits(low: tuple[str, ...], first: int) -> bool:
    """Whether "may" and "can" allow what was forbidden, and do not tell what is possible."""
    return low[first : first + 2] == ("you", "may") or not _NOW.isdisjoint(low)


def _dropped(low: tuple[str, ...], first: int) -> tuple[str, int, int] | None:
    """Return what a rule is about that is to be forgotten, or holds no longer."""
    at = next((at for at, word in enumerate(low) if word in _RULES), None)
    if at is None or low[at - 1 : at] == () or low[at - 1] not in _ARTICLES or low[at + 1 : at + 2] == ():
        return None
    if low[at + 1] not in _ABOUT:
        return None
    if at == first + 2 and low[first] in _DROPS:
        return ABOUT_RULE, at + 2, len(low)
    over = next((end for end in range(at + 3, len(low)) if any(low[end : end + len(w)] == w for w in _OVER)), None)
    return None if at != first + 1 or over is None else (ABOUT_RULE, at + 2, over)
