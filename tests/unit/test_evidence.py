"""Why a fact is believed, of a store that says what the test has it say: each bound to the microsecond."""

from typing import Any, Final

import pytest

from asof_projections.graph.ports import CounterStatement, Provenance, Repetition, Revision, StatementSource
from asof_projections.model.answers import Explanation, instant_of
from asof_projections.model.rows import FactRow
from asof_projections.queries.consistent_read import consistent_read, one_state
from asof_projections.queries.evidence import Witness
from asof_streams.instants import INF

FACT: Final = FactRow("f", "g", "Ana", "likes", "tea", "a", "t", "", 10, INF, 5, 9, 1.0, ("e5",), "", 5, 9, 0)


class Store:
    """A store of one fact, which has whatever else it is told, and of no episodes."""

    def __init__(self, versions: list[FactRow], **told: Any) -> None:
        nothing: dict[str, Any] = dict.fromkeys(("time_words", "grain", "ref", "corrects"))
        nothing |= dict.fromkeys(("corrected_by", "repetitions", "endings", "retractions", "revisions"), ())
        self._provenance = Provenance(**{"fact_id": "f", "sources": (said(5),), **nothing, **told})
        self._versions = versions

    def provenance(self, _uuid: str, _known: int) -> Provenance:
        return self._provenance

    def versions(self, _uuid: str) -> list[FactRow]:
        return self._versions

    def fact(self, uuid: str) -> FactRow:
        return FACT._replace(uuid=uuid, created_at=int(uuid[1:]))

    def episode(self, _uuid: str) -> None:
        return None


def said(at: int) -> StatementSource:
    return StatementSource(f"e{at}", None, at, at)


def why(known: int | None = None, fact: FactRow = FACT, versions: tuple[FactRow, ...] = (FACT,), **told: Any) -> Any:
    store: Any = Store(list(versions), **told)
    explanation: Explanation = Witness(store, store).why(fact, known)
    return explanation


def test_what_was_recorded_at_the_known_moment_itself_is_known() -> None:
    told = {
        "sources": (said(5), said(7)),
        "corrected_by": ("c7",),
        "repetitions": (Repetition("r7", 12, said(7)),),
        "revisions": (Revision("ended", "s7", 0, 7, None),),
    }
    fact = FACT._replace(expired_at=7)

    for known, count in ((6, 0), (7, 1), (None, 1)):
        explained = why(known, fact, **told)
        assert len(explained.fact.episodes) == 1 + count
        assert [len(of) for of in (explained.corrected_by, explained.restated_by, explained.consequences)] == [
            count
        ] * 3
        assert explained.fact.expired_at == (instant_of(7) if count else None)


@pytest.mark.parametrize(
    ("start", "recorded", "again"),
    [(10, 6, True), (19, 8, True), (9, 6, False), (20, 6, False), (10, 5, False), (10, 9, False), (30, 9, False)],
)
def test_a_fact_is_restated_where_and_while_it_was_believed(start: int, recorded: int, *, again: bool) -> None:
    believed = FACT._replace(valid_at=10, invalid_at=20)
    elsewhere = FACT._replace(valid_at=30, invalid_at=40, known_from=11, known_to=20)
    told = Repetition("r", start, said(recorded))

    assert why(versions=(believed, elsewhere), repetitions=(told,)).restated_by == (("r",) if again else ())


def test_what_happened_is_told_again_by_its_own_statements_alone() -> None:
    told = Repetition("r", 12, said(7))

    assert why(fact=FACT._replace(occurrence=True), repetitions=(told,)).restated_by == ()


def test_statements_against_a_fact_are_told_once_unless_they_count_no_longer() -> None:
    def counter(uuid: str, *, dead: bool = False) -> CounterStatement:
        return CounterStatement(uuid, 8, dead, said(7))

    explained = why(
        endings=(counter("known"), counter("early"), counter("dead", dead=True)),
        retractions=(counter("late"), counter("dead too", dead=True)),
        revisions=(Revision("superseded", "known", 0, 6, None),),
    )

    assert [(one.kind, one.statement) for one in explained.consequences] == [
        ("superseded", "known"),
        ("ended", "early"),
        ("retracted", "late"),
    ]


def test_a_statement_was_known_where_a_later_revision_names_it() -> None:
    early, late = CounterStatement("s", 8, False, said(7)), Revision("ended", "s", 0, 9, None)

    for known, told in ((6, []), (8, [7]), (9, [9]), (None, [9])):
        explained = why(known, endings=(early,), revisions=(late,))
        assert [one.recorded_at for one in explained.consequences] == [instant_of(at) for at in told]


class ReadStore:
    """A store that notes when a consistent read of it begins and ends."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def begin_read(self) -> bool:
        begun = not self.noted or self.noted[-1] == "end"
        self.noted += ["begin"] * begun
        return begun

    def end_read(self) -> None:
        self.noted.append("end")


def reader() -> Any:
    """Return what reads a store several times."""

    class Reader:
        def __init__(self) -> None:
            self._beliefs: Any = ReadStore()

        @consistent_read
        def ask(self) -> list[str]:
            return [*self.part(), "asked"]

        @consistent_read
        def part(self) -> list[str]:
            with one_state(self._beliefs):
                return list(self._beliefs.noted)

        @consistent_read
        def fail(self) -> None:
            raise KeyError

    return Reader()


def test_a_question_and_its_parts_see_one_state_that_ends_with_it_however_it_ends() -> None:
    who = reader()

    assert who.ask() == ["begin", "asked"]
    assert who._beliefs.noted == ["begin", "end"]
    with pytest.raises(KeyError):
        who.fail()
    with pytest.raises(KeyError), one_state(who._beliefs):
        raise KeyError
    assert who._beliefs.noted == ["begin", "end"] * 3
