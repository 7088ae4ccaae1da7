"""Two hundred questions about beliefs, made here: each has one right answer, or none, among facts that are like it.

Twenty worlds of some thirty facts each, ten questions to a world. Half of the worlds, `tuned`, were looked at while
probabilities were made; the other half, `held out`, has other names, relations and words, and was not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import asof

Half = Literal["tuned", "held out"]
Claim = tuple[str, str, str]  # subject, relation, object

WORLDS: Final = 10  # in each half
SINGLE: Final = {"lives_in", "works_at", "married_to", "born_in", "studies_at"}  # by the default ontology
NOW: Final = "2025"  # after all that happens in them


class Relation(NamedTuple):
    """A relation: how a fact says it, how people ask for it, and what there is to say."""

    name: str
    sentence: str
    questions: tuple[str, ...]
    objects: tuple[str, ...]


class Vocabulary(NamedTuple):
    """The words of one half."""

    of_people: tuple[Relation, ...]
    of_things: tuple[Relation, ...]
    near: tuple[tuple[str, str], ...]  # two people with names that are alike
    people: tuple[str, ...]
    misspelt: tuple[tuple[str, str], ...]  # a long name, and the same with a letter wrong
    alike: tuple[tuple[str, str], ...]  # a short name, and one that is like it and nobody's
    strangers: tuple[str, ...]
    things: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A question, and the claims that answer it: all of them, and no other."""

    half: Half
    kind: str
    group: str
    question: str
    expected: frozenset[Claim]
    valid_at: str | None = None


@dataclass(frozen=True)
class World:
    """The facts of two groups, in the order in which they are stated, and the questions."""

    facts: tuple[dict[str, Any], ...]
    cases: tuple[Case, ...]


def _relation(name: str, sentence: str, questions: str, objects: str) -> Relation:
    return Relation(name, sentence, tuple(questions.split(" | ")), tuple(objects.split(", ")))


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [pair.split("/") for pair in text.split()]
    return tuple((one, other) for one, other in pairs)


