"""Two generations compared: which facts are one, although their ids differ."""

from collections.abc import Iterator
from typing import Any

from asof_projections.model.rows import FactRow
from asof_projections.names import key
from asof_projections.queries.comparison import Comparison, Namesakes, claim_of, subject_of
from asof_streams.instants import INF


def row(subject: str, relation: str, value: str, **fields: Any) -> FactRow:
    message = fields.pop("message", 1)
    uuid = fields.pop("uuid", f"{subject}/{relation}/{value}/{message}")
    made = FactRow(
        uuid, "g", subject, relation, value, f"e-{subject}", f"e-{value}", "", 0, INF, message, INF, 0.9,
        (f"episode-{message}",), "", message, INF, message,
    )  # fmt: skip
    return made._replace(**fields)


class Believed:
    """A generation that believes some facts; `same` are names that it holds to be of one entity."""

    def __init__(self, *facts: FactRow, same: tuple[str, ...] = (), words: tuple[str, ...] = ("I", "it")) -> None:
        self._facts, self._same, self._words = facts, frozenset(map(key, same)), words

    def subjects(self, _group: str | None, start: Namesakes | None) -> Iterator[Namesakes]:
        return iter(sorted({subject_of(fact) for fact in self._facts if start is None or subject_of(fact) >= start}))

    def facts(self, subject: Namesakes) -> list[FactRow]:
        return [fact for fact in self._facts if subject_of(fact) == subject]

    def claims(self, subject: Namesakes) -> dict[Any, dict[str, FactRow]]:
        return {claim_of(fact): {fact.uuid: fact} for fact in self.facts(subject)}

    def asserted(self, _group: str, recorded_at: int) -> list[FactRow]:
        return [fact for fact in self._facts if fact.created_at == recorded_at]

    def words(self, _fact: FactRow) -> tuple[str, ...]:
        return self._words

    def entities(self, fact: FactRow) -> tuple[frozenset[str], ...]:
        ends = (frozenset({key(name)}) for name in (fact.subject, fact.object))
        return tuple(self._same | end if end & self._same else end for end in ends)


def found(base: Any, other: Any) -> list[tuple[str, str | None, str | None]]:
    comparison: Any = Comparison(base, other)
    shown: list[tuple[str, str | None, str | None]] = [
        (one.label, one.base and one.base.uuid, one.other and one.other.uuid)
        for _, _, one in comparison.differences("g")
    ]
    numbers, _ = comparison.summary("g", 0)
    assert len(shown) == sum(one.gained + one.lost + one.redated + one.merged for one in numbers)
    return shown


def test_a_fact_is_the_same_whatever_its_id_and_the_spelling_of_its_names():
    base = Believed(row("Ana", "lives_in", "Berlin", uuid="1"))
    other = Believed(row("ana", "lives_in", "berlin.", uuid="2"))

    assert found(base, other) == []


def test_a_literal_is_no_entity_of_its_name():
    base = Believed(row("Ana", "works_at", "Acme", uuid="1"))
    other = Believed(row("Ana", "works_at", "Acme", uuid="2", object_uuid=None), words=("I", "Acme"))

    assert found(base, other) == [("lost", "1", None), ("gained", None, "2")]


def test_of_several_periods_of_a_claim_equal_ones_are_the_same_and_those_of_one_episode_redated():
    first, second = row("Ana", "visited", "Oslo", message=1), row("Ana", "visited", "Oslo", message=2, valid_at=5)
    later = second._replace(uuid="2b", valid_at=7)
    elsewhere = row("Ana", "visited", "Oslo", message=3, valid_at=9)

    assert found(Believed(first, second), Believed(later, first)) == [("redated", second.uuid, "2b")]
    assert found(Believed(first, second), Believed(first, elsewhere)) == [
        ("lost", second.uuid, None),
        ("gained", None, elsewhere.uuid),
    ]


def test_one_statement_that_is_believed_of_two_entities_is_merged_differently_and_told_once():
    base, other = row("Ana", "knows", "Bob", uuid="1"), row("Annie", "knows", "Bob", uuid="2")

    assert found(Believed(base), Believed(other)) == [("merged", "1", "2")]
    assert found(Believed(other), Believed(base)) == [("merged", "2", "1")]


def test_two_statements_in_other_words_are_two_facts():
    base = Believed(row("Ana", "knows", "Bob", uuid="1"), words=("I", "Bob"))
    other = Believed(row("Annie", "knows", "Bob", uuid="2"), words=("Annie", "Bob"))

    assert found(base, other) == [("lost", "1", None), ("gained", None, "2")]


def test_a_fact_of_an_entity_that_one_side_merged_with_another_is_merged_differently():
    fact = row("Ana", "knows", "Bob", uuid="1")

    assert found(Believed(fact, same=("Ana", "Annie")), Believed(fact)) == [("merged", "1", "1")]
    assert found(Believed(fact, same=("Ana", "Annie")), Believed(fact, same=("Annie", "Ana"))) == []


def test_differences_go_on_behind_any_of_them():
    base = Believed(*(row(name, "knows", f"x{number}", message=number) for name in "ABC" for number in range(3)))
    comparison: Any = Comparison(base, Believed())
    whole = list(comparison.differences("g"))

    for place, (subject, number, _) in enumerate(whole, 1):
        assert list(comparison.differences("g", (subject, number))) == whole[place:]
