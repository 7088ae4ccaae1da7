"""The roots of words, by which two messages speak of one attribute: "I drive a Volvo" and "the new car is a Kia"."""

import re
from collections.abc import Container
from functools import lru_cache
from typing import Final

from asof_agents.extraction.english.lexicon import (
    FUNCTION_WORDS,
    GREETINGS,
    ORNAMENTS,
    VAGUE,
)

SIGNALS: Final = frozenset(  # that something is another one, or over
    "anymore became becomes booked bought bumped canceled cancelled caved change changed correction days ditched "
    "down dropped dyed finished gave given got grown instead joined jump left longer made migrated more moved new "
    "now official overtaken postponed promoted pushed put quit raised reassigned renamed replaced rescheduled "
    "retired rip scrapped skipping sold started stepped stopped swapped switched taken took traded transferred "
    "turned update updated upgraded upped went".split()
)
ENDED: Final = frozenset(  # that something is over
    "anymore binned broke bye cancelled canceled deleted died ditched divorced dropped dumped expired finished fired "
    "gave goodbye left longer lost quit replaced resigned retired returned rip scrapped skipping sold split stopped "
    "swapped switched traded uninstalled".split()
)
_FIRMS: Final = frozenset("corp gmbh inc llc ltd plc".split())  # which the names of any two companies may share
PLAIN: Final = FUNCTION_WORDS | GREETINGS | SIGNALS | _FIRMS
COMMON: Final = (VAGUE | ORNAMENTS) - frozenset("class name number order plan team time".split())
"""Roots that two messages may share without speaking of the same."""

GROUPS: Final = {
    word: f"#{group}"
    for group, words in {
        "home": "address apartment based flat home house live lived lives living move moved moving place relocated "
        "unpacked",
        "job": "career company employed employer fired gig hired job made notice position promoted promotion role work "
        "working works",
        "lead": "boss lead manager report reporting reports supervisor",
        "car": "car drive drives driving ride truck van wheels",
        "phone": "android cell iphone mobile phone pixel samsung",
        "partner": "boyfriend dating divorced engaged engagement girlfriend husband married official partner seeing "
        "single together wife",
        "pay": "earn earning make making paid pay payday raise salary wage",
        "diet": "carnivore diet eat eating keto meat pescatarian vegan vegetarian",
        "study": "class classes course degree major studying study uni university",
        "use": "editor jump switch switched use uses using",
        "plan": "data package plan tariff tier",
        "bed": "alarm bed bedtime sleep up wake wake-up",
        "drink": "coffee drink drinking order tea",
        "read": "book finished read reading",
        "watch": "episode season series show watch watching",
        "gym": "gym membership train training trains workout",
        "trip": "anniversary destination flight flights holiday holidays honeymoon trip vacation",
    }.items()
    for word in words.split()
}
_RELATIONS: Final = {
    "lives_in": "home", "works_at": "job", "is_a": "job", "partner_of": "partner", "married_to": "partner",
    "uses": "use", "studies": "study", "studies_at": "school", "owns": "own", "has_pet": "pet",
}  # fmt: skip


_WORD: Final = re.compile(r"\w+(?:[-.:/@]\w+)*")


def roots_of(text: str) -> set[str]:
    """Return the roots of the words of a text."""
    return {root for word in _WORD.findall(text.lower()) for root in roots(word)}


def has_root(text: str, wanted: Container[str]) -> bool:
    """Whether one of the words of a text has a root that is wanted."""
    return any(root in wanted for word in _WORD.findall(text.lower()) for root in roots(word))


@lru_cache(maxsize=8192)
def roots(word: str) -> tuple[str, ...]:
    """Return the group of a word in lower case, and its root; nothing of a word that is in any sentence."""
    group = GROUPS.get(word)
    found = () if group is None else (group,)
    if (word not in PLAIN and len(word) > 1) or word[:1].isdigit():
        return (*found, word.removesuffix("'s").rstrip("s") if len(word) > 3 else word)
    return found


def roots_of_relation(name: str, cue: str | None) -> set[str]:
    """Return the groups of a relation and of the words of the cue that stated it."""
    found = {group for word in _WORD.findall(cue or "") if (group := GROUPS.get(word))}
    return found | ({f"#{_RELATIONS[name]}"} if name in _RELATIONS else set())
