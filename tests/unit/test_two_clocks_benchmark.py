"""The benchmark of two clocks: its stories, its oracle against painting days one by one, and what asof answers."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from bench.two_clocks import SEED
from bench.two_clocks.adapters.asof_memory import AsofMemory
from bench.two_clocks.adapters.graphiti_memory import contradicted
from bench.two_clocks.adapters.plain_table import PlainTable
from bench.two_clocks.oracle import Oracle
from bench.two_clocks.questions import questions_about
from bench.two_clocks.story import BEGIN, END, second_name, story
from bench.two_clocks.told import CATEGORIES, SAME, SINGLE, Ended, Question, Retracted, Said, Stated, tell

from effort import tries

DAY = timedelta(days=1)
NOON = timedelta(hours=12)


def day(number: int) -> datetime:
    return BEGIN + number * DAY


def states(ref: str, told: int, what: str, start: int, end: int | None = None) -> Stated:
    """Return that somebody, Ana, lives somewhere, as told on a day."""
    return Stated(ref, day(told), "Ana", "lives_in", what, day(start), None if end is None else day(end))


@pytest.fixture(scope="module")
def told() -> list[Said]:
    return story(Random(SEED), 20)


def test_a_seed_tells_one_story_and_asks_one_set_of_questions(told: list[Said]) -> None:
    assert told == story(Random(SEED), 20)
    assert told != story(Random(SEED + 1), 20)
    few = story(Random(SEED), 4)
    assert questions_about(few, Random(1)) == questions_about(few, Random(1)) != questions_about(few, Random(2))


def test_what_is_told_has_begun_and_what_is_ended_or_retracted_was_told_before(told: list[Said]) -> None:
    refs: set[str] = set()
    for said in told:
        if isinstance(said, Stated):
            assert said.start <= said.recorded
            assert said.end is None or said.start < said.end <= said.recorded + DAY
        else:
            assert said.of in refs
        if not isinstance(said, Retracted):
            assert said.ref not in refs
            refs.add(said.ref)
    recorded = [said.recorded for said in told]
    assert recorded == sorted(set(recorded))
    assert recorded[-1] < END


def test_every_kind_of_thing_is_told(told: list[Said]) -> None:
    stated = {said.ref: said for said in told if isinstance(said, Stated)}
    retracted = {said.of for said in told if isinstance(said, Retracted)}
    claims = [(s.subject, s.relation, s.object) for s in stated.values()]
    assert any(s.recorded - s.start > 200 * DAY for s in stated.values())  # late
    assert any(claims.count(claim) > 1 for claim in claims)  # told again, or returned
    assert any(said.ref in retracted for said in told if isinstance(said, Ended))
    assert {stated[ref].relation for ref in retracted & stated.keys()} >= {*SINGLE, SAME}
    assert any(s.relation == SAME and s.ref not in retracted for s in stated.values())


@pytest.mark.parametrize(
    ("told", "valid", "known", "objects"),
    [
        ([states("a", 1, "Rome", 0), states("b", 9, "Oslo", 8)], 4, None, {"Rome"}),
        ([states("a", 1, "Rome", 0), states("b", 9, "Oslo", 8)], 8, None, {"Oslo"}),
        ([states("a", 1, "Rome", 0), states("b", 9, "Oslo", 8)], 8, 8, {"Rome"}),
        ([states("b", 9, "Oslo", 8), states("a", 20, "Rome", 0)], 12, None, {"Oslo"}),
        ([states("a", 30, "Rome", 0, 20), states("b", 31, "Oslo", 5, 10)], 7, None, {"Oslo"}),
        ([states("a", 30, "Rome", 0, 20), states("b", 31, "Oslo", 5, 10)], 12, None, {"Rome"}),
        ([states("a", 1, "Rome", 0), Ended("e", day(9), "a", day(5))], 5, None, set()),
        ([states("a", 1, "Rome", 0), Ended("e", day(9), "a", day(5)), Retracted(day(11), "e")], 5, None, {"Rome"}),
        ([states("a", 1, "Rome", 0), states("b", 9, "Oslo", 8), Retracted(day(11), "b")], 8, None, {"Rome"}),
        ([states("a", 1, "Rome", 0), states("b", 9, "Rome", 3), Retracted(day(11), "a")], 2, None, set()),
        ([states("a", 1, "Rome", 0), states("b", 9, "Rome", 3), Retracted(day(11), "a")], 4, None, {"Rome"}),
    ],
)
def test_the_oracle_knows_what_held(told: list[Said], valid: int, known: int | None, objects: set[str]) -> None:
    moment = None if known is None else day(known)

    assert Oracle(told).objects("Ana", "lives_in", day(valid) + NOON, moment) == objects


def test_the_oracle_knows_since_when_and_by_whom_something_is_known() -> None:
    told = [states("a", 1, "Rome", 0), states("b", 9, "Rome", 3), Retracted(day(11), "a")]
    question = Question("known since", "Ana", "lives_in", day(5) + NOON, object="Rome")

    assert Oracle(told).ask(question) == {"2018-01-02"}
    assert Oracle(told).ask(Question("known since", "Ana", "lives_in", day(2) + NOON, object="Rome")) == set()
    assert Oracle(told[:2]).ask(Question(**{**vars(question), "category": "who says so"})) == {"a", "b"}
    assert Oracle(told).ask(Question(**{**vars(question), "category": "who says so"})) == {"b"}
    assert Oracle(told).ask(Question("what changed", "Ana", "lives_in", day(2) + NOON, day(5))) == {"-Rome"}


def painted(told: list[Said], names: set[str], relation: str, known: datetime) -> dict[datetime, frozenset[str]]:
    """Return what held on each day, painted over day by day in the order in which periods begin."""
    heard = [said for said in told if said.recorded <= known]
    wrong = {said.of for said in heard if isinstance(said, Retracted)}
    ends = [said for said in heard if isinstance(said, Ended) and said.ref not in wrong]
    slot = [s for s in heard if isinstance(s, Stated) and s.ref not in wrong and s.subject in names]
    slot = [s for s in slot if s.relation == relation]
    days: dict[datetime, list[tuple[str, bool]]] = {}  # the objects of each day, and whether their end is open
    last = END + 400 * DAY
    for said in sorted(slot, key=lambda s: (s.start, s.recorded)):
        stops = [one.at for one in ends if one.of == said.ref and one.at > said.start]
        stop = min([*stops, said.end or last])
        if relation in SINGLE:  # an open period of another object is over, though this one ends
            for at in list(days):
                if at >= said.start:
                    days[at] = [(o, is_open) for o, is_open in days[at] if o == said.object or not is_open]
        at = said.start
        while at < stop:
            before = [one for one in days.get(at, []) if relation not in SINGLE or one[0] == said.object]
            days[at] = [*before, (said.object, said.end is None)]
            at += DAY
    return {at: frozenset(o for o, _ in held) for at, held in days.items()}


def cases(told: list[Said], random: Random) -> Iterator[tuple[str, set[str], str, datetime]]:
    """Yield slots, each with all names of its subject at a moment."""
    stated = [said for said in told if isinstance(said, Stated) and said.relation != SAME]
    for subject, relation in dict.fromkeys((s.subject, s.relation) for s in stated):
        if "Alias" in subject:
            continue
        known = random.choice(told).recorded
        links = [s for s in told if isinstance(s, Stated) and s.relation == SAME and s.object == subject]
        wrong = {s.of for s in told if isinstance(s, Retracted) and s.recorded <= known}
        is_named = any(s.recorded <= known and s.ref not in wrong for s in links)
        yield subject, {subject, second_name(subject)} if is_named else {subject}, relation, known


@pytest.mark.parametrize("seed", range(tries(3, nightly=60)))
def test_the_oracle_says_of_each_day_what_painting_the_days_does(seed: int) -> None:
    random = Random(seed)
    told = story(random, 3)
    oracle, looked = Oracle(told), 0
    for subject, names, relation, known in cases(told, random):
        days = painted(told, names, relation, known)
        edges = {day for said in told if isinstance(said, Stated) for day in (said.start, said.end) if day is not None}
        for at in sorted({edge + n * DAY for edge in edges for n in (-1, 0)})[::7]:
            assert oracle.objects(subject, relation, at + NOON, known) == days.get(at, frozenset()), (subject, at)
            looked += bool(days.get(at))
    assert looked


def test_asof_answers_all_but_since_when_a_fact_is_known_of_another_name(told: list[Said], tmp_path: Path) -> None:
    questions, oracle = questions_about(told, Random(SEED)), Oracle(told)
    [(_, memory)] = tell({"asof": AsofMemory(tmp_path / "data")}, told)

    wrong = [question for question in questions if memory.ask(question) != oracle.ask(question)]

    assert {question.category for question in questions} == set(CATEGORIES)
    named = {said.object for said in told if isinstance(said, Stated) and said.relation == SAME}
    assert [q for q in wrong if q.category != "known since" or q.subject not in named or q.relation != "knows"] == []


def test_a_table_answers_what_was_told_in_order_and_never_changed(tmp_path: Path) -> None:
    told: list[Said] = [states("a", 1, "Rome", 0), states("b", 9, "Oslo", 8)]
    [(_, table)] = tell({"table": PlainTable(tmp_path)}, told)

    for valid in (2, 8):
        for category in ("true then", "known since", "who says so"):
            question = Question(category, "Ana", "lives_in", day(valid) + NOON, object="Rome")
            assert table.ask(question) == Oracle(told).ask(question)
    before = Question("known then", "Ana", "lives_in", day(8) + NOON, day(3))
    assert table.ask(before) == {"Oslo"}
    assert Oracle(told).ask(before) == {"Rome"}


def test_the_model_that_graphiti_asks_names_other_objects_of_a_slot_of_one() -> None:
    known = ["Ana lives_in Rome since 2018-01-01", "Ana knows Ben since 2018-01-01"]
    others = ["Ana lives_in Oslo since 2019-01-01", "Ben lives_in Rome since 2018-01-01"]
    listed = [
        [{"idx": n, "fact": fact} for n, fact in enumerate(facts, start)] for start, facts in ((0, known), (2, others))
    ]

    def named(new: str) -> list[int]:
        return contradicted(
            f"<EXISTING FACTS>\n{listed[0]}\n</EXISTING FACTS>\n\n<FACT INVALIDATION CANDIDATES>\n{listed[1]}\n"
            f"</FACT INVALIDATION CANDIDATES>\n\n<NEW FACT>\n{new}\n</NEW FACT>"
        )["contradicted_facts"]

    assert named("Ana lives_in Oslo since 2020-01-01") == [0]
    assert named("Ana lives_in Bern since 2020-01-01") == [0, 2]
    assert named("Ana knows Cy since 2020-01-01") == []
