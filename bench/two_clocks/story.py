"""What is told: lives that are made up, and how they come to be known.

Each person has homes and employers one after the other, sometimes with nothing between, sometimes the same again, and
knows others for a while; employers lie in cities. Most of it is told soon, some late; some is first told wrongly and
corrected; something that never was is told and taken back; some is told again by another source, one of which may be
taken back; an ending may be told that was none; and some people go by a second name, until that may turn out to be
wrong. What is over by the time it is told is told with its end.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final, NamedTuple

from bench.two_clocks.told import SAME, Ended, Retracted, Said, Stated

BEGIN: Final = datetime(2018, 1, 1, tzinfo=UTC)
END: Final = datetime(2026, 1, 1, tzinfo=UTC)  # by then everything was told
CITIES: Final = ("Oslo", "Rome", "Lima", "Kyoto", "Porto", "Quito", "Turin", "Ghent")
FIRMS: Final = tuple("Acme Borealis Cobalt Delphi Ember Fjord Garnet Helix Indigo Juno Krill Lumen".split())
_SHARES: Final = {
    "late": 0.2,
    "wrong": 0.15,
    "again": 0.3,
    "as a twin": 0.4,  # of what is told again: from the same day on
    "taken back": 0.4,  # of what is told again: one of the two
    "reopened": 0.3,  # of what holds still
    "gap": 0.3,
    "open": 0.6,  # of the last period of a life: it holds still
    "false": 0.4,
    "named": 0.4,
    "misnamed": 0.5,  # of those
}


class _Period(NamedTuple):
    object: str
    start: datetime
    end: datetime | None
    is_followed: bool  # at once, so that nobody tells its end


def people(count: int) -> list[str]:
    """Return the names of people, each of one entity."""
    return [f"Person {number}" for number in range(count)]


def second_name(person: str) -> str:
    """Return the other name that a person may have."""
    return person.replace("Person", "Alias")


def story(random: Random, count: int) -> list[Said]:
    """Return what is told of so many people, in the order in which it is; no two are recorded at one instant."""
    teller = _Teller(random)
    for firm in FIRMS:
        teller.live(firm, "located_in", CITIES)
    everyone = people(count)
    for person in everyone:
        teller.live(person, "lives_in", CITIES)
        teller.live(person, "works_at", FIRMS)
        teller.meet(person, person, [one for one in everyone if one != person])
        if teller.chance("named"):
            teller.name(person, [one for one in everyone if one != person])
    return teller.told()


class _Teller:
    """Drafts what is told, by the day."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._drafts: list[Said] = []

    def chance(self, what: str) -> bool:
        """Return whether something happens that does in a share of cases."""
        return self._random.random() < _SHARES[what]

    def told(self) -> list[Said]:
        """Return all drafts in the order of their days, each a minute after the one before it or later."""
        told: list[Said] = []
        for draft in sorted(self._drafts, key=lambda said: said.recorded):
            first = told[-1].recorded + timedelta(minutes=1) if told else draft.recorded
            told.append(draft._replace(recorded=max(first, draft.recorded)))
        return told

    def live(self, subject: str, relation: str, among: Sequence[str]) -> None:
        """Tell a life: what follows each other of one relation."""
        periods = list(self._periods(among))
        others = [one for one in among if one not in {period.object for period in periods}]
        for period in periods:
            self._tell(subject, relation, period, others)
        if self.chance("false"):
            day = periods[0].start + self._days(30, 900)
            false = self._state(day + self._days(0, 30), subject, relation, _Period(others[0], day, None, False))
            self._retract(false.recorded + self._days(20, 300), false.ref)

    def meet(self, person: str, called: str, among: Sequence[str]) -> None:
        """Tell of a person, called so, whom he knows."""
        for other in self._random.sample(among, min(2, len(among))):
            start = BEGIN + self._days(0, 1_200)
            end = None if self.chance("open") else start + self._days(100, 600)
            self._tell(called, "knows", _Period(other, start, end, False), [f"{person}'s neighbour"])

    def name(self, person: str, among: Sequence[str]) -> None:
        """Tell of a person under a second name, and that it is his; it may turn out not to be."""
        self.meet(person, second_name(person), among)
        day = BEGIN + self._days(600, 1_800)
        same = self._state(day, second_name(person), SAME, _Period(person, BEGIN, None, False))
        if self.chance("misnamed"):
            self._retract(day + self._days(30, 600), same.ref)

    def _periods(self, among: Sequence[str]) -> Iterator[_Period]:
        chosen = self._random.sample(among, 3)
        objects = [*chosen, self._random.choice(chosen[:2])][: self._random.randrange(2, 5)]  # the last may return
        start = BEGIN + self._days(0, 200)
        for place, one in enumerate(objects):
            is_last = place == len(objects) - 1
            end = None if is_last and self.chance("open") else start + self._days(150, 500)
            has_gap = is_last or self.chance("gap")
            yield _Period(one, start, end, not has_gap)
            if end is not None:
                start = end + self._days(30, 120) if has_gap else end

    def _tell(self, subject: str, relation: str, period: _Period, others: Sequence[str]) -> None:
        day = period.start + (self._days(200, 700) if self.chance("late") else self._days(0, 40))
        if self.chance("wrong"):
            wrong = self._state(day, subject, relation, period._replace(object=self._random.choice(others)))
            day += self._days(5, 90)
            self._retract(day, wrong.ref)
        said = [self._state(day, subject, relation, period)]
        again = day + self._days(10, 120)
        if self.chance("again") and (period.end is None or again < period.end):
            start = period.start if self.chance("as a twin") else period.start + self._days(1, 9)
            said.append(self._state(again, subject, relation, period._replace(start=start)))
            day = again
        if period.end is not None and not period.is_followed:
            day = max(day, period.end)
            for one in said:
                if one.end is None:
                    day += self._days(1, 40)
                    self._drafts.append(Ended(self._ref(), day, one.ref, period.end))
        elif period.end is None and self.chance("reopened"):
            day += self._days(20, 100)
            ending = Ended(self._ref(), day, said[0].ref, day - timedelta(days=10))
            self._drafts.append(ending)
            self._retract(day + self._days(20, 100), ending.ref)
        elif len(said) > 1 and self.chance("taken back"):
            self._retract(day + self._days(10, 100), self._random.choice(said).ref)

    def _state(self, day: datetime, subject: str, relation: str, period: _Period) -> Stated:
        """Let a source say on a day what holds, or held."""
        end = period.end if period.end is not None and period.end <= day else None
        said = Stated(self._ref(), day, subject, relation, period.object, period.start, end)
        self._drafts.append(said)
        return said

    def _retract(self, day: datetime, ref: str) -> None:
        self._drafts.append(Retracted(day, ref))

    def _ref(self) -> str:
        return f"source-{len(self._drafts)}"

    def _days(self, low: int, high: int) -> timedelta:
        return timedelta(days=self._random.randrange(low, high))