VOCABULARIES: Final[dict[Half, Vocabulary]] = {
    "tuned": Vocabulary(
        (
            _relation(
                "lives_in",
                "{s} lives in {o}",
                "Where does {s} live? | Which city is {s}'s home?",
                "Berlin, Lisbon, Oslo, Vienna, Prague, Dublin, Madrid, Turin, Krakow, Ghent, Porto",
            ),
            _relation(
                "works_at",
                "{s} works at {o}",
                "Where does {s} work? | Who employs {s}?",
                "Siemens, Bosch, Oracle, Nokia, Philips, Spotify, Adidas, Bayer, Intel, Airbus, Shell",
            ),
            _relation(
                "married_to",
                "{s} is married to {o}",
                "Who is {s} married to? | Who is {s}'s spouse?",
                "Bruno, Clara, Dieter, Eva, Felix, Greta, Henrik, Ida, Jakob, Klara, Ludwig",
            ),
            _relation(
                "speaks",
                "{s} speaks {o}",
                "Which languages does {s} speak? | What languages does {s} know?",
                "German, Polish, Italian, Greek, Danish, Turkish, Finnish, Arabic, Hindi, Dutch, Welsh",
            ),
            _relation(
                "has_pet",
                "{s} has a pet, {o}",
                "What pet does {s} have? | Which animal does {s} keep at home?",
                "parrot, hamster, terrier, tortoise, rabbit, goldfish, beagle, ferret, canary, pony, gecko",
            ),
            _relation(
                "allergic_to",
                "{s} is allergic to {o}",
                "What is {s} allergic to? | Which food gives {s} an allergic reaction?",
                "peanuts, shellfish, eggs, wheat, soy, walnuts, milk, sesame, celery, mustard, kiwi",
            ),
            _relation(
                "studies",
                "{s} studies {o}",
                "What does {s} study? | Which subject is {s} learning?",
                "law, botany, physics, medicine, history, geology, economics, music, chemistry, logic, theology",
            ),
            _relation(
                "drives",
                "{s} drives a {o}",
                "What car does {s} drive? | Which car is {s}'s?",
                "Volvo, Fiat, Skoda, Toyota, Peugeot, Renault, Mazda, Opel, Honda, Seat, Dacia",
            ),
        ),
        (
            _relation(
                "uses_database",
                "{s} keeps its data in {o}",
                "Which database does {s} use? | Where does {s} keep its data?",
                "Postgres, MySQL, MongoDB, Redis, Cassandra, SQLite, MariaDB, Neo4j, DuckDB, CouchDB, Oracle DB",
            ),
            _relation(
                "hosted_on",
                "{s} is hosted on {o}",
                "Where is {s} hosted? | Which cloud does {s} run on?",
                "AWS, Azure, Hetzner, Heroku, OVH, Linode, DigitalOcean, Fly, Render, Vultr, Scaleway",
            ),
            _relation(
                "led_by",
                "{s} is led by {o}",
                "Who leads {s}? | Who is the lead of {s}?",
                "Sofie, Tomas, Ulrich, Viktor, Wanda, Xenia, Yannick, Zeno, Albert, Bianca, Cedric",
            ),
        ),
        _pairs(
            "Ana/Anna Marco/Marko Elin/Ellen Jon/Joan Lena/Lina Tim/Timo Nora/Nura Mia/Mila Carl/Karla Stefan/Stefanie"
        ),
        tuple("Bella Oscar Judith Ruben Tessa Walter Noemi Quentin Agnes Boris Celine Damian".split()),
        _pairs(
            "Gabriella/Gabriela Friedrich/Fridrich Katharina/Katarina Sebastian/Sebastien Valentina/Valentima "
            "Alexander/Alexandr Elisabeth/Elizabeth Dominique/Dominque Christina/Cristina Theodora/Teodora"
        ),
        _pairs("Tom/Tum Ida/Ada Max/Mac Eli/Ely Ben/Jen Ute/Ulf Jan/Jon Pia/Fia Leo/Lea Amy/Ami"),
        tuple("Zoltan Ingeborg Rashid Yuki Ximena Fergus Oluchi Bjarne Priya Wendell".split()),
        tuple("Falcon Harbor Beacon Quartz Meadow Lantern Comet Juniper Anchor Saffron".split()),
    ),
    "held out": Vocabulary(
        (
            _relation(
                "plays",
                "{s} plays the {o}",
                "What instrument does {s} play? | Which instrument has {s} learned?",
                "cello, flute, trumpet, banjo, harp, oboe, ukulele, violin, drums, clarinet, organ",
            ),
            _relation(
                "reports_to",
                "{s} reports to {o}",
                "Who does {s} report to? | Who is {s}'s boss?",
                "Arthur, Beatrix, Conrad, Delia, Edgar, Fiona, Gordon, Harriet, Ismael, Joyce, Kenneth",
            ),
            _relation(
                "born_in",
                "{s} was born in {o}",
                "Where was {s} born? | What is {s}'s birthplace?",
                "Nairobi, Quito, Hanoi, Lagos, Lima, Riga, Sofia, Tunis, Accra, Cairo, Manila",
            ),
            _relation(
                "member_of",
                "{s} is a member of the {o}",
                "Which club is {s} a member of? | What club does {s} belong to?",
                "chess club, rowing club, choir, film society, book circle, scouts, drama club, garden club, "
                "ski club, debating society, hiking club",
            ),
            _relation(
                "prefers",
                "{s} prefers to drink {o}",
                "What does {s} prefer to drink? | What is {s}'s drink of choice?",
                "espresso, green tea, cider, lemonade, cocoa, mint tea, ginger beer, sparkling water, matcha, rooibos, "
                "tomato juice",
            ),
            _relation(
                "teaches",
                "{s} teaches {o}",
                "What does {s} teach? | Which class does {s} give?",
                "geometry, ceramics, Latin, biology, karate, drawing, algebra, sewing, astronomy, cooking, ethics",
            ),
            _relation(
                "studies_at",
                "{s} studies at {o}",
                "Where does {s} study? | Which university does {s} attend?",
                "Leiden University, ETH Zurich, Yale, Uppsala University, McGill, Stanford, Cornell, "
                "Trinity College, Bocconi, Sorbonne, Keio University",
            ),
            _relation(
                "collects",
                "{s} collects {o}",
                "What does {s} collect? | What is in {s}'s collection?",
                "stamps, vinyl records, coins, fossils, postcards, old maps, masks, typewriters, seashells, comics, "
                "fountain pens",
            ),
        ),
        (
            _relation(
                "written_in",
                "{s} is written in {o}",
                "Which language is {s} written in? | What is {s} programmed in?",
                "Rust, Go, Kotlin, Elixir, Python, Haskell, Scala, Ruby, Swift, Erlang, Julia",
            ),
            _relation(
                "due_on",
                "{s} is due on {o}",
                "When is {s} due? | What is the deadline of {s}?",
                "4 May, 12 June, 1 July, 30 August, 9 September, 17 October, 2 November, 21 December, 8 January, "
                "14 February, 26 March",
            ),
            _relation(
                "located_in",
                "{s} is located in {o}",
                "Where is {s} located? | In which city is {s}?",
                "Boston, Denver, Austin, Seattle, Chicago, Atlanta, Dallas, Miami, Detroit, Memphis, Tampa",
            ),
        ),
        _pairs("Erik/Erika Pina/Pia Sara/Zara Paul/Paula Rosa/Rose Dan/Dana Olga/Helga Ivan/Iva Vera/Veera Hugo/Hugh"),
        tuple("Magnus Priscilla Norbert Salome Desmond Odette Leopold Miriam Cyrus Thelma Rufus Ingrid".split()),
        _pairs(
            "Margarete/Margarette Nathaniel/Nathanial Philippa/Phillippa Bartholomew/Bartolomew Seraphina/Serafina "
            "Frederica/Fredericka Genevieve/Genevive Cornelius/Corneluis Josephine/Josefine Mathilda/Matilda"
        ),
        _pairs("Sam/Pam Kai/Kay Lou/Lea Roy/Ray Gus/Gil Una/Ina Fay/May Ron/Don Hal/Val Ned/Ted"),
        tuple("Thorvald Chidi Anneke Ramiro Keiko Siobhan Umberto Lakshmi Evander Nkechi".split()),
        tuple("Orion Nimbus Cobalt Willow Granite Pelican Tundra Maple Cypress Sparrow".split()),
    ),
}


