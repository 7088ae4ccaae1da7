"""Facts and chat to measure with: varied, and the same on every machine, since each choice is a hash of its place."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

SEED = "asof bench 1"
SINGLE = ("lives_in", "works_at", "studies_at", "born_in")  # as the default ontology declares them
_PLACES, _COMPANIES, _THINGS = 5_000, 10_000, 20_000
RELATIONS = {  # what the objects are, and how many of a hundred facts have the relation
    "lives_in": ("place", 14), "works_at": ("company", 14), "studies_at": ("company", 3), "born_in": ("place", 1),
    "visited": ("place", 7), "friend_of": ("person", 7), "colleague_of": ("person", 6), "met": ("person", 4),
    "uses": ("thing", 6), "owns": ("thing", 5), "likes": ("thing", 7), "dislikes": ("thing", 4),
    "speaks": ("thing", 3), "plays": ("thing", 4), "works_on": ("thing", 5), "reports_to": ("person", 3),
    "invested_in": ("company", 2), "reads": ("thing", 2), "member_of": ("company", 2), "based_near": ("place", 1),
}  # fmt: skip
_DRAWN = [name for name, (_, share) in RELATIONS.items() for _ in range(share)]
_FIRST = (
    "Ana Ben Chloe Deniz Erik Farah Giorgos Hana Ines Jonas Kira Luca Mara Nils Olga Pablo Rosa Sven Tara Yusuf".split()
)
_LAST = (
    "Adler Bianchi Costa Dumont Eriksen Fischer Garcia Horvat Ivanov Jansen Kaya Lopez Meyer Novak Okafor Rossi".split()
)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_SPAN = 24 * 365  # days over which the facts of a history begin


def draw(*of: object) -> Iterator[int]:
    """Yield numbers below 2**32 that depend on what is given and on nothing else."""
    block = 0
    while True:
        digest = blake2b(repr((SEED, *of, block)).encode(), digest_size=64).digest()
        yield from (int.from_bytes(digest[at : at + 4]) for at in range(0, 64, 4))
        block += 1


def person(number: int) -> str:
    return f"{_FIRST[number % 20]} {_LAST[number // 20 % 16]} {number}"


def subjects(facts: int) -> int:
    """Return how many people the subjects of so many facts are drawn from."""
    return max(facts // 10, 10)


def fact(number: int, facts: int) -> dict[str, str]:
    """Return one line of `asof import` of a history of so many: later ones begin later, give or take a year."""
    drawn = draw("fact", number)
    who, what, whom, day, much = (next(drawn) for _ in range(5))
    relation = _DRAWN[what % 100]
    people = subjects(facts)
    start = _EPOCH + timedelta(days=number * _SPAN // facts + day % 365)
    line = {
        "group_id": "bench",
        "subject": person(who % people),
        "relation": relation,
        "object": _object(RELATIONS[relation][0], whom, people),
        "valid_at": start.strftime("%Y-%m-%dT00:00:00Z"),
    }
    if much % 10 == 0:
        line["invalid_at"] = (start + timedelta(days=30 + much % 700)).strftime("%Y-%m-%dT00:00:00Z")
    return line


def fact_lines(facts: int) -> Iterator[bytes]:
    """Yield so many facts as JSON lines."""
    for number in range(facts):
        yield json.dumps(fact(number, facts)).encode() + b"\n"


def _object(kind: str, number: int, people: int) -> str:
    match kind:
        case "person":
            return person(number % people)
        case "place":
            return f"{_LAST[number % 16]}ville {number % _PLACES}"
        case "company":
            return f"{_LAST[number % 16]} and Sons {number % _COMPANIES}"
    return f"Model {number % _THINGS}"


_SAID = (
    "I moved to {place} in {month}.", "My sister {name} works at {company}.", "Had a long day, nothing much to tell.",
    "{name} and I went to {place} last weekend!", "I no longer work at {company}.", "Have you ever been to {place}?",
    "I started working at {company} two weeks ago.", "That sounds lovely, tell me more about it.", "I love {thing}.",
    "{name} is my best friend, we met in {place} in {year}.", "We decided to use {thing} for the project.",
    "Thanks! See you tomorrow then.", "I don't like {thing} any more, to be honest.", "My brother lives in {place}.",
)  # fmt: skip
MONTHS = "January February March April May June July August September October November December".split()
_SPOKEN = (
    "Asterholm Brimford Castelune Dorvale Elmwick Fairhaven Glenmoor Harrowgate Ivory Jarrow Kestrel Larkspur".split()
)


def chat_lines(messages: int) -> Iterator[bytes]:
    """Yield so many turns of a chat in one group, in which ever more people speak, of ever more names.

    Each says some two hundred things: a life has few moves, so a slot has a short history however long the chat is.
    """
    began = datetime(2020, 1, 1, tzinfo=UTC)
    for number in range(messages):
        drawn = draw("chat", 0, number)
        recent = number // 20 + 10  # the names so far
        kind, name, place, company, thing, month, who = (next(drawn) for _ in range(7))
        text = _SAID[kind % len(_SAID)].format(
            name=invented("person", name % recent),
            place=invented("place", place % recent),
            company=f"{invented('company', company % recent)} Ltd",
            thing=invented("thing", thing % recent),
            month=MONTHS[month % 12],
            year=1990 + month % 30,
        )
        line = {
            "group_id": "chat",
            "role": invented("speaker", who % (number // 200 + 2)),
            "role_type": "user",
            "content": text,
            "timestamp": (began + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        yield json.dumps(line).encode() + b"\n"


def invented(kind: str, number: int) -> str:
    """Return a capitalised name of three syllables and an ending; kind: speaker, person, place, company or thing."""
    drawn = draw(f"{kind} 0", number)
    syllables = "".join("bdfgklmnprstvz"[next(drawn) % 14] + "aeiou"[next(drawn) % 5] for _ in range(3))
    return (syllables + _SPOKEN[next(drawn) % 12][-3:]).capitalize()
