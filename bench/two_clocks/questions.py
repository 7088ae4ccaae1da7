"""What is asked of a story: of each slot, and of the firms and the names of people, at days that are drawn."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from random import Random

from bench.two_clocks.oracle import Oracle
from bench.two_clocks.story import BEGIN, END
from bench.two_clocks.told import SAME, Category, Question, Said, Stated

_NOON = timedelta(hours=12)  # nothing begins or ends then
_SPAN = (END - BEGIN).days
_TWICE = 2


def questions_about(told: Sequence[Said], random: Random) -> list[Question]:
    """Return the questions of each category; those without an answer are asked as such."""
    oracle = Oracle(told)
    asked: list[Question] = []
    for question in _questions(told, random, oracle):
        has_answer = bool(oracle.ask(question))
        empty: Category = "nothing to say"
        asked.append(
            question if has_answer else Question(**{**vars(question), "category": empty, "asks": question.category})
        )
    return asked


def _questions(told: Sequence[Said], random: Random, oracle: Oracle) -> Iterator[Question]:
    stated = [said for said in told if isinstance(said, Stated)]
    named = {said.subject: said.object for said in stated if said.relation == SAME}
    slots = dict.fromkeys((s.subject, s.relation) for s in stated if s.relation != SAME and s.subject not in named)
    for subject, relation in slots:
        objects = sorted({s.object for s in stated if (s.subject, s.relation) == (subject, relation)})
        for _ in range(_TWICE):
            yield Question("true then", subject, relation, _day(random))
            yield Question("known then", subject, relation, _day(random), _known(random, told))
            yield Question("what changed", subject, relation, _day(random), _known(random, told))
            valid = _day(random)
            held = sorted(oracle.objects(subject, relation, valid, None)) or objects
            yield Question("known since", subject, relation, valid, object=random.choice(held))
        held = sorted(oracle.objects(subject, relation, END + _NOON, None))
        for one in held:
            yield Question("who says so", subject, relation, END + _NOON, object=one)
        if relation == "works_at":
            for _ in range(_TWICE):
                yield Question("two hops", subject, relation, _day(random), None, "located_in")
                yield Question("two hops", subject, relation, _day(random), _known(random, told), "located_in")
    for alias, person in named.items():
        for name in (alias, person):
            for known in (None, *(_known(random, told) for _ in range(_TWICE))):
                yield Question("names", name, "knows", _day(random), known)
    yield Question("true then", "Nobody", "lives_in", _day(random))
    yield Question("known then", "Nobody", "works_at", _day(random), _known(random, told))


def _day(random: Random) -> datetime:
    return BEGIN + timedelta(days=random.randrange(_SPAN)) + _NOON


def _known(random: Random, told: Sequence[Said]) -> datetime:
    """Return an instant between two records."""
    return random.choice(told).recorded + timedelta(seconds=30)