def worlds() -> Iterator[World]:
    """Yield the worlds, those that were tuned on first."""
    for half in VOCABULARIES:
        yield from worlds_of(half)


def worlds_of(half: Half) -> Iterator[World]:
    """Yield the worlds of a half."""
    for number in range(WORLDS):
        yield _World(half, VOCABULARIES[half], number).made()


class _World:
    """Makes one world: who has which relation goes round with its number, so that each is asked for in each way."""

    def __init__(self, half: Half, words: Vocabulary, number: int) -> None:
        self._half: Final = half
        self._words: Final = words
        self._number: Final = number
        self._here: Final = f"{half.replace(' ', '-')}-{number}"
        self._there: Final = f"{self._here}-elsewhere"
        self._facts: list[dict[str, Any]] = []
        self._cases: list[Case] = []
        self._taken: dict[str, int] = {}

    def made(self) -> World:
        """Return the world."""
        number, words = self._number, self._words
        turned = [words.of_people[(number + step) % len(words.of_people)] for step in range(len(words.of_people))]
        one, plain, past, _, other, never, *_ = turned
        many = next(relation for relation in turned[3:] if relation.name not in SINGLE)
        kept, changed = (words.of_things[(number + step) % len(words.of_things)] for step in range(2))
        ana, anna = words.near[number]
        ben, cora = words.people[number], words.people[(number + 1) % len(words.people)]
        long, misspelt = words.misspelt[number]
        short, alike = words.alike[number]
        falcon, harbor = words.things[number], words.things[(number + 1) % len(words.things)]

        here = [self._says(ana, one), *self._changes(ana, plain), self._ended(ana, past)]
        many_of_ben = [self._says(ben, many), self._says(ben, many)]
        of_anna = self._says(anna, one)
        for relation in (plain, past, many):
            self._says(anna, relation)
        of_cora = self._says(cora, plain)
        self._says(cora, one)
        self._says(cora, other)
        self._says(ben, one)
        self._says(ben, plain)
        of_long, _ = self._says(long, one), self._says(long, many)
        for relation in (one, plain, other):
            self._says(short, relation)
        of_falcon = self._says(falcon, kept)
        before, after = self._changes(falcon, changed)
        self._says(harbor, kept)
        self._says(harbor, changed)
        there = self._says(ana, one, self._there)
        self._says(ana, other, self._there)
        self._says(anna, plain, self._there)
        self._says(ben, past, self._there)

        odd = number % 2 == 1
        self._ask("plain", kept if odd else plain, falcon if odd else cora, of_falcon if odd else of_cora)
        self._ask("several", many, ben, *many_of_ben)
        self._ask("scope", one, ana, there, group=self._there)
        self._ask("only in another group", other, ana)
        of_change = (changed, falcon, before, after) if odd else (plain, ana, here[1], here[2])
        self._ask("superseded", of_change[0], of_change[1], of_change[3])
        self._ask("as of before", of_change[0], of_change[1], of_change[2], valid_at="2020-06-01")
        self._ask("ended", past, ana)
        self._ask("near name", one, anna, of_anna)
        if odd:
            self._ask("nobody's near name", one, alike)
            self._ask("never told", never, cora)
        else:
            self._ask("misspelt", one, misspelt, of_long)
            self._ask("stranger", plain, words.strangers[number])
        return World(tuple(self._facts), tuple(self._cases))

    def _says(self, subject: str, relation: Relation, group: str | None = None, **period: str) -> Claim:
        """State a fact with the next object of its relation."""
        taken = self._taken[relation.name] = self._taken.get(relation.name, self._number) + 1
        claim = (subject, relation.name, relation.objects[taken % len(relation.objects)])
        sentence = relation.sentence.format(s=subject, o=claim[2])
        stated = dict(zip(("subject", "relation", "object"), claim, strict=True))
        self._facts.append(
            {"group_id": group or self._here, **stated, "fact": sentence, "valid_at": "2019-01-01", **period}
        )
        return claim

    def _changes(self, subject: str, relation: Relation) -> tuple[Claim, Claim]:
        """State a fact that another one follows."""
        before = self._says(subject, relation, invalid_at="2022-03-01")
        return before, self._says(subject, relation, valid_at="2022-03-01")

    def _ended(self, subject: str, relation: Relation) -> Claim:
        return self._says(subject, relation, invalid_at="2021-05-01")

    def _ask(
        self,
        kind: str,
        relation: Relation,
        subject: str,
        *expected: Claim,
        group: str | None = None,
        valid_at: str | None = None,
    ) -> None:
        wording = relation.questions[(self._number // 2 + len(self._cases)) % len(relation.questions)]
        self._cases.append(
            Case(self._half, kind, group or self._here, wording.format(s=subject), frozenset(expected), valid_at)
        )


def tell(memory: asof.Memory, told: Sequence[World]) -> None:
    """State the facts of some worlds."""
    for world in told:
        for fact in world.facts:
            memory.state_fact(**fact)


def is_right(memory: asof.Memory, case: Case) -> bool:
    """Whether a search finds what is right, and nothing else."""
    found = memory.search(case.question, group_id=case.group, valid_at=case.valid_at or NOW, over="facts")
    return {(hit.subject, hit.relation, hit.object) for hit in found} == case.expected and len(found) == len(
        case.expected
    )
