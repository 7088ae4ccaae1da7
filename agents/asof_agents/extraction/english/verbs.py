"""The forms of English verbs: the words of a lemma, and the form of each."""

from typing import Literal

Form = Literal["base", "s", "past", "participle", "ing"]

_BE: dict[str, frozenset[Form]] = {
    "be": frozenset({"base"}),
    "am": frozenset({"s"}),
    "is": frozenset({"s"}),
    "'s": frozenset({"s"}),
    "are": frozenset({"base", "s"}),
    "was": frozenset({"past"}),
    "were": frozenset({"past"}),
    "been": frozenset({"participle"}),
    "being": frozenset({"ing"}),
}

# lemma, past, participle; without a participle, it is the past form
_IRREGULAR = {
    line.split()[0]: line.split()[1:]
    for line in """
    arise arose arisen|bear bore borne|beat beat beaten|become became become|begin began begun|bet bet|bind bound
    bite bit bitten|blow blew blown|break broke broken|bring brought|build built|burn burned|buy bought
    catch caught|choose chose chosen|cling clung|come came come|cost cost|cut cut|deal dealt|do did done
    draw drew drawn|dream dreamed|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed
    feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|freeze froze frozen|get got gotten
    give gave given|go went gone|grow grew grown|hang hung|have had|hear heard|hide hid hidden|hit hit|hold held
    hurt hurt|keep kept|know knew known|lay laid|lead led|learn learned|leave left|lend lent|let let|lie lay lain
    lose lost|make made|mean meant|meet met|overcome overcame overcome|pay paid|put put|quit quit|read read
    reread reread|ride rode ridden|ring rang rung|rise rose risen|run ran run|say said|see saw seen|sell sold
    send sent|set set|sew sewed sewn|shake shook shaken|shoot shot|show showed shown|shut shut|sing sang sung
    sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|split split|stand stood|steal stole stolen
    strike struck|swim swam swum|take took taken|teach taught|tear tore torn|tell told|think thought
    throw threw thrown|undergo underwent undergone|understand understood|wake woke woken|wear wore worn|win won
    withdraw withdrew withdrawn|write wrote written
    """.replace("\n", "|").split("|")
    if line.strip()
}
# verbs of more than one vowel that double their last consonant all the same
_DOUBLING = frozenset({"prefer", "transfer", "refer", "commit", "admit", "submit", "permit", "occur", "quit"})


PASTS = frozenset(form for forms_ in _IRREGULAR.values() for form in forms_)
"""Past forms of irregular verbs; they tell a clause from a list ("wishes and felt …")."""

ONLY_PASTS = frozenset(past[0] for past in _IRREGULAR.values() if len(past) > 1 and past[0] != past[1])
"""Irregular pasts that are no participle: "went", not "held"."""

LEMMAS = frozenset(_IRREGULAR) | frozenset(
    "accept achieve adopt advertise advocate apply arrange attend audition bake book borrow brew camp campaign cancel "
    "celebrate clean climb coach collaborate collect combine compete complete compose connect cook create customize "
    "dance decorate deliver demolish design develop discover donate earn educate empower encourage enroll enter "
    "establish exercise exhibit expand explore film finish fish foster fund gather graduate guide help hike hire host "
    "hunt implement import incorporate increase install integrate introduce invent invest invite involve jog join "
    "juggle knit launch learn live manage market marry master meditate mentor migrate move negotiate open order "
    "organise organize own pack paint participate perform photograph plan plant play practice practise prepare "
    "present print produce program promote propose publish purchase pursue race raise record recycle reduce refactor "
    "register rehearse relax release relocate remodel renew renovate rent repair replace rescue research restore "
    "retire return review rewrite roast sail save schedule serve share shop sign skate sketch ski snowboard "
    "specialize stream study supervise surf switch tackle test tour train transfer transform transition translate "
    "travel tutor update upgrade visit volunteer vote walk wash work".split()
)
"""Verbs in their base form, by which "to paint" is told from "to Paris"."""


def forms(lemma: str) -> dict[str, frozenset[Form]]:
    """Return the words of a verb, each with the forms that it may be."""
    if lemma == "be":
        return dict(_BE)
    past, participle = _past(lemma)
    found: dict[str, set[Form]] = {}
    for word, form in (
        (lemma, "base"),
        (_third(lemma), "s"),
        (past, "past"),
        (participle, "participle"),
        (_gerund(lemma), "ing"),
    ):
        found.setdefault(word, set()).add(form)  # type: ignore[arg-type]
    if lemma == "get":
        found.setdefault("got", set()).add("participle")
    if lemma.endswith("el"):  # travelled, travelling
        found.setdefault(lemma + "led", set()).update(("past", "participle"))
        found.setdefault(lemma + "ling", set()).add("ing")
    return {word: frozenset(kinds) for word, kinds in found.items()}


def _past(lemma: str) -> tuple[str, str]:
    irregular = _IRREGULAR.get(lemma)
    if irregular:
        return irregular[0], irregular[-1]
    if lemma.endswith("e"):
        return lemma + "d", lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied", lemma[:-1] + "ied"
    stem = lemma + lemma[-1] if _doubles(lemma) else lemma
    return stem + "ed", stem + "ed"


def _third(lemma: str) -> str:
    if lemma == "have":
        return "has"
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def _gerund(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")):
        return lemma[:-1] + "ing"
    return (lemma + lemma[-1] if _doubles(lemma) else lemma) + "ing"


def _doubles(lemma: str) -> bool:
    if lemma in _DOUBLING:
        return True
    if len(lemma) < 3:
        return False
    before, vowel, last = lemma[-3], lemma[-2], lemma[-1]
    single = vowel in "aeiou" and before not in "aeiou" and last not in "aeiouwxy"
    return single and sum(letter in "aeiou" for letter in lemma) == 1
