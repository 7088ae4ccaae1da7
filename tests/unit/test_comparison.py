"""Two generations compared: which facts are one, although their ids differ."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from asof_projections.model.rows import FactRow
from asof_projections.names import key
from asof_projections.queries.comparison import Comparison, GenerationView, Namesakes, claim_of, subject_of
from asof_streams.instants import INF
from histories import History, on


def row(subject: str, relation: str, value: str, **fields: Any) -> FactRow:
    message = fields.pop("message", 1)
    uuid = fields.pop("uuid", f"{subject}/{relation}/{value}/{message}")
    made = FactRow(
        uuid, "g", subject, relation, value, f"e-{subject}", f"e-{value}", "", 0, INF, message, INF, 0.9,
        (f"episode-{message}",), "", message, INF, message,
    )  # fmt: skip
    return made._replace(**fields)


class Believed:
    """A generation that believes some facts; `same` are names that it holds to be of one entity.

    given_up: facts that it asserted and believes no longer.
    """

    def __init__(
        self,
        *facts: FactRow,
        same: tuple[str, ...] = (),
        words: tuple[str, ...] = ("I", "it"),
        given_up: tuple[FactRow, ...] = (),
    ) -> None:
        self._facts, self._same, self._words = facts, frozenset(map(key, same)), words
        self._given_up = given_up

    def subjects(self, _group: str | None, start: Namesakes | None) -> Iterator[Namesakes]:
        return iter(sorted({subject_of(fact) for fact in self._facts if start is None or subject_of(fact) >= start}))

    def facts(self, subject: Namesakes) -> list[FactRow]:
        return [fact for fact in self._facts if subject_of(fact) == subject]

    def claims(self, subject: Namesakes) -> dict[Any, dict[str, FactRow]]:
        return {claim_of(fact): {fact.uuid: fact} for fact in self.facts(subject)}

    def asserted(self, _group: str, recorded_at: int) -> list[FactRow]:
        return [fact for fact in (*self._facts, *self._given_up) if fact.created_at == recorded_at]

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


def test_of_two_claims_of_a_message_the_one_that_only_one_side_has_is_merged_with_none_that_both_have():
    ana, annie = row("Ana", "knows", "Bob", uuid="1"), row("Annie", "knows", "Bob", uuid="2")

    assert found(Believed(ana, annie), Believed(annie)) == [("lost", "1", None)]
    given_up = Believed(given_up=(annie,))
    assert found(Believed(ana), given_up) == [("lost", "1", None)]
    assert found(given_up, Believed(ana)) == [("gained", None, "1")]


def test_a_merged_fact_of_several_periods_is_told_once():
    first, then = row("Ana", "knows", "Bob", uuid="1", invalid_at=3), row("Ana", "knows", "Bob", uuid="1", valid_at=5)

    assert found(Believed(first, then), Believed(row("Annie", "knows", "Bob", uuid="2"))) == [("merged", "1", "2")]


def test_periods_of_one_episode_are_redated_one_by_one():
    base = [row("Ana", "visited", "Oslo", uuid=uuid, valid_at=at) for uuid, at in (("1", 1), ("2", 2))]
    other = [row("Ana", "visited", "Oslo", uuid=uuid, valid_at=at) for uuid, at in (("3", 3), ("4", 4))]

    assert found(Believed(*base), Believed(*other)) == [("redated", "1", "3"), ("redated", "2", "4")]


def test_a_summary_counts_each_relation_and_shows_the_first_differences_with_their_numbers():
    same = [row("Ana", "knows", name) for name in "XY"]
    comparison: Any = Comparison(
        Believed(*same, row("Ana", "likes", "Tea"), row("Ana", "likes", "Jazz")), Believed(*same)
    )

    numbers, shown = comparison.summary("g", 1)
    assert [(one.relation, one.same, one.lost) for one in numbers] == [("knows", 2, 0), ("likes", 0, 2)]
    assert [(subject, n, one.label) for subject, n, one in shown] == [(Namesakes("g", "ana"), 1, "lost")]
    assert [n for _, n, _ in comparison.differences("g")] == [1, 2]


def test_a_generation_is_seen_subject_by_subject_with_words_names_and_reasons(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("base", "other")]
    for folder in folders:
        folder.mkdir()
    base, other = map(History, folders)
    for history in (base, other):
        history.say("2024-01-01", "Ana -knows-> Ben")
        history.tell("2024-01-02", group_id="h", subject="Ana", relation="knows", object="Cem", valid_at="2020")
        history.tell(
            "2024-01-03", group_id="h", subject="Bea", relation="knows", object="Cem", valid_at="2020", ref="b"
        )
    known = on("2025")
    apart = GenerationView(base.beliefs, base.episodes, known)
    [fact] = apart.facts(Namesakes("g", "ana"))
    assert apart.entities(fact) == ({"ana"}, {"ben"})
    other.tell("2024-01-04", relation="also_known_as", object="Annie", valid_at="2020")
    other.tell("2024-01-05", group_id="h", op="retract", subject=None, ref="b")
    other.tell("2024-01-06", relation="likes", object="Tea", valid_at="2020")
    views = [GenerationView(one.beliefs, one.episodes, known) for one in (base, other)]
    view, merged = views

    subjects = [Namesakes("g", "ana"), Namesakes("g", "ben"), *(Namesakes("h", name) for name in ("ana", "bea", "cem"))]
    assert [*view.subjects(None, None)] == subjects
    for place, subject in enumerate(subjects):
        assert [*view.subjects(None, subject)] == subjects[place:]
        assert [*view.subjects(subject.group, subject)] == [
            one for one in subjects[place:] if one.group == subject.group
        ]
    assert ([one.object for one in view.facts(subjects[2])], view.facts(Namesakes("g", "nobody"))) == (["Cem"], [])
    assert list(view.claims(subjects[0])) == [("knows", "e:ben")]
    assert merged.entities(fact) == ({"ana", "annie"}, {"ben"})
    assert merged.entities(fact._replace(object_uuid=None)) == ({"ana", "annie"}, {"ben"})
    assert view.words(fact) == ("Ana", "Ben")
    [lost] = view.facts(subjects[3])
    assert (view.words(lost), view.why(None)) == ((), None)

    told = [one for _, _, one in Comparison(view, merged).differences("h")]
    assert [(one.label, one.base) for one in told] == [("lost", lost)]
    explained = Comparison(view, merged).explained(told[0])
    assert explained.base is not None
    assert explained.other is not None
    assert [len(side.consequences) for side in (explained.base, explained.other)] == [0, 1]
    [gained] = [one for _, _, one in Comparison(merged, view).differences("h")]
    explained = Comparison(merged, view).explained(gained)
    assert explained.base is not None
    assert explained.other is not None
    assert [len(side.consequences) for side in (explained.base, explained.other)] == [1, 0]
    for sides, never in (((view, merged), "base"), ((merged, view), "other")):
        [tea] = [one for _, _, one in Comparison(*sides).differences("g") if one.fact.relation == "likes"]
        explained = Comparison(*sides).explained(tea)
        assert [name for name in ("base", "other") if getattr(explained, name) is None] == [never]
    for history in (base, other):
        history.close()
