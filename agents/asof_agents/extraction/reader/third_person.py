"""Words of a turn in the third person: "my sister" of Ana is "Ana's sister", "I'm on leave" is "Ana is on leave"."""

from typing import Final, NamedTuple

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.first_names import FEMALE, MALE
from asof_agents.extraction.english.lexicon import ADVERBS, AUXILIARIES, FUNCTION_WORDS, PREPOSITIONS
from asof_agents.extraction.english.verbs import LEMMAS, PASTS, forms

FIRST_PERSON: Final = frozenset("i me my mine myself we us our ours ourselves".split())
_AGREES: Final = {"am": "is", "are": "is", "have": "has", "do": "does", "were": "was"}
_FIXED: Final = frozenset(  # forms that are the same for all persons
    "will would can could may might must shall should had did was 'd gonna wanna used cut hit let put set "
    "shut ca".split()
)
_ENDS_AS_PAST: Final = frozenset("bleed breed exceed feed miss need pass proceed speed succeed".split())
_SHORT: Final = frozenset({"am", "are", "have", "will", "not"})  # what "'m", "'re", "'ve", "'ll" and "n't" stand for
_DETERMINES: Final = {"this": "a", "that": "the", "these": "the", "those": "the"}
_VOWELS: Final = frozenset("aeiou")


class ThirdPerson(NamedTuple):
    """Who speaks, and the pronouns that mean them."""

    name: str
    he: str
    him: str
    his: str
    himself: str

    @property
    def of(self) -> str:
        """The name in the possessive."""
        return f"{self.name}'s"

    def words(self) -> dict[str, str]:
        """Return the word for each of the first person. More than one are "they", whoever speaks."""
        ours = {"we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves"}
        mine = "his" if self.his == "his" else f"{self.his}s"
        return {"i": self.he, "me": self.him, "my": self.his, "mine": mine, "myself": self.himself, **ours}


def speaker_of(role: str) -> ThirdPerson | None:
    """Return the speaker of a role, by their first name; None: nobody knows who speaks."""
    name = role.strip()
    if not name:
        return None
    first = name.casefold().split()[0]
    if first in FEMALE - MALE:
        return ThirdPerson(name, "she", "her", "her", "herself")
    if first in MALE - FEMALE:
        return ThirdPerson(name, "he", "him", "his", "himself")
    return ThirdPerson(name, "they", "them", "their", "themselves")


def phrase(parsed: ParsedSentence, first: int, last: int, speaker: ThirdPerson | None) -> str:
    """Return the words [first, last) of a sentence in the third person, without a contraction of a verb.

    A first word that means the speaker becomes their name. Without a speaker, the words as they are.
    """
    sentence, own = parsed.sentence, speaker.words() if speaker else {}
    pieces: list[str] = []
    for at in range(first, last):
        low, raw = sentence.low[at], sentence.raw[at]
        word = raw
        if low == "ca":  # of "can't"
            word = "can"
        elif speaker and low in FIRST_PERSON:
            word = _at_first(low, speaker) if at == first else own[low]
        elif speaker and low in _SHORT and at > first and sentence.low[at - 1] == "i" and low in _AGREES:
            word = _agreeing(low, third=speaker.he != "they")
        elif low in _DETERMINES and _determines(parsed, at, last):
            word = _determiner(low, sentence.low[at + 1])
        elif low in _SHORT and low != raw.lower():
            word = low
        elif at == first and raw[0].isupper() and not _keeps_capital(parsed, at):
            word = raw[0].lower() + raw[1:]
        glued = at > first and sentence.starts[at] == sentence.end_of(at - 1)
        if pieces and word and not (glued and (word == raw or low not in _SHORT)):
            pieces.append(" ")
        pieces.append(word)
    return "".join(pieces).strip()


def agreeing(parsed: ParsedSentence, first: int, last: int, speaker: ThirdPerson | None, subject: str) -> str:
    """Return a subject and the words [first, last), whose verb has "I" as its subject, or none at all."""
    low, verb = parsed.sentence.low, first
    while verb < last - 1 and low[verb] in ADVERBS and low[verb] not in LEMMAS:
        verb += 1
    before = phrase(parsed, first, verb, speaker) if verb > first else ""
    rest = phrase(parsed, verb + 1, last, speaker) if verb + 1 < last else ""
    following = low[verb + 1] if verb + 1 < last else ""
    word = _verb(low[verb], following)
    helping, _, own = word.partition(" ")
    led = (helping, before, own) if own else ((before, word) if word not in {"is", "has"} else (word, before))
    return " ".join(piece for piece in (subject, *led, rest) if piece)


def _verb(word: str, following: str) -> str:
    """Return a verb as it goes with one person who neither speaks nor is spoken to."""
    if word == "'d":
        return "had" if following == "been" or following in PASTS or following.endswith("ed") else "would"
    if word in _AGREES:
        return _AGREES[word]
    if word == "been":
        return "has been"
    if word == "gonna":
        return "is going to"
    if word.endswith("ing") and word not in LEMMAS:
        return f"is {word}"
    if word in _FIXED or not word[-1].isalpha():
        return word
    if word not in _ENDS_AS_PAST and ((word in PASTS and word not in LEMMAS) or word.endswith(("ed", "s"))):
        return word
    return next((form for form, kinds in forms(word).items() if "s" in kinds), word)


def _at_first(low: str, speaker: ThirdPerson) -> str:
    if low in {"my", "mine", "our", "ours"}:
        return speaker.of
    return "they" if low in {"we", "us"} else speaker.name


def _agreeing(low: str, *, third: bool) -> str:
    return _AGREES[low] if third else {"am": "are"}.get(low, low)


def _determines(parsed: ParsedSentence, at: int, last: int) -> bool:
    """Whether "this" or "that" points at a thing that is named after it: "on that trip", "this red bowl"."""
    low = parsed.sentence.low
    if at in parsed.timed or at + 1 >= last or at + 1 in parsed.timed or not low[at + 1][0].isalnum():
        return False
    if low[at + 1] in FUNCTION_WORDS or (at and low[at - 1] in AUXILIARIES):  # "never been this happy"
        return False
    return low[at] != "that" or (at > 0 and low[at - 1] in PREPOSITIONS)


def _determiner(low: str, following: str) -> str:
    word = _DETERMINES[low]
    return "an" if word == "a" and following[0] in _VOWELS else word


def _keeps_capital(parsed: ParsedSentence, at: int) -> bool:
    name = parsed.names.get(at)
    low, raw = parsed.sentence.low[at], parsed.sentence.raw[at]
    if name is None:
        return len(raw) > 1 and raw.isupper()
    return not (name.weak and (low in FUNCTION_WORDS or low in LEMMAS or low.endswith("ing") or low in PASTS))
