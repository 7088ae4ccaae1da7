"""Differences, timelines and periods of knowledge, of rows that are made by hand."""

from typing import Any, Final

from asof_projections.model.rows import FactRow, SegmentRow
from asof_projections.queries.diffs import differences
from asof_projections.queries.timelines import known_periods, rectangles, segments, with_gaps
from asof_streams.instants import INF

FACT: Final = FactRow("", "g", "Ana", "likes", "tea", "ana", "tea", "", 0, INF, 0, INF, 1.0, (), "", 0, INF, 0)


def fact(uuid: str, value: str = "tea", *, literal: bool = False, **fields: Any) -> FactRow:
    return FACT._replace(uuid=uuid, object=value, object_uuid=None if literal else value, **fields)


def labels(*points: list[FactRow]) -> list[tuple[str, str]]:
    return [(one.label, one.fact.uuid) for one in differences(*points)]


def test_differences_come_by_the_start_of_their_facts() -> None:
    old, new = fact("old", "tea", valid_at=9), fact("new", "jazz", valid_at=3)

    assert labels([old], [old], [new]) == [("began", "new"), ("ended", "old")]
    assert labels([new], [new], [old]) == [("ended", "new"), ("began", "old")]
    early = fact("a", "jazz", valid_at=9)
    assert labels([], [early], [early, old]) == [("learned", "a"), ("began", "old")]


def test_what_is_believed_over_another_period_or_was_not_in_between_was_revised() -> None:
    short = fact("1", invalid_at=5)

    assert labels([short], [short], [short]) == []
    assert labels([fact("1")], [short], [short]) == [("revised", "1")]
    assert labels([short], [], [short]) == [("revised", "1")]


def test_only_one_claim_that_is_retracted_and_learned_was_revised() -> None:
    tea, again, green = fact("1"), fact("2", valid_at=4), fact("3", "green tea")
    forty, sixty = fact("4", "40", literal=True), fact("5", "60", literal=True)

    assert labels([tea], [again], [again]) == [("revised", "2")]
    assert labels([tea], [green], [green]) == [("retracted", "1"), ("learned", "3")]
    assert labels([forty], [sixty], [sixty]) == [("retracted", "4"), ("learned", "5")]
    assert labels([forty], [fact("6", "40")], [fact("6", "40")]) == [("retracted", "4"), ("learned", "6")]


def told(*facts: FactRow, same: dict[str, str] | None = None) -> list[tuple[str | None, int, int, tuple[str, ...]]]:
    return [(one.object, one.valid_at, one.invalid_at, one.facts) for one in segments(facts, same or {})]


def test_segments_come_by_subject_relation_start_and_value() -> None:
    rows = [
        fact("1", "x", subject_uuid="b", relation="a"),
        fact("2", "z", subject_uuid="a", relation="b", valid_at=1),
        fact("3", "y", subject_uuid="a", relation="b", valid_at=1),
        fact("4", "y", subject_uuid="a", relation="b", valid_at=0, occurrence=True),
        fact("5", "x", subject_uuid="a", relation="a", valid_at=7),
    ]

    assert [one.facts for one in segments(rows, {})] == [("5",), ("4",), ("3",), ("2",), ("1",)]


def test_what_meets_is_one_segment_of_the_name_that_began_last_unless_it_happened_or_is_planned() -> None:
    first, then = fact("2", invalid_at=5), fact("1", valid_at=5, invalid_at=9)._replace(object="Tea")
    later = fact("0", valid_at=10)

    assert told(then, later, first) == [("Tea", 0, 9, ("2", "1")), ("tea", 10, INF, ("0",))]
    for kind in ("occurrence", "planned"):
        apart = [one._replace(**{kind: True}, number=number) for number, one in enumerate((first, then))]
        assert told(*apart) == [("tea", 0, 5, ("2",)), ("Tea", 5, 9, ("1",))]


def test_a_value_of_one_name_is_one_segment_where_it_is_one_entity_or_one_literal() -> None:
    first, then = fact("1", "tea", invalid_at=5), fact("2", "chai", valid_at=5)
    literal = fact("3", "tea", literal=True)

    assert told(first, then) == [("tea", 0, 5, ("1",)), ("chai", 5, INF, ("2",))]
    assert told(first, then, same={"chai": "tea"}) == [("chai", 0, INF, ("1", "2"))]
    assert told(first, literal) == [("tea", 0, 5, ("1",)), ("tea", 0, INF, ("3",))]
    assert told(literal, literal._replace(uuid="4", object="jazz", valid_at=5)) == [
        ("tea", 0, INF, ("3",)),
        ("jazz", 5, INF, ("4",)),
    ]


def test_gaps_stand_between_what_lasts_in_a_slot_by_their_start() -> None:
    rows = [
        fact("1", invalid_at=2),
        fact("2", "jazz", valid_at=6, invalid_at=8),
        fact("3", "rain", valid_at=4, invalid_at=5, occurrence=True),
        fact("4", "snow", valid_at=9, relation="sees"),
    ]
    whole: list[SegmentRow] = with_gaps(segments(rows, {}))

    assert [(one.object, one.valid_at, one.invalid_at) for one in whole] == [
        ("tea", 0, 2),
        (None, 2, 6),
        ("rain", 4, 5),
        ("jazz", 6, 8),
        ("snow", 9, INF),
    ]


def test_a_fact_was_known_of_an_instant_from_its_start_until_its_end() -> None:
    versions = [
        fact("1", known_from=3, known_to=5),
        fact("1", valid_at=2, invalid_at=4, known_from=5, known_to=8),
    ]

    assert [known_periods(versions, at) for at in (0, 2, 3, 4)] == [[(3, 5)], [(3, 8)], [(3, 8)], [(3, 5)]]
    assert known_periods(versions, None) == [(3, 8)]


def test_versions_of_one_period_that_follow_each_other_are_one_in_whatever_order_they_come() -> None:
    first = fact("1", known_from=3, known_to=5, episodes=("b",))
    then = first._replace(known_from=5, known_to=8, episodes=("a",))
    again = first._replace(known_from=9, known_to=INF)

    for versions in ([first, then, again], [again, then, first]):
        assert rectangles(versions) == [first._replace(known_to=8), again]
